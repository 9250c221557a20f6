/** Rows of files become bodies that the interface accepts (D80). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { momentIn } from '../../src/fields/local-times.ts'
import { type Cell, readTable } from '../../src/files/read.ts'
import { dateOf, dayOf, itemsOf, momentOf, numberOf, timeOf } from '../../src/files/texts.ts'
import type { JsonObject } from '../../src/json.ts'
import { parseRecord } from '../../src/records/parse.ts'
import { converter, type Plan } from '../../src/work/imports/convert.ts'
import { onto } from '../../src/work/imports/entries.ts'
import { guessFormats } from '../../src/work/imports/formats.ts'
import { guessColumns, targetsOf } from '../../src/work/imports/guess.ts'
import { catalog } from '../support/import-catalog.ts'

/** Converts one row, of cells by their targets. */
function converted(resource: string, cells: { readonly [field: string]: Cell }, more: Partial<Plan> = {}) {
  const schema = catalog.resources.get(resource)!
  const names = Object.keys(cells)
  const mapping = names.map((field, column) => ({ column, field }))
  const plan = { mapping, values: {}, formats: {}, ...more }
  return converter(catalog, schema, plan, names)(Object.values(cells))
}

const body = (resource: string, cells: { readonly [field: string]: Cell }, more: Partial<Plan> = {}) => {
  const { body, problems } = converted(resource, cells, more)
  assert.deepEqual(problems, [])
  return body
}

/** The interface's problems with a body; names are not looked up here. */
function complaints(resource: string, given: JsonObject): string[] {
  const { problems, warnings } = parseRecord(given, catalog.resources.get(resource)!, catalog, null)
  return [...problems.listed, ...warnings].map(({ message }) => message)
}

test('numbers as people write them', () => {
  const numbers: [string, '.' | ',' | undefined, number | null][] = [
    ['12.5', '.', 12.5],
    ['1,234.50', '.', 1234.5],
    ['1.234,50', ',', 1234.5],
    ['1.234,50', undefined, 1234.5],
    ['1.234.567', undefined, 1234567],
    ['1 234,567', undefined, 1234.567],
    ['0,125', undefined, 0.125],
    ['0.125', ',', null],
    ['12.5', undefined, 12.5],
    ['2500', undefined, 2500],
    ['1\u202f234\u00a0567', '.', null],
    ['1\u202f234\u202f567', '.', 1234567],
    ['10 20', '.', null],
    ['1 0000', '.', null],
    ["1'2", '.', null],
    ['1 234.567', ',', null],
    ['1 234 567,8', ',', 1234567.8],
    ["1'234.5", '.', 1234.5],
    ['1.250', ',', 1250],
    ['1.250', '.', 1.25],
    ['1,250', '.', 1250],
    ['€ 1.250,00', ',', 1250],
    ['-$12', '.', -12],
    ['$-12', '.', -12],
    ['(12.50)', '.', -12.5],
    ['50 %', '.', 50],
    ['0012', '.', 12],
    ['.5', '.', 0.5],
    ['1,2,3', '.', null],
    ['12,34,567', '.', null],
    ['1.2.3', '.', null],
    ['12 apples and more', '.', null],
    ['', '.', null],
    ['-', '.', null],
  ]
  for (const [text, mark, number] of numbers) {
    const found = numberOf(text, mark)
    assert.ok(found !== 'unclear', text)
    assert.equal(found?.number ?? null, number, text)
  }
  for (const text of ['1.250', '2,500', '-€1.250', '(12,500)'])
    assert.equal(numberOf(text, undefined), 'unclear', text)
  assert.equal(JSON.stringify(numberOf('12345678901234567890.1', '.')!.number), '12345678901234567890.1')
})

