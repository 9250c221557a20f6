/** Selected rows (D171): several fields changed at once, their sums, and their export. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  conditionsOf,
  everythingSelected,
  nothingSelected,
  selected,
} from '../../web/src/records/bulk/selection.ts'
import { noBrowser } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { cellsOfCsv } from '../support/tables.ts'
import { focusIn, messageOf, openUi, resize } from '../support/ui.ts'

const service = await startService()
const { call, known, made } = service
const skip = noBrowser

/** Deals with these values, and the address of a table of them alone. */
async function makeDeals(word: string, values: readonly object[]): Promise<{ ids: number[]; path: string }> {
  const ids: number[] = []
  for (const [index, value] of values.entries())
    ids.push((await made('deal', dealBody(known, { title: `${word} ${index + 1}`, ...value }))).id)
  const search = {
    filter: `title:like(${word})`,
    sort: 'title:asc',
    columns: 'title,deal_value,description,probability',
  }
  return { ids, path: `/deals?${new URLSearchParams(search)}` }
}
const usd = (value: number) => ({ deal_value: { currency: 'USD', value } })
const eur = (value: number) => ({ deal_value: { currency: 'EUR', value } })
const stored = async (id: number) => (await call('GET', `${v1}/deal/${id}`)).body.data
const bar = (page: Page) => page.getByRole('region', { name: 'Selected' })
const box = (page: Page, row: number) => page.locator(`[data-cell="${row}.0"]`)
const loaded = (page: Page) => page.getByRole('grid').getByRole('link').first().waitFor()
const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Change 2 at once' })

test('the conditions that find the selected records', () => {
  assert.deepEqual(conditionsOf(selected(nothingSelected, [4, 5], true), 'status:eq(1)'), ['id:in(4,5)'])
  assert.deepEqual(conditionsOf(everythingSelected, 'status:eq(1)'), ['status:eq(1)'])
  assert.deepEqual(conditionsOf(selected(everythingSelected, [4], false), 'status:eq(1)'), [
    'status:eq(1)',
    'id:nin(4)',
  ])
  assert.deepEqual(conditionsOf(everythingSelected), [])
})

test('several fields are changed at once, and Undo restores all of them', { skip }, async () => {
  const { ids, path } = await makeDeals('Severalton', [usd(1), usd(2), usd(3)])
  const { page, accessible, end } = await openUi(service, path)
  await loaded(page)
  await box(page, 0).click()
  await box(page, 1).click()
  await bar(page).getByRole('button', { name: 'Change fields…' }).click()
  const dialog = dialogOf(page)
  const pick = async (name: string) => {
    await dialog.getByRole('searchbox', { name: 'Field to change' }).fill(name)
    await dialog.getByRole('option', { name, exact: true }).click()
  }
  await pick('Description')
  await dialog.getByRole('textbox', { name: 'Description' }).fill('Both of them')
  await dialog.getByRole('button', { name: 'Another field' }).click()
  await accessible('another field of a bulk change')
  assert.equal(await dialog.getByRole('option', { name: 'Description', exact: true }).count(), 0)
  await pick('Expected close date')
  await dialog.getByRole('button', { name: 'Another field' }).click()
  await pick('Title')
  await dialog.getByRole('button', { name: 'Change all 2' }).click()
  await dialog.getByText('Title is required.').waitFor()
  await focusIn(dialog.getByRole('textbox', { name: 'Title' }))
  await accessible('a bulk change with a problem')
  await dialog.getByRole('button', { name: 'Don’t change Title' }).click()
  await dialog.getByLabel('Expected close date', { exact: true }).fill('2027-06-30')
  // A change that can't begin keeps the values and the selection.
  const isRead = (url: URL) =>
    /view\/list$/.test(url.pathname) && /id:in/.test(url.searchParams.get('filter') ?? '')
  await page.route(isRead, route => route.fulfill({ status: 500, body: '{}' }), { times: 1 })
  await dialog.getByRole('button', { name: 'Change all 2' }).click()
  await page.getByRole('log', { name: 'Messages' }).locator('> div').waitFor()
  await dialog.getByRole('button', { name: 'Change all 2' }).click()
  await page.getByText('2 deals changed.').waitFor()
  const values = async () =>
    (await Promise.all(ids.map(stored))).map(one => [one.description, one.expected_close_date])
  const changed = ['Both of them', '2027-06-30']
  assert.deepEqual(await values(), [changed, changed, [null, null]])
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('2 deals restored.').waitFor()
  assert.deepEqual(await values(), [
    [null, null],
    [null, null],
    [null, null],
  ])
  await end(/status of 500/)
})

