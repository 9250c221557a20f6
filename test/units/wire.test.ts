/**
 * PostgreSQL's messages: chunk boundaries don't change how they are read, and no value can inject a message.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  columnNames,
  messageReader,
  PostgresError,
  readRawRow,
  readRow,
  script,
  startup,
  statements,
} from '../../src/db/postgres/wire.ts'

const bytes = (type: string, ...parts: (Buffer | string)[]) => {
  const body = Buffer.concat(parts.map(part => Buffer.from(part)))
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

function read(chunks: readonly Buffer[]): string[] {
  const found: string[] = []
  const reader = messageReader(
    () => 100_000,
    (type, body) => found.push(`${String.fromCharCode(type)} ${body.toString()}`),
  )
  for (const chunk of chunks) reader(chunk)
  return found
}

test('messages are the same wherever the network cuts them', () => {
  const all = Buffer.concat([
    bytes('1'),
    bytes('D', 'x'.repeat(40)),
    bytes('C', 'SELECT 1\0'),
    bytes('Z', 'I'),
  ])
  const whole = read([all])
  assert.deepEqual(whole, ['1 ', `D ${'x'.repeat(40)}`, 'C SELECT 1\0', 'Z I'])
  for (let one = 0; one <= all.length; one++) {
    for (let other = one; other <= all.length; other++) {
      assert.deepEqual(read([all.subarray(0, one), all.subarray(one, other), all.subarray(other)]), whole)
    }
  }
  assert.deepEqual(read(Array.from(all, byte => Buffer.from([byte]))), whole)
})

test('what is shorter than its own head is no message', () => {
  assert.throws(() => read([Buffer.from([0x44, 0, 0, 0, 3, 0])]), /shorter than its head/)
})

test('rows: text by the names of their columns, or bytes in their order; null is no empty text', () => {
  const column = (name: string) => Buffer.concat([Buffer.from(`${name}\0`), Buffer.alloc(18)])
  const names = columnNames(Buffer.concat([Buffer.from([0, 2]), column('a'), column('größe')]))
  assert.deepEqual(names, ['a', 'größe'])
  const row = Buffer.concat([
    Buffer.from([0, 3, 0, 0, 0, 2]),
    Buffer.from('ä'),
    Buffer.alloc(4, 0xff),
    Buffer.alloc(4),
  ])
  assert.deepEqual(readRow(row, ['a', 'b', 'c']), { a: 'ä', b: null, c: '' })
  assert.deepEqual(readRawRow(row), [Buffer.from('ä'), null, Buffer.alloc(0)])
  assert.throws(() => readRow(row.subarray(0, 8), ['a', 'b', 'c']))
})

test("PostgreSQL's refusal", () => {
  const error = new PostgresError(
    Buffer.from('SFEHLER\0VERROR\0C23505\0Mthere is one\0ndeal_pkey\0tdeal\0ccode\0R_bt_check_unique\0\0'),
  )
  const { message, code, isFatal, constraint_name, table_name, column_name, routine } = error
  assert.deepEqual(
    { message, code, isFatal, constraint_name, table_name, column_name, routine },
    {
      ...{ message: 'there is one', code: '23505', isFatal: false },
      ...{
        constraint_name: 'deal_pkey',
        table_name: 'deal',
        column_name: 'code',
        routine: '_bt_check_unique',
      },
    },
  )
  assert.equal(new PostgresError(Buffer.from('VFATAL\0C57P01\0\0')).isFatal, true)
})

test('lengths are those of the bytes, whatever is in a value', () => {
  const unnamed = { name: '', isNew: true, params: [] }
  const kept = { name: 's1', isNew: false, text: 'SELECT 1', params: [] }
  for (const value of ['', 'a', 'ä€😀', 'Z\0\0\0\x05I', '\ud800', 'x'.repeat(5000)]) {
    const sent = read([statements([{ ...unnamed, text: 'SELECT $1', params: [value, null] }])])
    assert.deepEqual(
      sent.map(message => message[0]),
      ['P', 'B', 'D', 'E', 'S'],
    )
    const text = Buffer.from(value).toString()
    assert.ok(sent[1]!.includes(text))
  }
  assert.deepEqual(
    read([statements([kept, { ...unnamed, text: 'SELECT 1' }])]).map(message => message[0]),
    ['B', 'D', 'E', 'P', 'B', 'D', 'E', 'S'],
  )
  for (const act of [
    () => script('SELECT 1\0'),
    () => statements([{ ...unnamed, text: '\0' }]),
    () => startup({ user: 'a\0b' }),
  ]) {
    assert.throws(act, TypeError)
  }
})
