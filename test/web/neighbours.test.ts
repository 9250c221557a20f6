/** The record before and after one, in a list of any length. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noBrowser } from '../support/chromium.ts'
import { makeManyDeals } from '../support/many-deals.ts'
import { startService, v1 } from '../support/service.ts'
import { loaded, openUi, twoFrames } from '../support/ui.ts'

test('one goes on from record to record far down a list, over its pages', { skip: noBrowser }, async () => {
  const service = await startService()
  await makeManyDeals(service.db, 12_000)
  const list = `${v1}/deal/view/list?sort=id:asc&fields=id`
  const { data, meta } = (await service.get(`${list}&pageSize=500&page=3`)).body
  const [last, next] = [
    (await service.get(`${list}&pageSize=500&page=2`)).body.data.at(-1).id,
    data[0].id,
  ] as number[]
  // The total of a long list is an estimate.
  assert.equal(meta.totalIsEstimate, true)
  const total = `about ${meta.total.toLocaleString('en-US')}`
  const { page, end } = await openUi(service, `/deals/${last}?sort=id:asc`)
  await page.getByText(`1,000 of ${total}`).waitFor()
  // The next page of the list is still loading.
  await page.getByRole('button', { name: 'Next (])', disabled: false }).waitFor()
  await page.keyboard.press(']')
  await page.waitForURL(url => url.pathname === `/deals/${next}`)
  await page.getByText(`1,001 of ${total}`).waitFor()
  await page.getByRole('button', { name: 'Previous ([)' }).click()
  await page.waitForURL(url => url.pathname === `/deals/${last}`)
  // A record that has left its list is not sought on all its pages.
  const read: string[] = []
  page.on('request', request => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname.endsWith('/deal/view/list') && searchParams.get('fields') === 'id') read.push(request.url())
  })
  const filter = encodeURIComponent(`id:nin(${last})`)
  const asked = page.waitForResponse(answer => decodeURIComponent(answer.url()).includes(`id:eq(${last})`))
  await page.goto(`${service.url}/deals/${last}?sort=id:asc&filter=${filter}`)
  await (await asked).finished()
  await loaded(page)
  await twoFrames(page)
  assert.equal(read.length, 2, read.join('\n'))
  assert.equal(await page.getByRole('button', { name: 'Next (])' }).count(), 0)
  await end()
})
