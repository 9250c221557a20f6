/** Exact decimals by table (D14): parsing, printing and rounding. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decimal, decimalJson, decimalPlaces, numberText, plain, rounded } from '../../src/fields/decimal.ts'
import { jsonNumber, parseJson } from '../../src/json.ts'

test('numbers and their text, in shortest plain form', () => {
  for (const [value, text] of [
    [0, '0'],
    [-0, '0'],
    ['-0', '0'],
    ['-0.00', '0'],
    ['00012', '12'],
    ['12.50', '12.5'],
    [' 12.5 ', '12.5'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['-.5', '-0.5'],
    ['1e3', '1000'],
    ['1E-3', '0.001'],
    ['1e+3', '1000'],
    ['0e99', '0'],
    [1e21, '1000000000000000000000'],
    [1e-7, '0.0000001'],
    ['9999999999999999', '9999999999999999'],
    [jsonNumber('9999999999999999'), '9999999999999999'],
    ['123456789012345678901234567890.123456789', '123456789012345678901234567890.123456789'],
    ['1e99', `1${'0'.repeat(99)}`],
    ['1e-99', `0.${'0'.repeat(98)}1`],
  ] as const) {
    assert.equal(plain(decimal(value)!), text, text)
  }
})

test('a leading plus is a sign like minus', () => {
  assert.equal(plain(decimal('+12')!), '12')
  assert.equal(plain(decimal('+.5e1')!), '5')
})

test('everything else is no number', () => {
  for (const value of [
    undefined,
    null,
    true,
    [],
    [1],
    {},
    '',
    '.',
    '-',
    '+',
    'e5',
    '1e',
    '1e+',
    '1e5.0',
    '--1',
    '1-1',
    '1,000',
    '1 000',
    '1\u00a0000',
    '1_000',
    '١٢',
    '１２',
    '0x1f',
    '0b1',
    '1n',
    '$1',
    '1%',
    'NaN',
    '-Infinity',
    '1e100',
    '1e-100',
    '1e0000001',
    '1'.repeat(101),
    Number.NaN,
    Number.POSITIVE_INFINITY,
    jsonNumber('1e400'),
  ]) {
    assert.equal(decimal(value), null, JSON.stringify(value))
  }
})

test('any text is a decimal or null, never an error', () => {
  const pieces = fc.constantFrom('+', '-', '.', 'e', 'E', '0', '1', '99', ' ', ',', 'x')
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), parts => void decimal(parts.join(''))),
    { numRuns: 5000 },
  )
})

test('a decimal as JSON is worth exactly that, and reads back as itself', () => {
  for (const text of ['0', '-1.5', '9999999999999999', '0.1', '12345678901234567890.123', '1e21', '-1e-7']) {
    const value = decimal(text)!
    const json = JSON.stringify([decimalJson(value)])
    assert.equal(plain(decimal(json.slice(1, -1))!), plain(value))
    assert.ok(decimal((parseJson(json) as never[])[0])!.eq(value), text)
  }
})

test('decimal places are those that are needed', () => {
  for (const [text, places] of [
    ['0', 0],
    ['0.000', 0],
    ['12', 0],
    ['1200', 0],
    ['12.50', 1],
    ['0.001', 3],
    ['1e-5', 5],
    ['1.5e-5', 6],
    ['1.5e3', 0],
    ['-12.34', 2],
  ] as const) {
    assert.equal(decimalPlaces(decimal(text)!), places, text)
  }
})

test('half-even, also below zero, and never through a double', () => {
  for (const [text, decimals, result] of [
    ['0.5', 0, '0'],
    ['1.5', 0, '2'],
    ['-0.5', 0, '0'],
    ['-1.5', 0, '-2'],
    ['-2.5', 0, '-2'],
    ['0.5000000000000000000001', 0, '1'],
    ['1.005', 2, '1'],
    ['1.015', 2, '1.02'],
    ['2.675', 2, '2.68'],
    ['1.0015', 3, '1.002'],
    ['9999999999999.995', 2, '10000000000000'],
    ['9999999999999.985', 2, '9999999999999.98'],
    ['12.3', 3, '12.3'],
  ] as const) {
    assert.equal(plain(rounded(decimal(text)!, decimals)), result, text)
  }
})

test('the text of a stored number, for a numeric column', () => {
  assert.equal(numberText(null), null)
  assert.equal(numberText(undefined), null)
  assert.equal(numberText(12.5), '12.5')
  assert.equal(numberText(jsonNumber('9999999999999999')), '9999999999999999')
})
