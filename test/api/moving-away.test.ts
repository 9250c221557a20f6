/** Deletions with `move_to` by a caller whose role does not see or change everything (D37, D63, D64). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const { call, get, db, known, made } = await startService()
type Body = { [name: string]: Json }
let people = 0
const person = async (more: Body = {}) => {
  people++
  return made('user', { name: `Person ${people}`, email: `person${people}@example.com`, ...more })
}
const written = ['deal', 'activity', 'user', 'pipeline', 'pipeline_stage']
/** The headers of a new user with a role of their own. */
async function as(role: Body, scopes = written.flatMap(name => [`${name}:read`, `${name}:write`])) {
  const { id } = await made('role', { name: `Role ${people}`, scopes, ...role })
  const user = await person({ role: id, territories: [known.territory] })
  const { token } = await made('token', { name: 'Theirs', user: user.id, scopes })
  return { id: user.id as number, headers: { authorization: `Bearer ${token}` } }
}
const deal = (more: Body) => made('deal', dealBody(known, { territory: null, ...more }))
const remove = (path: string, headers?: Record<string, string>) =>
  call('DELETE', `${v1}/${path}`, undefined, headers)
const lastSeq = async () =>
  (await db.query('SELECT last_seq::text AS n FROM counter WHERE account_id = 1'))[0]!.n

/** Asserts a refusal without any write. */
async function refuses(path: string, headers: Record<string, string>, status: number, wanted: RegExp) {
  const before = await lastSeq()
  const refused = await remove(path, headers)
  assert.deepEqual([refused.status, await lastSeq()], [status, before], `${path}: ${refused.text}`)
  assert.match(refused.text, wanted)
  return refused.body
}

test('what points to a user and is not theirs to move keeps all where it is', async () => {
  const limited = await as({ visibility: { deal: 'territory' } })
  const [from, to] = [await person(), await person()]
  const seen = await deal({ sales_owner: from.id, territory: known.territory })
  const unseen = await deal({ sales_owner: from.id })
  const path = `user/${from.id}?move_to=${to.id}`
  const { errors, detail } = await refuses(path, limited.headers, 409, /in_use/)
  assert.deepEqual(
    errors.map(({ resource, count, message }: Body) => [resource, count, message]),
    [['deal', 0, "There are deals that you can't see and that point to it."]],
  )
  assert.match(detail, /nothing is moved or deleted/)
  assert.equal((await get(`${v1}/deal/${seen.id}`)).body.data.sales_owner, from.id)
  // A dry run is refused, too.
  assert.equal((await remove(`${path}&dry_run=1`, limited.headers)).status, 409)
  // Records that are seen but not changed block the deletion, and are counted.
  const reading = await as({ may_change: { deal: 'own' } })
  const counted = await refuses(path, reading.headers, 409, /in_use/)
  assert.equal(counted.errors[0].count, 2)
  await call('PATCH', `${v1}/deal/${unseen.id}`, { territory: known.territory })
  assert.equal((await remove(path, limited.headers)).status, 200)
  assert.equal((await get(`${v1}/deal/${unseen.id}`)).body.data.sales_owner, to.id)
})