test('dates and times as people write them', () => {
  const dates: [string, 'dmy' | 'mdy' | undefined, string | null][] = [
    ['2026-03-01', undefined, '2026-03-01'],
    ['20260301', undefined, '2026-03-01'],
    ['2026/3/1', undefined, '2026-03-01'],
    ['31/12/2026', undefined, '2026-12-31'],
    ['12/31/2026', undefined, '2026-12-31'],
    ['1.3.2026', undefined, '2026-03-01'],
    ['01/03/2026', undefined, 'unclear'],
    ['01/03/2026', 'dmy', '2026-03-01'],
    ['01/03/2026', 'mdy', '2026-01-03'],
    ['3/3/26', undefined, '2026-03-03'],
    ['1 March 2026', undefined, '2026-03-01'],
    ['Mar 1, 2026', undefined, '2026-03-01'],
    ['12 Sept. 2026', undefined, '2026-09-12'],
    ['12 september 2026', undefined, '2026-09-12'],
    ['12 Marble 2026', undefined, null],
    ['12 Septic 2026', undefined, null],
    ['June 3 2026', undefined, '2026-06-03'],
    ['Junk 3, 2026', undefined, null],
    ['3. März 2026', undefined, '2026-03-03'],
    ['15-Mai-2026', undefined, '2026-05-15'],
    ['1er février 2026', undefined, '2026-02-01'],
    ['12 déc. 2026', undefined, '2026-12-12'],
    ['03/03/0026', undefined, null],
    // A file with one order has no dates of the other.
    ['12/31/2026', 'dmy', null],
    ['31/12/2026', 'mdy', null],
    ['2026-02-30', undefined, null],
    ['31/31/2026', undefined, null],
    ['soon', undefined, null],
  ]
  for (const [text, order, date] of dates) assert.equal(dateOf(text, order), date, text)
  assert.equal(timeOf('2:05 pm'), '14:05:00')
  assert.equal(timeOf('12:00 AM'), '00:00:00')
  assert.equal(timeOf('25:00'), null)
  for (const text of ['2026-02-03T25:00', '2026-02-03 at noon', '31/12/2026 10:61'])
    assert.equal(dayOf(text, undefined), null, text)
  for (const text of ['2026-02-03T23:00+02:00', '2026-02-03 10:00 PM', '3 Feb 2026, 10:00 CET'])
    assert.equal(dayOf(text, undefined), '2026-02-03', text)
  assert.deepEqual([dayOf('46082', 'serial'), dayOf('46082', undefined)], ['2026-03-01', null])
  const local = momentIn('Europe/Berlin')
  assert.equal(momentOf('46082.5', 'serial', local), '2026-03-01T11:00:00.000Z')
  const moments: [string, string | null][] = [
    ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00.000Z'],
    ['2026-03-01T10:00:00+02:00', '2026-03-01T08:00:00.000Z'],
    ['2026-03-01 10:00:00 +0200', '2026-03-01T08:00:00.000Z'],
    ['2026-03-01 10:00', '2026-03-01T09:00:00.000Z'],
    ['2026-01-02 10:00:00.123', '2026-01-02T09:00:00.123Z'],
    ['2026-01-02 10:00:00,5', '2026-01-02T09:00:00.500Z'],
    ['2/1/26 10:00:00.123456 UTC', 'unclear'],
    ['31/12/2026 10:00:00.123456 UTC', '2026-12-31T10:00:00.123Z'],
    ['2026-03-29 03:30:00.250', '2026-03-29T01:30:00.250Z'],
    ['2026-07-01 10:00:30', '2026-07-01T08:00:30.000Z'],
    ['31/12/2026 2:00 PM', '2026-12-31T13:00:00.000Z'],
    ['2026-03-01', '2026-02-28T23:00:00.000Z'],
    ['2026-03-29 03:30', '2026-03-29T01:30:00.000Z'],
    ['2026-10-25 12:00', '2026-10-25T11:00:00.000Z'],
    ['1767225600000', '2026-01-01T00:00:00.000Z'],
    ['2051222400000', '2035-01-01T00:00:00.000Z'],
    ['2026-03-01 25:00', null],
  ]
  for (const [text, moment] of moments) assert.equal(momentOf(text, undefined, local), moment, text)
})

test('a number of JSON or of a sheet is taken as it is, whatever mark texts have', () => {
  const formats = { decimal: ',' } as const
  const cells = { 'deal_value.value': 1.125, cf_seats: 12.5, description: 1.5e-7, expected_deal_value: 1.234 }
  assert.deepEqual(body('deal', cells, { formats }), {
    ...{ deal_value: { currency: 'EUR', value: 1.125 }, cf_seats: 12.5, description: '0.00000015' },
    expected_deal_value: { currency: 'EUR', value: 1.234 },
  })
  assert.deepEqual(body('product', { unit_price: 1.234 }, { formats }).unit_price, [
    { currency: 'EUR', unit_price: 1.234 },
  ])
  assert.deepEqual(body('product', { category: 1.5 }), { category: '1.5' })
})

