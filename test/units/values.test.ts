/** Dates, decimals, JSON, nearest words, tokens and settings: the small pure parts. */
import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { isoCurrencies } from '../../src/accounts/currencies.ts'
import { newSecret, parseToken } from '../../src/accounts/token.ts'
import { readConfig } from '../../src/config.ts'
import { decimal, decimalPlaces, plain, rounded } from '../../src/fields/decimal.ts'
import { calendarDate, isoDate, isoInstant, isoTime } from '../../src/fields/iso8601.ts'
import { nearest } from '../../src/fields/nearest.ts'
import { parseJson } from '../../src/json.ts'
import { ConfigError } from '../../src/setting-values.ts'

test('only real dates', () => {
  for (const date of ['2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31'])
    assert.equal(isoDate(date), date)
  for (const date of [
    '2023-02-29',
    '1900-02-29',
    '2024-00-10',
    '2024-04-31',
    '0000-01-01',
    '24-01-01',
    '2024-1-1',
  ])
    assert.equal(isoDate(date), null, date)
  fc.assert(
    fc.property(
      fc.date({
        min: new Date('0001-01-01T00:00:00Z'),
        max: new Date('9999-12-31T23:59:59Z'),
        noInvalidDate: true,
      }),
      date => {
        const text = date.toISOString()
        assert.equal(isoDate(text.slice(0, 10)), text.slice(0, 10))
        assert.equal(isoInstant(text), text)
      },
    ),
  )
})

test('a date keeps its day as written; an instant goes to UTC', () => {
  assert.equal(calendarDate('2026-01-01T00:30:00+14:00'), '2026-01-01')
  assert.equal(isoInstant('2026-01-01T00:30:00+14:00'), '2025-12-31T10:30:00.000Z')
  assert.equal(isoInstant('2026-01-01T00:30'), '2026-01-01T00:30:00.000Z')
  assert.equal(isoInstant('2026-01-01T00:30', true), null)
  assert.equal(isoInstant('2026-01-01T00:30:00-0330'), '2026-01-01T04:00:00.000Z')
  for (const text of [
    '2026-01-01T24:00Z',
    '2026-01-01T10:60Z',
    '2026-01-01T10Z',
    '2026-01-01 10:00 Z',
    '2026-01-01T10:00+15:00',
    '0001-01-01T00:00+01:00',
  ]) {
    assert.equal(isoInstant(text), null, text)
  }
  assert.equal(isoTime('23:59:59.5'), '23:59')
  assert.equal(isoTime('24:00'), null)
})

test('decimals are exact, rounded half-even, and short', () => {
  assert.equal(plain(decimal('12.50')!), '12.5')
  assert.equal(plain(decimal('-0')!), '0')
  assert.equal(plain(decimal('1e3')!), '1000')
  assert.equal(decimalPlaces(decimal('1.230')!), 2)
  assert.equal(decimalPlaces(decimal('1e5')!), 0)
  for (const [value, decimals, result] of [
    ['0.125', 2, '0.12'],
    ['0.135', 2, '0.14'],
    ['2.5', 0, '2'],
    ['3.5', 0, '4'],
    ['1.0005', 3, '1'],
  ] as const) {
    assert.equal(plain(rounded(decimal(value)!, decimals)), result)
  }
  for (const value of [
    '',
    ' ',
    '1,5',
    '1e999',
    'Infinity',
    'NaN',
    '0x10',
    '1_000',
    null,
    true,
    {},
    '9'.repeat(101),
  ])
    assert.equal(decimal(value), null, String(value))
})

test('JSON keeps every digit', () => {
  fc.assert(
    fc.property(fc.bigInt(), number => assert.equal(JSON.stringify(parseJson(`[${number}]`)), `[${number}]`)),
  )
  for (const text of ['{"a":9999999999999999}', '[0.1,1e400,-12345678901234567890.123]', '["1e5",true,null]'])
    assert.equal(JSON.stringify(parseJson(text)), text)
  assert.throws(() => parseJson('{"a":01}'), SyntaxError)
})

