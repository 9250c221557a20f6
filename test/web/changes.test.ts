/** The changes of the forecast in a browser (D161): the numbers of the service, and their deals. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays } from '../../web/src/activities/next-days.ts'
import { presets } from '../../web/src/pages/reports/changes.ts'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { openUi, resize } from '../support/ui.ts'

const service = await startService()
const { call, db, known, made } = service
const skip = noBrowser

const sent = async (method: string, path: string, body?: object) => {
  const reply = await call(method, `${v1}/${path}`, body as never)
  assert.ok(reply.status < 300, reply.text)
  return reply.body?.data
}
const deal = async (title: string, value: number, more: object = {}) =>
  (
    await made(
      'deal',
      dealBody(known, {
        ...{ title, expected_close_date: '2031-02-10', deal_value: { currency: 'USD', value } },
        ...more,
      }) as never,
    )
  ).id as number

const { New, Proposal, Won, Lost } = known.stages
const colleague = await made('user', { name: 'Kim Colleague', email: 'kim@example.com', role: 3 })
const seven = await Promise.all(
  Array.from({ length: 7 }, (_, index) => deal(`Slipping ${index}`, 10 + index)),
)
const grows = await deal('Growing', 1000)
const moves = await deal('Moving', 2000)
const wins = await deal('Winning', 4000)
const loses = await deal('Losing', 8000)
const passed = await deal('Passed on', 500)
// All of that was some days ago.
await db.query(`UPDATE event SET at = at - interval '3 days'`)
await db.query(`UPDATE deal SET created_at = created_at - interval '3 days'`)
for (const id of seven) await sent('PATCH', `deal/${id}`, { expected_close_date: '2031-03-10' })
await sent('PATCH', `deal/${grows}`, { deal_value: { currency: 'USD', value: 1500 } })
await sent('PATCH', `deal/${moves}`, { pipeline_stage: Proposal! })
await sent('PATCH', `deal/${wins}`, {
  pipeline_stage: Won!,
  won_reason: 'Price',
  deal_closed_on: '2026-03-31',
})
const lost = { lost_reason: 'Junk Lead', deal_closed_on: '2026-03-31' }
await sent('PATCH', `deal/${loses}`, { pipeline_stage: Lost!, ...lost })
await sent('PATCH', `deal/${passed}`, { sales_owner: colleague.id })
await deal('Brand new', 3000, { pipeline_stage: New! })
const [row] = await db.query(`SELECT to_char(now() - interval '1 day', 'YYYY-MM-DD') AS yesterday`)
const since = row!.yesterday!
const address = `/forecast?report=changes&since=${since}&from=2031-01&months=3`

test('a manager sees the forecast then and now, what lies between, and the deals of each step', {
  skip,
}, async () => {
  const { page, accessible, end } = await openUi(service, `${address}&measure=best`)
  const chart = page.getByRole('group', { name: 'Changes of the forecast' })
  await chart.waitFor()
  const figures = page.getByRole('region', { name: 'Forecast then and now' }).locator('dl')
  await figures.getByText('$15,591', { exact: true }).waitFor()
  assert.match(await figures.innerText(), /\$7,091\nChange\n-\$8,500\nWon since\n\$4,000$/)
  for (const name of [
    'New: +$3,000, 1 deal',
    'Grown: +$500, 1 deal',
    'Lost: -$8,000, 1 deal',
    'Won: -$4,000, 1 deal',
  ])
    await chart.getByRole('link', { name, exact: true }).waitFor()
  // A step that changes no value has its deals all the same.
  assert.equal(await chart.getByText('Slipped').count(), 0)
  const slipped = page.getByRole('region', { name: 'Slipped: 7 deals' })
  await slipped.getByText('Feb 10, 2031 → to Mar 10, 2031').first().waitFor()
  assert.equal(await slipped.getByRole('listitem').count(), 5)
  await slipped.getByRole('button', { name: 'Show more slipped' }).click()
  await slipped.getByRole('listitem').nth(6).waitFor()
  assert.equal(await slipped.getByRole('button').count(), 0)
  const grown = page.getByRole('region', { name: 'Grown: 1 deal' })
  assert.match(await grown.getByRole('listitem').innerText(), /Growing.*\$1,000 → .*\$1,500/s)
  await accessible('changes')
  await page.getByRole('button', { name: 'Table' }).click()
  const table = page.getByRole('table', { name: 'Changes of the forecast' })
  await table.getByRole('row', { name: /^Won 1 -\$4,000$/ }).waitFor()
  await table.getByRole('row', { name: /^Forecast now 11 \$7,091$/ }).waitFor()
  await accessible('changes as a table')
  await grown.getByRole('link', { name: 'Growing' }).click()
  await page.waitForURL(url => url.pathname === `/deals/${grows}`)
  await end()
})

test('keys move through the waterfall, and lead to the deals of a step', { skip }, async () => {
  const { page, end } = await openUi(service, address)
  const chart = page.getByRole('group', { name: 'Changes of the forecast' })
  await chart.getByRole('link', { name: /^New: / }).focus()
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowUp')
  const mark = chart.getByRole('link', { name: /^Won: / })
  assert.equal(await mark.evaluate(element => element === document.activeElement), true)
  await page.keyboard.press('Enter')
  await page.locator('#changes-won:focus').waitFor()
  await page.keyboard.press('Tab')
  const deal = page.getByRole('link', { name: 'Winning' })
  assert.equal(await deal.evaluate(element => element === document.activeElement), true)
  // Weighted, a step forward changes the forecast.
  await chart.getByRole('link', { name: /^Moved forward: \+/ }).waitFor()
  await chart.getByRole('link', { name: /^Forecast now: / }).click()
  await page.waitForURL(url => url.pathname === '/deals')
  assert.equal(
    new URL(page.url()).searchParams.get('filter'),
    'status:eq(Open),expected_close_date:between(2031-01-01,2031-03-31)',
  )
  await end()
})

test('days, amounts and owner are in the address; each owner has a row', { skip }, async () => {
  const { page, end } = await openUi(service, `${address}&measure=best`)
  const owners = page.getByRole('table', { name: 'Changes by owner' })
  await owners.getByRole('row', { name: /^Kim Colleague \$0 \+\$500 \$0 \$0 \$0 \$0 \$500$/ }).waitFor()
  await owners
    .getByRole('row', { name: /^Everybody \$15,591 \+\$3,000 \+\$500 \$0 -\$8,000 -\$4,000 \$7,091$/ })
    .waitFor()
  await owners.getByRole('link', { name: 'Kim Colleague' }).click()
  await page.waitForURL(url => url.searchParams.get('owner') === String(colleague.id))
  await page.getByRole('region', { name: 'Came in: 1 deal' }).waitFor()
  await page.getByLabel('Amounts').selectOption('Weighted')
  await page.waitForURL(url => !url.searchParams.has('measure'))
  const choice = page.getByRole('group', { name: 'Changes', exact: true }).getByLabel('Changes')
  // On some days of a week or a month, yesterday is the first day of a period that is offered.
  const preset = presets(addDays(since, 1)).find(({ id }) => id === since)
  assert.equal(await choice.locator('option:checked').innerText(), preset?.name ?? 'Other days')
  await choice.selectOption('Last 7 days')
  await page.waitForURL(url => url.searchParams.get('since') !== since)
  await page.getByLabel('Until').fill(since)
  await page.waitForURL(url => url.searchParams.get('until') === since)
  await page.goto(`${service.url}/forecast?report=changes&since=1990-01-01`)
  await page.getByText(/There is no history of 1990-01-01/).waitFor()
  await end(/422/)
})

test('on a phone nothing is wider than the page', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, address, { size: { width: 390, height: 844 } })
  await page.getByRole('region', { name: 'Won: 1 deal' }).waitFor()
  await resize(page, 390)
  const width = await page.evaluate(() => document.querySelector('main')!.scrollWidth)
  assert.ok(width <= 390, String(width))
  await accessible('changes on a phone')
  await end()
})

test('whoever may not see the owners of deals sees the changes without them', { skip }, async () => {
  const { scopes } = (await call('GET', `${v1}/role/4`)).body.data
  const role = await made('role', { name: 'No owners', scopes, hidden_fields: ['deal.sales_owner'] })
  const { id } = await made('user', { name: 'Oda Noowner', email: 'oda@example.com', role: role.id })
  const { page, accessible, end } = await openUi(service, address, { user: id })
  await page.getByRole('region', { name: 'Won: 1 deal' }).waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
  await accessible('changes without owners')
  await end()
})

test('whoever sees no amounts sees how many deals came and went', { skip }, async () => {
  const { scopes } = (await call('GET', `${v1}/role/3`)).body.data
  const role = await made('role', { name: 'No amounts', scopes, hidden_fields: ['deal.deal_value'] })
  const { id } = await made('user', { name: 'Nora Nosum', email: 'nora@example.com', role: role.id })
  const { page, accessible, end } = await openUi(service, address, { user: id })
  const chart = page.getByRole('group', { name: 'Changes of the forecast' })
  await chart.getByRole('link', { name: 'Won: -1, 1 deal' }).waitFor()
  await page.getByRole('region', { name: 'Moved forward: 1 deal' }).waitFor()
  assert.doesNotMatch(await page.locator('main').innerText(), /\$|Weighted|NaN/)
  await accessible('changes without amounts')
  await end()
})
