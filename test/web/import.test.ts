/** Imports in the browser (D80): a real file, step by step, corrected by values, and reverted. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, suite, test } from 'node:test'
import type { Locator, Page, Route } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { startService, v1 } from '../support/service.ts'
import { focusIn, messageOf, openUi } from '../support/ui.ts'

const service = noBrowser ? null : await startService()
const phone = { width: 390, height: 844 }

const names = [
  ...['title', 'pipeline', 'pipeline_stage', 'sales_owner', 'deal_value.value', 'deal_value.currency'],
  ...['company.name', 'primary_contact.last_name', 'primary_contact.emails'],
]

/** Rows of deals: each 20th has an unknown stage, and one has an invalid value. */
async function dealsFile(prefix: string, count: number): Promise<string> {
  const { get } = service!
  const owner = (await get(`${v1}/user/view/list?pageSize=1`)).body.data[0].email
  const pipeline = (await get(`${v1}/pipeline/view/list?pageSize=1`)).body.data[0].name
  const rows = Array.from({ length: count }, (_, index) => [
    ...[`${prefix} ${index}`, pipeline, index % 20 === 7 ? 'Nowhere' : 'New', owner],
    ...[index === 3 ? 'much' : `${index}.50`, 'EUR'],
    ...[
      `${prefix} company ${index % 5}`,
      `${prefix} person ${index % 7}`,
      `${prefix}${index % 7}@example.com`,
    ],
  ])
  return [names, ...rows].map(cells => cells.join(',')).join('\n')
}

const choose = (page: Page, name: string, text: string) =>
  page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })

const count = async (resource: string, filter: string) =>
  (await service!.get(`${v1}/${resource}/view/list?pageSize=1&count=exact&filter=${filter}`)).body.meta.total

/** Discards the file, after the question. */
async function discard(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Discard the file' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Discard the file' }).click()
}
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 2, name }).waitFor()

async function notSideways(page: Page, what: string): Promise<void> {
  const { wide, seen } = await page.evaluate(() => {
    const inner = document.querySelector('main')!
    return { wide: Math.max(document.body.scrollWidth, inner.scrollWidth), seen: innerWidth }
  })
  assert.ok(wide <= seen, `${what}: ${wide} px wide in ${seen}`)
}

/** The count in the result with these words. */
const told = async (page: Page, words: string) =>
  Number(
    await page
      .locator('dl > div')
      .filter({ has: page.getByText(words, { exact: true }) })
      .locator('dd')
      .textContent()
      .then(text => text?.replace(',', '')),
  )

/** The list of meanings of a field's text. */
const meaning = (field: Locator, text: string) =>
  field.getByRole('combobox', { name: new RegExp(`value for “${text}”`) })

/** A user who may import companies, and more. */
async function importer(name: string, more: readonly string[] = []): Promise<number> {
  const { call } = service!
  const scopes = ['company:read', 'company:write', 'field:read', 'import:write', ...more]
  const role = (await call('POST', `${v1}/role`, { name: `Role of ${name}`, scopes })).body.data.id
  const email = `${name.toLowerCase()}@example.com`
  return (await call('POST', `${v1}/user`, { name, email, role })).body.data.id
}

/** Moves to an entry of a list by the arrow keys, and chooses it. */
async function press(page: Page, entry: Locator): Promise<void> {
  await entry.waitFor()
  while (!(await entry.evaluate(item => item.hasAttribute('data-focused'))))
    await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
}

