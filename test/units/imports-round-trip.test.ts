/** What our exports write converts back to bodies of the same values, in each format (D80, D81). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csv } from '../../src/export/csv.ts'
import { jsonLines } from '../../src/export/json-lines.ts'
import type { Source as Exported } from '../../src/export/source.ts'
import { workbook } from '../../src/export/workbook.ts'
import { converter } from '../../src/imports/convert.ts'
import { guessFormats } from '../../src/imports/formats.ts'
import { guessMapping } from '../../src/imports/guess.ts'
import { readTable } from '../../src/imports/read.ts'
import type { JsonObject } from '../../src/json.ts'
import { catalog } from '../support/import-catalog.ts'

const formats = { csv, xlsx: workbook, jsonl: jsonLines } as const

/** A record as `names=1` gives it → what comes back. */
async function back(format: keyof typeof formats, resource: string, record: JsonObject) {
  const fields = catalog.resources.get(resource)!
  const shown = fields.fields.filter(field => field.is_active && !field.is_hidden)
  const source = {
    request: { shown, named: [], list: { only: null } },
    ...{ fields, viewer: { catalog }, batches: batchesOf(record) },
  }
  const table = await readTable(formats[format](source as unknown as Exported), { format })
  const rows = await Array.fromAsync(table.rows)
  const cells = rows.map(row => row.cells)
  const mapping = await guessMapping(catalog, fields, table.columns(), cells)
  const plan = { mapping, values: {}, formats: guessFormats(cells) }
  const { body, kept, problems } = converter(catalog, fields, plan, table.columns())(cells[0]!)
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
  ...{ tags: ['a;b', '-c', ' d '], description: "'=1", won_reason: 'Quality', deal_closed_on: '2026-03-01' },
  ...{ metadata: { a: [1, 'x'] }, cf_colors: ['Red', 'Blue; light'], cf_seats: -5, cf_call_at: '09:30' },
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
      primary_contact: { first_name: 'Ada', last_name: 'Lovelace' },
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
