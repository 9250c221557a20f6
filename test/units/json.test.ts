/** Reading JSON by table: no digit is lost, nothing but JSON is read, and no name is special (D14, D15). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, isRawNumber, jsonNumber, parseJson } from '../../src/json.ts'

test('numbers come out with the value they went in with', () => {
  for (const text of [
    '9999999999999999',
    '-9999999999999999',
    '9007199254740993',
    '0.1234567890123456789',
    '123456789012345.6',
    '1234567890123456.7',
    '99999999999999999999999999',
    '1e400',
    '1E-400',
    '1.7976931348623157e+308',
    '5e-324',
    '0.30000000000000004',
  ]) {
    assert.equal(JSON.stringify(parseJson(`{"n":${text}}`)), `{"n":${text}}`, text)
  }
})

test('a number is a number where a double has exactly its digits, else it is raw', () => {
  for (const text of ['0', '1', '-1.5', '9007199254740991', '9999999999999998'])
    assert.equal(typeof jsonNumber(text), 'number', text)
  for (const text of ['9999999999999999', '9007199254740993', '1e400', '0.10000000000000000001'])
    assert.ok(isRawNumber(jsonNumber(text)), text)
  assert.equal(isRawNumber({ rawJSON: '1' }), false)
})

test('what a number is does not depend on its neighbours', () => {
  for (const text of ['1.0', '1.50', '-0', '1e2']) {
    const alone = (parseJson(`[${text}]`) as unknown[])[0]
    const [beside] = parseJson(`[${text},9999999999999999]`) as unknown[]
    assert.deepEqual(beside, alone, text)
  }
})

test('digits in strings and names are left alone', () => {
  const text = '{"9999999999999999":"9999999999999999","1e5":"1e400 is text"}'
  assert.equal(JSON.stringify(parseJson(text)), text)
})

test('NUL, escapes and surrogates are read as they are written; who refuses them is the field', () => {
  assert.equal(parseJson('"\\u0000"'), '\0')
  assert.equal(parseJson('"\\ud83d\\ude00"'), '\u{1F600}')
  assert.equal((parseJson('"\\ud83d"') as string).isWellFormed(), false)
  assert.equal(parseJson('"\\\\u0000"'), '\\u0000')
})

test('prototype names are names', () => {
  for (const big of ['', ',"n":9999999999999999']) {
    const object = parseJson(`{"__proto__":{"polluted":1},"constructor":2${big}}`) as {
      [name: string]: unknown
    }
    assert.deepEqual(Object.keys(object).slice(0, 2), ['__proto__', 'constructor'])
    assert.equal(Object.getPrototypeOf(object), Object.prototype)
    assert.equal(object.polluted, undefined)
  }
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
})

test('what is not JSON is a SyntaxError, with many digits too', () => {
  for (const text of [
    '',
    ' ',
    '{',
    '{"a":}',
    '{"a":1,}',
    '[1,]',
    "{'a':1}",
    '{a:1}',
    '01',
    '+1',
    '.5',
    '5.',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
    'undefined',
    '1 2',
    '"a\nb"',
    '"\\x41"',
    '// c\n1',
    '\ufeff{}',
    '[9999999999999999',
    '{"a":09999999999999999}',
  ]) {
    assert.throws(() => parseJson(text), SyntaxError, JSON.stringify(text))
  }
})

test('an object is neither null, nor an array, nor a raw number', () => {
  for (const [value, answer] of [
    [{}, true],
    [{ rawJSON: '1' }, true],
    [null, false],
    [[], false],
    ['x', false],
    [1, false],
    [undefined, false],
    [jsonNumber('9999999999999999'), false],
  ] as const) {
    assert.equal(isObject(value), answer, JSON.stringify(value))
  }
})