test('several values in a cell, as our exports join them', () => {
  assert.deepEqual(itemsOf('a; b;c\nd;;'), ['a', 'b', 'c', 'd'])
  assert.deepEqual(itemsOf('a; "b; \\"c\\""; d'), ['a', 'b; "c"', 'd'])
  assert.deepEqual(itemsOf('5" pipe; "x'), ['5" pipe', '"x'])
})

test('a deal with all that it may have is one that the interface takes', () => {
  const cells = {
    title: ' Big deal ',
    pipeline: 'Sales',
    pipeline_stage: 'qualified',
    sales_owner: '1',
    'deal_value.value': '1.250,50 $',
    'deal_value.currency': '$',
    expected_deal_value: 'USD 7',
    source: 'trade fair',
    deal_closed_on: '',
    expected_close_date: '31.12.2026 10:00',
    cf_colors: 'Red; "Blue; light"',
    cf_seats: '1.000',
    cf_call_at: '9:30 am',
    metadata: '{"a":[1]}',
    'company.name': 'Acme',
    'company.address.city': 'Berlin',
    'company.phones': '+49 30 123456',
    'primary_contact.name': 'Vincent van Gogh',
    'primary_contact.emails.home': 'Vincent <v@gogh.nl>',
    'primary_contact.phones.mobile': '+31 6 12345678',
    'related_contacts.emails': 'a@x.com; b@x.com',
    'related_contacts.name': 'Ann A; Bo B',
  }
  const given = body('deal', cells, { formats: { decimal: ',', date: 'dmy' } })
  assert.deepEqual(given, {
    ...{ title: ' Big deal ', pipeline: 'Sales', pipeline_stage: 'qualified', sales_owner: '1' },
    deal_value: { value: 1250.5, currency: 'USD' },
    expected_deal_value: { currency: 'USD', value: 7 },
    ...{ source: 'trade fair', expected_close_date: '2026-12-31', cf_colors: ['Red', 'Blue; light'] },
    ...{ cf_seats: 1000, cf_call_at: '09:30', metadata: { a: [1] } },
    company: {
      ...{ name: 'Acme', find_by: 'name', address: { city: 'Berlin' } },
      phones: [{ phone_type: 'work', phone_number: '+49 30 123456' }],
    },
    primary_contact: {
      ...{ first_name: 'Vincent', last_name: 'van Gogh', find_by: 'email' },
      emails: [{ email_type: 'home', email_value: 'v@gogh.nl' }],
      phones: [{ phone_type: 'mobile', phone_number: '+31 6 12345678' }],
      company: given.company!,
    },
    related_contacts: [
      { ...contact('a@x.com'), first_name: 'Ann', last_name: 'A' },
      { ...contact('b@x.com'), first_name: 'Bo', last_name: 'B' },
    ],
  })
  const { sales_owner: _, company, primary_contact, related_contacts: __, ...own } = given
  const found = ({ find_by: ___, ...members }: JsonObject) => members
  const taken = {
    ...own,
    sales_owner: 1,
    company: found(company as JsonObject),
    primary_contact: { ...found(primary_contact as JsonObject), company: found(company as JsonObject) },
  }
  assert.deepEqual(complaints('deal', taken), [])
})

function contact(email: string) {
  return { emails: [{ email_type: 'work', email_value: email }], find_by: 'email' }
}

test('what is not there is left out, and currencies are the base currency', () => {
  const empty = Object.fromEntries(
    targetsOf(catalog, catalog.resources.get('deal')!).map(({ field }) => [field, '']),
  )
  const { body: none, kept, problems } = converted('deal', empty)
  assert.deepEqual([none, kept, problems], [{}, {}, []])
  assert.deepEqual(body('deal', { 'deal_value.value': '5' }).deal_value, { currency: 'EUR', value: 5 })
  assert.deepEqual(body('deal', { 'deal_value.value': '', 'deal_value.currency': 'USD' }), {})
  assert.deepEqual(body('product', { 'unit_price.price': '5', 'unit_price.currency': 'USD' }).unit_price, [
    { currency: 'USD', unit_price: 5 },
  ])
  const named = body('deal', { 'primary_contact.emails': 'jo@x.com' }).primary_contact
  assert.deepEqual(named, { ...contact('jo@x.com'), last_name: 'jo' })
})

