/**
 * Only permitted callers change a record (D62, D63), by every way to change it: for every owner, with every
 * territory and with none, for every role. A refused change has no effect.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from '../../src/json.ts'
import { importerOf } from '../support/import-jobs.ts'
import { someOf } from '../support/questions.ts'
import { dealBody, type Reply, startService, v1 } from '../support/service.ts'

type Body = { [name: string]: Json }
type Reach = (typeof reaches)[number]

const service = await startService()
const { call, get, db, known, made } = service
const resources = ['deal', 'contact', 'company', 'activity'] as const
type Name = (typeof resources)[number]

const other = await made('user', { name: 'Other', email: 'other@example.com' })
const [theirs, another] = [
  await made('territory', { name: 'Theirs' }),
  await made('territory', { name: 'N' }),
]
for (const source of ['deal', 'contact', 'company'])
  await made('field', { source, field_name: 'Key', type: 'SINGLE_STRING', is_unique: true })

type Limits = { readonly sees: Reach; readonly changes: Reach; readonly hasTerritories: boolean }
/** Reaches of roles: the records they see, and those of them they may change. */
const reaches = ['all', 'territory', 'own'] as const
const limits: readonly Limits[] = reaches
  .flatMap((sees, at) => reaches.slice(at).map(changes => ({ sees, changes })))
  .flatMap(limit =>
    [true, false]
      .filter(hasTerritories => hasTerritories || Object.values(limit).includes('territory'))
      .map(hasTerritories => ({ ...limit, hasTerritories })),
  )

/** The text field that is changed here. */
const changed = { deal: 'title', contact: 'last_name', company: 'name', activity: 'subject' } as const

type Whose = { readonly owner: 'self' | 'other' | null; readonly territory: 'theirs' | 'another' | null }
/** All ownerships: a deal always has an owner. */
function everyWhose(name: Name): Whose[] {
  const owners = ['self', 'other', ...(name === 'deal' ? [] : [null])] as const
  return owners.flatMap(owner =>
    (['theirs', 'another', null] as const).map(territory => ({ owner, territory })),
  )
}

/** True if a limit reaches a record. A record without an owner is nobody's. */
function isWithin(to: Reach, { owner, territory }: Whose, hasTerritories: boolean): boolean {
  if (to === 'all' || owner === 'self') return true
  return to === 'territory' && hasTerritories && territory === 'theirs'
}

let count = 0

type Ask = (method: string, path: string, body?: Json) => Promise<Reply>
/** A way to change a record; returns its status. */
type Way = {
  readonly goes: (ask: Ask, id: number, key: string) => Promise<number>
  /** an administrator's preparation of the record */
  readonly before?: (id: number) => Promise<unknown>
  /** True if it needs a deleted record */
  readonly isOfDeleted?: true
}

const lastEvent = async (name: Name, id: number) =>
  (await get(`${v1}/${name}/${id}/history?pageSize=1`)).body.data[0].seq

/** The ways, in an order in which a record can go them one after the other. */
function waysOf(name: Name): { readonly [way: string]: Way } {
  const to = (text: string) => ({ [changed[name]]: text })
  const owner = { deal: 'sales_owner', activity: 'owner', contact: null, company: null }[name]
  const asked = (method: string, body?: Json): Way => ({
    goes: async (ask, id) => (await ask(method, `${name}/${id}`, body)).status,
  })
  const inBatch = (operation: (id: number, key: string) => Json): Way => ({
    goes: async (ask, id, key) => {
      const reply = await ask('POST', `${name}/batch`, { operations: [operation(id, key)] })
      return reply.body.data[0].status
    },
  })
  const by = (key: string) => ({ field: 'cf_key', value: key })
  return {
    PATCH: asked('PATCH', to('PATCH')),
    PUT: asked('PUT', to('PUT')),
    undo: {
      before: async id => call('PATCH', `${v1}/${name}/${id}`, to('to be undone')),
      goes: async (ask, id) => (await ask('POST', `event/${await lastEvent(name, id)}/undo`)).status,
    },
    'batch: update': inBatch(id => ({ op: 'update', id, data: to('batch: update') })),
    ...(name !== 'activity' && {
      'PUT by key': {
        goes: async (ask, _id, key) =>
          (await ask('PUT', `${name}/by/cf_key/${encodeURI(key)}`, to('PUT by key'))).status,
      },
      'batch: upsert': inBatch((_id, key) => ({ op: 'upsert', by: by(key), data: to('batch: upsert') })),
    }),
    DELETE: asked('DELETE'),
    restore: {
      isOfDeleted: true,
      goes: async (ask, id) => (await ask('POST', `${name}/${id}/restore`)).status,
    },
    'batch: delete': inBatch(id => ({ op: 'delete', id })),
    'batch: restore': { ...inBatch(id => ({ op: 'restore', id })), isOfDeleted: true },
    ...(owner && {
      'take over': {
        goes: async (ask, id) => {
          const self = (await ask('GET', 'me')).body.data.user.id
          return (await ask('PATCH', `${name}/${id}`, { ...to('take over'), [owner]: self })).status
        },
      },
    }),
  }
}

type Made = { readonly id: number; readonly key: string }