test('the nearest word, if any is near', () => {
  const words = ['title', 'deal_value', 'description', 'source']
  assert.equal(nearest('titel', words), 'title')
  assert.equal(nearest('DEALVALUE', words), 'deal_value')
  assert.equal(nearest('xyz', words), null)
  assert.equal(nearest('', words), null)
})

test('a token names its account, and any one changed character is noticed', () => {
  const token = newSecret('token', 42)
  assert.match(token, /^dw_42_[0-9A-Za-z]{33}_[0-9a-z]{7}$/)
  assert.deepEqual(parseToken(token), { account: 42 })
  for (let at = 3; at < token.length; at++) {
    const changed = token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1)
    assert.equal(parseToken(changed), null, changed)
  }
  assert.equal(new Set(Array.from({ length: 1000 }, () => newSecret('token', 1))).size, 1000)
  assert.deepEqual(parseToken('x'.repeat(32)), { account: 1 })
  assert.equal(parseToken('x'.repeat(31)), null)
})

test('currencies: numbers and codes are unique, minor units are those of ISO 4217', () => {
  const by = (code: string) => isoCurrencies.find(currency => currency.code === code)!
  assert.deepEqual(
    ['JPY', 'USD', 'KWD', 'CLP', 'BHD', 'EUR', 'ISK', 'TND'].map(code => by(code).decimals),
    [0, 2, 3, 0, 3, 2, 0, 3],
  )
  assert.deepEqual(
    ['USD', 'EUR', 'GBP', 'CHF', 'INR', 'XCG'].map(code => by(code).id),
    [840, 978, 826, 756, 356, 532],
  )
  for (const member of ['id', 'code'] as const)
    assert.equal(new Set(isoCurrencies.map(currency => currency[member])).size, isoCurrencies.length)
  assert.ok(
    isoCurrencies.length > 150 &&
      isoCurrencies.every(currency => /^[A-Z]{3}$/.test(currency.code) && currency.name && currency.symbol),
  )
})

test('settings: defaults, and a clear line for what can not be used', () => {
  assert.deepEqual(readConfig({}), {
    port: 3000,
    host: '127.0.0.1',
    workers: 1,
    dataDir: resolve('data'),
    agentToken: null,
    databaseUrl: null,
    databaseReadUrl: null,
    hasOnlyTransactions: false,
    pooler: null,
    token: null,
    sampleData: true,
    timeZone: null,
    baseCurrency: null,
    publicUrl: null,
    corsOrigins: [],
    openId: null,
    webhookAllowPrivate: true,
    logLevel: 'warn',
    retentionDays: 30,
    eventRetentionDays: null,
    bodyLimitBytes: 1_048_576,
    rateLimit: 0,
    maxConnections: 2000,
    maxConnectionsPerAddress: 2000,
    requestTimeoutMs: 30_000,
    metricsPort: null,
    metricsHost: '127.0.0.1',
    logRequests: false,
    trustedProxies: [],
    backups: null,
    traces: null,
  })
  // A service that other hosts can reach has a limit.
  assert.equal(readConfig({ HOST: '0.0.0.0' }).rateLimit, 6000)
  assert.equal(readConfig({ HOST: '0.0.0.0', RATE_LIMIT: '0' }).rateLimit, 0)
  assert.equal(readConfig({ DATABASE_URL: 'postgres://h/d' }).sampleData, false)
  assert.equal(readConfig({ DATABASE_URL: 'postgres://h/d', SAMPLE_DATA: '1' }).sampleData, true)
  for (const [name, value] of [
    ['PORT', '70000'],
    ['PORT', 'x'],
    ['DATABASE_URL', 'mysql://h/d'],
    ['SAMPLE_DATA', 'yes'],
    ['LOG_LEVEL', 'loud'],
    ['RETENTION_DAYS', '0'],
    ['BODY_LIMIT_BYTES', '1e9'],
    ['RATE_LIMIT', '-1'],
    ['DEALWRIGHT_TOKEN', 'short'],
    ['DEALWRIGHT_TOKEN', `dw_1_${'a'.repeat(40)}`],
    ['DEALWRIGHT_TOKEN', newSecret('token', 2)],
  ] as const) {
    assert.throws(
      () => readConfig({ [name]: value }),
      (error: Error) => error instanceof ConfigError && error.message.startsWith(name),
      value,
    )
  }
})
