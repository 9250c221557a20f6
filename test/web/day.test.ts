/**
 * A working day of a sales person, on a desk by keys and mouse and on a phone by touch: calls logged, deals
 * moved and closed, meetings planned, one deal handed over. Then a manager reads on two pages what came of
 * it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { type Changes, wordsOf } from '../../web/src/pages/reports/changes.ts'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { focusIn, messageOf, openUi, type Ui } from '../support/ui.ts'

const service = await startService()
const { call, db, get, known, made } = service
const skip = noBrowser

const desk = { size: { width: 1280, height: 800 } }
const phone = { size: { width: 390, height: 844 }, context: { hasTouch: true, isMobile: true } }
const dollars = (value: number, sign: 'auto' | 'exceptZero' = 'auto') =>
  new Intl.NumberFormat('en-US', {
    ...({ style: 'currency', currency: 'USD', maximumFractionDigits: 0, signDisplay: sign } as const),
  }).format(value)
const deals = (count: number) => `${count} ${count === 1 ? 'deal' : 'deals'}`
const stored = async (id: number) => (await get(`${v1}/deal/${id}`)).body.data
const dialogOf = (page: Page, name: string) => page.getByRole('dialog', { name })
const chip = (page: Page, name: string) => page.getByRole('dialog').getByText(name, { exact: true })

type Day = {
  readonly ids: readonly number[]
  readonly title: (nth: number) => string
  readonly seller: number
  readonly colleague: { readonly id: number; readonly name: string }
}

/** Eight deals of a seller, which are some days old. */
async function morning(word: string): Promise<Day> {
  const person = async (name: string) =>
    (await made('user', { name, email: `${name.replace(' ', '.')}@example.com`, role: 3 })).id as number
  const [seller, colleague] = [await person(`Sam ${word}`), await person(`Kim ${word}`)]
  const title = (nth: number) => `${word} ${nth}`
  const ids: number[] = []
  for (let nth = 1; nth <= 8; nth++) {
    const deal_value = { currency: 'USD', value: 1000 * nth }
    const values = { title: title(nth), sales_owner: seller, expected_close_date: '2031-02-10', deal_value }
    ids.push((await made('deal', dealBody(known, values) as never)).id)
  }
  for (const table of ['event', 'deal']) {
    const column = table === 'event' ? 'at' : 'created_at'
    await db.query(`UPDATE ${table} SET ${column} = ${column} - interval '3 days'`)
  }
  return { ids, title, seller, colleague: { id: colleague, name: `Kim ${word}` } }
}

const board = (word: string) =>
  `/board?${new URLSearchParams({ filter: `title:like(${word})`, sort: 'title:asc' })}`
const card = (page: Page, title: string) => page.getByRole('link', { name: title })

/** Counts the presses of keys, buttons and places from now on. */
function pressesOf(page: Page) {
  let count = 0
  const counted =
    <T extends unknown[]>(act: (...those: T) => Promise<void>) =>
    (...those: T) => {
      count++
      return act(...those)
    }
  return {
    key: counted((key: string) => page.keyboard.press(key)),
    click: counted((place: Locator) => place.click()),
    tap: counted((place: Locator) => place.tap()),
    /** Does something that saves an activity, and waits until it is saved and the form is gone. */
    saves: async (act: () => Promise<void>) => {
      const answer = page.waitForResponse(
        one => one.url().endsWith('/activity/batch') && one.request().method() === 'POST',
      )
      await act()
      assert.equal((await answer).status(), 200)
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    },
    /** The number of presses since the last one. */
    since: () => {
      const pressed = count
      count = 0
      return pressed
    },
  }
}