/** Bulk jobs: each sets the text field to its own name. */
function jobsOf(name: Name): {
  readonly [way: string]: (token: string, of: readonly Made[]) => Promise<void>
} {
  const importing = async (token: string, records: readonly Made[]) => {
    const theirs = importerOf({
      ...service,
      token,
      call: (method, path, body) => call(method, path, body, { authorization: `Bearer ${token}` }),
    })
    const rows = records.map(({ key }) => JSON.stringify({ cf_key: key, [changed[name]]: 'import' }))
    const type = 'application/x-ndjson'
    const { body } = await theirs.upload(name, rows.join('\n'), '', type, 'jsonl')
    const plan = { duplicates: { by: 'cf_key', action: 'update' } }
    const planned = await call('PATCH', `${v1}/import/${body.data.id}`, plan)
    assert.equal(planned.status, 200, planned.text)
    const job = await theirs.told(body.data.id, 'run')
    assert.equal(job.created, 0, JSON.stringify(job))
  }
  return {
    bulk: async (token, records) => {
      const filter = `id:in(${records.map(({ id }) => id).join()})`
      const reply = await call(
        'POST',
        `${v1}/${name}/bulk`,
        { filter, changes: { [changed[name]]: 'bulk' } },
        {
          authorization: `Bearer ${token}`,
        },
      )
      assert.equal(reply.status, 201, reply.text)
      for (let job = reply.body.data; job.state === 'running'; await sleep(20))
        job = (await get(`${v1}/job/${job.id}`)).body.data
    },
    ...(name !== 'activity' && { import: importing }),
  }
}

/** A record with this ownership, made past the rules if no request makes one without an owner. */
async function record(
  name: Name,
  { owner, territory }: Whose,
  self: number,
): Promise<{ id: number; key: string }> {
  const key = `key ${++count}`
  const user = owner === 'self' ? self : owner === 'other' ? other.id : null
  const where = territory === 'theirs' ? theirs.id : territory === 'another' ? another.id : null
  const bodies: { [N in Name]: () => Promise<Body> } = {
    deal: async () => dealBody(known, { title: key, cf_key: key, sales_owner: user, territory: where }),
    contact: async () => ({ last_name: key, cf_key: key, territory: where }),
    company: async () => ({ name: key, cf_key: key, territory: where }),
    activity: async () => ({
      ...{ kind: 'Task', subject: key, owner: user },
      company: (await made('company', { name: key, territory: where })).id,
    }),
  }
  const { id } = await made(name, await bodies[name]())
  const values = [user === null ? null : String(user), String(id)]
  // The author of an activity owns it if it has no other owner (D63).
  if (name !== 'deal')
    await db.query(`UPDATE ${name} SET created_by = $1::bigint WHERE id = $2::bigint`, values)
  return { id, key }
}

for (const { sees, changes, hasTerritories } of someOf(limits))
  suite(`sees ${sees}, changes ${changes}${hasTerritories ? '' : ', has no territory'}`, async () => {
    const label = `Role ${++count}`
    const each = (reach: Reach) => Object.fromEntries(resources.map(name => [name, reach]))
    const scopes = [
      ...resources.flatMap(name => [`${name}:read`, `${name}:write`]),
      'import:write',
      'job:read',
    ]
    const role = await made('role', {
      name: label,
      scopes,
      visibility: each(sees),
      may_change: each(changes),
    })
    const self = await made('user', {
      ...{ name: label, email: `${label.replace(' ', '')}@example.com`, role: role.id },
      territories: hasTerritories ? [theirs.id] : [],
    })
    const { token } = await made('token', { name: label, user: self.id, scopes: ['admin'] })
    const ask: Ask = (method, path, body) =>
      call(method, `${v1}/${path}`, body, { authorization: `Bearer ${token}` })
    const isSeen = (one: Whose) => isWithin(sees, one, hasTerritories)
    const isTheirs = (one: Whose) => isSeen(one) && isWithin(changes, one, hasTerritories)

    for (const name of resources)
      for (const one of everyWhose(name))
        test(`${name} of ${one.owner ?? 'nobody'}, territory ${one.territory ?? 'none'}`, async () => {
          const { id, key } = await record(name, one, self.id)
          const state = async () =>
            (
              await db.query(`SELECT version, document, deleted_at FROM ${name} WHERE id = $1::bigint`, [
                String(id),
              ])
            )[0]!
          let now = await state()
          for (const [way, { goes, before, isOfDeleted = false }] of Object.entries(waysOf(name))) {
            // A refused way leaves the record where the next does not need it.
            if ((now.deleted_at !== null) !== isOfDeleted)
              await (isOfDeleted
                ? call('DELETE', `${v1}/${name}/${id}`)
                : call('POST', `${v1}/${name}/${id}/restore`))
            await before?.(id)
            const was = await state()
            const status = await goes(ask, id, key)
            now = await state()
            const message = `${way} of ${name} ${id}: ${status}`
            if (isTheirs(one)) {
              assert.equal(status, 200, message)
              assert.notDeepEqual(now, was, message)
            } else {
              // An unseen record may block a new one by its unique key (D77).
              assert.ok(isSeen(one) ? status === 403 : status === 404 || status === 409, message)
              assert.deepEqual(now, was, message)
            }
          }
        })

    for (const name of resources)
      test(`jobs change what is theirs of ${name}, and nothing else`, async () => {
        const records = await Promise.all(
          everyWhose(name).map(async one => ({
            ...(await record(name, one, self.id)),
            isTheirs: isTheirs(one),
          })),
        )
        for (const [way, goes] of Object.entries(jobsOf(name))) {
          await goes(token, records)
          for (const { id, isTheirs } of records) {
            const now = (await get(`${v1}/${name}/${id}`)).body.data
            assert.equal(now[changed[name]] === way, isTheirs, `${way}: ${JSON.stringify(now)}`)
          }
        }
      })
  })
