/**
 * The kinds of the UI without a browser: the table is complete, texts parse to what they show, limits hold.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createServer, type ViteDevServer } from 'vite'
import type { Schemas } from '../../client/src/schemas.ts'
import { type Formats, formats } from '../../web/src/format/format.ts'

type Field = Schemas['field']
type FieldType = Field['type']

/** The members of a kind that need no browser: web/src/fields/kind.ts documents the rest. */
type Kind = {
  Cell: unknown
  text(value: unknown, names: null, format: Formats, field: Field): string
  parse(text: string, field: Field, format?: Formats): unknown
  keep?(value: unknown, before: unknown): unknown
  check?(value: unknown, field: Field): string | undefined
  write?(value: unknown): unknown
}

type Kinds = { kinds: { [type in FieldType]: Kind }; kindOf(field: Pick<Field, 'type'>): Kind }

let vite: ViteDevServer
let table: Kinds

before(async () => {
  vite = await createServer({
    configFile: false,
    root: new URL('../../web', import.meta.url).pathname,
    server: { middlewareMode: true, ws: false },
    appType: 'custom',
    logLevel: 'error',
    optimizeDeps: { noDiscovery: true },
  })
  Object.assign(globalThis, { location: { origin: 'http://127.0.0.1' } })
  table = (await vite.ssrLoadModule('/src/fields/kinds.ts')) as Kinds
})
after(() => vite.close())

test('pasted prices keep the taxes and discounts of their currencies', () => {
  const kind = table.kindOf(field('PRICE_TAGS'))
  const of = (currency_code: string, price: number, tax: number | null, discount: number | null) => ({
    ...{ currency_code, price, tax, discount },
  })
  const pasted = [of('EUR', 90, null, null), of('USD', 100, null, null)]
  assert.deepEqual(kind.keep!(pasted, [of('CHF', 5, 8, 2), of('EUR', 80, 19, 10)]), [
    of('EUR', 90, 19, 10),
    of('USD', 100, null, null),
  ])
  assert.deepEqual(kind.keep!(pasted, null), pasted)
})

test('the short form of a small number is still that number', () => {
  const { compactMoney } = formats({ locale: 'en-US', timeZone: 'UTC' })
  const short = (value: number, currency_code?: string) =>
    compactMoney({ value, currency_code: currency_code ?? null })
  assert.deepEqual(
    [0.4, -0.4, 0.0012, 1863.4].map(value => short(value)),
    ['0.4', '-0.4', '0.0012', '1,863'],
  )
  assert.deepEqual([short(0.4, 'EUR'), short(5, 'EUR'), short(1_863_000, 'EUR')], ['€0.40', '€5', '€1.9M'])
})

function field(type: FieldType, config: Field['config'] = {}, more: Partial<Field> = {}): Field {
  return {
    internal_name: 'f',
    field_name: 'F',
    id: 1,
    source_id: 1,
    is_active: true,
    type,
    config,
    is_required: false,
    is_read_only: false,
    is_custom: false,
    is_unique: false,
    is_filterable: true,
    is_sortable: true,
    operators: [],
    is_expandable: false,
    is_measurable: false,
    default_value: null,
    section: 'S',
    rules: [],
    version: 1,
    ...more,
  }
}

const options = [
  { id: 1004, name: 'Web' },
  { id: 1005, name: 'Trade fair' },
]