test('a sign beside an amount says its currency, or the row is refused', () => {
  const amounts: [amount: string, currency: string][] = [
    ['€100', 'EUR'],
    ['$ 100', 'USD'],
    ['100 gbp', 'GBP'],
    ['¥100', 'JPY'],
    ['CNY 100', 'CNY'],
  ]
  for (const [text, currency] of amounts) {
    const value = { currency, value: 100 }
    assert.deepEqual(body('deal', { 'deal_value.value': text }).deal_value, value, text)
    assert.deepEqual(body('deal', { deal_value: text }).deal_value, value, text)
    const price = body('product', { 'unit_price.price': text }).unit_price
    assert.deepEqual(price, [{ currency, unit_price: 100 }], text)
    // The currency may be on either side.
    const [before, behind] = [{ 'deal_value.currency': currency }, { 'deal_value.value': text }]
    assert.deepEqual(body('deal', { ...before, ...behind }).deal_value, value, text)
    assert.deepEqual(body('deal', { ...behind, ...before }).deal_value, value, text)
  }
  const said = (cells: { readonly [field: string]: Cell }) =>
    converted('deal', cells).problems.map(({ message, hint }) => `${message} ${hint}`)
  for (const text of ['50%', '₿7', 'C$5', '5 kr'])
    for (const field of ['deal_value', 'deal_value.value'])
      assert.deepEqual(said({ [field]: text }), [
        `Column "${field}": "${text}" does not say in which currency of the account it is. ` +
          'Write the code of the currency, such as 100 EUR, in place of the sign.',
      ])
  assert.deepEqual(said({ 'deal_value.value': '€100', 'deal_value.currency': 'USD' }), [
    'Column "deal_value.value": "€100" is not in "USD", as another column says. ' +
      'Correct one of the two, or leave the sign out.',
  ])
  assert.equal(said({ 'deal_value.value': '50%', 'deal_value.currency': 'USD' }).length, 1)
  assert.deepEqual(said({ 'deal_value.value': '5 kr', 'deal_value.currency': 'SEK' }), [])
  assert.deepEqual(body('deal', { cf_seats: '50 %' }), { cf_seats: 50 })
})

test('one currency column serves every amount of its row that has none of its own', () => {
  const cells = { 'deal_value.value': '100', expected_deal_value: '150', 'deal_value.currency': 'JPY' }
  const given = body('deal', cells)
  assert.deepEqual(given.deal_value, { currency: 'JPY', value: 100 })
  assert.deepEqual(given.expected_deal_value, { currency: 'JPY', value: 150 })
  const alone = body('deal', { ...cells, 'deal_value.value': '' })
  assert.deepEqual(
    [alone.deal_value, alone.expected_deal_value],
    [undefined, { currency: 'JPY', value: 150 }],
  )
  const own = body('deal', { ...cells, expected_deal_value: '150 USD' })
  assert.deepEqual(own.expected_deal_value, { currency: 'USD', value: 150 })
})

