/** The calendar's reads (D160): of what began long before, and of all once while others are moved. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../src/json.ts'
import { noBrowser } from '../support/chromium.ts'
import { startService, v1 } from '../support/service.ts'
import { openUi } from '../support/ui.ts'

const service = await startService({ sampleData: false })
const { call, made } = service
const skip = noBrowser
assert.equal((await call('PATCH', `${v1}/account`, { time_zone: 'Europe/Berlin' })).status, 200)
assert.equal((await call('PATCH', `${v1}/me`, { locale: 'en-GB' })).status, 200)
const contact = (await made('contact', { first_name: 'Ada', last_name: 'Example' })).id

const activity = (subject: string, due_at: string, more: JsonObject = {}) =>
  made('activity', { kind: 'Task', subject, due_at, contact, owner: 1, ...more })
const entries = (page: Page, title: string) => page.locator('a[data-entry]').filter({ hasText: title })
/** The days of the week that show an entry, above the hours or between them. */
const daysOf = (page: Page, title: string, place: '[data-hours]' | ':not([data-hours])') =>
  page
    .locator(`[data-day]${place}`)
    .filter({ has: page.locator('a[data-entry]').filter({ hasText: title }) })
    .evaluateAll(days => days.map(day => (day as HTMLElement).dataset.day))

test('what began days before goes on in the week, between the hours or above them', { skip }, async () => {
  // The week begins on Monday, 2027-06-14.
  const hour = 60
  await activity('Fair', '2027-06-10T13:00:00Z', { duration: 5 * 24 * hour + 2 * hour })
  await activity('Leave', '2027-06-08T22:00:00Z', { duration: 8 * 24 * hour })
  await activity('Over', '2027-06-10T13:00:00Z', { duration: 3 * 24 * hour })
  await activity('Short', '2027-06-12T13:00:00Z', { duration: 2 * hour })
  await activity('Now', '2027-06-15T06:00:00Z')
  const { page, accessible, end } = await openUi(service, '/calendar?date=2027-06-16')
  await entries(page, 'Now').waitFor()
  assert.deepEqual(await daysOf(page, 'Fair', '[data-hours]'), ['2027-06-14', '2027-06-15'])
  assert.deepEqual(await daysOf(page, 'Leave', ':not([data-hours])'), [
    '2027-06-14',
    '2027-06-15',
    '2027-06-16',
  ])
  for (const title of ['Over', 'Short']) assert.equal(await entries(page, title).count(), 0, title)
  // Its name is in sight below the head, though it began above.
  const text = (await page.locator('[data-hours] a[data-entry] .text').first().boundingBox())!
  const head = (await page.locator('[data-day]:not([data-hours])').first().boundingBox())!
  assert.ok(text.y >= head.y + head.height && text.y < head.y + head.height + 20, `${text.y}`)
  await accessible('a week with what began before it')
  await end()
})

test('each activity is read once, also if it is moved between two pages', { skip }, async () => {
  const begin = Date.parse('2028-02-07T07:00:00Z')
  const at = (minutes: number) => new Date(begin + minutes * 60_000).toISOString()
  for (const from of [0, 350]) {
    const operations = Array.from({ length: 350 }, (_, nth) => ({
      op: 'create',
      data: { kind: 'Task', subject: `Task ${from + nth}`, owner: 1, contact, due_at: at(5 * (from + nth)) },
    }))
    assert.equal((await call('POST', `${v1}/activity/batch`, { operations })).status, 200)
  }
  const list = `${v1}/activity/view/list?filter=subject:like(Task)&pageSize=1&sort=id:asc`
  const [first] = (await call('GET', list)).body.data
  const { page, end } = await openUi(service, '/calendar?date=2027-06-16')
  const read: { ids: number[]; hasMore: boolean }[] = []
  await page.route(/activity\/view\/list.*2028-02-0/, async route => {
    // The first activity goes to the end before the second page is read.
    if (read.length === 1) await call('PATCH', `${v1}/activity/${first.id}`, { due_at: at(4000) })
    const answer = await route.fetch()
    const { data, meta } = await answer.json()
    read.push({ ids: data.map(({ id }: { id: number }) => id), hasMore: meta.hasMore })
    await route.fulfill({ response: answer })
  })
  await page.goto(`${service.url}/calendar?date=2028-02-09`)
  await entries(page, 'Task 1').first().waitFor()
  const pages = read.slice(0, 2)
  assert.deepEqual(
    pages.map(({ ids, hasMore }) => [ids.length, hasMore]),
    [
      [500, true],
      [200, false],
    ],
  )
  assert.equal(new Set(pages.flatMap(({ ids }) => ids)).size, 700)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await end()
})
