/** Limits of one list query (D30): counted over the whole request, and checked before parsing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { startService, v1 } from '../support/service.ts'

const { call, get } = await startService()
const search = (body: Json) => call('POST', `${v1}/deal/view/list`, body)
const codes = (reply: Awaited<ReturnType<typeof get>>) => [
  reply.status,
  ...(reply.body.errors ?? []).map(
    (problem: { parameter: string; code: string }) => `${problem.parameter} ${problem.code}`,
  ),
]
const several = (count: number) => Array.from({ length: count }, (_, index) => `id:gt(${index})`)

test('fifty conditions are all that a request has, however they are spread over its filters', async () => {
  const tooMany = [400, 'filter syntax']
  for (const [path, name] of [
    [`${v1}/deal/view/list`, 'list'],
    [`${v1}/deal/aggregate`, 'sums'],
    [`${v1}/product/view/list`, 'another resource'],
  ] as const) {
    const repeated = (count: number) =>
      get(
        `${path}?${several(count)
          .map(text => `filter=${text}`)
          .join('&')}`,
      )
    assert.equal((await repeated(50)).status, 200, name)
    assert.deepEqual(codes(await repeated(51)), tooMany, name)
    const spread = [several(20).join(','), `or(${several(20).join(',')})`, `not(${several(11).join(',')})`]
    assert.deepEqual(
      codes(await get(`${path}?${spread.map(text => `filter=${text}`).join('&')}`)),
      tooMany,
      name,
    )
  }
  assert.equal((await search({ filter: several(50) })).status, 200)
  assert.deepEqual(codes(await search({ filter: several(51) })), tooMany)
  assert.deepEqual(
    codes(await call('POST', `${v1}/deal/view/list?filter=id:gt(0)`, { filter: several(50) })),
    tooMany,
  )
})

test('far too much is refused with one problem, before it is read', async () => {
  for (const body of [
    { filter: several(30_000) },
    { filter: Array.from({ length: 30_000 }, () => 'nonsense') },
    { filter: Array.from({ length: 30_000 }, () => '') },
    Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`unknown${index}`, '1'])),
  ]) {
    assert.deepEqual(codes(await search(body)), [400, ' too_many'])
  }
  const beyond = await search({ filter: Array.from({ length: 90_000 }, () => 'id:gt(1)') })
  assert.deepEqual([beyond.status, beyond.body.code], [400, 1002])
  for (const name of ['filter', 'sort', 'fields', 'expand', 'cursor', 'unknown']) {
    assert.deepEqual(codes(await search({ [name]: 'x'.repeat(131_073) })), [400, ' too_long'], name)
    assert.deepEqual(codes(await search({ [name]: 'x,'.repeat(65_537) })), [400, ' too_long'], name)
  }
  assert.deepEqual(codes(await search({ ['x'.repeat(140_000)]: 1 })), [400, ' too_long'])
})

const ways = [
  (filter: string[]) =>
    get(`${v1}/deal/view/list?${filter.map(text => `filter=${encodeURIComponent(text)}`).join('&')}`),
  (filter: string[]) => search({ filter }),
  (filter: string[]) =>
    get(`${v1}/deal/aggregate?${filter.map(text => `filter=${encodeURIComponent(text)}`).join('&')}`),
]
const tooLong = [400, 'filter too_long']
const likes = (field: string, count: number, length: number) =>
  Array.from({ length: count }, (_, index) => `${field}:like(${String(index).padEnd(length, 'x')})`)

test('like looks for at most 1 000 characters', async () => {
  for (const ask of ways) {
    for (const letter of ['a', 'Ж', '\u{1F600}', '%', '\\']) {
      assert.equal((await ask([`title:like(${letter.repeat(1000)})`])).status, 200, letter)
      for (const filter of [
        `title:like(${letter.repeat(1001)})`,
        `not(or(id:gt(0),title:like(${letter.repeat(1100)})))`,
      ]) {
        assert.deepEqual(codes(await ask([filter])), tooLong, letter)
      }
    }
  }
})

test('all likes of a request look for at most 10 000 characters', async () => {
  for (const ask of ways) {
    for (const filter of [likes('title', 50, 200), likes('metadata', 10, 1000)]) {
      assert.equal((await ask(filter)).status, 200, filter[0])
      assert.equal((await ask([`or(${filter.join()})`])).status, 200, filter[0])
    }
    for (const filter of [likes('title', 50, 201), likes('metadata', 11, 1000)]) {
      const [first, ...others] = filter
      const forms = [
        filter,
        [`or(${filter.join()})`],
        [`not(and(${filter.join()}))`],
        [`not(${first})`, ...others],
      ]
      for (const form of forms) assert.deepEqual(codes(await ask(form)), tooLong, form[0])
    }
  }
  // An é counts as one letter, composed or decomposed.
  const accented = (count: number) => likes('title', count, 999).map(text => text.replaceAll('x', 'é'))
  assert.equal((await search({ filter: accented(10) })).status, 200)
  assert.deepEqual(codes(await search({ filter: accented(11) })), tooLong)
})

test('five thousand long values are taken', async () => {
  const values = Array.from(
    { length: 5000 },
    (_, index) => `${'9'.repeat(20)}${String(index).padStart(4, '0')}`,
  )
  const reply = await search({ filter: `deal_value.value:in(${values.join(',')})` })
  assert.deepEqual([reply.status, reply.body.data], [200, []])
})
