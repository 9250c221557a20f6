/** Groups of a table and views in the sidebar (D171): by mouse, by keys alone, and by touch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Field } from '../../web/src/api/api.ts'
import { formats } from '../../web/src/format/format.ts'
import {
  conditionOf,
  groupsOf,
  parseCollapsed,
  placeIn,
  printCollapsed,
  sectionsOf,
  toggled,
} from '../../web/src/records/groups/grouping.ts'
import { noBrowser } from '../support/chromium.ts'
import { makeManyDeals } from '../support/many-deals.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { openUi } from '../support/ui.ts'

const service = await startService()
const { call, known, made } = service
const skip = noBrowser

const field = (internal_name: string, type: string) =>
  ({ internal_name, type, field_name: internal_name, is_expandable: true }) as Field
const sums = (group: number | string | null, name: string | null, count: number) => ({ group, name, count })
const format = formats({ locale: 'en-US', timeZone: 'UTC' })

test('groups have the order of their field, and each row its place in one of them', () => {
  const by = { field: field('source', 'DROPDOWN'), by: 'source', isMonth: false }
  const choices = [
    { id: 7, name: 'Web' },
    { id: 3, name: 'Fair' },
  ]
  const found = [sums(null, null, 5), sums(3, 'Fair', 2), sums(7, 'Web', 1)]
  const groups = groupsOf(by, found, { filter: 'status:eq(1)' }, choices, format)
  assert.deepEqual(
    groups.map(({ label, request }) => [label, request.filter]),
    [
      ['Web', 'status:eq(1),source:eq(7)'],
      ['Fair', 'status:eq(1),source:eq(3)'],
      ['No source', 'status:eq(1),source:isnull(true)'],
    ],
  )
  const { sections, rows } = sectionsOf(groups, parseCollapsed('3'))
  assert.equal(rows, 1 + 1 + 1 + (1 + 5))
  const places = Array.from({ length: rows + 1 }, (_, row) => placeIn(sections, row))
  assert.deepEqual(
    places.map(at => at && [at.section.key, at.index]),
    [['7', -1], ['7', 0], ['3', -1], ['none', -1], ...[0, 1, 2, 3, 4].map(row => ['none', row]), null],
  )
  assert.equal(placeIn([], 0), null)
  const months = { field: field('due', 'DATE'), by: 'due:month', isMonth: true }
  assert.equal(conditionOf(months, '2028-02-01'), 'due:between(2028-02-01,2028-02-29)')
  const dated = [sums('2027-03-01', null, 1), sums('2026-12-01', null, 9)]
  const keys = (sort = '') => groupsOf(months, dated, { sort }, [], format).map(({ key }) => key)
  assert.deepEqual(keys(), ['2026-12-01', '2027-03-01'])
  assert.deepEqual(keys('due:desc'), ['2027-03-01', '2026-12-01'])
})

test('collapsed groups in an address', () => {
  for (const text of [undefined, '3,none', 'all:', 'all:3'])
    assert.equal(printCollapsed(parseCollapsed(text)), text)
  assert.equal(printCollapsed(toggled(parseCollapsed('3'), '3')), undefined)
  assert.equal(printCollapsed(toggled(parseCollapsed('all:'), '5')), 'all:5')
})

const usd = (value: number) => ({ deal_value: { currency: 'USD', value } })
const grid = (page: Page) => page.getByRole('treegrid')
const header = (page: Page, label: string) =>
  grid(page)
    .getByRole('row')
    .filter({ hasText: new RegExp(`^${label}\\d`) })
const rowOf = (page: Page, title: string) => grid(page).getByRole('row').filter({ hasText: title })

async function makeDeals(word: string): Promise<string> {
  const { New: fresh, Proposal: proposal } = known.stages
  const values = [
    { ...usd(10.1), pipeline_stage: proposal!, expected_close_date: '2027-01-31' },
    { ...usd(20.2), pipeline_stage: fresh!, expected_close_date: '2027-02-01' },
    { ...usd(30.3), pipeline_stage: fresh!, expected_close_date: '2027-02-28' },
  ]
  for (const [index, value] of values.entries())
    await made('deal', dealBody(known, { title: `${word} ${index + 1}`, ...value }))
  const columns = 'title,pipeline_stage,deal_value,expected_close_date'
  return `/deals?${new URLSearchParams({ filter: `title:like(${word})`, sort: 'title:asc', columns })}`
}

test('a table is grouped by a stage with counts and sums, collapsed, and saved as a view', {
  skip,
}, async () => {
  const path = await makeDeals('Groupham')
  const { page, accessible, end } = await openUi(service, path)
  await page.getByRole('grid').getByRole('link').first().waitFor()
  await page.getByRole('button', { name: 'Group', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Stage', exact: true }).click()
  await header(page, 'New').getByText('$50.50').waitFor()
  await header(page, 'Proposal').getByText('$10.10').waitFor()
  await rowOf(page, 'Groupham 3').waitFor()
  const texts = await grid(page).locator('[aria-level]').allTextContents()
  assert.deepEqual(
    texts.map(text => /^(New2|Proposal1)|Groupham \d/.exec(text)?.[0]),
    ['New2', 'Groupham 2', 'Groupham 3', 'Proposal1', 'Groupham 1'],
  )
  await accessible('a grouped table')
  await header(page, 'New').click()
  await rowOf(page, 'Groupham 2').waitFor({ state: 'detached' })
  await page.waitForURL(/collapsed=/)
  await accessible('a collapsed group')
  // A selection goes over the headers, and a change of the stage moves the row.
  await header(page, 'New').click()
  await rowOf(page, 'Groupham 2').getByRole('checkbox').locator('..').click()
  await rowOf(page, 'Groupham 1')
    .getByRole('checkbox')
    .locator('..')
    .click({ modifiers: ['Shift'] })
  await page.getByText('3 selected').waitFor()
  await page.keyboard.press('Escape')
  const [deal] = (await call('GET', `${v1}/deal/view/list?filter=title:eq(Groupham 1)`)).body.data
  await call('PATCH', `${v1}/deal/${deal.id}`, { pipeline_stage: known.stages.New! })
  await header(page, 'Proposal').waitFor({ state: 'detached' })
  await header(page, 'New').getByText('$60.60').waitFor()
  await rowOf(page, 'Groupham 1').waitFor()

  await page.getByRole('button', { name: 'Save view…' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('By stage')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'View: By stage' }).waitFor()
  const { body } = await call('GET', `${v1}/view/view/list?filter=name:eq(By stage)`)
  assert.equal(body.data[0].metadata.group_by, 'pipeline_stage')
  await page.goto(`${service.url}/deals?view=${body.data[0].id}`)
  await header(page, 'New').waitFor()
  assert.equal(await page.getByText('Edited').count(), 0)
  await page.getByRole('button', { name: 'Group: Stage' }).click()
  await page.getByRole('menuitem', { name: 'Nothing' }).click()
  await page.getByRole('grid').waitFor()
  await page.getByText('Edited').waitFor()
  await end()
})

test('months are groups; keys collapse and open them', { skip }, async () => {
  const path = await makeDeals('Monthly')
  const { page, end } = await openUi(service, `${path}&group=expected_close_date`)
  await header(page, 'Jan 2027').waitFor()
  await rowOf(page, 'Monthly 3').waitFor()
  const isOn = (row: number) =>
    page.waitForFunction(at => document.activeElement?.getAttribute('data-cell')?.startsWith(`${at}.`), row)
  await page.locator('[data-cell="1.1"]').focus()
  await page.keyboard.press('ArrowUp')
  await isOn(0)
  await page.keyboard.press('ArrowLeft')
  await rowOf(page, 'Monthly 1').waitFor({ state: 'detached' })
  await isOn(0)
  await page.keyboard.press('ArrowDown')
  await isOn(1)
  await page.keyboard.press('Enter')
  await rowOf(page, 'Monthly 2').waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')
  await rowOf(page, 'Monthly 2').waitFor()
  await page.keyboard.press('ArrowUp')
  await isOn(0)
  await page.keyboard.press('ArrowRight')
  await rowOf(page, 'Monthly 1').waitFor()
  await end()
})

test('groups of thousands of rows are read in windows; moments are grouped by month', { skip }, async () => {
  await makeManyDeals(service.db, 5000)
  const { page, end } = await openUi(service, '/deals?group=created_at&columns=title,created_at&sort=id:asc')
  await grid(page).getByRole('link').first().waitFor()
  const { body } = await call('POST', `${v1}/deal/aggregate`, { group_by: 'created_at:month' })
  const groups = body.data as { group: string; count: number }[]
  const rows = groups.reduce((sum, { count }) => sum + count + 1, 0)
  assert.equal(Number(await grid(page).getAttribute('aria-rowcount')), rows + 1)
  // The last row of all groups: its window is read alone.
  await page.locator('[data-cell="1.1"]').focus()
  await page.keyboard.press('Control+End')
  await page
    .locator(`[data-row="${rows - 1}"]`)
    .getByRole('link')
    .waitFor()
  const last = groups
    .map(({ group }) => group)
    .sort()
    .at(-1)!
  const [year, month] = last.split('-')
  const end_ = new Date(Date.UTC(Number(year), Number(month), 0)).toISOString().slice(0, 10)
  const filter = `created_at:between(${last},${end_})`
  const listed = await call(
    'GET',
    `${v1}/deal/view/list?filter=${filter}&sort=id:desc&pageSize=1&count=exact`,
  )
  assert.equal(listed.body.meta.total, groups.find(({ group }) => group === last)!.count)
  const text = await page.locator(`[data-row="${rows - 1}"]`).textContent()
  assert.ok(text!.includes(listed.body.data[0].title), text!)
  // A header selects all rows of its group, of which most were never shown, unless there are too many.
  const ofDeals = page.getByRole('region', { name: 'Selected' })
  const format_ = new Intl.NumberFormat('en-US')
  await page.goto(`${service.url}/deals?group=created_at&collapsed=all:`)
  const [first] = [...groups].sort((one, other) => (one.group < other.group ? -1 : 1))
  await page.locator('[data-cell="0.0"]').click()
  await ofDeals.getByText(`${format_.format(first!.count)} selected`).waitFor()
  await page.goto(`${service.url}/deals?group=pipeline`)
  await page.locator('[data-cell="0.0"]').click()
  await page.getByText('at most 5,000 rows can be selected so').waitFor()
  assert.equal(await ofDeals.count(), 0)
  await end()
})

test('contacts, companies and activities have groups; numbers among their columns have sums', {
  skip,
}, async () => {
  const territory = (await made('territory', { name: 'Groupland' })).id
  const company = (await made('company', { name: 'Groupsome Ltd', territory })).id
  await made('company', { name: 'Groupsome Inc' })
  await made('contact', { last_name: 'Groupsome', company })
  await made('contact', { last_name: 'Groupsome' })
  for (const [kind, duration] of [
    ['Call', 10],
    ['Call', 15],
    ['Meeting', 60],
  ])
    await made('activity', { kind: kind!, subject: 'Groupsome', duration: duration!, company })
  const { page, accessible, end } = await openUi(service, '/today')
  const show = async (table: string, search: Record<string, string>, label: string, texts: string[]) => {
    await page.goto(`${service.url}/${table}?${new URLSearchParams(search)}`)
    await header(page, label).waitFor()
    assert.deepEqual(await grid(page).locator('[aria-level="1"]').allTextContents(), texts)
  }
  const byName = { filter: 'last_name:eq(Groupsome)', group: 'company', columns: 'last_name,company' }
  await show('contacts', byName, 'Groupsome Ltd', ['Groupsome Ltd1', 'No company1'])
  assert.equal(await page.getByRole('row', { name: 'Sums' }).count(), 0)
  const byTerritory = { filter: 'name:like(Groupsome)', group: 'territory', columns: 'name,territory' }
  await show('companies', byTerritory, 'Groupland', ['Groupland1', 'No territory1'])
  const columns = 'subject,kind,duration'
  const byKind = { filter: `company:eq(${company})`, group: 'kind', columns }
  await show('activities', byKind, 'Call', ['Call225', 'Meeting160'])
  await page.getByRole('row', { name: 'Sums' }).getByText('85', { exact: true }).waitFor()
  await page.getByRole('checkbox', { name: 'Select the rows of Call' }).locator('..').click()
  const sums = page.getByRole('region', { name: 'Selected' }).getByLabel('Sums of the selected')
  await sums.getByText('25', { exact: true }).waitFor()
  await accessible('a group of activities')
  await end()
})

test('on a phone the groups of cards are pressed', { skip }, async () => {
  const path = await makeDeals('Phonely')
  const context = { hasTouch: true }
  const size = { width: 390, height: 844 }
  const { page, accessible, end } = await openUi(service, `${path}&group=pipeline_stage`, { size, context })
  const group = page.getByRole('button', { name: /^New 2/ })
  await page.getByRole('link', { name: /Phonely 2/ }).waitFor()
  await accessible('grouped cards')
  await group.tap()
  await page.getByRole('link', { name: /Phonely 2/ }).waitFor({ state: 'detached' })
  await group.and(page.locator('[aria-expanded=false]')).waitFor()
  await page.getByRole('button', { name: 'Group: Stage' }).tap()
  await page.getByRole('menuitem', { name: 'Open all' }).tap()
  await page.getByRole('link', { name: /Phonely 2/ }).waitFor()
  await end()
})

test('views are pinned to the sidebar, ordered, and vanish when they are gone', { skip }, async () => {
  const view = (name: string, more = {}) => ({
    ...{ name, source: 'deal', mode: 'Table', filter: 'title:like(Pinnable)' },
    ...more,
  })
  await made('deal', dealBody(known, { title: 'Pinnable deal' }))
  const first = await made('view', view('Pinned first'))
  const second = await made('view', view('Pinned second', { sort: 'title:asc' }))
  const { page, accessible, end } = await openUi(service, `/deals?view=${first.id}`)
  const nav = page.getByRole('navigation', { name: 'Main' })
  const pins = () => nav.getByRole('link', { name: /^Pinned/ }).allTextContents()
  const press = async (button: string, entry: string) => {
    await page.getByRole('button', { name: button }).click()
    await page.getByRole('menuitem', { name: entry, exact: true }).click()
  }
  await press('View: Pinned first', 'Pin to the sidebar')
  await nav.getByRole('link', { name: 'Pinned first 1' }).waitFor()
  await press('View: Pinned first', 'Pinned second')
  // By keys alone.
  await page.getByRole('button', { name: 'View: Pinned second' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.type('Pin to')
  await page.keyboard.press('Enter')
  await nav.getByRole('link', { name: 'Pinned second 1' }).waitFor()
  assert.deepEqual(await pins(), ['Pinned first1', 'Pinned second1'])
  await press('View: Pinned second', 'Move up in the sidebar')
  await page.waitForFunction(() =>
    /Pinned second.*Pinned first/.test(document.querySelector('nav')!.textContent!),
  )
  await accessible('pinned views')
  await page.goto(`${service.url}/board`)
  await nav.getByRole('link', { name: 'Pinned first 1' }).click()
  await page.getByRole('button', { name: 'View: Pinned first' }).waitFor()
  assert.equal(await page.getByText('Edited').count(), 0)
  await call('DELETE', `${v1}/view/${second.id}`)
  await page.reload()
  await nav.getByRole('link', { name: 'Pinned first 1' }).waitFor()
  assert.deepEqual(await pins(), ['Pinned first1'])
  await press('View: Pinned first', 'Remove from the sidebar')
  await nav.getByRole('link', { name: /^Pinned first/ }).waitFor({ state: 'detached' })
  await end()
})

test('a pin of one tab outlives a preference that another tab changes', { skip }, async () => {
  const body = { name: 'Of two tabs', source: 'deal', mode: 'Table', filter: 'title:like(Nobody)' }
  const view = await made('view', body)
  const { page, end } = await openUi(service, `/deals?view=${view.id}`)
  const nav = page.getByRole('navigation', { name: 'Main' })
  await page.getByRole('button', { name: 'View: Of two tabs' }).waitFor()
  const other = await page.context().newPage()
  await other.goto(`${service.url}/settings/profile`)
  await other.getByLabel('Density of lists').waitFor()
  await page.getByRole('button', { name: 'View: Of two tabs' }).click()
  await page.getByRole('menuitem', { name: 'Pin to the sidebar', exact: true }).click()
  await nav.getByRole('link', { name: /^Of two tabs/ }).waitFor()
  await other.getByLabel('Density of lists').selectOption('compact')
  await page.reload()
  await nav.getByRole('link', { name: /^Of two tabs/ }).waitFor()
  await call('DELETE', `${v1}/view/${view.id}`)
  await end()
})
