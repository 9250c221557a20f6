/**
 * A record as of an event (D72) equals the service's answer after that event, and a filter finds it exactly
 * when a list with that filter did.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Callers } from '../../src/accounts/callers.ts'
import { recordsAsOf } from '../../src/history/as-of-event.ts'
import { isSameJson, type Json, type JsonObject } from '../../src/json.ts'
import { resources } from '../../src/resources/resources.ts'
import { filterPlan } from '../../src/work/webhooks/payload.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const { call, get, known, db } = await startService()
const callers = new Callers(db, resources, () => performance.now())
const acting = (await callers.actingFor(1, known.owner))!

type Moment = { readonly record: JsonObject; readonly matches: readonly boolean[] }

/** Changes a record step by step, and reads it and the lists that find it each time. */
async function lived(
  resource: string,
  first: Json,
  steps: readonly (Json | 'delete' | 'restore')[],
  filters: string[],
) {
  const moments: Moment[] = []
  const made = await call('POST', `${v1}/${resource}`, first)
  assert.equal(made.status, 201, made.text)
  const path = `${v1}/${resource}/${made.body.data.id}`
  const look = async () => {
    const only = `filter=id:eq(${made.body.data.id})`
    const { data } = (await get(`${v1}/${resource}/view/list?${only}`)).body
    const gone = data.length
      ? data
      : (await get(`${v1}/${resource}/view/list?${only}&deleted=only`)).body.data
    const matches: boolean[] = []
    for (const filter of filters) {
      const deleted = data.length ? '' : '&deleted=only'
      const found = await get(
        `${v1}/${resource}/view/list?${only}&filter=${encodeURIComponent(filter)}${deleted}`,
      )
      assert.equal(found.status, 200, `${filter} ${found.text}`)
      matches.push(found.body.data.length === 1)
    }
    moments.push({ record: gone[0], matches })
  }
  await look()
  for (const step of steps) {
    const reply =
      step === 'delete'
        ? await call('DELETE', path)
        : step === 'restore'
          ? await call('POST', `${path}/restore`)
          : await call('PATCH', path, step)
    assert.equal(reply.status, 200, `${JSON.stringify(step)} ${reply.text}`)
    await look()
  }
  return { id: made.body.data.id as number, moments }
}

/** Compares the records then with those as of their events now. */
async function compare(resource: string, id: number, moments: readonly Moment[], filters: readonly string[]) {
  const rows = await db.query(
    `SELECT seq::text AS seq, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at FROM event
     WHERE account_id = 1 AND record_id = $1::bigint AND resource = $2::text ORDER BY seq`,
    [String(id), resource],
  )
  assert.equal(rows.length, moments.length)
  const events = rows.map(({ seq, at }) => ({ seq: Number(seq), id, at: at! }))
  const schema = acting.catalog.resources.get(resource)!
  for (const filter of [null, ...filters]) {
    const plan = filter === null ? null : (await filterPlan(db, acting, resource, filter)).plan
    const found = await recordsAsOf({ db, schema, context: acting }, events, plan)
    for (const [index, { seq }] of events.entries()) {
      const { record, matches } = moments[index]!
      const then = found.get(seq)!
      assert.ok(isSameJson(then.record, record), JSON.stringify({ index, is: then.record, was: record }))
      const expected = filter === null || matches[filters.indexOf(filter)]
      assert.equal(then.isMatch, expected, `${filter} at ${index}: ${JSON.stringify(record)}`)
    }
  }
}

