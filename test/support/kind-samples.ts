/**
 * Valid and invalid values of every kind: at the bound and one past it. The laws store them, filter and sort
 * by them on the real database (test/laws); the compiler requires each type. `stored` is the value in a
 * response; default: the input. Data only.
 */

import type { FieldType } from '../../src/fields/kinds.ts'
import { type Json, jsonNumber } from '../../src/json.ts'

/** Ids that exist in the account of the samples: those of the sample data. */
export type SampleTargets = {
  readonly contacts: readonly number[]
  readonly contact: number
  readonly company: number
  readonly owner: number
  readonly territory: number
  readonly tags: readonly number[]
  /** of deals: field → name → the option's id */
  readonly options: { readonly [field: string]: { readonly [name: string]: number } }
}

export type Samples = {
  /** the field that the laws use for the type; without one they create a custom field of it */
  readonly resource?: 'deal' | 'product'
  readonly field?: string
  /**
   * member of a path → its place in the stored value, if not under its name; null: none. A number is the part
   * of a text between slashes.
   */
  readonly at?: { readonly [member: string]: string | null }
  /** member → the place in the stored value that a sort by it compares, if different */
  readonly sortedAt?: { readonly [member: string]: string }
  readonly good: readonly { readonly input: Json; readonly stored?: Json }[]
  readonly bad: readonly { readonly input: Json; readonly code: string }[]
}

const wrong = (...inputs: Json[]) => inputs.map(input => ({ input, code: 'wrong_type' }))
/** A range compares by its beginning. */
const rangeEnds = { '': 'range.from', from: 'range.from', to: 'range.to' }
const long = (count: number) => '\u{1F4BC}'.repeat(count)