test('prices in several columns are those of one product, each in the currency of its column', () => {
  const [usd, eur] = ['unit_price.price.USD', 'unit_price.price.EUR']
  const prices = (cells: { readonly [field: string]: Cell }) => body('product', cells).unit_price
  const dollar = { currency: 'USD', unit_price: 5.5 }
  assert.deepEqual(prices({ [usd]: '$5.50', [eur]: '4 EUR' }), [dollar, { currency: 'EUR', unit_price: 4 }])
  assert.deepEqual(prices({ [usd]: '5.50', [eur]: '' }), [dollar])
  assert.equal(prices({ [usd]: '', [eur]: '', 'unit_price.currency': 'EUR' }), undefined)
  // The price without a currency is in the base currency; tax belongs to each.
  assert.deepEqual(prices({ 'unit_price.price': '4', [usd]: '5.50', 'unit_price.tax': '19' }), [
    { currency: 'EUR', unit_price: 4, tax: 19 },
    { ...dollar, tax: 19 },
  ])
  assert.deepEqual(prices({ unit_price: '[{"currency":"GBP","unit_price":3}]', [usd]: 5.5 }), [
    ...[{ currency: 'GBP', unit_price: 3 }, dollar],
  ])
  const { problems } = converted('product', { [usd]: '€5', [eur]: { currency: 'EUR' } })
  assert.deepEqual(
    problems.map(({ column, message }) => [column, message]),
    [
      [usd, `Column "${usd}": "€5" is not in USD, as its column is.`],
      [eur, `Column "${eur}": ${JSON.stringify('{"currency":"EUR"}')} is more than a price.`],
    ],
  )
  const row = converted('product', { [usd]: '9' })
  const before = {
    unit_price: [
      { currency: 840, price: 5, tax: 7 },
      { currency: 978, price: 4 },
    ],
  }
  assert.deepEqual(onto(row, before as never, catalog).unit_price, [
    { currency: 'USD', unit_price: 9, tax: 7 },
    { currency: 978, price: 4 },
  ])
  // Both prices in one currency stay, so that validation refuses them: neither is dropped silently.
  const double = converted('product', { 'unit_price.price': '4', [eur]: '5' })
  assert.deepEqual(onto(double, before as never, catalog).unit_price, [
    { currency: 'EUR', unit_price: 4 },
    { currency: 'EUR', unit_price: 5 },
  ])
  assert.equal(complaints('product', { name: 'A', ...double.body }).length, 1)
})

test('a part of a name in a column of its own says more than the whole', () => {
  const whole = { name: 'Ann Lee Roe' }
  const { first_name, last_name } = body('contact', { last_name: 'Lee Roe', ...whole, first_name: 'Ann' })
  assert.deepEqual([first_name, last_name], ['Ann', 'Lee Roe'])
})

test('signs that say their country, and amounts without cents', () => {
  const amounts = { 'US$ 500': ['USD', 500], '5.000,-': ['EUR', 5000], '5.-': ['EUR', 5], '5,–': ['EUR', 5] }
  for (const [text, [currency, value]] of Object.entries(amounts))
    assert.deepEqual(body('deal', { deal_value: text }).deal_value, { currency, value }, text)
  assert.deepEqual(body('deal', { deal_value: '5 JP¥' }).deal_value, { currency: 'JPY', value: 5 })
  assert.equal(numberOf('5-', '.')?.number, -5)
})

test('the whole of an amount may stand in the column of its number, and a list may be empty', () => {
  const list = [{ currency: 978, unit_price: 5 }]
  assert.deepEqual(body('product', { 'unit_price.price': list }).unit_price, list)
  assert.deepEqual(body('product', { 'unit_price.price': [] }), { unit_price: [] })
  assert.deepEqual(body('deal', { 'company.name': [] }), {})
  const priced = { 'unit_price.price': '5', 'unit_price.tax': '19 %', 'unit_price.discount': '2,5' }
  assert.deepEqual(body('product', priced).unit_price, [
    { currency: 'EUR', unit_price: 5, tax: 19, discount: 2.5 },
  ])
})

test('a number beside which its format shows a unit is what a person would have typed', () => {
  const euros = { number: 1234.5, unit: '€' }
  assert.deepEqual(body('deal', { 'deal_value.value': euros }).deal_value, { currency: 'EUR', value: 1234.5 })
  assert.deepEqual(body('deal', { cf_seats: { number: 19, unit: '%' } }), { cf_seats: 19 })
  assert.deepEqual(body('deal', { title: { number: 7, unit: 'kg' } }), { title: '7 kg' })
  assert.deepEqual(body('deal', { metadata: euros }), { metadata: euros })
  assert.match(converted('deal', { deal_value: { number: 7, unit: 'kg' } }).problems[0]!.message, /currency/)
})