test('a deal, through all that may happen to it', async () => {
  const company = (await call('POST', `${v1}/company`, { name: 'Known Ltd' })).body.data
  const filters = [
    'title:like(one)',
    'deal_value:gt(900)',
    'deal_value.currency:eq(EUR)',
    'status:eq(Won)',
    'company.name:like(known)',
    'not(company.name:like(known))',
    'tags:isnull(true)',
    'cf_custom_number_field:gt(5)',
    'cf_custom_text_field:eq("é")',
    'related_contacts:in(68,69)',
    'age:eq(0)',
    'or(expected_close_date:lt(2027-01-01),sales_owner:isnull(true))',
    'version:gt(4)',
    'metadata.a.b:eq(1)',
    'updated_by:eq(1)',
  ]
  const { id, moments } = await lived(
    'deal',
    dealBody(known, {
      title: 'Step one',
      deal_value: { currency: 'USD', value: 1000 },
      tags: known.tags.slice(0, 1),
    }),
    [
      { title: 'Step two', deal_value: { currency: 'EUR', value: '250.50' } },
      { company: company.id, cf_custom_number_field: 7, metadata: { a: { b: 1 } } },
      { cf_custom_text_field: 'é', tags: [], related_contacts: known.contacts.slice(0, 2) },
      { pipeline_stage: known.stages.Won!, won_reason: 'Price', deal_closed_on: '2026-05-01' },
      'delete',
      'restore',
      { pipeline_stage: known.stages.New!, cf_custom_number_field: null, expected_close_date: '2026-12-31' },
      { title: 'One again', company: null, metadata: {}, cf_custom_text_field: null },
      { deal_value: null, expected_close_date: null, related_contacts: [] },
      'delete',
    ],
    filters,
  )
  await compare('deal', id, moments, filters)
})

test('a contact: e-mails in any case, phones, addresses', async () => {
  const filters = [
    'emails.email_value:eq(ANA@EXAMPLE.COM)',
    'emails.email_value:nin(ana@example.com)',
    'emails.email_value:like(ana)',
    'last_name:like(é)',
    'phones:isnull(true)',
  ]
  const email = (email_value: string) => ({ email_type: 'Work', email_value })
  const { id, moments } = await lived(
    'contact',
    { last_name: 'Pérez', emails: [email('Ana@example.com')] },
    [
      { emails: [email('other@example.com'), email('third@example.com')] },
      { last_name: 'Smith', phones: [{ phone_type: 'Work', phone_number: '+1 555 0100' }] },
      'delete',
      'restore',
      { emails: [email('ana@EXAMPLE.com')], phones: null },
      { emails: [] },
    ],
    filters,
  )
  await compare('contact', id, moments, filters)
})

test('products, and records whose values are kept beside them', async () => {
  const product = await lived(
    'product',
    { name: 'Sensor', product_code: 'S-1', unit_price: [{ currency: 'USD', price: '9.99' }] },
    [{ unit_price: [{ currency: 'EUR', price: 8 }] }, { name: 'Sensor II', product_code: null }],
    ['product_code:eq(S-1)', 'name:eq("Sensor")'],
  )
  await compare('product', product.id, product.moments, ['product_code:eq(S-1)', 'name:eq("Sensor")'])
  const webhook = await lived(
    'webhook',
    { url: 'http://127.0.0.1:9/', events: ['deal.won'], is_active: 'No' },
    [{ name: 'Renamed' }, { events: ['deal.*'], filter: 'title:like(a)' }],
    ['name:eq("Renamed")'],
  )
  await compare('webhook', webhook.id, webhook.moments, ['name:eq("Renamed")'])
})

test('what changes while it is read is read again', async () => {
  const { body } = await call('POST', `${v1}/deal`, dealBody(known, { title: 'v1' }))
  const { id } = body.data
  for (let version = 2; version <= 4; version++)
    await call('PATCH', `${v1}/deal/${id}`, { title: `v${version}` })
  const [first] = await db.query('SELECT min(seq)::text AS seq FROM event WHERE record_id = $1::bigint', [
    String(id),
  ])
  let isChanged = false
  const late: typeof db.query = async (text, params, replan) => {
    // Between the events and the row.
    if (!isChanged && text.includes('jsonb_populate_record')) {
      isChanged = true
      await call('PATCH', `${v1}/deal/${id}`, { title: 'late', description: 'late' })
    }
    return db.query(text, params, replan)
  }
  const event = { seq: Number(first!.seq), id, at: body.data.created_at }
  const schema = acting.catalog.resources.get('deal')!
  const found = await recordsAsOf({ db: { query: late }, schema, context: acting }, [event], null)
  assert.ok(isChanged)
  assert.ok(isSameJson(found.get(event.seq)!.record, body.data), JSON.stringify(found.get(event.seq)!.record))
})