/** A value of each type as the service answers it. */
const samples: { readonly [type in FieldType]: unknown } = {
  SINGLE_STRING: 'Acme, Inc. “EU”',
  TEXT: 'two\nlines',
  SINGLE_NUMBER: 1_234_567.125,
  PRODUCT: 17,
  DROPDOWN: 1004,
  MULTISELECT: [1004, 1005],
  ADDRESS: [{ address_line1: '1 Market Street' }],
  OWNER: 7,
  TERRITORY: 7,
  DEAL: 7,
  COMPANY: 7,
  CONTACT: 7,
  CONTACT_ONBOARD: 7,
  COMPANY_ONBOARD: 7,
  CONTACTS_ONBOARD: [7, 8],
  TAGS: [7, 8],
  TERRITORIES: [7],
  COLUMN_LIST: [{ field: 'title' }],
  STRING_LIST: ['deal:read', 'deal:write'],
  DEAL_VALUE: { currency_code: 'EUR', value: 9_999_999_999_999 },
  MONETARY: { currency_code: 'USD', value: 1234.5 },
  PRICE_TAGS: [
    { currency_code: 'USD', price: 49.9, tax: null, discount: null },
    { currency_code: 'JPY', price: 7400, tax: null, discount: null },
  ],
  PHONE: [
    { phone_type: 1, phone_number: '+1 555 0100' },
    { phone_type: 3, phone_number: '+1 555 0101' },
  ],
  EMAIL: [{ email_type: 2, email_value: 'jo@example.com' }],
  TIME: '09:30',
  DATE: '2026-03-31',
  DATE_TIME: '2026-03-31T09:30:00.000Z',
  TIME_RANGE: '22:00/06:00',
  DATE_RANGE: { range: { from: '2026-03-01', to: '2026-03-31' } },
  DATE_TIME_RANGE: { range: { from: '2026-03-01T09:00:00.000Z', to: '2026-03-01T17:00:00.000Z' } },
  JSON: { notes: { from: 'the fair' } },
}

const readers = [
  { locale: 'en-US', timeZone: 'UTC' },
  { locale: 'de-DE', timeZone: 'Pacific/Kiritimati' },
  { locale: 'de-CH', timeZone: 'Pacific/Pago_Pago' },
  { locale: 'ar-EG', timeZone: 'Africa/Cairo' },
  { locale: 'hi-IN', timeZone: 'Asia/Kolkata' },
  { locale: 'ja-JP', timeZone: 'Asia/Tokyo' },
].map(formats)

test('every type has a kind', () => {
  assert.deepEqual(Object.keys(table.kinds).sort(), Object.keys(samples).sort())
  assert.ok(table.kindOf({ type: 'OF_TOMORROW' as FieldType }).Cell, 'an unknown type is shown, too')
})

for (const type of Object.keys(samples) as FieldType[]) {
  test(`${type}: the text of a value means that value`, () => {
    const kind = table.kinds[type]
    const asked = field(type, {}, type === 'DROPDOWN' || type === 'MULTISELECT' ? { options } : {})
    const value = samples[type]
    for (const format of readers) {
      const text = kind.text(value, null, format, asked)
      const meant = kind.parse(text, asked, format)
      assert.notEqual(meant, undefined, `${format.locale}: ${text}`)
      assert.equal(kind.text(meant, null, format, asked), text)
      const written = (one: unknown) => JSON.parse(JSON.stringify(kind.write ? kind.write(one) : one))
      assert.deepEqual(written(meant), written(value), `${format.locale}: ${text}`)
      assert.equal(kind.check?.(value, asked), undefined)
    }
    assert.notEqual(kind.parse('', asked), undefined, 'an empty text means no value')
  })
}

