/**
 * The law of hostile text: in every place of a list's query that can carry text it is a value or a refusal,
 * and nothing else.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { someOf } from '../support/questions.ts'
import { type Reply, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, get, token } = service

const hostile = [
  "'",
  "''",
  "'; DROP TABLE deal; --",
  "' OR '1'='1",
  "1' OR '1'='1' --",
  "') OR 1=1 --",
  "x') UNION SELECT hash FROM token --",
  '1 UNION SELECT 1',
  '1; SELECT pg_sleep(10)',
  '"',
  '""; DROP TABLE deal',
  '\\',
  '\\\\',
  "\\'",
  "E'\\x27'",
  '$1',
  '$$',
  '$tag$',
  ':param',
  '?',
  '%',
  '_',
  '%%%',
  '\\%',
  '{',
  '}',
  '{}',
  '{"a"}',
  '{NULL}',
  '[]',
  '{"$ne":null}',
  '$.x ? (@ == 1)',
  'null',
  'NULL',
  'true',
  '(',
  ')',
  '))((',
  '()',
  ',',
  ',,',
  ':',
  '/*',
  '*/',
  '--',
  '#',
  ';',
  "|| pg_read_file('/etc/passwd')",
  "COPY deal TO PROGRAM 'id'",
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u2028',
  '\u202e',
  '\u02bc',
  '\uff07',
  '😀',
  'İ',
  'ẞ',
  '\n',
  '\r\nX-Injected: 1',
  '\t',
  'NaN',
  'Infinity',
  '-Infinity',
  '1e400',
  '-1',
  '99999999999999999999999999',
  '0x10',
  '1_000',
  '١',
  '9223372036854775808',
  'infinity',
  'epoch',
  'now',
  '2026-02-30',
  '0001-01-01 BC',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  'a'.repeat(5000),
]

const fields = [
  'id',
  'title',
  'source',
  'sales_owner',
  'tags',
  'deal_value',
  'deal_value.currency',
  'expected_close_date',
  'created_at',
  'metadata.notes',
  'cf_custom_text_field',
  'cf_custom_number_field',
  'cf_custom_multiselect_field',
  'cf_custom_address_field.city',
  'cf_custom_email_field.email_value',
  'cf_custom_date_range_field.from',
]

/** One operator of each way to read a value. */
const operators = ['eq', 'in', 'between', 'like', 'isnull'] as const

const before = await counts()

async function counts(): Promise<string> {
  const [row] = await db.query(
    'SELECT (SELECT count(*) FROM deal)::text AS deals, (SELECT count(*) FROM token)::text AS tokens',
  )
  return JSON.stringify(row)
}

/** A refusal with a reason, or rows; never an SQL error, and no unrequested rows. */
function isSafe(reply: Reply, what: string): void {
  assert.ok([200, 400].includes(reply.status), `${what}: ${reply.status} ${reply.text.slice(0, 300)}`)
  assert.doesNotMatch(reply.text, /SQLSTATE|syntax error at|PostgresError|pg_catalog|root:x:/i, what)
  assert.ok(!reply.text.includes(token.slice(-20)), what)
  assert.equal(reply.headers.get('x-injected'), null)
  if (reply.status === 400) assert.ok(reply.body.errors.length > 0 || reply.body.detail, what)
}

const list = (parameters: [string, string][]) =>
  get(`${v1}/deal/view/list?${new URLSearchParams(parameters)}`)

for (const field of fields) {
  test(`${field}: hostile values with every operator`, async () => {
    // One operator after the other: all at once would exceed the account's quota of requests (D108).
    for (const operator of operators) {
      const replies = someOf(hostile).map(async text => {
        const quoted = `"${text.replace(/[\\"]/g, '\\$&')}"`
        const value = operator === 'in' ? quoted : operator === 'between' ? `${quoted},${quoted}` : text
        const filter = `${field}:${operator}(${value})`
        const reply = await call('POST', `${v1}/deal/view/list`, { filter, pageSize: 1, count: 'none' })
        isSafe(reply, `${field}:${operator}(${text.slice(0, 40)})`)
      })
      await Promise.all(replies)
    }
  })
}

test('hostile names, sorts, parameters, cursors and pages', async () => {
  for (const text of someOf(hostile)) {
    const places: [string, string][] = [
      ['filter', text],
      ['filter', `${text}:eq(1)`],
      ['filter', `title${text}:eq(1)`],
      ['filter', `title:${text}(1)`],
      ['filter', `title:eq(1)${text}`],
      ['filter', `metadata.${text}:exists(true)`],
      ['filter', `metadata.a.${text}:eq(1)`],
      ['filter', `deal_value.${text}:eq(1)`],
      ['filter', `cf_${text}:eq(1)`],
      ['filter', `and(${text})`],
      ['filter', `isnull:isnull(${text})`],
      ['sort', text],
      ['sort', `${text}:asc`],
      ['sort', `title:${text}`],
      ['sort', `title:asc,${text}`],
      ['sort', `metadata.${text}:asc`],
      ['fields', text],
      ['expand', text],
      ['count', text],
      ['deleted', text],
      ['cursor', text],
      ['page', text],
      ['pageSize', text],
      ['size', text],
      [text, '1'],
    ]
    await Promise.all(
      places.map(async ([name, value]) => {
        const reply = await list([
          [name, value],
          ['pageSize', '1'],
        ])
        isSafe(reply, `${name}=${value.slice(0, 60)}`)
      }),
    )
  }
})

test('hostile values find no row that does not hold them, and everything is still there', async () => {
  for (const text of ["' OR '1'='1", '%', '_', '\\', '$1', '{}', 'NULL']) {
    const none = await call('POST', `${v1}/deal/view/list`, { filter: `title:eq(${text})` })
    assert.deepEqual(none.body.data, [], text)
    const like = await call('POST', `${v1}/deal/view/list`, { filter: `title:like(${text})` })
    assert.ok(
      like.body.data.every((deal: { title: string }) =>
        deal.title.toLowerCase().includes(text.toLowerCase()),
      ),
      text,
    )
  }
  assert.equal(await counts(), before)
})
