/** Deactivated users in the rows of an import (D80): they own the records of those who left. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { importerOf } from '../support/import-jobs.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, made, known } = service
const { upload, told } = importerOf(service)
const user = async (name: string, email: string, isActive: boolean) => {
  const one = await made('user', { name, email })
  if (!isActive) assert.equal((await call('PATCH', `${v1}/user/${one.id}`, { is_active: 'No' })).status, 200)
  return one.id as number
}
const gone = await user('Lena Left', 'lena@left.example', false)
const far = await user('Far Away', 'far@left.example', false)
const head = 'title,pipeline,pipeline_stage,sales_owner,primary_contact,won_reason,deal_closed_on'
const row = (title: string, owner: string) =>
  [title, known.pipeline, 'Won', owner, known.contact, 'Price', '2025-03-01'].join()
const owners = async (like: string) => {
  const { data } = (await get(`${v1}/deal/view/list?filter=title:like(${like})&sort=id:asc&pageSize=100`))
    .body
  return data.map((deal: { sales_owner: number }) => deal.sales_owner)
}

test('a deal of somebody who left is theirs, and the result says of how many rows that is so', async () => {
  const rows = [
    row('Idle 1', 'lena@left.example'),
    row('Idle 2', 'Lena Left'),
    row('Idle 3', '"Left, Lena"'),
    row('Idle 4', String(gone)),
    row('Idle 5', 'Far Away'),
    row('Idle 6', String(known.owner)),
    row('Idle 7', 'Nobody Here'),
  ]
  const { id } = (await upload('deal', [head, ...rows].join('\n'))).body.data
  const tried = await told(id, 'dry_run')
  assert.deepEqual(
    [tried.created, tried.refused, tried.users_out_of_use],
    [6, 1, { 'Lena Left': 4, 'Far Away': 1 }],
    JSON.stringify(tried.problems),
  )
  const done = await told(id, 'run')
  assert.deepEqual([done.created, done.refused], [6, 1])
  assert.deepEqual(done.result.run.users_out_of_use, { 'Lena Left': 4, 'Far Away': 1 })
  const [problem] = done.problems[0].problems
  assert.deepEqual([problem.code, problem.column], ['reference_not_found', 'sales_owner'])
  assert.deepEqual(await owners('Idle'), [gone, gone, gone, gone, far, known.owner])
})

test('what is named in the file is known, and is none of the texts to map', async () => {
  const file = [head, row('A', 'lena@left.example'), row('B', 'Lena Left'), row('C', 'Lina Left')]
  const { values_to_map } = (await upload('deal', file.join('\n'))).body.data
  const texts = values_to_map.flatMap((one: { field: string; texts: { text: string; guess: Json }[] }) =>
    one.field === 'sales_owner' ? one.texts : [],
  )
  // Deactivated users are never guessed.
  assert.deepEqual(texts, [{ text: 'Lina Left', guess: null }])
})

test('who may not read users is told of how many rows it is so, and no names', async () => {
  const scopes = ['deal:read', 'deal:write', 'import:write', 'job:read', 'contact:read', 'company:read']
  const more = [...scopes, 'user:read', 'pipeline:read', 'pipeline_stage:read']
  const tokenOf = async (name: string, scopes: readonly string[]) =>
    (await made('token', { name, user: known.owner, scopes: [...scopes] })).token as string
  const [whole, less] = [await tokenOf('With users', more), await tokenOf('Without users', scopes)]
  const as = importerOf({ ...service, token: whole, ...asToken(whole) })
  const rows = [row('Told 1', String(gone)), row('Told 2', String(far))]
  const { id } = (await as.upload('deal', [head, ...rows].join('\n'))).body.data
  const done = await as.told(id, 'run')
  const names = { 'Lena Left': 1, 'Far Away': 1 }
  assert.deepEqual([done.created, done.users_out_of_use], [2, names], JSON.stringify(done.problems))
  for (const path of [`import/${id}`, `job/${id}`, 'job?pageSize=1']) {
    const reply = await asToken(less).get(`${v1}/${path}`)
    const [job] = [reply.body.data].flat()
    assert.deepEqual([job?.id, job?.users_out_of_use], [id, { others: 2 }], reply.text)
    assert.deepEqual(job.result.run.users_out_of_use, { others: 2 }, path)
  }
})

test('somebody in use of the same name is meant first', async () => {
  const active = await user('Far Away', 'far@here.example', true)
  const { id } = (
    await upload('deal', [head, row('Same 1', 'Far Away'), row('Same 2', 'far@left.example')].join('\n'))
  ).body.data
  const done = await told(id, 'run')
  assert.deepEqual(
    [done.created, done.users_out_of_use],
    [2, { 'Far Away': 1 }],
    JSON.stringify(done.problems),
  )
  assert.deepEqual(await owners('Same'), [active, far])
})

test('an author who left is kept, too, and a row about a record that is there may give it to them', async () => {
  const field = { source: 'deal', field_name: 'Key', type: 'SINGLE_STRING', is_unique: true }
  const { internal_name: key } = await made('field', field)
  await made('deal', dealBody(known, { title: 'Handed', [key]: 'K1' }))
  const lines = ['title,sales_owner,created_by', `Handed,lena@left.example,far@left.example`]
  const file = [`${key},${lines[0]}`, `K1,${lines[1]}`].join('\n')
  const { id } = (await upload('deal', file)).body.data
  await call('PATCH', `${v1}/import/${id}`, { duplicates: { by: key, action: 'update' } })
  const done = await told(id, 'run')
  assert.deepEqual(
    [done.updated, done.users_out_of_use],
    [1, { 'Lena Left': 1, 'Far Away': 1 }],
    JSON.stringify(done.problems),
  )
  const [deal] = (await get(`${v1}/deal/view/list?filter=title:eq(Handed)`)).body.data
  assert.deepEqual([deal.sales_owner, deal.created_by], [gone, far])
})

test('a request takes nobody who is out of use, and neither does an import take who is deleted', async () => {
  for (const sales_owner of [gone, String(gone), 'lena@left.example', 'Lena Left']) {
    const reply = await call('POST', `${v1}/deal`, dealBody(known, { sales_owner }))
    assert.equal(reply.status, 422, reply.text)
  }
  const away = await user('Del Eted', 'del@left.example', true)
  assert.equal((await call('DELETE', `${v1}/user/${away}`)).status, 200)
  const rows = [row('Deleted 1', 'del@left.example'), row('Deleted 2', String(away))]
  const { id } = (await upload('deal', [head, ...rows].join('\n'))).body.data
  const done = await told(id, 'run')
  assert.deepEqual([done.created, done.refused, done.users_out_of_use], [0, 2, {}])
})

test('who may not read users names none of them', async () => {
  const scopes = [
    'deal:read',
    'deal:write',
    'import:write',
    'contact:read',
    'pipeline:read',
    'pipeline_stage:read',
  ]
  const { token } = await made('token', { name: 'Deals alone', scopes })
  const as = importerOf({ ...service, token, ...asToken(token) })
  const { id } = (await as.upload('deal', [head, row('Unread', 'lena@left.example')].join('\n'))).body.data
  const done = await as.told(id, 'run')
  assert.deepEqual([done.created, done.refused, done.users_out_of_use], [0, 1, {}])
})

function asToken(token: string): Pick<typeof service, 'call' | 'get'> {
  const headers = { authorization: `Bearer ${token}` }
  return {
    call: (method, path, body) => call(method, path, body, headers),
    get: path => call('GET', path, undefined, headers),
  }
}
