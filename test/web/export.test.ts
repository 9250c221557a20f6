/** The Export menu of a table: the downloaded file equals the table, whole and in its order. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { startService, v1 } from '../support/service.ts'
import { cellsOfCsv, cellsOfWorkbook } from '../support/tables.ts'
import { messageOf, openUi } from '../support/ui.ts'

const service = noBrowser ? null : await startService()

/** Chooses an entry of the menu, by its group; returns the name and the bytes of the download. */
async function exported(page: Page, group: string, format: string): Promise<{ name: string; bytes: Buffer }> {
  await page.getByRole('button', { name: 'Export' }).click()
  const begun = page.waitForEvent('download')
  await page.getByRole('group', { name: group }).getByRole('menuitem', { name: format }).click()
  const download = await begun
  assert.equal(await download.failure(), null)
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) }
}

suite('The Export menu', { skip: noBrowser }, () => {
  test('a filtered and sorted table is downloaded as it stands, in every format', async () => {
    const { get } = service!
    const query = 'filter=status:eq(Open)&sort=title:asc'
    const ui = await openUi(service!, `/deals?${query}`)
    const { page } = ui
    await page.getByRole('grid').getByRole('link').first().waitFor()
    const listed: { id: number; title: string }[] = (await get(`${v1}/deal/view/list?${query}&pageSize=500`))
      .body.data
    assert.ok(listed.length > 50)
    const titles = listed.map(({ title }) => title)

    const csv = await exported(page, 'With names', 'CSV')
    assert.match(csv.name, /^deals-\d{4}-\d\d-\d\d\.csv$/)
    const [header, ...rows] = cellsOfCsv(csv.bytes.toString().slice(1)) as [string[], ...string[][]]
    assert.deepEqual(
      rows.map(row => row[header.indexOf('title')]),
      titles,
    )
    assert.deepEqual([...new Set(rows.map(row => row[header.indexOf('status')]))], ['Open'])

    const excel = await exported(page, 'With ids, for programs', 'Excel')
    assert.match(excel.name, /\.xlsx$/)
    const [, ...cells] = cellsOfWorkbook(excel.bytes)
    assert.deepEqual(
      cells.map(([id]) => (id as { number: number }).number),
      listed.map(({ id }) => id),
    )

    const lines = await exported(page, 'With ids, for programs', 'JSON lines')
    assert.match(lines.name, /\.jsonl$/)
    assert.deepEqual(
      lines.bytes
        .toString()
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line).title),
      titles,
    )
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menu', { name: 'Export' }).waitFor()
    await ui.accessible('the Export menu')
    await ui.end()
  })

  test('every table has it, and names need the right to read what they name', async () => {
    const { call } = service!
    const scopes = ['contact', 'company', 'field', 'view', 'user', 'territory', 'tag'].map(
      name => `${name}:read`,
    )
    const made = async (resource: string, body: { [name: string]: string | number | string[] }) =>
      (await call('POST', `${v1}/${resource}`, body)).body.data.id as number
    const role = await made('role', {
      name: 'Addresses',
      scopes: scopes.filter(scope => scope !== 'territory:read'),
    })
    const user = await made('user', { name: 'Reader', email: 'addresses@example.com', role })
    for (const table of ['contacts', 'companies', 'products', 'activities']) {
      const ui = await openUi(service!, `/${table}`)
      const { name } = await exported(ui.page, 'With names', 'CSV')
      assert.ok(name.startsWith(`${table}-`), name)
      await ui.end()
    }
    const ui = await openUi(service!, '/contacts?columns=first_name,last_name', { user })
    await ui.page.getByRole('button', { name: 'Export' }).click()
    const items = ui.page.getByRole('menuitem', { name: 'CSV' })
    await items.nth(1).waitFor()
    const states = await items.evaluateAll(all => all.map(item => item.getAttribute('aria-disabled')))
    assert.deepEqual(states, ['true', null])
    await items.first().getByText('Your role can’t read: Territory').waitFor()
    // A refused download is a message of the page.
    const isFirst = (url: URL) => /view\/list$/.test(url.pathname) && url.searchParams.get('pageSize') === '1'
    await ui.page.route(isFirst, route => route.fulfill({ status: 500, body: '{}' }))
    await items.nth(1).click()
    await messageOf(ui.page, /^Nothing is exported\./).waitFor()
    await ui.end(/status of 500/)
  })
})
