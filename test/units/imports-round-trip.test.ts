/** Our exports convert back to bodies of the same values, in each format (D80, D81). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownFields } from '../../src/fields/catalog.ts'
import { readTable } from '../../src/files/read.ts'
import type { JsonObject } from '../../src/json.ts'
import { csv } from '../../src/work/exports/formats.ts'
import { jsonLines } from '../../src/work/exports/json-lines.ts'
import type { Source as Exported } from '../../src/work/exports/source.ts'
import { workbook } from '../../src/work/exports/workbook.ts'
import { converter } from '../../src/work/imports/convert.ts'
import { guessFormats } from '../../src/work/imports/formats.ts'
import { guessColumns } from '../../src/work/imports/guess.ts'
import { catalog } from '../support/import-catalog.ts'

const formats = { csv, xlsx: workbook, jsonl: jsonLines } as const

/** A record exported with `names=1` → the converted body. */
async function back(format: keyof typeof formats, resource: string, record: JsonObject) {
  const schema = catalog.resources.get(resource)!
  const shown = shownFields(schema)
  const source = {
    request: { shown, named: [], list: { schema, only: null } },
    ...{ caller: { catalog }, batches: batchesOf(record) },
  }
  const table = await readTable(formats[format](source as unknown as Exported), { format })
  const rows = await Array.fromAsync(table.rows)
  const cells = rows.map(row => row.cells)
  const { mapping } = await guessColumns(catalog, schema, table.columns(), cells)
  const plan = { mapping, values: {}, formats: guessFormats(cells) }
  const { body, kept, problems } = converter(catalog, schema, plan, table.columns())(cells[0]!)
  assert.deepEqual(problems, [])
  return { ...body, ...kept }
}

async function* batchesOf(record: JsonObject): AsyncGenerator<readonly Uint8Array[]> {
  yield [Buffer.from(JSON.stringify(record))]
}

const times = { won_time: '2026-03-01T23:30:00.123Z', created_at: '2026-01-01T10:00:00.500Z' }
const same = {
  ...{
    title: ' =x; "q"\nnew line',
    pipeline: 'Sales',
    pipeline_stage: 'Won',
    sales_owner: 'Ann',
    source: 'Web',
  },
  description: `'=1;"=2;''"=3\n'@SUM(A1)\n- item\n'- item\t'x`,
  ...{ tags: ['a;b', '-c', ' d ', ';=e'], won_reason: 'Quality', deal_closed_on: '2026-03-01' },
  ...{ metadata: { a: [1, 'x'] }, cf_colors: ['Red', 'Blue; light'], cf_seats: -5e-9, cf_call_at: '09:30' },
}

for (const format of Object.keys(formats) as (keyof typeof formats)[]) {
  test(`${format}: a deal`, async () => {
    const record = {
      ...{ ...same, ...times, id: 7, version: 3, status: 'Won', age: 5, company: 'Acme' },
      ...{ primary_contact: 'Ada Lovelace', related_contacts: ['Bo B', 'Cy C'] },
      deal_value: { currency: 978, currency_code: 'EUR', value: 12.5, products: [] },
    }
    const { deal_value, ...found } = await back(format, 'deal', record)
    const { value, currency } = deal_value as JsonObject
    assert.deepEqual([value, currency], [12.5, format === 'jsonl' ? 978 : 'EUR'])
    assert.deepEqual(found, {
      ...{ ...same, ...times, company: { name: 'Acme', find_by: 'name' } },
      primary_contact: { first_name: 'Ada', last_name: 'Lovelace', company: found.company },
      related_contacts: [
        { first_name: 'Bo', last_name: 'B' },
        { first_name: 'Cy', last_name: 'C' },
      ],
    })
  })

  test(`${format}: a product and a company`, async () => {
    const product = {
      ...{ name: '-P', product_code: '007', active: 'Yes', quantity_in_stock: 12345678901234 },
      unit_price: [{ currency: 978, currency_code: 'EUR', price: 5, tax: null, discount: null }],
      valid_till: '2026-05-01T00:00:00.000Z',
    }
    assert.deepEqual(await back(format, 'product', product), product)
    const company = { name: '+C', website: "''@x", address: [{ city: 'Berlin', zipcode: '01234' }] }
    assert.deepEqual(await back(format, 'company', company), company)
  })
}

/** A file of one deal in a format, read like any file: its body, and its refused columns. */
async function readAs(
  cells: readonly string[],
  delimiter: string,
  encode: (text: string) => Uint8Array,
): Promise<{ body: JsonObject; columns: unknown[] }> {
  const columns = ['title', 'deal_value.value', 'expected_close_date']
  const lines = [columns, cells].map(all => all.map(one => `"${one.replaceAll('"', '""')}"`).join(delimiter))
  const bytes = async function* () {
    yield encode(`${lines.join('\r\n')}\r\n`)
  }
  const table = await readTable(bytes(), { format: 'csv' })
  const rows = (await Array.fromAsync(table.rows)).map(row => row.cells)
  const schema = catalog.resources.get('deal')!
  const { mapping } = await guessColumns(catalog, schema, table.columns(), rows)
  const plan = { mapping, values: {}, formats: guessFormats(rows) }
  const { body, problems } = converter(catalog, schema, plan, table.columns())(rows[0]!)
  return { body, columns: problems.map(({ column }) => column) }
}

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')
const encodings: { readonly [name: string]: (text: string) => Uint8Array } = {
  'utf-8': text => Buffer.from(text),
  'utf-8 with a mark': text => Buffer.from(`\ufeff${text}`),
  'utf-16le': utf16,
  'utf-16be': text => Buffer.from(utf16(text)).swap16(),
  'windows-1252': text => Buffer.from(text.replaceAll('€', '\x80'), 'latin1'),
}
const amounts = [
  ...['1234.5', '1234,5', '1,234.50', '1.234,50', '1 234,50', "1'234.50", '€1.234,50', '1.234,5 EUR'],
  ...['EUR 1,234.50', '1234,50 €'],
]
const days = [
  ...['2026-03-25', '25.03.2026', '25/03/2026', '03/25/2026', '3/25/26', '25 March 2026', 'Mar 25, 2026'],
  ...['20260325', '25-03-2026', '25. März 2026', '25 mars 2026', '2026-03-25T10:30', '25.3.2026 10:30'],
]

test('known values are read as they are from every form of a file, or refused with their columns', async () => {
  const title = 'Größe; "x", y|z\tw'
  for (const delimiter of [',', ';', '\t', '|'])
    for (const [encoding, encode] of Object.entries(encodings)) {
      for (const [index, amount] of amounts.entries())
        for (const day of days.filter((_, place) => place % 5 === index % 5 || delimiter === ';')) {
          const { body, columns } = await readAs([title, amount, day], delimiter, encode)
          assert.deepEqual(columns, [], `${delimiter} ${encoding} ${amount} ${day}`)
          assert.deepEqual(
            body,
            { title, deal_value: { currency: 'EUR', value: 1234.5 }, expected_close_date: '2026-03-25' },
            `${delimiter} ${encoding} ${amount} ${day}`,
          )
        }
      for (const [amount, day] of [
        ['1.250', '01/02/2026'],
        ['€ 1,250', '1-2-2026'],
        ['12,34,56', '2026-02-30'],
        ['n/a', 'tbd'],
        ['1.2.3', '2026-03-25T25:00'],
      ]) {
        const { body, columns } = await readAs([title, amount!, day!], delimiter, encode)
        assert.deepEqual([body, columns], [{ title }, ['deal_value.value', 'expected_close_date']], amount)
      }
    }
})