test('digits that a spreadsheet has shortened are refused, not taken for a text', () => {
  for (const field of ['product_code', 'name'])
    assert.match(
      converted('product', { [field]: '4.00638E+12' }).problems[0]!.message,
      /digits of it are lost/,
    )
  assert.match(converted('contact', { phones: '4,47701E+11' }).problems[0]!.message, /digits of it are lost/)
  assert.deepEqual(body('product', { name: 'E+12 pump' }), { name: 'E+12 pump' })
})

test('several e-mails, numbers and tags in a cell, as other systems divide them', () => {
  const found = body('contact', {
    emails: 'a@x.com, b@x.com ::: c@x.com',
    'phones.mobile': '+49 30 12345, +49 30 12346 / +49 30 12347;555-1234,1',
  })
  const emails = ['a@x.com', 'b@x.com', 'c@x.com']
  assert.deepEqual(
    found.emails,
    emails.map(email_value => ({ email_type: 'work', email_value })),
  )
  const numbers = ['+49 30 12345', '+49 30 12346', '+49 30 12347', '555-1234,1']
  assert.deepEqual(
    found.phones,
    numbers.map(phone_number => ({ phone_type: 'mobile', phone_number })),
  )
  assert.deepEqual(body('deal', { tags: 'Alpha, Beta; "c, d"' }), { tags: ['Alpha', 'Beta', 'c, d'] })
})

test('a part of an address leaves the others, and what is derived gives way to what there is', () => {
  const before = { address: [{ city: 'Berlin', zipcode: '01234' }], deal_closed_on: '2025-01-01' }
  const said = converted('company', { name: 'A', 'address.city': 'Bonn' })
  const closed = {
    ...said,
    body: { ...said.body, deal_closed_on: '2026-01-01' },
    derived: ['deal_closed_on'],
  }
  assert.deepEqual(onto(closed, before, catalog), { name: 'A', address: { city: 'Bonn', zipcode: '01234' } })
  const whole = converted('company', { address: '{"city":"Bonn"}' })
  assert.deepEqual(onto(whole, before, catalog), { address: { city: 'Bonn' } })
})

test('what was chosen for a text stands for it; null leaves it out', () => {
  const values = { pipeline_stage: { 'Closed won': 3 }, cf_colors: { rot: 'Red', none: null } }
  const given = body('deal', { pipeline_stage: 'Closed won', cf_colors: 'rot; none; Green, Red' }, { values })
  assert.deepEqual(given, { pipeline_stage: 3, cf_colors: ['Red', 'Green', 'Red'] })
})

test('what was chosen for a text stands for a number or an item of JSON, too', () => {
  const chosen = { '1': 'New', '2': null, true: null, Foo: 'Red' }
  const values = { pipeline_stage: chosen, cf_colors: chosen, source: chosen, company: { '7': 8 } }
  const stage = (cell: Cell) => body('deal', { pipeline_stage: cell }, { values })
  assert.deepEqual([stage(1), stage(2), stage(3)], [{ pipeline_stage: 'New' }, {}, { pipeline_stage: 3 }])
  assert.deepEqual(body('deal', { source: true, company: 7 }, { values }), { company: 8 })
  const colors = (cell: Cell) => body('deal', { cf_colors: cell }, { values }).cf_colors
  assert.deepEqual(colors(['Foo ', 1, 2, 40, ' Blue']), ['Red', 'New', 40, ' Blue'])
  assert.deepEqual(colors(1), ['New'])
})

test('times are kept beside the record', () => {
  const { body, kept } = converted('deal', {
    title: 'A',
    created_at: '2026-03-01 10:00',
    created_by: 'ann@x.com',
  })
  assert.deepEqual(body, { title: 'A' })
  assert.deepEqual(kept, { created_at: '2026-03-01T09:00:00.000Z', created_by: 'ann@x.com' })
})

test('a status sets the stage that means it', () => {
  const cells = { pipeline_stage: 'Proposal', status: 'Won', won_time: '2026-03-01 23:30' }
  assert.deepEqual(body('deal', cells), { pipeline_stage: 3, deal_closed_on: '2026-03-01' })
  assert.deepEqual(body('deal', { pipeline_stage: 'Lost', status: '3' }), { pipeline_stage: 'Lost' })
  assert.deepEqual(body('deal', { pipeline_stage: 'Proposal', status: 'Open' }), {
    pipeline_stage: 'Proposal',
  })
})

