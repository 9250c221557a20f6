/** Case-sensitive unique texts (D76), as ids of other systems need. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { importerOf } from '../support/import-jobs.ts'
import { type Reply, type Service, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, get, made } = service
const { upload, told } = importerOf(service)
const field = { source: 'company', field_name: 'External id', type: 'SINGLE_STRING', is_unique: true }
const { id: fieldId, ...descriptor } = await made('field', { ...field, config: { case_sensitive: true } })
const [low, high] = ['0015g00000AbCdE', '0015g00000abCdE']
const company = (name: string, cf_external_id: string, at: Pick<Service, 'call'> = service) =>
  at.call('POST', `${v1}/company`, { name, cf_external_id })
const by = (value: string) => `${v1}/company/by/cf_external_id/${encodeURIComponent(value)}`
const set = (config: { [name: string]: Json }) => call('PATCH', `${v1}/field/${fieldId}`, { config })
const problemOf = ({ status, text, body }: Reply, expected: number) => {
  assert.equal(status, expected, text)
  return body.errors[0]
}
const keys = async () => {
  const rows = await db.query(
    'SELECT key FROM unique_value WHERE account_id = 1 AND field = $1::bigint ORDER BY record, key',
    [String(fieldId)],
  )
  return rows.map(({ key }) => key)
}
const remove = async (...ids: number[]) => {
  for (const id of ids) assert.equal((await call('DELETE', `${v1}/company/${id}`)).status, 200)
}

test('values that differ in case alone are two, in every way to write and find a record', async () => {
  assert.equal(descriptor.config.case_sensitive, true)
  const listed = (await get(`${v1}/field/list?source=company`)).body.data.fields.flat()
  const { config } = listed.find((one: { id: number }) => one.id === fieldId)
  assert.deepEqual(config, { max_length: 255, case_sensitive: true })
  const first = (await company('First', low)).body.data
  const second = await company('Second', high)
  assert.equal(second.status, 201, second.text)
  assert.equal(problemOf(await company('Third', ` ${low}\u200b`), 409).holder, first.id)
  const both = second.body.data
  for (const [value, id] of [
    [low, first.id],
    [high, both.id],
    [` ${high} `, both.id],
  ])
    assert.equal((await get(by(value))).body.data.id, id)
  assert.equal((await get(by(low.toUpperCase()))).status, 404)
  assert.equal((await call('PUT', by(high), { name: 'Second again' })).body.data.id, both.id)
  const other = await call('PUT', by(low.toUpperCase()), { name: 'In capitals' })
  assert.equal(other.status, 201, other.text)
  assert.equal(problemOf(await call('PUT', by(low), { cf_external_id: high }), 422).code, 'contradiction')
  const upsert = (value: string, name: string) => ({
    ...{ op: 'upsert', by: { field: 'cf_external_id', value }, data: { name } },
  })
  const { body } = await call('POST', `${v1}/company/batch`, {
    operations: [
      ...[upsert('bAtch', 'One'), upsert('batch', 'Other'), upsert('bAtch', 'One again')],
      ...['baTch', 'baTCh', 'bAtch'].map(value => ({
        ...{ op: 'create', data: { name: 'Created', cf_external_id: value } },
      })),
    ],
  })
  assert.deepEqual(
    body.data.map(({ status }: { status: number }) => status),
    [201, 201, 200, 201, 201, 409],
  )
  // A change of case alone releases the former value.
  assert.equal((await call('PATCH', `${v1}/company/${both.id}`, { cf_external_id: 'mOved' })).status, 200)
  const cased = await call('PATCH', `${v1}/company/${both.id}`, { cf_external_id: 'moved' })
  assert.equal(cased.status, 200, cased.text)
  assert.equal((await company('Takes it', 'mOved')).status, 201)
})

test('of many at the same moment each spelling is one record', async () => {
  const other = await service.another()
  const spelt = ['raced', 'Raced', 'RACED']
  const creates = Array.from({ length: 12 }, (_, index) =>
    company(`R${index}`, spelt[index % 3]!, index % 2 ? service : other),
  )
  const replies = await Promise.all(creates)
  assert.deepEqual(replies.map(({ status }) => status).sort(), [...Array(3).fill(201), ...Array(9).fill(409)])
})

test('a deleted record comes back beside one that differs in case, and beside its own value it does not', async () => {
  const gone = (await company('Gone', 'rEstored')).body.data
  await remove(gone.id)
  assert.equal((await company('There', 'restored')).status, 201)
  const taken = (await company('Taken', 'rEstored')).body.data
  const restore = () => call('POST', `${v1}/company/${gone.id}/restore`)
  assert.equal(problemOf(await restore(), 409).holder, taken.id)
  await remove(taken.id)
  assert.equal((await restore()).status, 200)
  assert.ok((await keys()).includes('rEstored'))
})

test('long values count with their case, too', async () => {
  const long = await made('field', {
    ...{ source: 'company', field_name: 'Long id', type: 'TEXT', is_unique: true },
    config: { case_sensitive: true },
  })
  const value = 'Ä'.repeat(2000)
  const write = (cf_long_id: string) => call('POST', `${v1}/company`, { name: 'Long', cf_long_id })
  assert.equal((await write(value)).status, 201)
  assert.equal((await write(value.toLowerCase())).status, 201)
  assert.equal(problemOf(await write(` ${value} `), 409).field, 'cf_long_id')
  assert.equal((await call('DELETE', `${v1}/field/${long.id}`)).status, 200)
})

test('case counts from now on, or no more where no values differ in nothing else', async () => {
  const before = await keys()
  const refused = await set({ case_sensitive: false })
  const problem = problemOf(refused, 409)
  assert.deepEqual([problem.path, problem.code], ['/config/case_sensitive', 'value_taken'])
  const values = problem.examples.map(({ value }: { value: string }) => value)
  for (const value of [low.toLowerCase(), 'raced', 'batch']) assert.ok(values.includes(value), String(values))
  assert.deepEqual(await keys(), before)
  const doubled = problem.examples.flatMap(({ ids }: { ids: number[] }) => ids.slice(1))
  await remove(...doubled)
  const off = await set({ case_sensitive: null })
  assert.equal(off.status, 200, off.text)
  assert.deepEqual(off.body.data.config, { max_length: 255 })
  const folded = await keys()
  assert.deepEqual(folded, [...new Set(folded.map(key => key!.toLowerCase()))])
  assert.equal(problemOf(await company('Folded', 'RACED'), 409).code, 'value_taken')
  const on = await set({ case_sensitive: true, max_length: 200 })
  assert.equal(on.status, 200, on.text)
  assert.deepEqual(on.body.data.config, { max_length: 200, case_sensitive: true })
  assert.equal((await company('Cased', 'RaCed')).status, 201)
  assert.equal((await keys()).length, folded.length + 1)
  // The same setting again, or another label, leaves the keys unchanged.
  assert.equal((await set({ case_sensitive: true })).status, 200)
  // It may be set before the field is unique.
  assert.equal((await call('PATCH', `${v1}/field/${fieldId}`, { is_unique: false })).status, 200)
  assert.deepEqual(await keys(), [])
  assert.equal((await company('Doubled', 'RaCed')).status, 201)
  const again = await call('PATCH', `${v1}/field/${fieldId}`, { is_unique: true })
  assert.deepEqual(
    [problemOf(again, 409).path, again.body.errors[0].examples[0].value],
    ['/is_unique', 'RaCed'],
  )
  await remove(again.body.errors[0].examples[0].ids[1])
  assert.equal((await call('PATCH', `${v1}/field/${fieldId}`, { is_unique: true })).status, 200)
})

test('it is said of custom texts alone, by true or false', async () => {
  const config = { case_sensitive: true }
  assert.equal(problemOf(await set({ case_sensitive: 'yes' }), 422).path, '/config/case_sensitive')
  // The service's own names are case-insensitive.
  const own = await call('PATCH', `${v1}/field/203`, { config })
  assert.deepEqual(
    [problemOf(own, 422).code, own.body.errors[0].path],
    ['unknown_field', '/config/case_sensitive'],
  )
  for (const type of ['SINGLE_NUMBER', 'EMAIL', 'DATE', 'DROPDOWN']) {
    const reply = await call('POST', `${v1}/field`, { source: 'company', field_name: 'No', type, config })
    assert.equal(problemOf(reply, 422).code, 'unknown_field')
  }
})

test('an import of ids that differ in case alone makes each its record, and finds it again', async () => {
  const run = async (names: readonly [string, string]) => {
    const rows = [`${names[0]},001Ab0000000XyZ`, `${names[1]},001aB0000000XyZ`]
    const { id } = (await upload('company', ['name,cf_external_id', ...rows].join('\n'))).body.data
    const duplicates = { by: 'cf_external_id', action: 'update' }
    assert.equal((await call('PATCH', `${v1}/import/${id}`, { duplicates })).status, 200)
    return told(id, 'run')
  }
  const first = await run(['North', 'South'])
  assert.deepEqual([first.created, first.updated, first.refused], [2, 0, 0], JSON.stringify(first.problems))
  const next = await run(['North Ltd', 'South Ltd'])
  assert.deepEqual([next.created, next.updated, next.refused], [0, 2, 0], JSON.stringify(next.problems))
  assert.equal((await get(by('001Ab0000000XyZ'))).body.data.name, 'North Ltd')
  assert.equal((await get(by('001aB0000000XyZ'))).body.data.name, 'South Ltd')
})