test('what is beyond the limits of a field is refused in the words of the service', () => {
  const check = (type: FieldType, config: Field['config'], value: unknown, more?: Partial<Field>) =>
    table.kinds[type].check?.(value, field(type, config, more))
  assert.equal(
    check('SINGLE_STRING', { max_length: 3 }, 'ab😀d'),
    'Must have at most 3 characters, but has 4.',
  )
  assert.equal(check('SINGLE_STRING', { max_length: 3 }, 'a😀d'), undefined)
  assert.equal(check('TEXT', { min_length: 2 }, 'a'), 'Must have at least 2 characters.')
  assert.equal(check('SINGLE_NUMBER', { min: 0, max: 10 }, '10.01'), 'Must be from 0 to 10.')
  assert.equal(check('SINGLE_NUMBER', { max_digits: 3 }, '12.34'), 'Must have at most 3 digits.')
  assert.equal(
    check('SINGLE_NUMBER', { max_decimals: 0 }, '1.5'),
    'Must have no decimals; it is never rounded.',
  )
  assert.equal(check('SINGLE_NUMBER', {}, 'many'), 'Must be a number.')
  assert.equal(check('MONETARY', { min: 0 }, { currency: 840, value: '-1' }), 'Must be at least 0.')
  assert.match(check('MONETARY', {}, { currency: 840, value: '1.234' }, { is_custom: true })!, /decimals/)
  assert.match(check('MONETARY', {}, { currency: 840, value: '99999999999.99' }, { is_custom: true })!, /13/)
  assert.match(check('EMAIL', {}, [{ email_type: 1, email_value: 'noor' }])!, /valid e-mail/)
  assert.match(check('PHONE', {}, [{ phone_type: 1, phone_number: 'call me' }])!, /phone number/)
  assert.match(
    check('PHONE', { max_limit: 1 }, Array(2).fill({ phone_type: 1, phone_number: '12345' }))!,
    /1/,
  )
  assert.equal(check('TAGS', { max_limit: 2 }, [1, 2, 3]), 'Must have at most 2 entries.')
  assert.equal(
    check('DATE_RANGE', {}, { range: { from: '2026-03-02', to: '2026-03-01' } }),
    'Must not end before it begins.',
  )
  assert.equal(check('TIME_RANGE', {}, '22:00/06:00'), undefined)
  assert.match(
    check('PRICE_TAGS', {}, Array(2).fill({ currency_code: 'EUR', price: '1', tax: null, discount: null }))!,
    /another price/,
  )
  assert.match(check('JSON', {}, '{"a":')!, /object in JSON/)
})

test('what is counted is one or many', () => {
  const { counted } = formats({ locale: 'de-DE', timeZone: 'UTC' })
  const said = [0, 1, 1234].map(count => counted(count, 'deal', 'deals'))
  assert.deepEqual(said, ['0 deals', '1 deal', '1.234 deals'])
})

test('how long ago something was is said in the words of the UI, whatever the numbers’ language', () => {
  const now = () => new Date('2026-05-02T12:00:00Z')
  const { ago } = formats({ locale: 'de-DE', timeZone: 'UTC', now })
  assert.deepEqual([ago('2026-05-02T11:51:00Z'), ago('2026-05-01T12:00:00Z')], ['9 minutes ago', 'yesterday'])
})

test('amounts are exact, and as the reader writes them', async () => {
  const { readDecimal, writeDecimal, lineAmount, linesTotal } = (await vite.ssrLoadModule(
    '/src/fields/decimal.ts',
  )) as typeof import('../../web/src/fields/decimal.ts')
  assert.equal(readDecimal('1.234,5', 'de-DE'), '1234.5')
  assert.equal(readDecimal('1234.5', 'de-DE'), '1234.5')
  assert.equal(readDecimal('1,234.50'), '1234.50')
  assert.equal(readDecimal('1,23'), undefined)
  assert.equal(readDecimal('1’234.5', 'de-CH'), '1234.5')
  assert.equal(readDecimal('١٬٢٣٤٫٥', 'ar-EG'), '1234.5')
  assert.equal(readDecimal('12,34,567', 'hi-IN'), '1234567')
  assert.equal(readDecimal('abc'), undefined)
  assert.equal(writeDecimal('9999999999999.99'), '9,999,999,999,999.99')
  const line = { quantity: '3', unit_price: '0.1', discount: null, tax: null }
  assert.equal(`${lineAmount(line, 2)}`, '0.3')
  const half = { quantity: '1', unit_price: '0.125', discount: null, tax: null }
  assert.equal(`${lineAmount(half, 2)}`, '0.12')
  const sold = { quantity: 8, unit_price: 419, discount: 0, tax: 8.5 }
  assert.equal(`${lineAmount(sold, 2)}`, '3636.92')
  assert.equal(`${linesTotal([line, line, { ...line, unit_price: null }], 2)}`, '0.6')
})

