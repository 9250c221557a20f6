/** The SQL template: text, parameters, and refusals. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ask, compile, param, pattern, prepared, sql } from '../../src/sql.ts'

test('what is put into a template is a parameter, numbered as it comes', () => {
  const statement = sql`SELECT ${'a'}::text, ${null}::int WHERE ${'b'}::text <> ''`
  assert.deepEqual(compile(statement), {
    text: "SELECT $1::text, $2::int WHERE $3::text <> ''",
    values: ['a', null, 'b'],
  })
})

test('templates nest, in any depth', () => {
  const inner = sql`x = ${'1'} AND ${sql`y = ${'2'}`}`
  const statement = sql`SELECT ${'0'} WHERE (${inner}) OR ${sql`true`}`
  assert.deepEqual(compile(statement), {
    text: 'SELECT $1 WHERE (x = $2 AND y = $3) OR true',
    values: ['0', '1', '2'],
  })
})

test('a parameter that is named twice is one; equal values are not', () => {
  const account = param('7')
  const own = sql`account_id = ${account}`
  assert.deepEqual(compile(sql`${own} AND ${own} AND id = ${'7'} AND other = ${'7'}`), {
    text: 'account_id = $1 AND account_id = $1 AND id = $2 AND other = $3',
    values: ['7', '7', '7'],
  })
})

test('a parameter may be asked to be the first', () => {
  const account = param('7')
  assert.deepEqual(compile(sql`at = ${'now'} AND account_id = ${account}`, account), {
    text: 'at = $2 AND account_id = $1',
    values: ['7', 'now'],
  })
})

test('the same shape is the same text, whatever the values', () => {
  const shape = (values: readonly (string | null)[]) =>
    compile(sql`SELECT ${sql.join(values.map(value => sql`${value}::text`))} FROM ${sql.id('deal')}`)
  const value = fc.option(fc.string())
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value), { minLength: 1 }), pairs => {
      const [one, other] = [shape(pairs.map(([first]) => first)), shape(pairs.map(([, second]) => second))]
      assert.equal(one.text, other.text)
      assert.deepEqual(
        other.values,
        pairs.map(([, second]) => second),
      )
    }),
  )
})

test('join puts a separator between parts, and leaves out what is nothing', () => {
  assert.equal(compile(sql.join([sql`a`, sql.none, sql`b`])).text, 'a, b')
  assert.equal(compile(sql.join([sql`a`, sql`b`], sql` AND `)).text, 'a AND b')
  assert.deepEqual(compile(sql.join(['1', param('2')])), { text: '$1, $2', values: ['1', '2'] })
  assert.equal(compile(sql.join([])).text, '')
  assert.throws(() => sql.join([sql`a`, sql`b`], sql`${'1'}`), /separator/)
})

test('names, texts, numbers and types stand in the statement, when they are plain', () => {
  const path = sql.text('{"größe",a-b}')
  const plain = sql`${sql.id('cf_size')} ${path} ${sql.integer(-5)}::${sql.type('bigint[]')}`
  assert.deepEqual(compile(plain), { text: `"cf_size" '{"größe",a-b}' -5::bigint[]`, values: [] })
  for (const name of ['', 'Deal', '1a', 'a"', 'a b', 'a.b', 'ä']) assert.throws(() => sql.id(name), name)
  for (const text of ["'", '\\', '\0', '\n', ';', "a'; DROP TABLE deal; --"])
    assert.throws(() => sql.text(text), text)
  for (const number of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
    assert.throws(() => sql.integer(number))
})

test('what a request sends is never taken for SQL, however it looks', () => {
  const forged = { strings: ['1; DROP TABLE deal'], parts: [] } as unknown as string
  const { text, values } = compile(sql`SELECT ${forged}::text`)
  assert.equal(text, 'SELECT $1::text')
  assert.deepEqual(values, [forged])
})

test('a pattern is put together once, and takes values, parameters and SQL in the place of its slots', () => {
  let made = 0
  const given = pattern(3, ([account, id, name]) => {
    made++
    return sql`SELECT ${sql`${account!}::bigint`}, ${id!}, upper(${name!}), lower(${name!})`
  })
  const [account, name] = [param('7'), param('x')]
  const of = (id: string) =>
    compile(sql`${given([account, sql`next.id`, name])} WHERE id = ${id} OR ${account}`)
  assert.deepEqual(of('8'), {
    text: 'SELECT $1::bigint, next.id, upper($2), lower($2) WHERE id = $3 OR $1',
    values: ['7', 'x', '8'],
  })
  assert.equal(of('9').text, of('8').text)
  assert.deepEqual(compile(given(['1', null, name])).values, ['1', null, 'x'])
  assert.equal(made, 1)
  assert.throws(() => pattern(1, ([slot]) => sql`${slot!} ${'a value'}`), /no values of its own/)
})

test('a prepared statement is put together once and takes its values in any order', () => {
  let made = 0
  const statement = prepared((account, id) => {
    made++
    return sql`WHERE id = ${id} AND account_id = ${account} AND other = ${id}`
  })
  assert.deepEqual(statement('1', '2'), {
    text: 'WHERE id = $1 AND account_id = $2 AND other = $1',
    values: ['2', '1'],
  })
  assert.deepEqual(statement('3', null).values, [null, '3'])
  assert.equal(made, 1)
})

test('a database is asked with the text, the values and whether to plan it anew', () => {
  const db = { query: (...asked: unknown[]) => asked }
  assert.deepEqual(ask(db, sql`SELECT ${'1'}`), ['SELECT $1', ['1'], false])
  assert.deepEqual(ask(db, { text: 'SELECT 1', values: [] }, true), ['SELECT 1', [], true])
})