/** Null: no deal or product has a writable field of the type. */
export function samples(known: SampleTargets): { readonly [type in FieldType]: Samples | null } {
  const [contact, other] = known.contacts as [number, number]
  const phone = (phone_number: string, phone_type: Json = 1): Json => [{ phone_type, phone_number }]
  const email = (email_value: string, email_type: Json = 1): Json => [{ email_type, email_value }]
  const range = (from: Json, to: Json): Json => ({ range: { from, to } })
  const money = (value: Json, currency: Json = 'USD'): Json => ({ currency, value })
  // If the field has no such option, its name is a value to be refused.
  const option = (field: string, name: string): Json => known.options[field]?.[name] ?? name
  const source = (name: string) => option('source', name)
  const extra = (name: string) => option('cf_custom_multiselect_field', name)
  return {
    SINGLE_STRING: {
      resource: 'deal',
      field: 'cf_custom_text_field',
      good: [{ input: 'a' }, { input: long(255) }, { input: 'Zürich % _ \\ "quoted" (x), y' }],
      bad: [
        { input: long(256), code: 'too_long' },
        { input: 'a\0b', code: 'invalid_characters' },
        { input: '\ud800', code: 'invalid_characters' },
        ...wrong(1, true, {}, ['a']),
      ],
    },
    TEXT: {
      resource: 'deal',
      field: 'cf_custom_large_txt_field',
      good: [{ input: 'x'.repeat(32_000) }, { input: 'two\nlines' }],
      bad: [{ input: 'x'.repeat(32_001), code: 'too_long' }, ...wrong(1)],
    },
    SINGLE_NUMBER: {
      resource: 'deal',
      field: 'cf_custom_number_field',
      good: [
        ...[
          0,
          -12.5,
          1e-7,
          -1.5e-14,
          1e15,
          jsonNumber('9999999999999999'),
          jsonNumber('-0.999999999999999'),
        ].map(input => ({
          input,
        })),
        { input: -0, stored: 0 },
      ],
      bad: [{ input: jsonNumber('12345678901234567'), code: 'too_long' }, ...wrong('7', true, [])],
    },
    DROPDOWN: {
      resource: 'deal',
      field: 'source',
      good: [
        { input: source('Web') },
        { input: ' web ', stored: source('Web') },
        { input: 'ORGANIC search', stored: source('Organic Search') },
        { input: String(source('Email')), stored: source('Email') },
      ],
      bad: [
        { input: 999_999, code: 'unknown_option' },
        { input: 'Wbe', code: 'unknown_option' },
        ...wrong(true, {}, []),
      ],
    },
    MULTISELECT: {
      resource: 'deal',
      field: 'cf_custom_multiselect_field',
      good: [
        { input: ['training', 'Hosting', 'Training'], stored: [extra('Training'), extra('Hosting')] },
        { input: 'Support', stored: [extra('Support')] },
        { input: [extra('Installation')] },
      ],
      bad: [{ input: ['Training', 'Nope'], code: 'unknown_option' }, ...wrong({}, [true])],
    },
    OWNER: {
      resource: 'deal',
      field: 'cf_custom_owner_field',
      good: [{ input: known.owner }],
      bad: [
        { input: 999_999, code: 'reference_not_found' },
        { input: 0, code: 'reference_not_found' },
        ...wrong(1.5, {}),
        { input: 'Nobody', code: 'reference_not_found' },
      ],
    },
    DEAL: null,
    TERRITORY: {
      resource: 'deal',
      field: 'territory',
      good: [{ input: known.territory }],
      bad: [{ input: known.contact, code: 'reference_not_found' }],
    },
    COMPANY: {
      resource: 'deal',
      field: 'cf_custom_company_field',
      good: [{ input: known.company }],
      bad: [{ input: known.owner, code: 'reference_not_found' }],
    },
    CONTACT: {
      resource: 'deal',
      field: 'cf_custom_contact_field',
      good: [{ input: contact }],
      bad: [{ input: known.owner, code: 'reference_not_found' }],
    },
    CONTACT_ONBOARD: {
      resource: 'deal',
      field: 'primary_contact',
      good: [{ input: other }, { input: { id: contact }, stored: contact }],
      bad: [
        { input: 999_999, code: 'reference_not_found' },
        { input: { first_name: 'New' }, code: 'required' },
        { input: { last_name: 'New', emails: [{ email_type: 1, email_value: 'x' }] }, code: 'too_short' },
        { input: { id: 1, last_name: 'New' }, code: 'contradiction' },
      ],
    },
    COMPANY_ONBOARD: {
      resource: 'deal',
      field: 'company',
      good: [{ input: { id: known.company }, stored: known.company }],
      bad: [{ input: contact, code: 'reference_not_found' }],
    },
    CONTACTS_ONBOARD: {
      resource: 'deal',
      field: 'related_contacts',
      good: [
        { input: [contact, other] },
        { input: other, stored: [other] },
        { input: [{ id: contact }, contact], stored: [contact] },
        { input: [] },
      ],
      bad: [
        { input: [contact, 999_999], code: 'reference_not_found' },
        { input: 'x', code: 'reference_not_found' },
      ],
    },
    TAGS: {
      resource: 'deal',
      field: 'tags',
      good: [{ input: known.tags.slice(0, 3) }, { input: null, stored: [] }],
      bad: [{ input: [contact], code: 'reference_not_found' }],
    },
    DEAL_VALUE: {
      resource: 'deal',
      field: 'deal_value',
      at: { '': 'value', products: 'products.product' },
      sortedAt: { currency: 'currency_code' },
      good: [
        { input: money('12.50'), stored: { currency: 840, currency_code: 'USD', value: 12.5, products: [] } },
        {
          input: { currency: 'jpy' },
          stored: { currency: 392, currency_code: 'JPY', value: 0, products: [] },
        },
        {
          input: money(jsonNumber('9999999999999'), 414),
          stored: { currency: 414, currency_code: 'KWD', value: 9999999999999, products: [] },
        },
      ],
      bad: [
        { input: money(10_000_000_000_000), code: 'out_of_range' },
        { input: money(-1), code: 'out_of_range' },
        { input: money(1.5, 'JPY'), code: 'too_many_decimals' },
        { input: money(1, 'XXY'), code: 'unknown_currency' },
        {
          input: { currency: 'USD', value: 1, products: [{ product: 1, quantity: 1 }] },
          code: 'reference_not_found',
        },
        { input: { currency: 'USD', value: 1, products: [{ product: 1 }] }, code: 'required' },
        { input: { currency: 'USD', value: 1, products: [{ quantity: 1 }] }, code: 'required' },
        { input: { currency: 'USD', products: [{ product: 1, quantity: -1 }] }, code: 'out_of_range' },
        {
          input: { currency: 'JPY', products: [{ product: 1, quantity: 1, unit_price: 1.50001 }] },
          code: 'too_many_decimals',
        },
        ...wrong(12, 'USD 12', []),
      ],
    },
    MONETARY: {
      resource: 'deal',
      field: 'cf_custom_monetory_field',
      at: { '': 'value' },
      sortedAt: { currency: 'currency_code' },
      good: [
        {
          input: money('9999999999.99'),
          stored: { currency: 840, currency_code: 'USD', value: 9999999999.99 },
        },
        {
          input: money(jsonNumber('9999999999999')),
          stored: { currency: 840, currency_code: 'USD', value: 9999999999999 },
        },
      ],
      bad: [
        { input: money('99999999999.99'), code: 'too_long' },
        { input: money(10_000_000_000_000), code: 'too_long' },
        { input: money(-1), code: 'out_of_range' },
        { input: money('1.234'), code: 'too_many_decimals' },
        { input: money('1,50'), code: 'wrong_type' },
        { input: { value: 1 }, code: 'currency_required' },
        { input: { currency: 'USD', valeu: 1 }, code: 'unknown_field' },
      ],
    },
    PRICE_TAGS: {
      resource: 'product',
      field: 'unit_price',
      at: { unit_price: 'price' },
      good: [
        {
          input: [
            { currency: 'USD', unit_price: '49.90', tax: '8.5' },
            { currency: 'Euro', price: '0.0125' },
          ],
          stored: [
            { currency: 840, currency_code: 'USD', price: 49.9, tax: 8.5, discount: null },
            { currency: 978, currency_code: 'EUR', price: 0.0125, tax: null, discount: null },
          ],
        },
      ],
      bad: [
        {
          input: [
            { currency: 'USD', unit_price: 1 },
            { currency: 840, unit_price: 2 },
          ],
          code: 'duplicate_currency',
        },
        { input: [{ currency: 'USD', unit_price: 1, tax: 101 }], code: 'out_of_range' },
        { input: [{ currency: 'USD', unit_price: 1, price: 2 }], code: 'contradiction' },
        { input: [{ unit_price: 1 }], code: 'required' },
        { input: [{ currency: 'USD' }], code: 'required' },
        { input: [{ currency: 'USD', unit_price: 1, price: 'abc' }], code: 'contradiction' },
        { input: [{ currency: 'USD', unit_price: 'abc', price: 1 }], code: 'wrong_type' },
        ...wrong({}, 'x'),
      ],
    },
    DATE: {
      resource: 'deal',
      field: 'expected_close_date',
      good: [
        { input: '2028-02-29' },
        { input: '2026-12-31T23:30:00-08:00', stored: '2026-12-31' },
        { input: '2026-06-01T00:30:00+14:00', stored: '2026-06-01' },
      ],
      bad: [
        ...['2027-02-29', '2026-13-01', '31.12.2026', '2026-1-1', 20261231, '0000-01-01'],
        ...[' 2026-12-31', '2026-12-31 10:00', '20261231'],
      ].map(input => ({ input, code: 'invalid_date' })),
    },
    DATE_TIME: {
      resource: 'product',
      field: 'valid_till',
      good: [
        { input: '2026-03-31T09:30:00+02:00', stored: '2026-03-31T07:30:00.000Z' },
        { input: '2026-03-31T09:30:00+02', stored: '2026-03-31T07:30:00.000Z' },
        { input: '2026-03-31T09:30:00.1239Z', stored: '2026-03-31T09:30:00.123Z' },
        { input: '2026-03-31', stored: '2026-03-31T00:00:00.000Z' },
      ],
      bad: [
        '2026-02-30T00:00:00Z',
        '2026-01-01T24:00:00Z',
        '2026-01-01 09:00:00Z',
        '2026-01-01T09:00:00Z ',
        'tomorrow',
        1767225600000,
        '2026-01-01T00:00:00+15:00',
      ].map(input => ({ input, code: 'invalid_date_time' })),
    },
    TIME: {
      resource: 'deal',
      field: 'cf_custom_time_field',
      good: [
        { input: '09:30' },
        { input: 'T10:00:00', stored: '10:00' },
        { input: '23:59:59', stored: '23:59' },
      ],
      bad: ['24:00', ' 09:30', '9:30', '09:30Z', '09:30+02:00', 930].map(input => ({
        input,
        code: 'invalid_time',
      })),
    },
    TIME_RANGE: {
      resource: 'deal',
      field: 'cf_custom_time_range_field',
      at: { from: '0', to: '1', 'range.from': '0', 'range.to': '1' },
      good: [{ input: '22:00/06:00' }, { input: range('10:00', 'T12:30:00'), stored: '10:00/12:30' }],
      bad: [
        { input: range('22:00', '25:00'), code: 'invalid_time' },
        { input: '10:00 / 12:30', code: 'invalid_time' },
        { input: { range: { from: '10:00' } }, code: 'required' },
        ...wrong('10:00', {}),
      ],
    },
    DATE_RANGE: {
      resource: 'deal',
      field: 'cf_custom_date_range_field',
      at: rangeEnds,
      good: [
        { input: range('2026-03-01', '2026-03-31') },
        {
          input: range('2026-03-01T00:00:00+13:00', '2026-03-31T00:00:00Z'),
          stored: range('2026-03-01', '2026-03-31'),
        },
        {
          input: range('2026-03-01T10:00:00Z', '2026-03-01'),
          stored: range('2026-03-01', '2026-03-01'),
        },
      ],
      bad: [
        { input: range('2026-04-01T00:00:00Z', '2026-03-31T00:00:00Z'), code: 'range_backwards' },
        { input: range('2026-03-01T00:00:00', '2026-03-31T00:00:00Z'), code: 'invalid_date_time' },
      ],
    },
    DATE_TIME_RANGE: {
      resource: 'deal',
      field: 'cf_custom_date_time_range_field',
      at: rangeEnds,
      good: [
        {
          input: range('2026-03-01T09:00:00+01:00', '2026-03-01T08:00:00Z'),
          stored: range('2026-03-01T08:00:00.000Z', '2026-03-01T08:00:00.000Z'),
        },
      ],
      bad: [
        { input: range('2026-03-01T09:00:00Z', '2026-03-01T09:00:00+01:00'), code: 'range_backwards' },
        { input: range('2026-03-01', '2026-03-02'), code: 'invalid_date_time' },
      ],
    },
    ADDRESS: {
      resource: 'deal',
      field: 'cf_custom_address_field',
      good: [
        {
          input: { address_line1: 'a'.repeat(300), city: 'b'.repeat(125), zipcode: '00501' },
          stored: [{ address_line1: 'a'.repeat(300), city: 'b'.repeat(125), zipcode: '00501' }],
        },
        {
          input: { address_line2: 'a'.repeat(300), state: 'b'.repeat(125), zipcode: '0'.repeat(25) },
          stored: [{ address_line2: 'a'.repeat(300), state: 'b'.repeat(125), zipcode: '0'.repeat(25) }],
        },
        { input: [{ country: 250, zipcode: 12345 }], stored: [{ country: 250, zipcode: '12345' }] },
      ],
      bad: [
        { input: { address_line1: 'a'.repeat(301) }, code: 'too_long' },
        { input: { address_line2: 'a'.repeat(301) }, code: 'too_long' },
        { input: { city: 'a'.repeat(126) }, code: 'too_long' },
        { input: { state: 'a'.repeat(126) }, code: 'too_long' },
        { input: { zipcode: '1'.repeat(26) }, code: 'too_long' },
        { input: [{}, {}], code: 'too_many' },
        { input: { street: 'x' }, code: 'unknown_field' },
        ...wrong('x'),
      ],
    },
    PHONE: {
      resource: 'deal',
      field: 'cf_custom_phone_field',
      at: { '': 'phone_number' },
      good: [
        { input: phone('+1 555 0100', 'mobile'), stored: phone('+1 555 0100', 3) },
        { input: phone('12345', 'pager'), stored: phone('12345', 1) },
        { input: phone('12345', ''), stored: phone('12345', 1) },
        { input: phone('12345', null), stored: phone('12345', 1) },
        { input: phone('1'.repeat(17), 7) },
      ],
      bad: [
        { input: phone('1234'), code: 'too_short' },
        { input: phone('1'.repeat(18)), code: 'too_long' },
        { input: phone('<script>1'), code: 'invalid_phone' },
        { input: [{ phone_number: '12345' }], code: 'required' },
        { input: [{ phone_type: 'work' }], code: 'required' },
      ],
    },
    EMAIL: {
      resource: 'deal',
      field: 'cf_custom_email_field',
      at: { '': 'email_value' },
      good: [
        { input: email('jo.doe+crm@example.co.uk', 'home'), stored: email('jo.doe+crm@example.co.uk', 3) },
        { input: email('jo@example.com', ''), stored: email('jo@example.com', 1) },
        { input: email('jo@example.com', null), stored: email('jo@example.com', 1) },
        { input: email(`${'a'.repeat(308)}@example.com`) },
      ],
      bad: [
        ...[
          'jo',
          'jo@',
          '@example.com',
          'jo@example',
          'jo doe@example.com',
          'jo@exa..mple.com',
          '.jo@example.com',
        ]
          .map(value => ({ input: email(value), code: 'invalid_email' }))
          .filter(sample => JSON.stringify(sample.input).length > 40),
        { input: email(`${'a'.repeat(309)}@example.com`), code: 'too_long' },
        { input: [{ email_value: 'jo@example.com' }], code: 'required' },
        { input: [{ email_type: 1, email_value: null }], code: 'required' },
      ],
    },
    JSON: {
      resource: 'deal',
      field: 'metadata',
      // Its text is the database's; members under a path have a law of their own.
      at: { '': null, '*': null },
      good: [
        { input: { notes: null, a: [1, { b: 'c' }] } },
        {
          input: {
            z: 1e-7,
            a: [
              1e21,
              5e-324,
              jsonNumber('-1e498'),
              jsonNumber('12345678901234567890'),
              jsonNumber('0.10000000000000000001'),
            ],
            m: { '': '' },
          },
        },
        { input: { zero: -0 }, stored: { zero: 0 } },
        { input: null, stored: {} },
      ],
      bad: [
        { input: { a: { b: { c: { d: { e: {} } } } } }, code: 'too_deep' },
        { input: { text: 'x'.repeat(16_384) }, code: 'too_long' },
        { input: { a: [jsonNumber('1e500')] }, code: 'too_long' },
        { input: { a: Array(60).fill(1e300) }, code: 'too_long' },
        ...wrong([], 'x', 1),
      ],
    },
    PRODUCT: null,
    STRING_LIST: null,
    COLUMN_LIST: null,
    TERRITORIES: null,
  }
}
