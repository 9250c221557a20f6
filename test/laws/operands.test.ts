/**
 * Any value from a caller (of a filter, or within a forged cursor) reaches the database in a form that its
 * type accepts, or it is refused: random operands of every field of every resource, odd ones above all.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { kinds } from '../../src/fields/kinds.ts'
import { operators } from '../../src/fields/term.ts'
import { type Json, jsonNumber } from '../../src/json.ts'
import { resources } from '../../src/resources/resources.ts'
import { seed, shareOf, someOf } from '../support/questions.ts'
import { startService, v1 } from '../support/service.ts'

const { call, db } = await startService()
const catalog = await loadCatalog(db, resources, 1)

/** Every path of the grammar, of every resource. */
const paths = [...catalog.resources].flatMap(([resource, { fields }]) =>
  fields
    .filter(field => field.is_active && !field.is_hidden)
    .flatMap(field =>
      ['', ...kinds[field.type].members, 'notes', '0.a']
        .filter(member => kinds[field.type].term(field, member))
        .map(member => {
          const term = kinds[field.type].term(field, member)!
          return {
            resource,
            path: member ? `${field.internal_name}.${member}` : field.internal_name,
            operators: term.operators as readonly string[],
            isSortable: term.order !== null,
          }
        }),
    ),
)

const digits = (most: number) =>
  fc.bigInt({ min: -(10n ** BigInt(most)), max: 10n ** BigInt(most) }).map(String)
const year = fc.constantFrom(
  '0000',
  '0001',
  '0036',
  '0099',
  '0999',
  '1582',
  '1883',
  '2026',
  '9999',
  '10000',
  '-0044',
)
const time = fc.constantFrom(
  '',
  'T00:00',
  'T23:59:59,5',
  'T23:59:59.999999999',
  ' 12:00',
  't24:00:00',
  'T23:59:60',
)
const offset = fc.constantFrom('', 'Z', 'z', '+14:00', '-1400', '+00:00:30', '+15:00', ' UTC')
const odd = [
  '',
  ' ',
  '007',
  '-0',
  '+1',
  '.5',
  '5.',
  '1e99',
  '1e-99',
  '-1E+99',
  '1e9999',
  'NaN',
  'Infinity',
  '-infinity',
  'now',
  'today',
  'epoch',
  'null',
  'true',
  '0x1F',
  '1_000',
  '١٢',
  '1,5',
  '{}',
  '{1,2}',
  '\\',
  '"',
  "'",
  '\0',
  '\ud800',
  '%',
  '9007199254740991',
  '9007199254740992',
  '9223372036854775807',
  '9223372036854775808',
  '-61000000000000',
  '-62135596800000',
  '-62135596800001',
  '253402300799999',
  '253402300800000',
  '8640000000000001',
]
const operand = fc.oneof(
  fc.constantFrom(...odd),
  fc
    .tuple(year, fc.constantFrom('-01-01', '-12-31', '-02-29', '-1-1', ''), time, offset)
    .map(parts => parts.join('')),
  digits(20),
  digits(14),
  fc.tuple(digits(4), fc.integer({ min: -120, max: 120 })).map(([whole, exponent]) => `${whole}e${exponent}`),
  fc.double({ noNaN: true }).map(String),
  fc.constantFrom('Web', 'Won', 'USD', 'work', '1001', '09:30', '24:00', '9:30'),
  fc.string({ unit: 'binary', maxLength: 12 }),
)
const quoted = (value: string) => `"${value.replace(/["\\]/g, '\\$&')}"`

/** True if answered or refused; a server error is neither. */
async function isJudged(resource: string, body: { [name: string]: Json }): Promise<void> {
  const reply = await call('POST', `${v1}/${resource}/view/list`, { pageSize: 2, count: 'none', ...body })
  assert.ok(
    reply.status === 200 || reply.status === 400,
    `${resource} ${JSON.stringify(body)}: ${reply.status} ${reply.text}`,
  )
}

test('any operand of any field is answered or refused', async () => {
  const condition = fc.tuple(
    fc.constantFrom(...paths),
    fc.constantFrom(...operators),
    fc.array(operand, { minLength: 1, maxLength: 3 }),
  )
  await fc.assert(
    fc.asyncProperty(condition, async ([{ resource, path }, operator, values]) => {
      const takesList = operator === 'in' || operator === 'nin' || operator === 'between'
      await isJudged(resource, {
        filter: `${path}:${operator}(${takesList ? values.map(quoted).join(',') : values[0]})`,
      })
    }),
    { seed, numRuns: shareOf(1000) },
  )
})

test('odd operands of each field are answered or refused', async () => {
  const values = [
    '-61000000000000',
    '007',
    '1e-99',
    '9007199254740991',
    '0036-01-01',
    '0036-01-01T23:59:59,5Z',
  ]
  for (const { resource, path, operators } of someOf(paths)) {
    // Of an order, where the field has one: its operand is converted, too.
    const operator = ['gt', 'eq', 'exists'].find(name => operators.includes(name))
    for (const value of values) await isJudged(resource, { filter: `${path}:${operator}(${value})` })
  }
})

test('a cursor that was made up is answered or refused', async () => {
  const sortable = paths.filter(path => path.isSortable)
  const value: fc.Arbitrary<Json> = fc.oneof(
    operand,
    digits(20).map(jsonNumber),
    fc.constantFrom<Json>(null, true, 0, -1, 0.5, 1e21, [], {}),
  )
  const forged = fc.record({
    path: fc.constantFrom(...sortable),
    value,
    id: value,
    at: fc.oneof(operand, fc.constant('2026-01-01T00:00:00,5Z')),
  })
  await fc.assert(
    fc.asyncProperty(
      forged,
      fc.constantFrom('asc', 'desc'),
      async ({ path: { resource, path }, value, id, at }, direction) => {
        const sort = `${path}:${direction}`
        const first = await call('POST', `${v1}/${resource}/view/list`, { sort, pageSize: 1, count: 'none' })
        const { nextCursor } = first.body.meta
        if (nextCursor === null) return
        const real = JSON.parse(Buffer.from(nextCursor, 'base64url').toString())
        const after = path === 'id' ? [value] : [value, id]
        for (const cursor of [
          { ...real, after },
          { ...real, at },
          { ...real, after: [value, ...real.after.slice(1)] },
        ]) {
          await isJudged(resource, {
            sort,
            cursor: Buffer.from(JSON.stringify(cursor)).toString('base64url'),
          })
        }
      },
    ),
    { seed, numRuns: shareOf(600) },
  )
})
