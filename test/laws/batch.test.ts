/**
 * A batch equals its operations one by one (D78): two equal services get the same operations, one in batches,
 * the other as requests. Answers, records, events and keys must be the same.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/json.ts'
import { random } from '../support/generated.ts'
import { seed, shareOf } from '../support/questions.ts'
import { dealBody, type Service, startService, v1 } from '../support/service.ts'

const batches = shareOf(40)
const [together, single] = [await startService(), await startService()]
const next = random(seed)
const pick = (below: number) => Math.floor(next() * below)
const one = <T>(all: readonly T[]): T => all[pick(all.length)]!
const maybe = (share: number) => pick(100) < share

for (const service of [together, single])
  for (const id of [203, 306]) {
    const reply = await service.call('PATCH', `${v1}/field/${id}`, { is_unique: true })
    assert.equal(reply.status, 200, reply.text)
  }

const { known } = together
const ids: { [resource: string]: number[] } = {
  ...Object.fromEntries(
    ['deal', 'product', 'contact', 'company', 'activity', 'tag', 'user'].map(r => [r, []]),
  ),
}
for (const resource of Object.keys(ids)) {
  const { data } = (await together.get(`${v1}/${resource}/view/list?pageSize=5`)).body
  ids[resource] = data.map(({ id }: { id: number }) => id)
}

const word = () =>
  one(['alpha', 'beta', 'gamma', 'Ärger', 'o"k', '{x}', 'a\\b', 'tab\there', '', 'NULL', 'é'])
const mail = () => `${one(['ann', 'Ben', 'cy'])}${pick(6)}@example.com`
/** A new contact; now and then with a duplicate e-mail, without a name, or of a new company. */
const person = (): JsonObject => ({
  ...(maybe(90) ? { last_name: word() } : {}),
  ...(maybe(30) ? { emails: [mail()] } : {}),
  ...(maybe(20) ? { company: { name: `Of ${word()}` } } : {}),
})
const contactNames = ['ann1@example.com', 'nobody@example.com']

/** Bodies with valid and invalid parts. */
const bodies: { readonly [resource: string]: () => JsonObject } = {
  product: () => ({
    name: `${word()} ${pick(9)}`,
    ...(maybe(40) ? { product_code: `c${pick(8)}` } : {}),
    ...(maybe(20) ? { unit_price: [{ currency: 'EUR', value: pick(1000) / 10 }] } : {}),
    ...(maybe(10) ? { nothing: 1 } : {}),
    ...(maybe(20) ? { quantity_in_stock: pick(50) } : {}),
  }),
  contact: () => ({
    last_name: word(),
    ...(maybe(50) ? { emails: [mail()] } : {}),
    ...(maybe(15) ? { company: { name: `New ${pick(4)}`, find_by: 'name' } } : {}),
    ...(maybe(15) ? { company: one([known.company, 999_999, 'Nobody Ltd']) } : {}),
  }),
  company: () => ({ name: word(), ...(maybe(20) ? { website: one(['https://a.example', 'no url']) } : {}) }),
  deal: () => ({
    ...dealBody(known),
    title: `${word()} ${pick(9)}`,
    ...(maybe(20) ? { primary_contact: one(contactNames) } : {}),
    ...(maybe(40) ? { primary_contact: person() } : {}),
    ...(maybe(10) ? { related_contacts: [person(), known.contact], company: { name: word() } } : {}),
    ...(maybe(20) ? { pipeline_stage: known.stages[one(['New', 'Won', 'Lost'])]! } : {}),
    ...(maybe(20) ? { deal_closed_on: '2026-03-01' } : {}),
    ...(maybe(20) ? { expected_close_date: one(['2027-01-05', 'soon']) } : {}),
    ...(maybe(20) ? { tags: one([[], known.tags.slice(0, 2), [5, 5]]) } : {}),
    ...(maybe(20)
      ? { deal_value: { currency: 'EUR', products: [{ product: one(ids.product!), quantity: pick(5) }] } }
      : {}),
  }),
  activity: () => ({
    ...{ kind: one(['Call', 'Note', 'E-mail', 'Nothing']), subject: word() },
    ...(maybe(70) ? { deal: one([...ids.deal!, 999_999]) } : {}),
    ...(maybe(40) ? { done_at: '2026-01-05T10:00:00Z' } : { due_at: '2027-01-05T10:00:00Z' }),
  }),
  tag: () => ({ name: `t${pick(12)}` }),
  user: () => ({ name: word(), email: mail() }),
}
const uniqueOf: { readonly [resource: string]: string } = {
  ...{ product: 'product_code', contact: 'emails', tag: 'name', user: 'email' },
}