test('a contact without a first name is named by the last, also where it is refused', { skip }, async () => {
  const contact = await made('contact', { last_name: 'Berglund' })
  await made('deal', dealBody(known, { title: 'Of Berglund', primary_contact: contact.id }))
  const { page, end } = await openUi(service, '/contacts?filter=last_name:eq(Berglund)')
  const grid = page.getByRole('grid')
  await grid.getByRole('link', { name: 'Berglund' }).waitFor()
  await resize(page, 390)
  await page
    .getByRole('list', { name: 'Contacts' })
    .getByRole('link', { name: /^Berglund/ })
    .waitFor()
  await resize(page, 1280)
  await box(page, 0).click()
  await bar(page).getByRole('button', { name: 'Delete' }).click()
  const failures = page.getByRole('alertdialog', { name: '1 contact could not be deleted' })
  await failures.getByText('Berglund', { exact: true }).waitFor()
  await failures.getByRole('button', { name: 'Close' }).last().click()
  // A message says it once the page is left.
  await box(page, 0).click()
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(`**/contact/${contact.id}?*`, route => promise.then(() => route.fallback()))
  await page.route(`**/contact/${contact.id}`, route => promise.then(() => route.fallback()))
  await bar(page).getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('link', { name: 'Companies', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Companies' }).waitFor()
  resolve()
  await messageOf(page, /^1 contact could not be deleted\./).waitFor()
  await end(/status of 4/)
})

test('a reload while records are deleted one by one asks first', { skip }, async () => {
  const { ids, path } = await makeDeals('Reloadton', [usd(1), usd(2)])
  const { page, end } = await openUi(service, path)
  await loaded(page)
  const mayReload = () => page.evaluate(() => dispatchEvent(new Event('beforeunload', { cancelable: true })))
  const held = Promise.withResolvers<void>()
  const asked = page.waitForRequest(request => request.method() === 'DELETE')
  await page.route(`**/deal/${ids[1]}*`, route => held.promise.then(() => route.continue()))
  for (const row of [0, 1]) await box(page, row).click()
  assert.equal(await mayReload(), true)
  await bar(page).getByRole('button', { name: 'Delete' }).click()
  await asked
  assert.equal(await mayReload(), false)
  held.resolve()
  await messageOf(page, '2 deals deleted.').waitFor()
  assert.equal(await mayReload(), true)
  await end()
})

test('another list begins with no row selected, whatever led to it', { skip }, async () => {
  const { path } = await makeDeals('Leftbehindton', [usd(1), usd(2)])
  const { page, end } = await openUi(service, '/deals?sort=title:asc')
  await loaded(page)
  await page.evaluate(to => history.pushState({}, '', to), path)
  await page.getByRole('status').filter({ hasText: /^2$/ }).waitFor()
  await box(page, 0).click()
  await bar(page).getByText('1 selected').waitFor()
  await page.goBack()
  await page.getByRole('status').filter({ hasText: /^2$/ }).waitFor({ state: 'detached' })
  await loaded(page)
  assert.equal(await bar(page).count(), 0)
  await page.goForward()
  await page.getByRole('status').filter({ hasText: /^2$/ }).waitFor()
  await page.locator('[data-cell="0.1"]').focus()
  await page.keyboard.press('Control+a')
  await bar(page).getByText('2 selected').waitFor()
  // The order has the same records.
  await page.getByRole('columnheader', { name: 'Title' }).click()
  await page.waitForURL(/sort=title%3Adesc/)
  assert.equal(await bar(page).count(), 1)
  await page.getByRole('button', { name: 'Deleted', exact: true }).click()
  await page.getByRole('heading', { name: 'Deleted deals' }).waitFor()
  assert.equal(await bar(page).count(), 0)
  await end()
})

test('a read that began before a cell was saved does not bring its old value back', { skip }, async () => {
  const { ids, path } = await makeDeals('Oldreadton', [usd(1), usd(2)])
  const { page, end } = await openUi(service, path)
  await loaded(page)
  const held = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  await page.route(
    '**/deal/view/list?*',
    async route => {
      const response = await route.fetch()
      asked.resolve()
      await held.promise
      await route.fulfill({ response }).catch(() => {})
    },
    { times: 1 },
  )
  await call('PATCH', `${v1}/deal/${ids[1]}`, { description: 'by a colleague' })
  await asked.promise
  await page.locator('[data-cell="0.3"]').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('textbox', { name: 'Description' }).fill('mine')
  await page.keyboard.press('Control+Enter')
  await messageOf(page, 'Description of Oldreadton 1 is changed.').waitFor()
  held.resolve()
  await page.locator('[data-cell="1.3"]').filter({ hasText: 'by a colleague' }).waitFor()
  await page.locator('[data-cell="0.3"]').filter({ hasText: 'mine' }).waitFor()
  await end()
})

test('an amount typed before the currencies are loaded is in the one that is shown', { skip }, async () => {
  const { ids, path } = await makeDeals('Earlyton', [usd(1), eur(2)])
  const { page, end } = await openUi(service, '/deals')
  const held = Promise.withResolvers<void>()
  await page.route('**/currency/view/list?*', route => held.promise.then(() => route.continue()))
  await page.goto(service.url + path)
  await loaded(page)
  for (const row of [0, 1]) await box(page, row).click()
  await bar(page).getByRole('button', { name: 'Change fields…' }).click()
  const dialog = dialogOf(page)
  await dialog.getByRole('searchbox', { name: 'Field to change' }).fill('Deal value')
  await dialog.getByRole('option', { name: 'Deal value', exact: true }).click()
  const value = dialog.getByRole('textbox', { name: 'Deal value' })
  await value.fill('12.555')
  const change = dialog.getByRole('button', { name: 'Change all 2' })
  assert.equal(await change.isDisabled(), true)
  await value.press('Control+Enter')
  held.resolve()
  await change.click()
  await dialog.getByText('Must have at most 2 decimals').waitFor()
  const currency = dialog.getByRole('combobox', { name: 'Deal value, currency' })
  assert.equal(await currency.locator('option:checked').innerText(), 'USD')
  await value.fill('12.55')
  await change.click()
  await messageOf(page, '2 deals').waitFor()
  for (const id of ids) {
    const { deal_value } = await stored(id)
    assert.deepEqual([deal_value.value, deal_value.currency_code], [12.55, 'USD'])
  }
  await end()
})

test('no amount is changed where the currencies can’t be loaded', { skip }, async () => {
  const { path } = await makeDeals('Unloadedton', [usd(1), eur(2)])
  const { page, end } = await openUi(service, '/deals')
  await page.route('**/currency/view/list?*', route => route.fulfill({ status: 500, body: '{}' }))
  await page.goto(service.url + path)
  await loaded(page)
  for (const row of [0, 1]) await box(page, row).click()
  await bar(page).getByRole('button', { name: 'Change fields…' }).click()
  const dialog = dialogOf(page)
  await dialog.getByRole('searchbox', { name: 'Field to change' }).fill('Deal value')
  await dialog.getByRole('option', { name: 'Deal value', exact: true }).click()
  await dialog.getByRole('textbox', { name: 'Deal value' }).fill('12')
  const change = dialog.getByRole('button', { name: 'Change all 2' })
  await change.and(page.locator('[aria-disabled]')).hover({ force: true })
  await page.getByText('The currencies could not be loaded. Load the page again.').waitFor()
  await end(/500/)
})

test('several fields by keys alone; a rule refuses one record, with its reason', { skip }, async () => {
  const { ids, path } = await makeDeals('Refusington', [
    { ...usd(1), expected_close_date: '2027-05-01', forecast_category: 'Commit' },
    usd(2),
  ])
  const { page, end } = await openUi(service, path)
  await loaded(page)
  await page.locator('[data-cell="0.1"]').focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await bar(page).getByText('2 selected').waitFor()
  await bar(page).getByRole('button', { name: 'Change fields…' }).focus()
  await page.keyboard.press('Enter')
  const dialog = dialogOf(page)
  await focusIn(dialog.getByRole('searchbox', { name: 'Field to change' }))
  await page.keyboard.type('Expected close')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Another field' }).focus()
  await page.keyboard.press('Enter')
  await focusIn(dialog.getByRole('searchbox', { name: 'Field to change' }))
  await page.keyboard.type('Description')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await focusIn(dialog.getByRole('textbox', { name: 'Description' }))
  await page.keyboard.type('Without a date')
  await page.keyboard.press('Control+Enter')
  const refused = page.getByRole('alertdialog', { name: '1 deal could not be changed' })
  await refused.getByText('Refusington 1').waitFor()
  const [first, second] = await Promise.all(ids.map(stored))
  assert.deepEqual([first.description, first.expected_close_date], [null, '2027-05-01'])
  assert.deepEqual([second.description, second.expected_close_date], ['Without a date', null])
  await end()
})

test('the sums of selected rows follow the selection, exactly', { skip }, async () => {
  const { path } = await makeDeals('Sumpter', [usd(0.1), usd(0.2), eur(1000.55), usd(5)])
  const { page, accessible, end } = await openUi(service, path)
  await loaded(page)
  await box(page, 0).click()
  await box(page, 1).click()
  const sums = bar(page).getByLabel('Sums of the selected')
  await sums.getByText('$0.30').waitFor()
  assert.match((await sums.textContent())!, /Deal value/)
  await accessible('the sums of a selection')
  // Of two currencies in the base currency, with each in the title.
  await box(page, 2).click()
  await sums
    .locator('[title^="USD\u00a00.30 · EUR\u00a01,000.55"], [title^="EUR\u00a01,000.55 · USD\u00a00.30"]')
    .waitFor()
  // All that match but one.
  await page.locator('[data-cell="-1.0"]').click()
  await bar(page).waitFor({ state: 'detached' })
  await page.locator('[data-cell="-1.0"]').click()
  await box(page, 2).click()
  await bar(page).getByText('3 selected').waitFor()
  await sums.getByText('$5.30').waitFor()
  await end()
})

test('the board has the sum of its selected cards, on a phone, too', { skip }, async () => {
  await makeDeals('Cardiff', [usd(1000.25), usd(2000)])
  for (const width of [1280, 390]) {
    const size = { width, height: 844 }
    const { page, accessible, end } = await openUi(service, '/board?filter=title:like(Cardiff)', { size })
    for (const title of ['Cardiff 1', 'Cardiff 2']) {
      await page.getByRole('link', { name: title }).focus()
      await page.keyboard.press('Space')
    }
    await bar(page).getByLabel('Sums of the selected').getByText('$3,000.25').waitFor()
    await accessible(`the sum of selected cards at ${width}`)
    await end()
  }
})

test('products have sums, too', { skip }, async () => {
  for (const quantity_in_stock of [2, 40]) await made('product', { name: 'Sumbrella', quantity_in_stock })
  const search = { filter: 'name:like(Sumbrella)', columns: 'name,quantity_in_stock' }
  const { page, end } = await openUi(service, `/products?${new URLSearchParams(search)}`)
  await loaded(page)
  await page.getByRole('row', { name: 'Sums' }).getByText('42').waitFor()
  await box(page, 1).click()
  await bar(page)
    .getByLabel('Sums of the selected')
    .getByText(/^(2|40)$/)
    .waitFor()
  await end()
})

test('a whole group is selected by its header, with its sums, by mouse and by keys', { skip }, async () => {
  const { New: fresh, Proposal: proposal } = known.stages
  const { ids, path } = await makeDeals('Groupselm', [
    { ...usd(0.1), pipeline_stage: fresh! },
    { ...usd(0.2), pipeline_stage: fresh! },
    { ...usd(7), pipeline_stage: proposal! },
  ])
  const { page, accessible, end } = await openUi(service, `${path}&group=pipeline_stage`)
  const row = (title: string) => page.getByRole('row').filter({ hasText: title })
  const header = (stage: string) => page.getByRole('checkbox', { name: `Select the rows of ${stage}` })
  const press = (stage: string) => header(stage).locator('..').click()
  const states = {
    none: [':not(:checked, :indeterminate)', ''],
    some: [':indeterminate', ' [checked=mixed]'],
    all: [':checked:not(:indeterminate)', ' [checked]'],
  } as const
  /** Waits for the state of a group's checkbox; a screen reader hears it, too. */
  const shows = async (stage: string, state: keyof typeof states) => {
    const [selector, heard] = states[state]
    await header(stage).and(page.locator(selector)).waitFor()
    const name = `Select the rows of ${stage}`
    assert.equal(await header(stage).ariaSnapshot(), `- checkbox "${name}"${heard}`)
  }
  const selected = (count: number) => bar(page).getByText(`${count} selected`, { exact: true }).waitFor()
  const sums = bar(page).getByLabel('Sums of the selected')
  await row('Groupselm 3').waitFor()
  await shows('New', 'none')
  // A collapsed group has its rows, too.
  await row('New').getByText('New').click()
  await row('Groupselm 1').waitFor({ state: 'detached' })
  await press('New')
  await selected(2)
  await sums.getByText('$0.30').waitFor()
  await shows('New', 'all')
  await shows('Proposal', 'none')
  await row('New').and(page.locator('[aria-selected=true][aria-expanded=false]')).waitFor()
  await accessible('a selected group')
  await row('New').getByText('New').click()
  await row('Groupselm 2').and(page.locator('[aria-selected=true]')).waitFor()
  await row('Groupselm 2').getByRole('checkbox').locator('..').click()
  await selected(1)
  await shows('New', 'some')
  await accessible('a group of which a part is selected')
  await press('New')
  await selected(2)
  await press('New')
  await bar(page).waitFor({ state: 'detached' })
  await shows('New', 'none')
  // All that match, but a group: its rows stay left out when others come and go.
  await page.locator('[data-cell="-1.0"]').click()
  await selected(3)
  await shows('Proposal', 'all')
  await press('New')
  await selected(1)
  await sums.getByText('$7', { exact: true }).waitFor()
  await shows('New', 'none')
  await shows('Proposal', 'all')
  await row('Groupselm 1').getByRole('checkbox').locator('..').click()
  await selected(2)
  await shows('New', 'some')
  await sums.getByText('$7.10').waitFor()
  // A record that comes to a group counts there.
  await call('PATCH', `${v1}/deal/${ids[0]}`, { pipeline_stage: proposal! })
  await shows('New', 'none')
  await shows('Proposal', 'all')
  await page.keyboard.press('Escape')
  await bar(page).waitFor({ state: 'detached' })

  // By keys alone: Space on any cell of the header.
  await page.locator('[data-cell="0.1"]').focus()
  await page.keyboard.press('Space')
  await selected(1)
  await page.getByRole('status').getByText('New: 1 selected').waitFor()
  await shows('New', 'all')
  await page.keyboard.press('Home')
  await page.waitForFunction(() => document.activeElement?.getAttribute('data-cell') === '0.0')
  await page.keyboard.press('Space')
  await bar(page).waitFor({ state: 'detached' })
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await selected(2)
  await shows('Proposal', 'all')
  await bar(page).getByRole('button', { name: 'Change fields…' }).click()
  const dialog = dialogOf(page)
  await dialog.getByRole('searchbox', { name: 'Field to change' }).fill('Description')
  await dialog.getByRole('option', { name: 'Description', exact: true }).click()
  await dialog.getByRole('textbox', { name: 'Description' }).fill('Of the group')
  await dialog.getByRole('button', { name: 'Change all 2' }).click()
  await messageOf(page, '2 deals changed.').waitFor()
  const descriptions = (await Promise.all(ids.map(stored))).map(({ description }) => description)
  assert.deepEqual(descriptions, ['Of the group', null, 'Of the group'])
  await end()
})

test('the selected rows are exported: those with ids, or all that match but some', { skip }, async () => {
  const { ids, path } = await makeDeals('Exportia', [usd(1), usd(2), usd(3)])
  const { page, accessible, end } = await openUi(service, path)
  await loaded(page)
  const exported = async (group: string) => {
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    const begun = page.waitForEvent('download')
    await page.getByRole('group', { name: group }).getByRole('menuitem', { name: 'CSV' }).click()
    const [header, ...rows] = cellsOfCsv((await readFile(await (await begun).path())).toString().slice(1))
    return rows.map(row => Number(row[header!.indexOf('id')]))
  }
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await page.getByRole('menu', { name: 'Export' }).waitFor()
  assert.equal(await page.getByRole('group', { name: /^Selected rows/ }).count(), 0)
  await page.keyboard.press('Escape')
  await box(page, 0).click()
  await box(page, 2).click()
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await page.getByRole('menu', { name: 'Export' }).waitFor()
  await accessible('the Export menu with a selection')
  await page.keyboard.press('Escape')
  assert.deepEqual(await exported('Selected rows (2), with names'), [ids[0], ids[2]])
  assert.deepEqual(await exported('All rows, with ids, for programs'), ids)
  await page.locator('[data-cell="-1.0"]').click()
  await page.locator('[data-cell="-1.0"]').click()
  await box(page, 0).click()
  assert.deepEqual(await exported('Selected rows (2), with ids, for programs'), [ids[1], ids[2]])
  await end()
})

test('of many that are refused the first are listed, the others counted, and all tried again', {
  skip,
}, async () => {
  const values = Array.from({ length: 103 }, () => ({ expected_close_date: null }))
  const { ids, path } = await makeDeals('Manyrefused', values)
  const { page, end } = await openUi(service, path)
  await loaded(page)
  await box(page, 0).click()
  await page.getByRole('grid').evaluate(grid => grid.scrollTo(0, grid.scrollHeight))
  await page.locator('[data-cell="102.1"]').getByText('Manyrefused').waitFor()
  await box(page, 102).click({ modifiers: ['Shift'] })
  await bar(page).getByRole('button', { name: 'Change fields…' }).click()
  await page.getByRole('searchbox', { name: 'Field to change' }).fill('Forecast')
  await page.getByRole('option', { name: 'Forecast category', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Change 103 at once' })
  await dialog.getByText('Commit', { exact: true }).click()
  await dialog.getByRole('button', { name: 'Change all 103' }).click()
  const failures = page.getByRole('alertdialog', { name: '103 deals could not be changed' })
  await failures.getByText('And 3 more.').waitFor()
  assert.equal(await failures.getByRole('listitem').count(), 100)
  const body = { filter: `id:in(${ids.join()})`, changes: { expected_close_date: '2027-01-01' } }
  const { id } = (await call('POST', `${v1}/deal/bulk`, body)).body.data
  await eventually(
    async () => (await call('GET', `${v1}/job/${id}`)).body.data.state === 'done',
    'the change of the dates',
  )
  await failures.getByRole('button', { name: 'Retry those' }).click()
  await page.getByText('103 deals changed.').waitFor()
  const { Commit } = known.options.forecast_category!
  const stages = await Promise.all(ids.map(async one => (await stored(one)).forecast_category))
  assert.deepEqual(new Set(stages), new Set([Commit]))
  await end()
})
