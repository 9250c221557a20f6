/**
 * Exports of other systems (D80), with the real names of their columns and made-up values, can be imported.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { importerOf } from '../support/import-jobs.ts'
import { startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get } = service
const { upload, told } = importerOf(service)
const owner = (await get(`${v1}/user/view/list?pageSize=1`)).body.data[0].email
const pipeline = (await get(`${v1}/pipeline/view/list?pageSize=1`)).body.data[0].name
const person = (await call('POST', `${v1}/contact`, { last_name: 'Of all rows' })).body.data.id

type Column = { name: string; state: string; reason: string | null }
type Expected = {
  /** columns that can't be guessed */
  open?: readonly string[]
  /** expected values of the records, by paths */
  records: readonly { readonly [path: string]: unknown }[]
}

const at = (record: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce((value: unknown, step) => (value as { [name: string]: unknown } | null)?.[step], record)

async function goesIn(file: string, { open = [], records }: Expected) {
  const [system, resource] = file.split('-') as [string, string]
  const text = readFileSync(`test/support/exports/${file}.csv`, 'utf8').replaceAll('OWNER', owner)
  const made = (await upload(resource, text)).body.data
  const columns: readonly Column[] = made.columns
  const named = (state: string) => columns.filter(one => one.state === state).map(({ name }) => name)
  assert.deepEqual(named('open'), open, system)
  for (const one of columns) if (one.state === 'left_out') assert.ok(one.reason, `${system} ${one.name}`)
  const mapped = new Set(made.mapping.map(({ field }: { field: string }) => field))
  const needed = { pipeline, sales_owner: owner, primary_contact: person, 'deal_value.currency': 'EUR' }
  const defaults = Object.entries(resource === 'deal' ? needed : {}).filter(
    ([field]) => ![...mapped].some(one => one === field || String(one).startsWith(`${field}.`)),
  )
  const plan = { confirm: true, defaults: Object.fromEntries(defaults) }
  const changed = await call('PATCH', `${v1}/import/${made.id}`, plan)
  assert.equal(changed.status, 200, changed.text)
  const done = await told(made.id, 'run')
  assert.deepEqual([done.refused, done.created], [0, records.length], JSON.stringify(done.problems))
  const expand = { deal: 'company,primary_contact', contact: 'company', product: '' }[resource]
  const query = `pageSize=${records.length}&sort=id:desc${expand ? `&expand=${expand}` : ''}`
  const { data } = (await get(`${v1}/${resource}/view/list?${query}`)).body
  for (const [index, expected] of records.entries())
    for (const [path, value] of Object.entries(expected))
      assert.deepEqual(at(data.toReversed()[index], path), value, `${system} ${path}`)
}

test('address books', async () => {
  await goesIn('google-contact', {
    open: ['Birthday'],
    records: [
      {
        ...{ first_name: 'Greta', job_title: 'Buyer', '_expanded.company.name': 'Fjord AS' },
        ...{ 'emails.0.email_value': 'greta@fjord.example', 'emails.1.email_value': 'greta@home.example' },
        'phones.0.phone_number': '+47 400 12 345',
      },
      { last_name: 'Googlesen', 'phones.0.phone_number': '+47 22 33 44 55' },
    ],
  })
  await goesIn('outlook-contact', {
    open: ['E-mail Type'],
    records: [
      {
        ...{ job_title: 'Head of post', '_expanded.company.name': 'Amt KG', 'phones.length': 2 },
        ...{ 'phones.0.phone_number': '+49 228 2', 'phones.1.phone_number': '+49 170 33' },
      },
    ],
  })
  const [amt] = (await get(`${v1}/company/view/list?filter=name:eq(Amt KG)`)).body.data
  assert.deepEqual([amt.address[0].city, amt.address[0].zipcode, amt.phones.length], ['Bonn', '53111', 1])
  await goesIn('linkedin-contact', {
    open: ['URL', 'Connected On'],
    records: [
      {
        job_title: 'Engineer',
        '_expanded.company.name': 'Kedin Ltd',
        '_expanded.company.website': undefined,
      },
    ],
  })
})

test('shops', async () => {
  await goesIn('woocommerce-product', {
    records: [
      {
        ...{ name: 'Woo hood', sku_number: 'WOO-1', quantity_in_stock: 12, description: 'A warm one.' },
        'unit_price.0.price': 45,
      },
      { name: 'Woo cap', quantity_in_stock: 0, 'unit_price.0.price': 9.5 },
    ],
  })
  await goesIn('shopify-product', {
    records: [{ name: 'Shop mug', sku_number: 'MUG-1', quantity_in_stock: 7, 'unit_price.0.price': 8.9 }],
  })
})

test('CRMs', async () => {
  const deal = (title: string, value: number, company: string | undefined, contact: string) => ({
    ...{ title, 'deal_value.value': value, '_expanded.company.name': company },
    '_expanded.primary_contact.name': contact,
  })
  await goesIn('pipedrive-deal', { records: [deal('Pipe elbows', 80, 'Elbow AB', 'Pia Pipe')] })
  await goesIn('hubspot-deal', { records: [deal('Hub caps', 640.5, 'Caps GmbH', 'Hugo Hub')] })
  await goesIn('salesforce-deal', { records: [deal('Force gauges', 7200, 'Gauge plc', 'Sal Force')] })
  await goesIn('zoho-deal', { records: [deal('Zoho pumps', 45_000, 'Pump SA', 'Zoe Zoho')] })
  await goesIn('freshsales-deal', { records: [deal('Fresh fish', 1200, 'Fish BV', 'Of all rows')] })
  await goesIn('twenty-deal', { records: [deal('Twenty sails', 2500, undefined, 'Of all rows')] })
  await goesIn('espocrm-deal', { records: [deal('Espo beans', 300, 'Bean Oy', 'Esa Espo')] })
  await goesIn('atomic-contact', {
    records: [
      {
        ...{ first_name: 'Ada', job_title: 'CTO', '_expanded.company.name': 'Atom Ltd' },
        ...{ 'emails.length': 2, 'phones.length': 2, created_at: '2025-07-01T00:00:00.000Z' },
      },
    ],
  })
})