/** The service has what the day came to. */
async function assertDone(day: Day, calls: readonly [number, string][]): Promise<void> {
  const list = async (filter: string) =>
    (await get(`${v1}/activity/view/list?filter=${filter},deal:in(${day.ids.join()})&sort=id:asc`)).body.data
  assert.deepEqual(
    (await list('kind:eq(Call)')).map((one: { deal: number; outcome: string }) => [one.deal, one.outcome]),
    calls.map(([nth, outcome]) => [day.ids[nth - 1], outcome]),
  )
  const meetings = await list('kind:eq(Meeting),done_at:isnull(true)')
  assert.equal(meetings.length, 2)
  for (const { due_at, owner } of meetings) {
    assert.ok(Date.parse(due_at) > Date.now())
    assert.equal(owner, day.seller)
  }
  const after = await Promise.all(day.ids.map(stored))
  const { New, Qualified, Won, Lost } = known.stages
  assert.deepEqual(
    after.map(({ pipeline_stage }) => pipeline_stage),
    [New, Qualified, Qualified, Qualified, Won, Lost, New, New],
  )
  assert.ok(after[4].won_reason && after[5].lost_reason)
  assert.deepEqual(
    after.map(({ sales_owner }) => sales_owner),
    [...Array(7).fill(day.seller), day.colleague.id],
  )
}

/** Chooses a reason, and closes the deal. */
async function close(page: Page, what: 'won' | 'lost', press: (place: Locator) => Promise<void>) {
  const dialog = dialogOf(page, `Mark as ${what}`)
  await dialog.getByLabel(`Why was it ${what}?`).selectOption({ index: 1 })
  await press(dialog.getByRole('button', { name: `Mark as ${what}` }))
  await dialog.waitFor({ state: 'detached' })
}

/** Plans a meeting for a day that the form offers. */
async function plan(page: Page, day: string, press: (place: Locator) => Promise<void>) {
  await press(chip(page, day))
  await page.getByLabel('Kind of the next step').selectOption('Meeting')
  await press(page.getByRole('button', { name: 'Plan it' }))
  await messageOf(page, 'Planned “Meeting”').last().waitFor()
}

test('a day on a desk, by keys and mouse, and what a manager reads of it', { skip }, async () => {
  const day = await morning('Deskday')
  const { title } = day
  const ui = await openUi(service, board('Deskday'), { user: day.seller, ...desk })
  const { page } = ui
  const pressed = pressesOf(page)
  // Calls by keys: the focus stays on the card.
  await card(page, title(1)).focus()
  for (const nth of [1, 2, 3]) {
    await focusIn(card(page, title(nth)))
    pressed.since()
    await pressed.key('l')
    await focusIn(dialogOf(page, 'Log a call').getByRole('radio', { name: 'None' }).first())
    await pressed.key('ArrowRight')
    await pressed.saves(() => pressed.key('Control+Enter'))
    assert.ok(pressed.since() <= 3)
    await focusIn(card(page, title(nth)))
    await page.keyboard.press('ArrowDown')
  }
  // By mouse.
  for (const nth of [4, 5]) {
    await card(page, title(nth)).hover()
    await pressed.click(page.getByRole('button', { name: `Log a call about ${title(nth)}`, exact: true }))
    await pressed.click(chip(page, 'No answer'))
    await pressed.saves(() => pressed.click(page.getByRole('button', { name: 'Log call' })))
    assert.ok(pressed.since() <= 3)
  }
  // Two deals are moved by keys, and one by the mouse.
  for (const nth of [2, 3]) {
    await card(page, title(nth)).focus()
    await pressed.key('Shift+ArrowRight')
    await page.getByText(`${title(nth)} is in Qualified now.`).waitFor()
  }
  const [from, to] = [card(page, title(4)), page.getByRole('region', { name: 'Qualified', exact: true })]
  const [start, end] = [(await from.boundingBox())!, (await to.boundingBox())!]
  await page.mouse.move(start.x + 40, start.y + 8)
  await page.mouse.down()
  await page.mouse.move(start.x + 80, start.y + 30, { steps: 4 })
  await page.mouse.move(end.x + end.width / 2, end.y + 160, { steps: 8 })
  await page.mouse.up()
  await page.getByText(`${title(4)} is in Qualified now.`).waitFor()
  // One is won, one lost.
  for (const [nth, key, what, stage] of [
    [5, 'w', 'won', 'Won'],
    [6, 'x', 'lost', 'Lost'],
  ] as const) {
    await card(page, title(nth)).focus()
    await pressed.key(key)
    await close(page, what, pressed.click)
    await page.getByText(`${title(nth)} is in ${stage} now.`).waitFor()
  }
  // Meetings are planned from the palette.
  for (const [nth, when] of [
    [1, 'Tomorrow'],
    [7, 'In 3 days'],
  ] as const) {
    await card(page, title(nth)).focus()
    await pressed.key('Control+k')
    await page.getByRole('searchbox').fill('Plan the next step')
    await pressed.key('Enter')
    await dialogOf(page, 'Plan the next step').waitFor()
    await pressed.saves(() => plan(page, when, pressed.click))
  }
  // The last deal is handed over.
  await card(page, title(8)).focus()
  await pressed.key('Space')
  const bar = page.getByRole('region', { name: 'Selected' })
  await pressed.click(bar.getByRole('button', { name: 'Sales owner…' }))
  await page.getByRole('combobox', { name: 'Sales owner' }).fill(day.colleague.name)
  await pressed.click(page.getByRole('option', { name: day.colleague.name }))
  await pressed.click(page.getByRole('dialog').getByRole('button', { name: /^Change/ }))
  await page.getByText('1 deal changed.').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await ui.accessible('the board at the end of the day')
  await ui.end()
  const [reached, missed] = ['Reached', 'No answer']
  await assertDone(
    day,
    [1, 2, 3, 4, 5].map(nth => [nth, nth < 4 ? reached : missed] as [number, string]),
  )
  await assertReports('Deskday', day, await openUi(service, '/today', desk))
})

