/**
 * Moving between accounts: one exports with names, the other imports (D80, D81). The records are the same in
 * every field that can be moved.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, type Json, type JsonObject, parseJson } from '../../src/json.ts'
import { eventually } from '../support/eventually.ts'
import { dealBody, type Service, startService, v1 } from '../support/service.ts'

const [from, to] = [await startService(), await startService()]
/** Ordered by dependency. */
const resources = ['company', 'contact', 'product', 'deal']
const types = { csv: 'text/csv', jsonl: 'application/x-ndjson', xlsx: 'application/octet-stream' }

/** The other account has the same configuration, and no records. */
async function empty(): Promise<void> {
  for (const resource of ['activity', ...resources.toReversed()])
    await to.db.query(`DELETE FROM "${resource}" WHERE account_id = 1`)
}

/** Fields that differ in any case: ids, versions, and those that depend on the time of a write. */
const own = new Set([
  ...['id', 'version', 'updated_at', 'updated_by', 'last_assigned_at', 'age', 'rotting_days'],
  ...['done_activities', 'upcoming_activities', 'total_activities', 'email_message_count', 'recent_note'],
  ...[
    'last_activity_date',
    'next_activity_date',
    'next_activity_at',
    'next_activity_subject',
    'last_activity_type',
    'last_email_received',
    'last_email_sent',
  ],
])

async function exported(service: Service, resource: string, format: string, more = '&names=1') {
  const path = `${v1}/${resource}/export?format=${format}&sort=id:asc${more}`
  const headers = { authorization: `Bearer ${service.token}` }
  const reply = await fetch(service.url + path, { headers })
  assert.equal(reply.status, 200)
  return new Uint8Array(await reply.arrayBuffer())
}

async function imported(resource: string, format: keyof typeof types, bytes: Uint8Array, by = to) {
  const response = await fetch(`${by.url}${v1}/import?resource=${resource}&format=${format}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${by.token}`, 'content-type': types[format] },
    body: bytes as never,
  })
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the test is about
  const { data } = (await response.json()) as any
  assert.equal(response.status, 201, JSON.stringify(data))
  await by.call('POST', `${v1}/import/${data.id}/run`)
  return eventually(async () => {
    const job = (await by.get(`${v1}/import/${data.id}`)).body.data
    return job.state !== 'running' && job
  }, 'an end of the import')
}

async function records(service: Service, resource: string, more?: string): Promise<JsonObject[]> {
  const text = new TextDecoder().decode(await exported(service, resource, 'jsonl', more))
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

/** True if a field is moved: fields derived from product lines need lines. */
function isMoved(name: string, format: string): boolean {
  return format === 'jsonl' || (name !== 'product_amount' && name !== 'product_quantity')
}

/** Records of every importable resource, with values that are easily lost. */
async function someRecords(): Promise<{ readonly [resource: string]: JsonObject[] }> {
  const { known, made } = from
  const tag = await made('tag', { name: 'Back, and "forth"; again' })
  const value = { currency: 'KWD', value: '1.234' }
  const deal = {
    ...dealBody(known, { title: 'Back', tags: [tag.id], deal_value: value }),
    company: known.company,
  }
  const { id } = await made('deal', dealBody(known, { title: 'Of an activity' }))
  const unit_price = [
    { currency: 'USD', unit_price: '10.5', tax: 19, discount: 2 },
    { currency: 'KWD', unit_price: '1.234' },
  ]
  const entries = {
    emails: [
      { email_type: 'home', email_value: 'back@x.example' },
      { email_type: 'work', email_value: 'forth@x.example' },
    ],
    phones: [{ phone_type: 'mobile', phone_number: '+49 170 1234567' }],
  }
  const about = { deal: id, contact: known.contact, company: known.company, owner: known.owner }
  return {
    tag: [{ name: 'Back; "and", forth' }],
    territory: [{ name: '=Back, forth' }],
    product: [{ name: "'=Back", product_code: '00123', unit_price, description: '\uff1dBack\n forth ' }],
    company: [{ name: 'Back, Inc.', address: { city: 'Bonn', zipcode: '01234' }, phones: entries.phones }],
    contact: [{ first_name: 'Back', last_name: 'van Forth', company: known.company, ...entries }],
    deal: [deal],
    activity: [
      { kind: 'call', subject: 'Back', due_at: '2026-03-01T10:00:00.250Z', duration: 30, ...about },
      { kind: 'note', subject: 'Forth', notes: '0012', ...about, contact: null },
    ],
  }
}

const formats = ['csv', 'xlsx', 'jsonl'] as const

test('what an account exports it takes back: every resource, in every format, with ids and with names', async () => {
  const all = await someRecords()
  for (const [resource, bodies] of Object.entries(all))
    for (const format of formats)
      for (const names of ['', '&names=1']) {
        const told = `${resource}, ${format}${names}`
        const ids: number[] = []
        for (const body of bodies) ids.push((await from.made(resource, body)).id)
        const only = `&filter=id:in(${ids})`
        const before = await records(from, resource, only)
        const file = await exported(from, resource, format, only + names)
        for (const id of ids) assert.equal((await from.call('DELETE', `${v1}/${resource}/${id}`)).status, 200)
        const job = await imported(resource, format, file, from)
        assert.deepEqual(
          [job.created, job.refused],
          [bodies.length, 0],
          `${told} ${JSON.stringify(job.problems)}`,
        )
        const last = `&filter=id:gt(${Math.max(...ids)})`
        const after = await records(from, resource, last)
        // Without names a table can have a whole list.
        const shown = names ? format : 'jsonl'
        assert.deepEqual(
          after.map(record => keptOf(record, shown)),
          before.map(record => keptOf(record, shown)),
          told,
        )
        for (const { id } of (await from.get(`${v1}/${resource}/view/list?filter=id:gt(${Math.max(...ids)})`))
          .body.data)
          await from.call('DELETE', `${v1}/${resource}/${id}`)
      }
})

function keptOf(record: JsonObject, format: string): JsonObject {
  const kept = Object.entries(record).filter(([name]) => isMoved(name, format))
  return Object.fromEntries(kept.map(([name, value]) => [name, comparable(value, format)]))
}