test('the sign of a currency says it, where it means one of the account', async () => {
  const { currenciesQuery, meQuery, queryClient } = (await vite.ssrLoadModule(
    '/src/api/queries.ts',
  )) as typeof import('../../web/src/api/queries.ts')
  const currency = (id: number, code: string, rate: string | null, is_active = 1) => ({
    ...{ id, code, name: code, rate, is_active, decimals: 2 },
  })
  const reckoned = [currency(978, 'EUR', null), currency(840, 'USD', '0.9'), currency(826, 'GBP', '1.2')]
  const others = [currency(818, 'EGP', null), currency(124, 'CAD', null), currency(392, 'JPY', null, 2)]
  queryClient.setQueryData(currenciesQuery.queryKey, [...reckoned, ...others])
  queryClient.setQueryData(meQuery.queryKey, { account: { base_currency: 978 } } as never)
  const money = field('MONETARY')
  const { parse, check } = table.kindOf(money)
  const read = (text: string, locale = 'en-US') => parse(text, money, formats({ locale, timeZone: 'UTC' }))
  assert.deepEqual(read('€3.500'), { currency_code: 'EUR', value: '3.500' })
  assert.deepEqual(read('3.500 €', 'de-DE'), { currency_code: 'EUR', value: '3500' })
  assert.deepEqual(read('$1,234.50'), { currency_code: 'USD', value: '1234.50' })
  assert.deepEqual(read('CA$5'), { currency_code: 'CAD', value: '5' })
  assert.deepEqual(read('£5'), { currency_code: 'GBP', value: '5' })
  assert.deepEqual(read('1,234.50 usd'), { currency_code: 'USD', value: '1234.50' })
  assert.deepEqual(read('$5 USD'), { currency_code: 'USD', value: '5' })
  assert.deepEqual(read('1,234.50'), { value: '1234.50' })
  queryClient.setQueryData(currenciesQuery.queryKey, [...reckoned, currency(124, 'CAD', '0.7'), ...others])
  for (const text of ['$5', '¥5', '₿5', '€5 USD', '5 k€'])
    assert.match(check!(read(text), money) ?? '', /does not say which currency/, text)
  const price = table.kindOf(field('PRICE_TAGS'))
  assert.match(price.check!(price.parse('$5', money), money)!, /does not say which currency/)
  queryClient.clear()
})

test('moments are the wall clock of their time zone, also where it changes', async () => {
  const { fromWall, toWall } = (await vite.ssrLoadModule(
    '/src/fields/zone.ts',
  )) as typeof import('../../web/src/fields/zone.ts')
  assert.equal(toWall('2026-03-01T09:30:00Z', 'Europe/Berlin'), '2026-03-01T10:30')
  for (const zone of ['UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kolkata']) {
    for (const iso of ['2026-03-29T12:00:00.000Z', '2026-10-25T03:30:00.000Z', '2026-01-01T00:00:00.000Z']) {
      assert.equal(fromWall(toWall(iso, zone), zone), iso, `${iso} in ${zone}`)
    }
  }
  // 02:30 does not exist on that night; it is moved by the gap of the change.
  assert.equal(fromWall('2026-03-29T02:30', 'Europe/Berlin'), '2026-03-29T01:30:00.000Z')
  assert.equal(fromWall('', 'UTC'), null)
})

test('lists of operands keep what they quote', async () => {
  const { joinList, splitList } = (await vite.ssrLoadModule(
    '/src/fields/operand-list.ts',
  )) as typeof import('../../web/src/fields/operand-list.ts')
  assert.deepEqual(splitList('3,4'), ['3', '4'])
  assert.deepEqual(splitList('"Acme, Inc. (EU)","He said \\"yes\\"", Other'), [
    'Acme, Inc. (EU)',
    'He said "yes"',
    'Other',
  ])
  for (const list of [
    ['a', 'b'],
    ['a,b', '"', '\\', ' x '],
    ['(', ')'],
    ['', 'x'],
  ]) {
    assert.deepEqual(splitList(joinList(list)), list)
  }
})
