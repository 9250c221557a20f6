/**
 * The board says what is next for each deal (D158): a mark with a shape, filters and orders, the fields that
 * a pipeline has chosen for its cards, columns that fit, and targets for Won and Lost.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { nextStateOf } from '../../web/src/activities/next-state.ts'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { openUi } from '../support/ui.ts'

const service = await startService()
const { call, known, made } = service
const skip = noBrowser

const makeDeal = async (title: string): Promise<number> =>
  (await made('deal', dealBody(known, { title, pipeline_stage: known.stages.New! }))).id
const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString()
const card = (page: Page, title: string) => page.getByRole('listitem').filter({ hasText: title })

test('the state of a next step, by the day of the reader', () => {
  const day = (iso: string) => new Date(Date.parse(iso) + 13 * 3_600_000).toISOString().slice(0, 10)
  const state = (upcoming_activities: unknown, next_activity_at?: unknown) =>
    nextStateOf({ upcoming_activities, next_activity_at }, '2026-09-27T10:00:00.000Z', day)
  assert.equal(state(0, null), 'none')
  assert.equal(state(1, null), 'later')
  assert.equal(state(2, '2026-09-27T09:59:00.000Z'), 'overdue')
  assert.equal(state(2, '2026-09-27T10:59:00.000Z'), 'today')
  assert.equal(state(2, '2026-09-27T11:00:00.000Z'), 'later')
  // The role hides what it follows from.
  assert.equal(state(undefined, null), null)
  assert.equal(state(1), null)
})

test('each card says what is next by a shape and by words, and follows what is planned', {
  skip,
}, async () => {
  const titles = ['Next: nothing', 'Next: overdue', 'Next: much later']
  const [nothing, overdue, later] = await Promise.all(titles.map(makeDeal))
  await made('activity', { kind: 'Call', subject: 'Call them', deal: overdue!, due_at: hours(-30) })
  await made('activity', { kind: 'Task', subject: 'Ask again', deal: later!, due_at: hours(24 * 40) })
  const { page, accessible, end } = await openUi(service, '/board?filter=title:like(Next:)')
  const mark = (title: string) => card(page, title).locator('[data-next]')
  await mark('Next: nothing').waitFor()
  assert.equal(await mark('Next: nothing').textContent(), 'Nothing planned')
  assert.match((await mark('Next: overdue').textContent())!, /^Overdue: Call them, /)
  assert.match((await mark('Next: much later').getAttribute('title'))!, /^Next: Ask again, /)
  const shapes = await page
    .locator('[data-next] path')
    .evaluateAll(all => all.map(one => one.getAttribute('d')))
  assert.equal(new Set(shapes).size, 3)
  await accessible('a board with next steps')
  await made('activity', { kind: 'Meeting', subject: 'Visit', deal: nothing!, due_at: hours(0.01) })
  await page
    .getByText(/^(Today|Overdue|Next): Visit, /)
    .first()
    .waitFor({ state: 'attached' })
  await end()
})

test('deals with nothing planned are found by one press, and come first by another', { skip }, async () => {
  const [forgotten, planned] = await Promise.all(['Zz forgotten', 'Zz planned'].map(makeDeal))
  await made('activity', { kind: 'Call', subject: 'Call', deal: planned!, due_at: hours(30) })
  const { page, accessible, end } = await openUi(service, '/deals?filter=title:like(Zz)')
  const rows = () => page.getByRole('row').filter({ hasText: 'Zz' }).allTextContents()
  await page.getByRole('row').filter({ hasText: 'Zz planned' }).waitFor()
  await page.getByRole('button', { name: 'Nothing planned' }).click()
  await page.getByRole('row').filter({ hasText: 'Zz planned' }).waitFor({ state: 'detached' })
  await page.getByRole('row').filter({ hasText: 'Zz forgotten' }).waitFor()
  assert.equal((await rows()).length, 1)
  await page.getByRole('button', { name: 'Nothing planned' }).click()
  await page.getByRole('row').filter({ hasText: 'Zz planned' }).waitFor()
  await page.keyboard.press('s')
  await page.getByRole('button', { name: 'Nothing planned first' }).click()
  await accessible('the orders of deals')
  await page.keyboard.press('Escape')
  await page.waitForURL(/sort=upcoming_activities/)
  const [first] = await rows()
  assert.match(first!, /Zz forgotten/)
  await call('DELETE', `${v1}/deal/${forgotten}`)
  await end()
})

test('six stages fit a laptop, and a card is dropped on Won or Lost at the foot', { skip }, async () => {
  const deal = await makeDeal('Won by a target')
  const { page, end } = await openUi(service, '/board', { size: { width: 1440, height: 900 } })
  await card(page, 'Won by a target').waitFor()
  const columns = page.locator('[data-column]')
  assert.equal(await columns.count(), 6)
  const last = (await columns.last().boundingBox())!
  assert.ok(last.x + last.width <= 1440, `${last.x + last.width}`)
  const targets = page.locator('.drop-targets')
  assert.equal(await targets.isVisible(), false)
  const from = (await card(page, 'Won by a target').boundingBox())!
  await page.mouse.move(from.x + 60, from.y + 20)
  await page.mouse.down()
  await page.mouse.move(from.x + 90, from.y + 60, { steps: 4 })
  await targets.waitFor()
  const won = (await targets.getByText('Won').boundingBox())!
  await page.mouse.move(won.x + 10, won.y + 10, { steps: 8 })
  await page.waitForTimeout(100)
  await page.mouse.up()
  const dialog = page.getByRole('dialog', { name: 'Mark as won' })
  await dialog.getByLabel('Why was it won?').selectOption({ index: 1 })
  await dialog.getByRole('button', { name: 'Mark as won' }).click()
  await page.getByText('Won by a target is in Won now.').waitFor()
  assert.equal((await call('GET', `${v1}/deal/${deal}`)).body.data.pipeline_stage, known.stages.Won)
  assert.equal(await targets.isVisible(), false)
  await end()
})

test('a pipeline chooses up to four fields for its cards', { skip }, async () => {
  const deal = await makeDeal('With chosen fields')
  const values = {
    description: 'Needs a crane',
    source: known.options.source!.Webinar!,
    cf_custom_number_field: 1234,
  }
  assert.equal((await call('PATCH', `${v1}/deal/${deal}`, values)).status, 200)
  const { page, accessible, end } = await openUi(service, '/settings/pipelines')
  await page.getByRole('button', { name: 'Card fields' }).click()
  const dialog = page.getByRole('dialog', { name: 'Card fields' })
  for (const label of ['Description', 'Source', 'Custom number field', 'Stage probability'])
    await dialog.getByRole('combobox', { name: 'Fields' }).selectOption({ label })
  await accessible('the fields of cards')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${service.url}/board`)
  const shown = card(page, 'With chosen fields')
  for (const text of ['Needs a crane', 'Webinar', '1,234', '10'])
    await shown.getByText(text).first().waitFor()
  await accessible('cards with chosen fields')
  const { height } = (await shown.boundingBox())!
  assert.equal(height, 92)
  // Of several pipelines the board is the first (D129), also where new deals begin in another.
  await call('PATCH', `${v1}/pipeline/${known.pipeline}`, { is_default: 'No' })
  const { id: renewals } = await made('pipeline', { name: 'Renewals', is_default: 'Yes' })
  for (const search of ['', '?pipeline=sales%20pipeline']) {
    await page.goto(`${service.url}/board${search}`)
    await shown.getByText('Needs a crane').waitFor()
  }
  await call('DELETE', `${v1}/pipeline/${renewals}`)
  await call('PATCH', `${v1}/pipeline/${known.pipeline}`, { is_default: 'Yes' })
  await call('PATCH', `${v1}/pipeline/${known.pipeline}`, { card_fields: [] })
  await shown.getByText('Needs a crane').waitFor({ state: 'detached' })
  await end()
})

test('a table of deals follows the activities that others plan', { skip }, async () => {
  const deal = await makeDeal('Planned by another')
  const search = 'filter=title:eq(Planned by another)&columns=title,upcoming_activities'
  const { page, end } = await openUi(service, `/deals?${search}`)
  const count = page.locator('[data-cell="0.2"]')
  await count.getByText('0', { exact: true }).waitFor()
  await made('activity', { kind: 'Call', subject: 'Planned elsewhere', deal, due_at: hours(30) })
  await count.getByText('1', { exact: true }).waitFor()
  await end()
})

test('a deal that was to close today is overdue after midnight, on a board that stays open', {
  skip,
}, async () => {
  const day = '2031-05-01'
  await made('deal', dealBody(known, { title: 'Closes tonight', expected_close_date: day }))
  const { page, end } = await openUi(service, '/deals')
  await page.clock.install({ time: `${day}T12:00:00Z` })
  await page.goto(`${service.url}/board?filter=title:eq(Closes tonight)`)
  await card(page, 'Closes tonight').getByText('Expected to close').waitFor()
  await page.clock.fastForward('24:00:00')
  await card(page, 'Closes tonight').getByText('Overdue since').waitFor()
  await end()
})
