/** The laws that every kind of field keeps, on the real database over HTTP. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { type Tried, triedSamples } from '../support/samples.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, known } = service

for (const tried of await triedSamples(service)) {
  const { resource, type } = tried
  test(`${resource}, ${type}: good values are stored, read back, and written back without a change`, () =>
    keepsGood(tried))
  test(`${resource}, ${type}: bad values are refused with their code, and nothing is saved`, () =>
    refusesBad(tried))
}

async function keepsGood({ resource, field, good }: Tried): Promise<void> {
  assert.ok(good.length > 0)
  for (const { input, stored = input } of good) {
    const created = await call('POST', `${v1}/${resource}`, bodyOf(resource, { [field]: input }))
    assert.equal(created.status, 201, created.text)
    const { data } = created.body
    assert.deepEqual(data[field], stored)
    const read = (await get(`${v1}/${resource}/${data.id}`)).body.data
    assert.deepEqual(read[field], stored)
    const history = await events()
    for (const body of [{ [field]: read[field] }, { [field]: input }, read]) {
      const again = await call('PUT', `${v1}/${resource}/${data.id}`, body)
      assert.equal(again.status, 200, again.text)
      assert.equal(again.body.data.version, 1, JSON.stringify(body[field]))
    }
    assert.equal(await events(), history)
    const absent = ['{}', '[]'].includes(JSON.stringify(stored)) || field === 'primary_contact'
    if (!absent) await clears(resource, field, data.id)
  }
}

async function events(): Promise<string> {
  const [row] = await service.db.query('SELECT last_seq::text AS seq FROM counter WHERE account_id = 1')
  return row!.seq!
}

async function clears(resource: string, field: string, id: number): Promise<void> {
  const cleared = await call('PATCH', `${v1}/${resource}/${id}`, { [field]: null })
  assert.equal(cleared.status, 200, cleared.text)
  const value = cleared.body.data[field] ?? null
  assert.ok(value === null || Object.keys(value).length === 0, JSON.stringify(value))
}

async function refusesBad({ resource, field, bad }: Tried): Promise<void> {
  const count = async () => (await service.db.query(`SELECT count(*)::text AS n FROM ${resource}`))[0]!.n
  const before = await count()
  for (const { input, code } of bad) {
    const reply = await call('POST', `${v1}/${resource}`, bodyOf(resource, { [field]: input }))
    assert.equal(reply.status, 422, `${JSON.stringify(input).slice(0, 80)}: ${reply.text.slice(0, 300)}`)
    const codes = problemsOf(reply)
    assert.ok(
      codes.every(problem => problem.startsWith(`/${field}`)) &&
        codes.some(problem => problem.endsWith(` ${code}`)),
      `${JSON.stringify(input).slice(0, 80)}: ${codes}`,
    )
  }
  assert.equal(await count(), before)
}

function bodyOf(resource: string, members: { [name: string]: Json }): { [name: string]: Json } {
  return resource === 'deal' ? dealBody(known, members) : { name: 'A product', ...members }
}
