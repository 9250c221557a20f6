/**
 * Moving from one account to another: what one exports with names, the other imports (D80, D81). The records
 * are the same in every field that can be moved.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject, type Json, type JsonObject, parseJson } from '../../src/json.ts'
import { type Service, startService, v1 } from '../support/service.ts'

const [from, to] = [await startService(), await startService()]
/** In the order in which they point to each other. */
const resources = ['company', 'contact', 'product', 'deal']
const types = { csv: 'text/csv', jsonl: 'application/x-ndjson', xlsx: 'application/octet-stream' }

/** The other account is set up alike, and has no records. */
async function empty(): Promise<void> {
  for (const resource of ['activity', ...resources.toReversed()])
    await to.db.query(`DELETE FROM "${resource}" WHERE account_id = 1`)
}

/** What differs in any case: ids, versions, and what follows from when a record was written. */
const own = new Set([
  ...['id', 'version', 'updated_at', 'updated_by', 'last_assigned_at', 'age', 'rotting_days'],
  ...['done_activities', 'upcoming_activities', 'total_activities', 'email_message_count', 'recent_note'],
  ...[
    'last_activity_date',
    'next_activity_date',
    'last_activity_type',
    'last_email_received',
    'last_email_sent',
  ],
])

async function exported(service: Service, resource: string, format: string): Promise<Uint8Array> {
  const path = `${v1}/${resource}/export?format=${format}&names=1&sort=id:asc`
  const headers = { authorization: `Bearer ${service.token}` }
  const reply = await fetch(service.url + path, { headers })
  assert.equal(reply.status, 200)
  return new Uint8Array(await reply.arrayBuffer())
}

async function imported(resource: string, format: keyof typeof types, bytes: Uint8Array) {
  const response = await fetch(`${to.url}${v1}/import?resource=${resource}&format=${format}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${to.token}`, 'content-type': types[format] },
    body: bytes as never,
  })
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the test is about
  const { data } = (await response.json()) as any
  assert.equal(response.status, 201, JSON.stringify(data))
  await to.call('POST', `${v1}/import/${data.id}/run`)
  for (;;) {
    const job = (await to.get(`${v1}/import/${data.id}`)).body.data
    if (job.state !== 'running') return job
    await sleep(30)
  }
}

async function records(service: Service, resource: string): Promise<JsonObject[]> {
  const text = new TextDecoder().decode(await exported(service, resource, 'jsonl'))
  const all = text.trim().split('\n').filter(Boolean)
  return all.map(line => {
    const members = Object.entries(parseJson(line) as JsonObject).filter(([name]) => !own.has(name))
    return Object.fromEntries(members)
  })
}

for (const format of ['csv', 'xlsx', 'jsonl'] as const)
  test(`${format}: what one account exports, another imports as it was`, async () => {
    await empty()
    for (const resource of resources) {
      const job = await imported(resource, format, await exported(from, resource, format))
      assert.deepEqual([job.state, job.refused], ['done', 0], JSON.stringify(job.problems).slice(0, 2000))
      const [before, after] = [await records(from, resource), await records(to, resource)]
      assert.equal(after.length, before.length)
      for (const [index, record] of before.entries())
        for (const [name, value] of Object.entries(record).filter(([name]) => isMoved(name, format)))
          assert.deepEqual(
            comparable(after[index]![name]!, format),
            comparable(value, format),
            `${resource} ${index}: ${name}`,
          )
    }
  })

/** In a table, phones and e-mails have no types, and an amount has no product lines. */
function comparable(value: Json, format: string): Json {
  if (format === 'jsonl') return value
  if (Array.isArray(value)) return value.map(item => comparable(item, format))
  if (!isObject(value)) return value
  const { phone_type: _, email_type: __, products: ___, ...rest } = value
  return rest
}

/** Whether a field is moved: what follows from product lines is not where there are none. */
function isMoved(name: string, format: string): boolean {
  return format === 'jsonl' || (name !== 'product_amount' && name !== 'product_quantity')
}