function operation(resource: string): JsonObject {
  const target = () => one([...ids[resource]!.slice(-12), 999_999])
  const whole = bodies[resource]!()
  const part = () => Object.fromEntries(Object.entries(whole).filter(() => maybe(50)))
  const ifMatch = maybe(15) ? { if_match: 1 + pick(3) } : {}
  const field = uniqueOf[resource]
  const kind = pick(100)
  if (kind < 45) return { op: 'create', data: whole, ...(maybe(3) ? { if_match: 1 } : {}) }
  if (kind < 70) return { op: 'update', id: target(), ...ifMatch, data: part() }
  if (kind < 85 && field) {
    const value =
      field === 'emails' || field === 'email' ? mail() : field === 'name' ? `T${pick(12)}` : `C${pick(8)}`
    const { [field]: _, ...rest } = whole
    return { op: one(['upsert', 'upsert', 'update']), by: { field, value }, ...ifMatch, data: rest }
  }
  return { op: one(['delete', 'restore']), id: target(), ...ifMatch }
}

/** The operation's own request. */
function requestOf(resource: string, { op, id, by, if_match, data }: JsonObject) {
  const headers = if_match ? { 'if-match': `"${if_match}"` } : {}
  const { field, value } = (by ?? {}) as { field?: string; value?: string }
  const told = `${v1}/${resource}/by/${field}/${encodeURIComponent(String(value))}`
  const at = `${v1}/${resource}/${id}`
  const all: { [op: string]: readonly [string, string, (Json | undefined)?] } = {
    create: ['POST', `${v1}/${resource}`, data],
    update: ['PATCH', at, data],
    upsert: ['PUT', told, data],
    delete: ['DELETE', at],
    restore: ['POST', `${at}/restore`],
  }
  return { asked: all[op as string]!, headers, told }
}

async function singly(resource: string, sent: JsonObject) {
  const { asked, headers, told } = requestOf(resource, sent)
  const [method, path, body] = asked
  if (sent.op !== 'update' || !sent.by) return single.call(method, path, body, headers)
  const found = await single.get(told)
  return found.status === 200
    ? single.call('PATCH', `${v1}/${resource}/${found.body.data.id}`, body, headers)
    : found
}

const moments = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
const timeless = (value: unknown) => JSON.parse(JSON.stringify(value ?? null).replace(moments, 'T'))

/** An account's records and events of a resource, without times. */
async function stateOf({ db }: Service, resource: string) {
  const read = async (sql: string) => (await db.query(sql)).map(row => row.row!.replace(moments, 'T'))
  return {
    rows: await read(
      `SELECT json_build_object('id', id, 'version', version, 'document', document, 'custom', custom,
        'deleted', deleted_at IS NOT NULL)::text AS row FROM "${resource}" WHERE account_id = 1 ORDER BY id`,
    ),
    events:
      await read(`SELECT concat_ws(' ', seq, type, also, resource, record_id, version, changes, actor) AS row
      FROM event WHERE account_id = 1 ORDER BY seq DESC LIMIT 300`),
    keys: await read(
      `SELECT concat_ws(' ', field, key, record) AS row FROM unique_value ORDER BY field, key`,
    ),
    deals: await read(
      `SELECT concat_ws(' ', id, activities_document) AS row FROM deal WHERE account_id = 1 ORDER BY id`,
    ),
  }
}

test(`${batches} batches of operations equal the operations one by one`, async () => {
  for (let round = 0; round < batches; round++) {
    const resource = one(Object.keys(bodies))
    const operations = Array.from({ length: 1 + pick(30) }, () => operation(resource))
    const replies = []
    for (const sent of operations) replies.push(await singly(resource, sent))
    const batch = await together.call('POST', `${v1}/${resource}/batch`, { operations })
    assert.equal(batch.status, 200, batch.text)
    const said = `round ${round}, ${resource}`
    for (const [index, reply] of replies.entries()) {
      const item = batch.body.data[index]
      const about = `${said}, operation ${index}: ${JSON.stringify(operations[index])}`
      assert.equal(item.status, reply.status, `${about}\n${JSON.stringify(item)}\n${reply.text}`)
      if (reply.status < 300) {
        assert.deepEqual(timeless(item.data), timeless(reply.body.data), about)
        assert.deepEqual(timeless(item.meta), timeless(reply.body.meta), about)
        if (reply.body.data.id && sentMakes(operations[index]!)) ids[resource]!.push(reply.body.data.id)
      } else if (operations[index]!.if_match === undefined) {
        assert.equal(item.type, reply.body.type, about)
        assert.deepEqual(timeless(item.errors), timeless(reply.body.errors), about)
      }
    }
    const failed = replies.filter(({ status }) => status >= 300).length
    assert.deepEqual(batch.body.meta, { succeeded: replies.length - failed, failed })
    assert.deepEqual(await stateOf(together, resource), await stateOf(single, resource), said)
  }
})

function sentMakes({ op }: JsonObject): boolean {
  return op === 'create' || op === 'upsert'
}