test('what can not be converted is told with its column', () => {
  const { body, problems } = converted('deal', {
    title: 'A',
    'deal_value.value': 'a lot',
    expected_close_date: '01/02/2026',
    metadata: 'x',
  })
  assert.deepEqual(body, { title: 'A' })
  assert.deepEqual(
    problems.map(({ message, hint }) => `${message} ${hint}`),
    [
      'Column "deal_value.value": "a lot" is no number. Write it as 1250.50.',
      'Column "expected_close_date": "01/02/2026" may be two dates. Choose the order of day and month.',
      'Column "metadata": "x" is no JSON. Write it as our exports do.',
    ],
  )
})

test('a number that may be two is refused until the mark is told', () => {
  const cells = { 'deal_value.value': '2.500', cf_seats: '12,5' }
  const { body: open, problems } = converted('deal', cells)
  assert.deepEqual([open, problems.length], [{ cf_seats: 12.5 }, 1])
  assert.equal(
    `${problems[0]!.message} ${problems[0]!.hint}`,
    'Column "deal_value.value": "2.500" may be two numbers. ' +
      'Choose whether numbers are written with a point or with a comma.',
  )
  const formats = { decimal: ',' } as const
  assert.deepEqual(body('deal', cells, { formats }).deal_value, { currency: 'EUR', value: 2500 })
  assert.deepEqual(guessFormats([['12'], ['2 500']]), { unclear: [] })
  assert.deepEqual(guessFormats([['0.125'], ['2.500']]), { decimal: '.', unclear: [] })
})