test('a day on a phone, by touch, and what a manager reads of it there', { skip }, async () => {
  const day = await morning('Phoneday')
  const { title, ids } = day
  const ui = await openUi(service, board('Phoneday'), { user: day.seller, ...phone })
  const { page } = ui
  const pressed = pressesOf(page)
  const calls = [1, 2, 3, 4, 5].map(nth => [nth, nth % 2 ? 'Reached' : 'Left a message'] as [number, string])
  for (const [nth, outcome] of calls) {
    await pressed.tap(page.getByRole('button', { name: `Log a call about ${title(nth)}`, exact: true }))
    await pressed.tap(chip(page, outcome))
    await pressed.saves(() => pressed.tap(page.getByRole('button', { name: 'Log call' })))
    assert.ok(pressed.since() <= 3)
  }
  await ui.accessible('the board on a phone, after calls')
  // The page of a deal has the rest at its foot.
  const foot = page.getByRole('region', { name: 'Actions' })
  const show = async (nth: number) => {
    await page.goto(`${service.url}/deals/${ids[nth - 1]}`)
    await page.getByRole('heading', { name: title(nth), level: 1 }).waitFor()
  }
  const move = async (nth: number, stage: string) => {
    await show(nth)
    await pressed.tap(foot.getByRole('button', { name: 'Move' }))
    await pressed.tap(page.getByRole('menuitem', { name: new RegExp(`^${stage}`) }))
  }
  for (const nth of [2, 3, 4]) {
    await move(nth, 'Qualified')
    await page.getByText('Moved to Qualified.').waitFor()
  }
  for (const [nth, what, stage] of [
    [5, 'won', 'Won'],
    [6, 'lost', 'Lost'],
  ] as const) {
    await move(nth, stage)
    await close(page, what, pressed.tap)
    await page.getByText(`Moved to ${stage}.`).waitFor()
  }
  for (const [nth, when] of [
    [1, 'Tomorrow'],
    [7, 'In 3 days'],
  ] as const) {
    await show(nth)
    await pressed.tap(foot.getByRole('button', { name: 'Next step' }))
    await pressed.saves(() => plan(page, when, pressed.tap))
  }
  await show(8)
  await pressed.tap(page.getByRole('tab', { name: 'Overview' }))
  await pressed.tap(page.getByRole('button', { name: /^Edit Sales owner/ }))
  const owner = page.getByRole('combobox', { name: 'Sales owner' })
  await focusIn(owner)
  await owner.fill(day.colleague.name)
  await pressed.tap(page.getByRole('option', { name: day.colleague.name }))
  await pressed.tap(page.getByRole('button', { name: 'Save', exact: true }))
  await page.getByText('Saved Sales owner.').waitFor()
  await ui.accessible('a deal that is handed over, on a phone')
  await ui.end()
  await assertDone(day, calls)
  await assertReports('Phoneday', day, await openUi(service, '/today', phone))
})

