/** Our own JSON reader beside the runtime's: the same values, the same refusals; and its limits. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonLimitError, parseExactly, parseJson } from '../../src/json.ts'

const seed = Date.now() % 1_000_000
const limits = { levels: 4, items: 12 }

/** The outcome of reading a text: its value, or that it is invalid. */
function outcome(read: (text: string) => unknown, text: string): unknown {
  try {
    return { value: read(text) }
  } catch (error) {
    assert.ok(error instanceof SyntaxError, `${text}: ${error}`)
    return 'no JSON'
  }
}

function assertAlike(text: string): void {
  // The runtime rounds numbers beyond doubles; the sign of a zero is never printed.
  const rounded = (read: string) => JSON.parse(JSON.stringify(parseExactly(read)))
  const unsigned = (read: string) => JSON.parse(read, (_name, value) => (value === 0 ? 0 : value))
  assert.deepEqual(outcome(rounded, text), outcome(unsigned, text), JSON.stringify(text))
}

test('every value is read as the runtime reads it', () => {
  const spaced = fc.tuple(fc.json({ noUnicodeString: false }), fc.constantFrom(undefined, 1, '\t', '\r\n'))
  fc.assert(
    fc.property(spaced, ([json, space]) => assertAlike(JSON.stringify(JSON.parse(json), null, space))),
    { seed, numRuns: 2000 },
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => assertAlike(JSON.stringify(text))),
    { seed, numRuns: 2000 },
  )
})

test('what is almost JSON is read or refused as the runtime does', () => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '"\\u0041"',
    '\\',
    '\\u00',
    '\\x',
    '-',
    '0',
    '12',
    '.',
    '5',
    'e',
    'E+',
    '1e1',
  ]
  const others = [
    'true',
    'false',
    'null',
    'tru',
    ' ',
    '\n',
    '\u00a0',
    '\ufeff',
    '\0',
    '\u001f',
    '/',
    "'",
    '\ud83d',
  ]
  const almost = fc.array(fc.constantFrom(...pieces, ...others), { maxLength: 12 })
  fc.assert(
    fc.property(almost, parts => assertAlike(parts.join(''))),
    { seed, numRuns: 20_000 },
  )
  // One character of valid JSON changed, left out or inserted.
  const sound = '{"a":[1,-2.5e-3,true,{"b":"c\\n\\u00e9"}],"d":null}'
  const changed = fc.tuple(fc.nat(sound.length), fc.nat(1), fc.constantFrom('', ...pieces, ...others))
  fc.assert(
    fc.property(changed, ([at, gone, put]) => assertAlike(sound.slice(0, at) + put + sound.slice(at + gone))),
    { seed, numRuns: 5000 },
  )
})

test('numbers: the same double where it has the digits, else the digits', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), number => {
      // The sign of a zero is never printed.
      for (const text of [JSON.stringify(number), number.toExponential()])
        assert.equal(parseExactly(text), number + 0, text)
    }),
    { seed, numRuns: 2000 },
  )
  const digits = fc.stringMatching(/^-?[1-9]\d{0,24}(\.\d{1,24})?([eE][+-]?\d{1,3})?$/)
  fc.assert(
    fc.property(digits, text => {
      const value = parseExactly(text)
      if (typeof value === 'number') assert.equal(parseExactly(String(value)), value)
      else assert.equal(JSON.stringify(value), text)
      assert.deepEqual(parseJson(`[${text},1e400]`), parseExactly(`[${text},1e400]`))
    }),
    { seed, numRuns: 2000 },
  )
})

test('within limits: levels, members and items, a member twice, __proto__', () => {
  const refused = (text: string, message: RegExp) =>
    assert.throws(
      () => parseExactly(text, limits),
      (error: unknown) => error instanceof JsonLimitError && message.test(error.message),
      text,
    )
  assert.deepEqual(parseExactly('[[[[]]]]', limits), [[[[]]]])
  refused('[[[[[', /more than 4 levels/)
  assert.equal((parseExactly('[1,2,3,4,5,6,7,8,9,10,11,12]', limits) as number[]).length, 12)
  refused('[1,2,3,4,5,6,7,8,9,10,11,12,', /more than 12 members and items/)
  refused('[[],[],[],[],[],[],[]', /more than 12 members and items/)
  refused(
    '{"a":1,"b":{"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1',
    /more than 12 members and items/,
  )
  refused('{"a":1,"\\u0061":2}', /the member "a" twice/)
  refused('[{"__pr\\u006fto__":1}]', /__proto__/)
  assert.deepEqual(parseExactly('[{"a":1},{"a":2}]', limits), [{ a: 1 }, { a: 2 }])
})
