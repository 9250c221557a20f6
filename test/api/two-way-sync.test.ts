/**
 * A copy that follows the guide "Keeping a copy in step" in both directions equals the service, whatever both
 * sides do: create, change, delete and restore at random, and lose the answers to creates.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pick, random } from '../support/generated.ts'
import { dealBody, type Reply, startService, v1 } from '../support/service.ts'

const { call, get, known } = await startService()
const path = `${v1}/deal`
const next = random(20_260_101)
const by = { next }

/** The synchronized values of a deal. */
type Values = { readonly title: string; readonly description: string | null }
type Copied = {
  id: number | null
  version: number
  /** the values as of the last sync, and the current ones on this side */
  base: Values | null
  own: Values | null
}
/** The other system: its own key → its record. */
const copy = new Map<string, Copied>()
let since: string | null = null
let conflicts = 0

const valuesOf = ({ title, description }: Values): Values => ({ title, description })

const field = { source: 'deal', field_name: 'Sync key', type: 'SINGLE_STRING', is_unique: true }
assert.equal((await call('POST', `${v1}/field`, field)).status, 201)

/** Every record of a list, by cursors. */
async function* listed(query: string) {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Reply = await get(
      `${path}/view/list?pageSize=7&count=none&${query}${cursor && `&cursor=${cursor}`}`,
    )
    assert.equal(page.status, 200, page.text)
    yield* page.body.data
    cursor = page.body.meta.nextCursor
  }
}

const copied = (id: number) => [...copy].find(([, one]) => one.id === id)

async function pull(): Promise<void> {
  const began = new Date((await get(`${v1}/me`)).headers.get('date')!).toISOString()
  const changed = since === null ? 'sort=id:asc' : `filter=updated_at:gte(${since})&sort=updated_at:asc`
  for await (const record of listed(changed)) {
    const one = copied(record.id)?.[1]
    if (!one) {
      const values = valuesOf(record)
      copy.set(`from ${record.id}`, { id: record.id, version: record.version, base: values, own: values })
    } else if (one.version !== record.version) merge(one, record)
  }
  const gone = `deleted=only&filter=deleted_at:gte(${since})&sort=deleted_at:asc&fields=id`
  if (since !== null) for await (const { id } of listed(gone)) copy.delete(copied(id)?.[0] ?? '')
  since = began
}

/** Conflicts are resolved in favour of the service. */
function merge(one: Copied, record: Values & { version: number }): void {
  const theirs = valuesOf(record)
  const mine = one.own && one.base ? differing(one.base, one.own) : {}
  const kept = Object.entries(mine).filter(([name]) => {
    const isTheirs = theirs[name as keyof Values] !== one.base![name as keyof Values]
    if (isTheirs) conflicts++
    return !isTheirs
  })
  const own = one.own && { ...theirs, ...Object.fromEntries(kept) }
  Object.assign(one, { version: record.version, base: theirs, own })
}

function differing(base: Values, own: Values): Partial<Values> {
  const names = Object.keys(own) as (keyof Values)[]
  return Object.fromEntries(names.filter(name => own[name] !== base[name]).map(name => [name, own[name]]))
}

async function push(): Promise<void> {
  for (const [key, one] of [...copy]) {
    for (let isDone = false; !isDone; ) isDone = await sent(key, one)
  }
}

/** Sends this side's changes of a record; false after a 412, when it was read again. */
async function sent(key: string, one: Copied): Promise<boolean> {
  const { id, version, base, own } = one
  if (id === null) {
    const { pipeline, pipeline_stage, primary_contact, sales_owner } = dealBody(known)
    const body = { pipeline, pipeline_stage, primary_contact, sales_owner, ...own! } as never
    const put = () => call('PUT', `${path}/by/cf_sync_key/${encodeURIComponent(key)}`, body)
    if (next() < 0.3) await put()
    const made = await put()
    assert.ok(made.status === 201 || made.status === 200, made.text)
    const { data } = made.body
    copy.set(key, { id: data.id, version: data.version, base: valuesOf(data), own: valuesOf(data) })
    return true
  }
  const changes = own && base ? differing(base, own) : null
  if (changes && Object.keys(changes).length === 0) return true
  const match = { 'if-match': `"${version}"` }
  const reply = own
    ? await call('PATCH', `${path}/${id}`, changes as never, match)
    : await call('DELETE', `${path}/${id}`, undefined, match)
  if (reply.status === 404 || (reply.status === 200 && !own)) copy.delete(key)
  else if (reply.status === 200) merge(one, reply.body.data)
  else {
    assert.equal(reply.status, 412, reply.text)
    const now = await get(`${path}/${id}`)
    if (now.status === 404) copy.delete(key)
    else merge(one, now.body.data)
    return false
  }
  return true
}

let count = 0
const text = () => `Text ${++count}`

/** A random action on the service. */
async function actThere(ids: readonly number[], removed: number[]): Promise<void> {
  const [what, id] = [next(), pick(by, ids)]
  if (what < 0.3) await call('POST', path, dealBody(known, { title: text() }))
  else if (what < 0.7) await call('PATCH', `${path}/${id}`, { [pick(by, ['title', 'description'])]: text() })
  else if (what < 0.85) {
    if ((await call('DELETE', `${path}/${id}`)).status === 200) removed.push(id)
  } else if (removed.length) await call('POST', `${path}/${removed.pop()}/restore`)
}

/** A random action in the other system. */
function actHere(): void {
  const one = pick(by, [...copy.values()])
  const what = next()
  if (what < 0.3)
    copy.set(text(), { id: null, version: 0, base: null, own: { title: text(), description: null } })
  else if (what < 0.8 && one.own) one.own = { ...one.own, [pick(by, ['title', 'description'])]: text() }
  else if (one.id !== null) one.own = null
}

test('both sides have the same after every round', async () => {
  const removed: number[] = []
  await pull()
  assert.ok(copy.size > 200)
  for (let round = 0; round < 12; round++) {
    const ids = [...copy.values()].flatMap(({ id }) => id ?? []).slice(-12)
    const both = Array.from({ length: 12 }, () => actThere(ids, removed))
    for (let act = 0; act < 12; act++) actHere()
    for (const one of [...copy.values()].slice(-6)) if (one.own) one.own = { ...one.own, title: text() }
    // In half of the rounds only a 412 reveals the other side's changes.
    if (round % 2) await Promise.all(both)
    if (round % 2) await pull()
    await Promise.all(both)
    await push()
    await pull()
    const there = new Map<number, Values>()
    for await (const record of listed('sort=id:asc')) there.set(record.id, valuesOf(record))
    const here = [...copy.values()].map(({ id, own }) => [id, own] as const)
    assert.deepEqual(new Map(here.toSorted((a, b) => a[0]! - b[0]!)), there, `round ${round}`)
  }
  assert.ok(conflicts > 5, `${conflicts} conflicts`)
})