/** Both pages of a manager say what the service answers: the changes of the forecast, and a view's list. */
async function assertReports(word: string, { seller, colleague }: Day, ui: Ui): Promise<void> {
  const { page, accessible, end } = ui
  const since = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const query = { from: since, expected_from: '2031-01-01', expected_to: '2031-03-31', by: 'owner' }
  const changes: Changes = (await get(`${v1}/deal/changes?${new URLSearchParams(query)}`)).body.data
  const counts = new Map(changes.steps.map(({ kind, count }) => [kind, count]))
  await page.goto(`${service.url}/forecast?report=changes&since=${since}&from=2031-01&months=3&measure=best`)
  for (const { kind, count } of changes.steps.filter(step => step.count > 0)) {
    const step = page.getByRole('region', { name: `${wordsOf[kind].name}: ${deals(count)}`, exact: true })
    await step.waitFor()
  }
  assert.ok(counts.get('won')! > 0 && counts.get('lost')! > 0 && counts.get('moved_forward')! > 2)
  const chart = page.getByRole('group', { name: 'Changes of the forecast' })
  for (const { kind, count, value } of changes.steps.filter(step => step.value)) {
    const name = `${wordsOf[kind].name}: ${dollars(value!, 'exceptZero')}, ${deals(count)}`
    await chart.getByRole('link', { name, exact: true }).waitFor()
  }
  const figures = await page.getByRole('region', { name: 'Forecast then and now' }).locator('dl').innerText()
  for (const value of [changes.before.value!, changes.after.value!])
    assert.ok(figures.includes(dollars(value)), `${figures}: ${dollars(value)}`)
  const owners = page.getByRole('table', { name: 'Changes by owner' })
  for (const owner of changes.owners!.filter(one =>
    [seller, colleague.id].includes(one.sales_owner?.id ?? 0),
  )) {
    const row = owners.getByRole('row', { name: new RegExp(`^${owner.sales_owner!.name} `) })
    const cells = await row.getByRole('cell').allInnerTexts()
    assert.equal(cells.at(-1), dollars(owner.after.value!))
  }
  await accessible(`the changes of ${word}`)

  const filter = `title:like(${word})`
  const columns = ['title', 'pipeline_stage', 'deal_value', 'sales_owner'].map(field => ({ field }))
  const view = { name: `Monday ${word}`, source: 'deal', mode: 'Table', filter, sort: 'title:asc', columns }
  const { id } = await made('view', { ...view, metadata: { group_by: 'sales_owner' } } as never)
  const request = { filter, group_by: 'sales_owner', measures: ['count', 'sum:deal_value'] }
  const groups = (await call('POST', `${v1}/deal/aggregate`, request as never)).body.data
  await page.goto(`${service.url}/deals?view=${id}`)
  for (const { name, count, 'sum:deal_value': sum } of groups) {
    const text = new RegExp(
      `^${name}\\s*${count}\\s*${dollars(sum.in_base_currency.value).replace('$', '\\$')}$`,
    )
    const [treegrid, list] = [
      page.getByRole('treegrid').getByRole('row'),
      page.getByRole('list').getByRole('button'),
    ]
    await treegrid.or(list).filter({ hasText: text }).waitFor()
  }
  assert.deepEqual(
    groups.map((one: { group: number; count: number }) => [one.group, one.count]),
    [
      [seller, 7],
      [colleague.id, 1],
    ],
  )
  await accessible(`the list of ${word}`)
  await end()
}