test('with evidence both ways each cell that may be two is refused', () => {
  const prices = ['1.234,56', '1,234.56', '1,234', '2.500']
  const numbers = guessFormats(prices.map(text => [text]))
  assert.deepEqual(numbers, { unclear: ['decimal'] })
  const read = prices.map(text => converted('deal', { cf_seats: text }, { formats: numbers }))
  assert.deepEqual(
    read.map(({ body, problems }) => body.cf_seats ?? problems[0]!.message.replace(/^.*" /, '')),
    [1234.56, 1234.56, 'may be two numbers.', 'may be two numbers.'],
  )
  const days = ['31/12/2026', '12/31/2026', '30/12/2026', '01/02/2026']
  const dates = guessFormats(days.map(text => [text]))
  assert.deepEqual(dates, { unclear: ['date'] })
  const closing = days.map(text => converted('deal', { expected_close_date: text }, { formats: dates }))
  assert.deepEqual(
    closing.map(({ body }) => body.expected_close_date),
    ['2026-12-31', '2026-12-31', '2026-12-30', undefined],
  )
})

test('ranges are read as people write them', () => {
  const ranges: [string, string, string, string][] = [
    ['cf_shift', '08:00/18:00', '08:00', '18:00'],
    ['cf_shift', '8:00 am - 6:00 pm', '08:00', '18:00'],
    ['cf_shift', '08:00–18:00', '08:00', '18:00'],
    ['cf_span', '2026-03-01/2026-03-31', '2026-03-01', '2026-03-31'],
    ['cf_span', '1.3.2026 bis 31.3.2026', '2026-03-01', '2026-03-31'],
    ['cf_span', '13/01/2026 - 14/01/2026', '2026-01-13', '2026-01-14'],
    [
      'cf_slot',
      '2026-03-01 09:00 to 2026-03-01 17:00',
      '2026-03-01T08:00:00.000Z',
      '2026-03-01T16:00:00.000Z',
    ],
  ]
  for (const [field, text, from, to] of ranges)
    assert.deepEqual(body('deal', { [field]: text }), { [field]: { range: { from, to } } }, text)
  const said = (text: string) => converted('deal', { cf_span: text }).problems[0]!.message
  assert.match(said('soon'), /is no range/)
  assert.match(said('01/02/2026 - 03/02/2026'), /may be two/)
})

test('formats are guessed, and what is unclear is said', () => {
  assert.deepEqual(guessFormats([['31/12/2026'], ['1.250,50']]), { date: 'dmy', decimal: ',', unclear: [] })
  assert.deepEqual(guessFormats([['12/31/2026'], ['1,250.50']]), { date: 'mdy', decimal: '.', unclear: [] })
  assert.deepEqual(guessFormats([['01/02/2026'], ['1.250']]), {
    unclear: ['date', 'decimal'],
  })
  assert.deepEqual(guessFormats([['2026-01-02'], ['12.5'], ['5/5/2026']]).unclear, ['date'])
  const notes = [['2,5', '1.5', '31/12/2026 call']]
  const mapped = guessFormats(notes, column => (column === 1 ? 'number' : 'text'))
  assert.deepEqual(mapped, { decimal: '.', unclear: [] })
  const prose = ['I paid', '2,5', 'for it', '1,5']
  assert.equal(guessFormats(prose.map(text => [text, '1.5'])).decimal, '.')
})

const exported = [
  '\ufeffid,title,pipeline,pipeline_stage,sales_owner,company,deal_value.value,deal_value.currency,source,tags,description,expected_close_date,status,created_at,metadata,cf_colors,cf_seats',
  '7,"Deal, ""A""",Sales,Qualified,Ann Lee,Acme,12.5,EUR,Web,a; "b;c",\'=1+1,2026-05-01,Open,2026-01-01T10:00:00.000Z,"{""a"":1}","Red; ""Blue; light""",-5',
].join('\r\n')

test('a line of our own export converts back to the body that made it', async () => {
  const bytes = async function* () {
    yield Buffer.from(exported)
  }
  const table = await readTable(bytes(), { format: 'csv' })
  const [row] = await Array.fromAsync(table.rows)
  const schema = catalog.resources.get('deal')!
  const { mapping } = await guessColumns(catalog, schema, table.columns(), [row!.cells])
  const plan = { mapping, values: {}, formats: guessFormats([row!.cells]) }
  const { body, kept, problems } = converter(catalog, schema, plan, table.columns())(row!.cells)
  assert.deepEqual(problems, [])
  assert.deepEqual(body, {
    ...{ title: 'Deal, "A"', pipeline: 'Sales', pipeline_stage: 'Qualified', sales_owner: 'Ann Lee' },
    ...{
      company: { name: 'Acme', find_by: 'name' },
      deal_value: { value: 12.5, currency: 'EUR' },
      source: 'Web',
    },
    ...{ tags: ['a', 'b;c'], description: '=1+1', expected_close_date: '2026-05-01', metadata: { a: 1 } },
    ...{ cf_colors: ['Red', 'Blue; light'], cf_seats: -5 },
  })
  assert.deepEqual(kept, { created_at: '2026-01-01T10:00:00.000Z' })
})

test('values of JSON lines pass as they are', () => {
  const cells = {
    title: 5,
    deal_value: { currency: 978, value: 3 },
    company: 5,
    cf_colors: [40, 'Red'],
    'company.name': true,
  }
  assert.deepEqual(body('deal', cells), {
    title: '5',
    deal_value: cells.deal_value,
    company: 5,
    cf_colors: [40, 'Red'],
  })
})

test('cells with very many values are refused before these are looked at', () => {
  for (const [field, cell] of [
    ['tags', 'a;'.repeat(30_000)],
    ['tags', Array.from({ length: 1001 }, () => 'a')],
    ['related_contacts.name', 'a;'.repeat(30_000)],
    ['primary_contact.emails', 'a;'.repeat(30_000)],
  ] as const) {
    const { body, problems } = converted('deal', { [field]: cell })
    assert.deepEqual([body, problems.length, problems[0]!.code], [{}, 1, 'unconvertible'], field)
  }
  const { description } = body('deal', { description: 'a;'.repeat(30_000) })
  assert.equal(description, 'a;'.repeat(30_000))
})

test('a long run of blanks in a cell is read once, not again from each of them', () => {
  const cell = (blanks: number) => `1${' '.repeat(blanks)}x`
  // With a restart at each blank, the first took seven seconds, and the others an hour.
  const { problems } = converted('contact', { phones: cell(49_000) })
  assert.deepEqual(problems, [])
  for (const field of ['cf_shift', 'cf_span', 'cf_slot'])
    assert.equal(converted('deal', { [field]: cell(1_000_000) }).problems.length, 1, field)
})