suite('An import', { skip: noBrowser }, () => {
  before(async () => service!.call('POST', `${v1}/contact`, { last_name: 'Of all rows' }))

  test('what a file lacks is chosen for all rows', async () => {
    const ui = await openUi(service!, '/jobs')
    const { page } = ui
    await page.getByRole('link', { name: 'Import', exact: true }).click()
    await choose(page, 'bare.csv', 'title,deal_value.value\nBareham 1,10\nBareham 2,20\n')
    await heading(page, 'Default values')
    // The only pipeline is already chosen.
    const row = (name: string) => page.getByRole('listitem').filter({ hasText: name })
    await page.getByText('No column is mapped to Stage, Primary contact, Sales owner').waitFor()
    await page.getByRole('link', { name: 'Try' }).click()
    await page.getByRole('button', { name: 'Try 2 rows' }).click()
    await heading(page, 'What would happen')
    assert.equal(await told(page, 'would be created'), 0)
    const said = page.getByRole('region', { name: 'What was refused' })
    await said.getByRole('row', { name: '2 Stage Stage is required.' }).waitFor()
    const run = page.getByRole('button', { name: 'Import 2 rows' })
    const inVain = page.getByRole('button', { name: 'Import 0 rows' })
    assert.equal(await inVain.getAttribute('aria-disabled'), 'true')
    await page.getByRole('button', { name: 'Change the columns' }).click()

    await page.getByRole('combobox', { name: 'Stage, for all rows' }).selectOption({ label: 'New' })
    await page.getByRole('combobox', { name: 'Deal value: currency, for all rows' }).selectOption('GBP')
    await page.getByRole('combobox', { name: 'Sales owner, for all rows' }).fill('a')
    await page.getByRole('option').first().click()
    await page.getByRole('combobox', { name: 'Primary contact, for all rows' }).fill('Of all')
    await page.getByRole('option', { name: 'Of all rows' }).click()
    await page.getByRole('button', { name: 'Add a default…' }).click()
    await page.getByPlaceholder('Find a field…').fill('Description')
    await page.getByRole('option', { name: 'Description', exact: true }).click()
    await row('Description').getByRole('textbox').fill('From the fair')
    await ui.accessible('the values for all rows')
    await page.getByText(/No column is mapped to/).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Try' }).click()
    await page.getByRole('button', { name: 'Try again' }).click()
    await run.click()
    await page.getByRole('button', { name: 'Undo import' }).waitFor()
    assert.equal(await told(page, 'created'), 2)
    const [deal] = (await service!.get(`${v1}/deal/view/list?filter=title:eq(Bareham 2)`)).body.data
    assert.deepEqual([deal.deal_value.currency_code, deal.description], ['GBP', 'From the fair'])
    await ui.end()
  })

  test('a file of refused rows is sent again, and becomes what it became before', async () => {
    const ui = await openUi(service!, '/import?resource=company')
    const { page } = ui
    const file = 'Odd,Where\nAgainham 1,\nAgainham 2,No land\n'
    await choose(page, 'odd.csv', file)
    await heading(page, 'Map columns to fields')
    const odd = page.getByRole('button', { name: 'Field of Odd: ' })
    await page.getByRole('button', { name: 'Field of Odd: Not mapped yet' }).click()
    await page.getByPlaceholder('Find a field…').fill('Name')
    await page.getByRole('option', { name: 'Name', exact: true }).click()
    await page.getByRole('button', { name: 'Field of Where: ' }).click()
    await page.getByPlaceholder('Find a field…').fill('Territory')
    await page.getByRole('option', { name: 'Territory', exact: true }).click()
    await page.getByRole('link', { name: 'Try' }).click()
    await page.getByRole('button', { name: 'Import without a test run' }).click()
    const begun = page.waitForEvent('download')
    await page.getByRole('link', { name: /Download them/ }).click()
    const errors = await readFile(await (await begun).path(), 'utf8')
    assert.match(errors, /^.Odd,Where,line,problems/)

    await page.getByRole('link', { name: 'Import another file' }).click()
    await choose(page, 'errors.csv', errors)
    // The message stays as long as the pointer is on it.
    const asBefore = messageOf(page, 'in your last import of such a file')
    await asBefore.hover()
    await page.getByRole('button', { name: 'Field of Odd: Name' }).waitFor()
    await page.getByRole('button', { name: 'Field of Where: Territory' }).waitFor()
    await asBefore.getByRole('button', { name: 'Guess again' }).click()
    await page.getByRole('button', { name: 'Field of Odd: Not mapped yet' }).waitFor()
    assert.equal(await odd.count(), 1)
    await ui.end()
  })

  test('a file with bad rows is tried, fixed, imported and undone', async () => {
    const ui = await openUi(service!, '/deals')
    const { page } = ui
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByRole('heading', { level: 1, name: 'Import deals' }).waitFor()
    await ui.accessible('the choice of a file')
    await choose(page, 'deals.csv', await dealsFile('Importham', 60))
    await heading(page, 'Map columns to fields')
    await page.waitForURL(/\/import\/\d+\?step=columns/)
    await page.getByRole('button', { name: 'Field of deal_value.value: Deal value: value' }).waitFor()
    await ui.accessible('the columns')
    await page.getByRole('button', { name: 'Next' }).click()
    await heading(page, 'Unknown values')
    await ui.accessible('the values')
    await page.getByRole('button', { name: 'Next' }).click()
    await heading(page, 'Duplicates')
    await ui.accessible('the duplicates')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('button', { name: 'Try 60 rows' }).click()
    await heading(page, 'What would happen')
    assert.deepEqual([await told(page, 'would be created'), await told(page, 'would be refused')], [56, 4])
    assert.equal(await count('deal', 'title:like(Importham )'), 0)
    const refused = page.getByRole('region', { name: 'What was refused' })
    await refused.getByRole('row', { name: /^9 pipeline_stage .*Nowhere/ }).waitFor()
    await refused.getByRole('row', { name: /^5 deal_value.value .*much/ }).waitFor()
    await ui.accessible('what would happen')
    const begun = page.waitForEvent('download')
    await page.getByRole('link', { name: /Download them/ }).click()
    const errors = await readFile(await (await begun).path(), 'utf8')
    assert.equal(errors.trim().split('\n').length, 5, errors)

    await page.getByRole('button', { name: 'Map the values' }).click()
    const nowhere = page.getByRole('combobox', { name: /value for “Nowhere”/ })
    const first = await nowhere.evaluate((list: HTMLSelectElement) => list.selectedOptions[0]!.text)
    assert.equal(first, 'Don’t import (rows are rejected)')
    await nowhere.selectOption({ label: 'New' })
    await page.getByRole('link', { name: 'Try' }).click()
    await page.getByText(/You have changed the import/).waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Import 59 rows' }).waitFor()
    assert.equal(await told(page, 'would be created'), 59)
    await page.reload()
    await page.getByRole('button', { name: 'Import 59 rows' }).click()
    await page.getByRole('button', { name: 'Undo import' }).waitFor()
    assert.deepEqual([await told(page, 'created'), await told(page, 'refused')], [59, 1])
    assert.equal(await told(page, 'contacts and companies created'), 12)
    assert.equal(await count('deal', 'title:like(Importham )'), 59)
    await ui.accessible('what was imported')

    // A record that another user has changed since stays.
    const [kept] = (await service!.get(`${v1}/deal/view/list?filter=title:eq(Importham 1)`)).body.data
    await service!.call('PATCH', `${v1}/deal/${kept.id}`, { title: 'Kept' })
    await page.goto(page.url().replace(/\?.*/, ''))
    await page.getByRole('button', { name: 'Undo import' }).click()
    await ui.accessible('the question whether to undo it')
    await page.getByRole('button', { name: 'Undo it' }).click()
    await heading(page, 'Undone')
    await heading(page, 'Left unchanged')
    await refused.getByRole('link', { name: 'Kept' }).waitFor()
    await ui.accessible('what was undone')
    assert.equal(await count('deal', 'title:like(Importham )'), 0)
    await ui.end()
  })

  test('on a phone, by keys alone, with nothing to scroll sideways', async () => {
    const ui = await openUi(service!, '/contacts', { size: phone })
    const { page } = ui
    await page.getByRole('button', { name: 'Import' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('searchbox').fill('Import contacts')
    await press(page, page.getByRole('menuitem', { name: 'Import contacts', exact: true }))
    await page.getByRole('heading', { level: 1, name: 'Import contacts' }).waitFor()
    await notSideways(page, 'the file')
    await ui.accessible('the choice of a file on a phone')
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose a file…' }).focus()
    await page.keyboard.press('Enter')
    const text = `Who,Phone\n${Array.from({ length: 9 }, (_, index) => `Phonia Number${index},+49 30 ${index}`).join('\n')}`
    await (await chooser).setFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
    await heading(page, 'Map columns to fields')
    await notSideways(page, 'the columns')
    const become = async (column: string, target: string) => {
      await page.getByRole('button', { name: `Field of ${column}:` }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('searchbox').fill(target)
      await press(page, page.getByRole('option', { name: target, exact: true }))
      await focusIn(page.getByRole('button', { name: `Field of ${column}: ${target}` }))
    }
    await become('Who', 'Not imported')
    await page.getByText(/No column is mapped to .*Last name/).waitFor()
    await become('Who', 'Whole name')
    await page.getByText(/No column is mapped to/).waitFor({ state: 'detached' })
    // A single-valued field gets one column.
    await become('Phone', 'Whole name')
    await page.getByRole('button', { name: 'Field of Who: Not imported' }).waitFor()
    await become('Phone', 'Phones')
    await become('Who', 'Whole name')
    await page.keyboard.press('Alt+ArrowDown')
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    assert.equal(await focused(), 'Phones')
    for (const step of ['values', 'duplicates', 'try']) {
      await page.getByRole('button', { name: 'Next' }).focus()
      await page.keyboard.press('Enter')
      await page.waitForURL(new RegExp(`step=${step}`))
      await notSideways(page, step)
      await ui.accessible(`${step} on a phone`)
    }
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H2')
    await page.getByRole('button', { name: 'Try 9 rows' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Import 9 rows' }).focus()
    await notSideways(page, 'what would happen')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Undo import' }).waitFor()
    await notSideways(page, 'what was imported')
    assert.equal(await count('contact', 'first_name:eq(Phonia)'), 9)
    await page.getByRole('link', { name: 'See the contacts' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/contacts\?sort=created_at/)
    await page.getByText('Number8').first().waitFor()
    await ui.end()
  })

  test('what is no file to import is said where it was chosen', async () => {
    const ui = await openUi(service!, '/import?resource=product')
    const { page } = ui
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    const alert = page.getByRole('alert')
    await choose(page, 'notes.docx', 'x')
    await alert.getByText(/“notes.docx” is no such file/).waitFor()
    await choose(page, 'empty.csv', '')
    await alert.getByText(/“empty.csv” is empty/).waitFor()
    await choose(page, 'head.csv', 'name,code\n')
    await alert.getByText(/The file has no rows/).waitFor()
    await ui.accessible('a file that was refused')
    // A dropped file, uploaded after the refused ones.
    const data = await page.evaluateHandle(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File(['name;stock\nDropped;1\n'], 'dropped.csv', { type: 'text/csv' }))
      return transfer
    })
    await page.getByText('Drop the file here, or').dispatchEvent('drop', { dataTransfer: data })
    await heading(page, 'Map columns to fields')
    await page.getByText('1 row, 2 of 2 columns imported').waitFor()
    await page.getByRole('button', { name: 'Discard the file' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Keep it' }).click()
    await heading(page, 'Map columns to fields')
    await discard(page)
    await page.getByText('Nothing was imported.').waitFor()
    await ui.end(/status of 422/)
  })

  test('cells are pasted by the keys; a file is, too', async () => {
    const permissions = { permissions: ['clipboard-read', 'clipboard-write'] }
    const ui = await openUi(service!, '/import?resource=product', { context: permissions })
    const { page } = ui
    await page.getByText(/Or paste it here with Ctrl\+V/).waitFor()
    const copy = (text: string) => page.evaluate(text => navigator.clipboard.writeText(text), text)
    await copy('  ')
    await page.keyboard.press('Control+v')
    await page.getByRole('alert').getByText('There is neither a file nor text in the clipboard.').waitFor()
    // A comma in a cell is no delimiter, and no ü is lost.
    await copy('name\tproduct_code\r\n"Müller, large"\tM1\r\nOther\tM2\r\n')
    await page.keyboard.press('Control+v')
    const taken = 'The pasted text was taken as a CSV file of 3 lines.'
    await page.getByRole('log').getByText(taken).waitFor()
    await heading(page, 'Map columns to fields')
    await page.getByText('2 rows, 2 of 2 columns imported').waitFor()
    await page.getByText('Müller, large · Other').waitFor()
    await ui.accessible('the columns of pasted cells')
    await discard(page)
    await page.getByRole('link', { name: 'Import another file' }).click()
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    // Some programs copy an image of the cells with them.
    const paste = (names: readonly string[]) =>
      page.evaluate(names => {
        const clipboardData = new DataTransfer()
        for (const name of names) clipboardData.items.add(new File(['name;stock\nA;1\n'], name))
        document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }))
      }, names)
    await paste(['cells.png'])
    await page
      .getByRole('alert')
      .getByText(/“cells.png” is no such file/)
      .waitFor()
    await paste(['cells.png', 'stock.csv'])
    await page.getByRole('log').getByText('The pasted file “stock.csv” was taken.').waitFor()
    await heading(page, 'Map columns to fields')
    await discard(page)
    await page.getByText('Nothing was imported.').waitFor()
    await ui.end()
  })

  test('a column becomes a field that is made of it, by keys alone on a phone', async () => {
    const ui = await openUi(service!, '/import?resource=company', { size: phone })
    const { page } = ui
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    const rows = Array.from({ length: 12 }, (_, index) => `Fieldia ${index},${index % 2 ? 'Soft' : 'Hard'}`)
    await choose(page, 'companies.csv', `name,Cheese\n${rows.join('\n')}`)
    await page.getByRole('button', { name: 'Field of Cheese: Not mapped yet' }).focus()
    const open = async () => {
      await page.keyboard.press('Enter')
      await focusIn(page.getByRole('searchbox'))
      const create = page.getByRole('button', { name: 'Create a field…' })
      while (!(await create.evaluate(button => button === document.activeElement)))
        await page.keyboard.press('Tab')
    }
    await open()
    await ui.accessible('what a column becomes')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Add a field' })
    const label = dialog.getByRole('textbox', { name: 'Label' })
    assert.equal(await label.inputValue(), 'Cheese')
    const type = dialog.getByLabel('Field type')
    assert.equal(await type.inputValue(), 'DROPDOWN')
    assert.equal(await type.getByRole('option', { name: 'Date range' }).count(), 0)
    assert.equal(await dialog.getByLabel('Options, one a line').inputValue(), 'Hard\nSoft')
    await notSideways(page, 'the field')
    await ui.accessible('the field of a column')
    // Closing it returns the focus; the service's refusal is shown at the label.
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    const isBack = (target: string) =>
      page.waitForFunction(
        label => document.activeElement?.getAttribute('aria-label') === label,
        `Field of Cheese: ${target}`,
      )
    await isBack('Not mapped yet')
    await open()
    await page.keyboard.press('Enter')
    await label.fill('Name')
    await page.keyboard.press('Enter')
    await dialog
      .getByText(/another field/)
      .first()
      .waitFor()
    await label.fill('Kind of cheese')
    const mapped = page.waitForResponse(answer => answer.request().method() === 'PATCH')
    await page.keyboard.press('Enter')
    await page.getByRole('log').getByText('Added the field “Kind of cheese”').waitFor()
    await isBack('Kind of cheese')
    // Shown before it is saved.
    await mapped
    await page.reload()
    await page.getByRole('button', { name: 'Field of Cheese: Kind of cheese' }).waitFor()
    await page.getByRole('link', { name: 'Try' }).click()
    await page.getByRole('button', { name: 'Import without a test run' }).click()
    await page.getByRole('button', { name: 'Undo import' }).waitFor()
    assert.equal(await count('company', 'cf_kind_of_cheese:eq(Soft)'), 6)
    await ui.end(/status of 409/)
  })

  test('ids of another system become a unique field of which case counts', async () => {
    const ui = await openUi(service!, '/import?resource=company')
    const { page } = ui
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    const rows = ['Casia A,001Ab0000000XyZ', 'Casia B,001aB0000000XyZ']
    await choose(page, 'companies.csv', `name,Record ID\n${rows.join('\n')}`)
    await page.getByRole('button', { name: 'Field of Record ID: Not imported' }).click()
    await page.getByRole('button', { name: 'Create a field…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a field' })
    assert.equal(await dialog.getByRole('textbox', { name: 'Label' }).inputValue(), 'External id')
    assert.ok(await dialog.getByRole('checkbox', { name: 'Unique' }).isChecked())
    assert.ok(await dialog.getByRole('checkbox', { name: 'Case matters' }).isChecked())
    await ui.accessible('the field of ids')
    await dialog.getByRole('button', { name: 'Add the field' }).click()
    await page.getByRole('button', { name: 'Field of Record ID: External id' }).waitFor()
    await page.getByRole('link', { name: 'Try' }).click()
    await page.getByRole('button', { name: 'Import without a test run' }).click()
    await page
      .getByText('2 created')
      .or(page.getByRole('link', { name: 'See the companies' }))
      .first()
      .waitFor()
    for (const [name, id] of rows.map(row => row.split(',')))
      assert.equal((await service!.get(`${v1}/company/by/cf_external_id/${id}`)).body.data.name, name)
    await ui.end()
  })

  test('who may not change fields is not offered to make one', async () => {
    await service!.call('POST', `${v1}/field`, { source: 'company', field_name: 'Cork', type: 'DROPDOWN' })
    const user = await importer('Ivo')
    const ui = await openUi(service!, '/import?resource=company', { user })
    const { page } = ui
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    await choose(page, 'companies.csv', 'name,Wine,Cork\nIvo Inc,Red,Oak\nIvo AG,Red,Ash\n')
    await page.getByRole('button', { name: 'Field of Wine: Not mapped yet' }).click()
    await page.getByRole('option', { name: 'Not imported' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Create a field…' }).count(), 0)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Try' }).click()
    const tryIt = page.getByRole('button', { name: 'Try 2 rows' })
    assert.equal(await tryIt.getAttribute('aria-disabled'), 'true')
    await page.getByRole('link', { name: 'Columns' }).click()
    await page.getByText('1 column is not mapped yet').waitFor()
    await ui.accessible('a column that is not mapped')
    await page.getByRole('button', { name: 'Leave out Wine' }).click()
    await focusIn(page.getByRole('button', { name: 'Field of Wine: Not imported' }))
    await page.getByText('1 column is not mapped yet').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Values' }).click()
    await page.getByRole('combobox', { name: 'Cork: value for “Oak”' }).waitFor()
    assert.equal(await page.getByRole('button', { name: /^Create/ }).count(), 0)
    await ui.end()
  })

  /** The import of a file of companies, with a default for a field, in which nothing is typed yet. */
  const openWithDefault = async (file: string, text: string, label: string) => {
    const ui = await openUi(service!, '/import?resource=company')
    const { page } = ui
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    await choose(page, file, text)
    await heading(page, 'Map columns to fields')
    await page.getByRole('button', { name: 'Add a default…' }).click()
    await page.getByPlaceholder('Find a field…').fill(label)
    await page.getByRole('option', { name: label, exact: true }).click()
    return ui
  }

  test('a typed default value is one request, and one that is refused is said and sent again', async () => {
    const ui = await openWithDefault('typed.csv', 'name\nTypedham\n', 'Website')
    const { page } = ui
    const sent: unknown[] = []
    const refuse = (route: Route) => {
      if (route.request().method() !== 'PATCH') return route.continue()
      sent.push(route.request().postDataJSON())
      return route.fulfill({ status: 500 })
    }
    await page.route('**/import/*', refuse)
    const box = page.getByRole('textbox', { name: 'Website, for all rows' })
    const website = 'typedham.example'
    await box.pressSequentially(website)
    const isLast = () => JSON.stringify(sent.at(-1)) === JSON.stringify({ defaults: { website } })
    await eventually(isLast, 'the whole value')
    await page.getByText(/^Not saved: /).waitFor()
    assert.ok(sent.length < website.length / 2, `${sent.length} requests`)
    assert.equal(await box.inputValue(), website)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText(/^Not saved: /).waitFor()
    await heading(page, 'Map columns to fields')
    await page.unroute('**/import/*', refuse)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('link', { name: 'Try' }).click()
    await page.getByRole('button', { name: 'Import without a test run' }).click()
    await page.getByRole('link', { name: 'See the companies' }).waitFor()
    assert.equal(await count('company', `website:eq(${website})`), 1)
    await ui.end(/500/)
  })

  test('a default value whose field was deleted since is left out by choice', async () => {
    const { made, call } = service!
    const field = await made('field', { source: 'company', field_name: 'Cellar', type: 'SINGLE_STRING' })
    const ui = await openWithDefault('cellars.csv', 'name\nCellarham\n', 'Cellar')
    const { page } = ui
    const saved = page.waitForResponse(answer => answer.request().method() === 'PATCH')
    await page.getByRole('textbox', { name: 'Cellar, for all rows' }).fill('Deep')
    await saved
    assert.equal((await call('DELETE', `${v1}/field/${field.id}`)).status, 200)
    await page.reload()
    const out = page.getByRole('button', { name: /^Leave out the value of/ })
    await out.waitFor()
    await ui.accessible('a default value without a field')
    await page.getByRole('link', { name: 'Try' }).click()
    const run = page.getByRole('button', { name: 'Import without a test run' })
    assert.equal(await run.getAttribute('aria-disabled'), 'true')
    await page.getByRole('link', { name: 'Columns' }).click()
    await out.click()
    await out.waitFor({ state: 'detached' })
    await page.getByText('There are no default values.').waitFor()
    await page.getByRole('link', { name: 'Try' }).click()
    await run.click()
    await page.getByRole('link', { name: 'See the companies' }).waitFor()
    assert.equal(await count('company', 'name:eq(Cellarham)'), 1)
    await ui.end()
  })

  test('suggestions are accepted, and what was left out is told after the import', async () => {
    const ui = await openUi(service!, '/import?resource=contact')
    const { page } = ui
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    await choose(page, 'people.csv', 'Last name,x,y,Old no\nGuessham,gu@essham.example,+49 30 123456,7\n')
    await page.getByText('3 columns are not mapped yet').waitFor()
    await page.getByText('The values look like "E-mails", but the name does not say so.').waitFor()
    await page.getByRole('button', { name: 'Use E-mails' }).click()
    await focusIn(page.getByRole('button', { name: 'Field of x: E-mails' }))
    await page.getByRole('button', { name: 'Accept all suggestions' }).click()
    await page.getByRole('button', { name: 'Field of y: Phones' }).waitFor()
    await page.getByRole('button', { name: 'Field of Old no: Not imported' }).waitFor()
    await page.getByRole('link', { name: 'Try' }).click()
    await page.getByRole('button', { name: 'Import without a test run' }).click()
    await heading(page, 'Columns that were not imported')
    await page.getByText('Old no Left out by you.').waitFor()
    const [made] = (await service!.get(`${v1}/contact/view/list?filter=last_name:eq(Guessham)`)).body.data
    assert.deepEqual([made.emails.length, made.phones.length], [1, 1])
    await ui.end()
  })

  test('texts that name no option become options, one by one and all at once', async () => {
    const { call } = service!
    const field = async (field_name: string, type: string, options: string[]) =>
      (await call('POST', `${v1}/field`, { source: 'contact', field_name, type, options })).body.data.id
    await field('Grade', 'DROPDOWN', ['A'])
    await field('Skills', 'MULTISELECT', ['Cook'])
    const rooms = Array.from({ length: 98 }, (_, index) => `R${index}`)
    const full = await field('Room', 'DROPDOWN', rooms)
    const cells = ['A,R1,Cook', 'B,X1,"Cook, Bake"', 'C,X2,Bake; Wash', 'c,X3,', 'D,R2,cook', 'E,R3,']
    const rows = cells.map((row, index) => `Optia ${index},${index}@optia.example,${row}`)
    const ui = await openUi(service!, '/import?resource=contact')
    const { page } = ui
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    await choose(page, 'people.csv', `name,emails,Grade,Room,Skills\n${rows.join('\n')}`)
    await page.getByRole('link', { name: 'Values' }).click()
    const grade = page.getByRole('region', { name: 'Grade' })
    await grade.getByRole('button', { name: 'Create all 4 as options of Grade' }).waitFor()
    await ui.accessible('the options that can be made')
    await page.setViewportSize(phone)
    await notSideways(page, 'the options that can be made')
    // By keys: the focus moves on to the next text.
    await meaning(grade, 'E').selectOption({ label: 'A' })
    await grade.getByRole('button', { name: 'Create the option “B”' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('log').getByText('Added the option “B” to Grade').waitFor()
    await meaning(grade, 'B').waitFor({ state: 'detached' })
    assert.ok(await meaning(grade, 'C').evaluate(list => list === document.activeElement))
    await grade.getByRole('button', { name: 'Create all 2 as options of Grade' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('log').getByText('Added 2 options to Grade').waitFor()
    await grade.getByRole('button').first().waitFor({ state: 'detached' })
    // A meaning that was chosen stays.
    await meaning(grade, 'E').waitFor()
    // A cell of several choices has several names.
    const skills = page.getByRole('region', { name: 'Skills' })
    await skills.getByRole('button', { name: 'Create the option “Bake”' }).first().waitFor()
    await skills.getByRole('button', { name: 'Create all 2 as options of Skills' }).click()
    await skills.waitFor({ state: 'detached' })
    // At most as many as a field may have.
    const room = page.getByRole('region', { name: 'Room' })
    const all = room.getByRole('button', { name: 'Create all 3 as options of Room' })
    assert.equal(await all.getAttribute('aria-disabled'), 'true')
    await all.focus()
    await page
      .getByRole('tooltip')
      .getByText(/there is room for 2 more/)
      .waitFor()
    await ui.accessible('a field without room')
    await room.getByRole('button', { name: 'Create the option “X1”' }).click()
    await meaning(room, 'X1').waitFor({ state: 'detached' })
    await call('POST', `${v1}/field/${full}/option`, { name: 'Somebody else’s' })
    await page.reload()
    await meaning(room, 'X2').selectOption({ label: 'R1' })
    const last = room.getByRole('button', { name: 'Create the option “X3”' })
    assert.equal(await last.getAttribute('aria-disabled'), 'true')
    await meaning(room, 'X3').selectOption({ label: 'R1' })
    await page.getByRole('link', { name: 'Try' }).click()
    await page.getByRole('button', { name: 'Try 6 rows' }).click()
    await page.getByRole('button', { name: 'Import 6 rows' }).waitFor()
    assert.equal(await told(page, 'would be created'), 6)
    await ui.end()
  })

  test('tags that are not there yet are made of the texts of a file', async () => {
    const ui = await openUi(service!, '/import?resource=deal')
    const { page } = ui
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    await choose(
      page,
      'deals.csv',
      'title,tags\nTagged 1,"Tagged A, Tagged B"\nTagged 2,Tagged C; Tagged D\n',
    )
    await page.getByRole('link', { name: 'Values' }).click()
    const tags = page.getByRole('region', { name: 'Tags' })
    await tags.getByRole('button', { name: 'Create the tag “Tagged C”' }).click()
    await page.getByRole('log').getByText('Added the tag “Tagged C” to Tags').waitFor()
    await tags.getByRole('button', { name: 'Create all 3 as tags of Tags' }).click()
    await page.getByRole('log').getByText('Added 3 tags to Tags').waitFor()
    await tags.waitFor({ state: 'detached' })
    const made = (await service!.get(`${v1}/tag/view/list?filter=name:like(Tagged)`)).body.data
    assert.equal(made.length, 4)
    await ui.end()
  })

  test('an option that is refused says why', async () => {
    const { call } = service!
    const options = Array.from({ length: 98 }, (_, index) => `No. ${index}`)
    const asked = { source: 'company', field_name: 'Rank', type: 'DROPDOWN', options }
    const field = (await call('POST', `${v1}/field`, asked)).body.data.id
    const user = await importer('Ranker', ['field:write'])
    const ui = await openUi(service!, '/import?resource=company', { user })
    const { page } = ui
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    await choose(page, 'companies.csv', 'name,Rank\nRanked A,Two\nRanked B,Three\n')
    await page.getByRole('link', { name: 'Values' }).click()
    const rank = page.getByRole('region', { name: 'Rank' })
    const create = rank.getByRole('button', { name: 'Create all 2 as options of Rank' })
    await create.waitFor()
    // Their role gets no events of others.
    await call('POST', `${v1}/field/${field}/option`, { name: 'Somebody else’s' })
    await create.click()
    const alert = rank.getByRole('alert')
    await alert.getByText(/“Three” was not added to Rank. .*100 options in use/).waitFor()
    await page.getByRole('log').getByText('Added the option “Two” to Rank').waitFor()
    await meaning(rank, 'Two').waitFor({ state: 'detached' })
    await ui.end(/status of 422/)
  })

  test('a unique field tells what is here already', async () => {
    const { call, get } = service!
    await call('PATCH', `${v1}/field/203`, { is_unique: true })
    await call('POST', `${v1}/product`, { name: 'There', product_code: 'D1' })
    const ui = await openUi(service!, '/import?resource=product')
    const { page } = ui
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    await choose(page, 'products.csv', 'name,product_code\nFirst,d1\nSecond,D2\n')
    await heading(page, 'Map columns to fields')
    await page.getByRole('link', { name: 'Duplicates' }).click()
    const same = page.getByRole('combobox', { name: 'Match records by' })
    const code = (await get(`${v1}/field/203`)).body.data.field_name
    await same.selectOption({ label: code })
    await page.getByRole('radio', { name: /Update the record/ }).click()
    await ui.accessible('what is done with duplicates')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('button', { name: 'Try 2 rows' }).click()
    await page.getByRole('button', { name: 'Import 2 rows' }).waitFor()
    assert.deepEqual([await told(page, 'would be created'), await told(page, 'would be updated')], [1, 1])
    await page.getByRole('button', { name: 'Import 2 rows' }).click()
    await page.getByRole('button', { name: 'Undo import' }).click()
    assert.equal((await get(`${v1}/product/by/product_code/D1`)).body.data.name, 'First')
    await page.getByRole('button', { name: 'Undo it' }).click()
    await heading(page, 'Undone')
    assert.equal((await get(`${v1}/product/by/product_code/D1`)).body.data.name, 'There')
    await ui.end()
  })

  test('one that runs is paused, left, found again and cancelled', async () => {
    const ui = await openUi(service!, '/import?resource=company')
    const { page } = ui
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    // Many more than are imported while one looks for a button.
    const rows = Array.from({ length: 100_000 }, (_, index) => `Pausing ${index}`)
    await choose(page, 'many.csv', `name\n${rows.join('\n')}`)
    await heading(page, 'Map columns to fields')
    await page.getByRole('link', { name: 'Try' }).click()
    await page.getByRole('button', { name: 'Import without a test run' }).click()
    await page.getByRole('progressbar', { name: 'Importing' }).first().waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    await ui.accessible('an import that is paused')
    const address = page.url()
    await page.goto(`${service!.url}/board`)
    await page.goto(address)
    await page.getByText(/of 100,000 rows/).waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('link', { name: 'Import of companies: many.csv' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Cancel the job' }).click()
    await page.getByText(/It was cancelled: the rows/).waitFor()
    await page.getByRole('button', { name: 'Undo import' }).waitFor()
    const made = await count('company', 'name:like(Pausing )')
    assert.ok(made > 0 && made < rows.length, String(made))
    assert.equal(await told(page, 'created'), made)
    await ui.end()
  })
})