test('nor are the deals of a pipeline or a stage moved, where some are not seen', async () => {
  const { headers } = await as({ visibility: { deal: 'territory' } })
  const pipeline = await made('pipeline', { name: 'Seen in part' })
  const stage = (name: string) => made('pipeline_stage', { pipeline: pipeline.id, name })
  const [one, two] = [await stage('One'), await stage('Two')]
  const within = { pipeline: pipeline.id, pipeline_stage: one.id }
  await deal({ ...within, territory: known.territory })
  const unseen = await deal(within)
  const paths = [
    `pipeline_stage/${one.id}?move_to=${two.id}`,
    `pipeline/${pipeline.id}?move_to=${known.pipeline}`,
  ]
  for (const path of paths) await refuses(path, headers, 409, /deals that you can't see/)
  await call('DELETE', `${v1}/deal/${unseen.id}`)
  for (const path of paths) assert.equal((await remove(path, headers)).status, 200)
})

test('whatever else refuses the deletion does so before anything is moved', async () => {
  const { headers, id } = await as({})
  const [administrator, to] = [await person({ role: 1 }), await person()]
  await deal({ sales_owner: administrator.id })
  await deal({ sales_owner: id })
  await refuses(`user/${administrator.id}?move_to=${to.id}`, headers, 403, /administers the account/)
  await refuses(`user/${id}?move_to=${to.id}`, headers, 409, /your own user/)
})

test('a move changes no field that the role hides or locks', async () => {
  const [from, to] = [await person(), await person()]
  const path = `user/${from.id}?move_to=${to.id}`
  await deal({ sales_owner: from.id })
  const activity = await made('activity', {
    kind: 'Call',
    subject: 'Ring',
    owner: from.id,
    company: known.company,
  })
  const locked = await as({ locked_fields: ['activity.owner'] })
  const named = await refuses(path, locked.headers, 403, /forbidden/)
  assert.match(named.detail, new RegExp(`^Activity ${activity.id} can't be moved, so nothing .*: owner\\.$`))
  const hidden = await as({ hidden_fields: ['activity.owner'] })
  const unnamed = await refuses(path, hidden.headers, 403, /forbidden/)
  assert.doesNotMatch(unnamed.detail, /owner/)
  assert.equal((await remove(path)).status, 200)
})

test('a user hands over what fields that are out of use have of them, too', async () => {
  const field = (name: string, source = 'deal', type = 'OWNER') =>
    made('field', { source, field_name: name, type })
  const [deleted, inactive] = [await field('Coach'), await field('Sponsor')]
  const [from, to] = [await person(), await person()]
  const owned = { [deleted.internal_name]: from.id, [inactive.internal_name]: from.id }
  const { id } = await deal(owned)
  assert.equal((await remove(`field/${deleted.id}`)).status, 200)
  const off = await call('PATCH', `${v1}/field/${inactive.id}`, { is_active: false })
  assert.equal(off.status, 200, off.text)
  const path = `user/${from.id}?move_to=${to.id}`
  const locked = await as({ locked_fields: [`deal.${inactive.internal_name}`] })
  const refused = await refuses(path, locked.headers, 403, /forbidden/)
  assert.match(refused.detail, new RegExp(inactive.internal_name))
  const gone = await remove(path)
  assert.equal(gone.status, 200, gone.text)
  const shown = await get(`${v1}/deal/${id}`)
  assert.equal(shown.body.data[deleted.internal_name], undefined)
  assert.equal((await call('POST', `${v1}/field/${deleted.id}/restore`)).status, 200)
  await call('PATCH', `${v1}/field/${inactive.id}`, { is_active: true })
  const { data } = (await get(`${v1}/deal/${id}`)).body
  assert.deepEqual([data[deleted.internal_name], data[inactive.internal_name]], [to.id, to.id])
})

test('a refused deletion names the fields out of use that have the record', async () => {
  const source = { source: 'deal', type: 'CONTACT' }
  const field = await made('field', { ...source, field_name: 'Referee' })
  const contact = await made('contact', { last_name: 'Referred' })
  const other = await deal({ [field.internal_name]: contact.id })
  await remove(`field/${field.id}`)
  const why = async (headers?: Record<string, string>) => {
    const { status, body } = await remove(`contact/${contact.id}`, headers)
    assert.equal(status, 409)
    const [{ count, hint }] = body.errors
    return [count, hint]
  }
  const [one, hint] = await why()
  assert.equal(one, 1)
  assert.match(hint, new RegExp(`^Only fields that are out of use \\(${field.internal_name}\\) have it`))
  const using = await deal({ primary_contact: contact.id })
  assert.match((await why())[1], /^1 of 2 have it only in fields that are out of use/)
  const scopes = ['deal:read', 'contact:write']
  const hiding = await as({ hidden_fields: [`deal.${field.internal_name}`] }, scopes)
  assert.deepEqual(await why(hiding.headers), [1, undefined])
  await call('DELETE', `${v1}/deal/${using.id}`)
  await call('DELETE', `${v1}/deal/${other.id}`)
  assert.equal((await remove(`contact/${contact.id}`)).status, 200)
})
