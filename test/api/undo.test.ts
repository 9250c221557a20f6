/**
 * Undo (D83): the old values of one change are written back, with all checks of a write, if it still stands.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/json.ts'
import { eventually } from '../support/eventually.ts'
import { dealBody, type Reply, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, known, db, token, made } = service
const changed = async (path: string, body: Json) => {
  const reply = await call('PATCH', `${v1}/${path}`, body)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}
/** The `seq` of a record's newest event. */
const seqOf = async (resource: string, id: number): Promise<number> => {
  const [row] = await db.query(
    'SELECT max(seq)::text AS seq FROM event WHERE account_id = 1 AND resource = $1::text AND record_id = $2::bigint',
    [resource, String(id)],
  )
  return Number(row!.seq)
}
const undo = (seq: number, headers: Record<string, string> = {}): Promise<Reply> =>
  call('POST', `${v1}/event/${seq}/undo`, undefined, headers)
const undone = async (seq: number, headers: Record<string, string> = {}): Promise<JsonObject> => {
  const reply = await undo(seq, headers)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}
const refused = async (seq: number, status: number, headers: Record<string, string> = {}) => {
  const reply = await undo(seq, headers)
  assert.equal(reply.status, status, reply.text)
  return reply.body
}
/** A record without its version and who changed it last. */
const valuesOf = ({ version: _, updated_at: __, updated_by: ___, ...values }: JsonObject) => values

const won = () => ({
  pipeline_stage: known.stages.Won!,
  won_reason: 'Price',
  deal_closed_on: '2026-05-01',
})

test('a change is written back by an event of its own, and what came after stays', async () => {
  const deal = await made('deal', dealBody(known, { title: 'First', description: 'One' }))
  await changed(`deal/${deal.id}`, { title: 'Second', tags: [known.tags[0]!] })
  const seq = await seqOf('deal', deal.id)
  const other = await changed(`deal/${deal.id}`, { description: 'Two' })
  const reply = await undo(seq, { 'x-request-id': 'undo-1' })
  const { title, tags, description, version } = reply.body.data
  assert.deepEqual([title, tags, description, version], ['First', [], 'Two', other.version + 1])
  assert.equal(reply.headers.get('etag'), `"${version}"`)
  const history = (await get(`${v1}/deal/${deal.id}/history`)).body.data
  assert.equal(history[0].type, 'deal.updated')
  assert.equal(history[0].actor.request_id, 'undo-1')
  assert.deepEqual(
    history[0].changes.map(({ field, from, to }: JsonObject) => [field, from, to]),
    [
      ['title', 'Second', 'First'],
      ['tags', [known.tags[0]!], []],
    ],
  )
})

test('a deal that was won is open again as it was, and undoing that wins it again as it was', async () => {
  // An open deal may have a date and a reason already.
  const body = { deal_value: { currency: 'EUR', value: 100 }, deal_closed_on: '2026-05-01' }
  const deal = await made('deal', dealBody(known, body))
  const closed = await changed(`deal/${deal.id}`, won())
  const winning = await seqOf('deal', deal.id)
  assert.deepEqual(valuesOf(await undone(winning)), valuesOf(deal))
  const [event] = (await get(`${v1}/deal/${deal.id}/history`)).body.data
  assert.deepEqual(event.also, ['deal.stage_changed', 'deal.reopened'])
  const again = await undone(await seqOf('deal', deal.id))
  assert.deepEqual(valuesOf(again), valuesOf(closed))
  // Lost on the same day: the date is unchanged.
  await changed(`deal/${deal.id}`, {
    pipeline_stage: known.stages.Lost!,
    lost_reason: 'Price is too high',
    deal_closed_on: '2026-05-01',
  })
  assert.deepEqual(valuesOf(await undone(await seqOf('deal', deal.id))), valuesOf(closed))
})

test('a closed deal keeps the base amount of its day, an open one follows the rate', async () => {
  await changed('currency/578', { rate: 0.5 })
  const deal = await made('deal', dealBody(known, { deal_value: { currency: 'NOK', value: 100 } }))
  const closed = await changed(`deal/${deal.id}`, won())
  const winning = await seqOf('deal', deal.id)
  await changed(`deal/${deal.id}`, { pipeline_stage: known.stages.New! })
  const reopening = await seqOf('deal', deal.id)
  assert.equal(closed.deal_value_in_base_currency.value, 50)
  await changed('currency/578', { rate: 0.25 })
  // A background job applies the rate.
  const base = async () => (await get(`${v1}/deal/${deal.id}`)).body.data.deal_value_in_base_currency.value
  await eventually(async () => (await base()) === 25, 'an amount by the new rate')
  await changed(`deal/${deal.id}`, won())
  const revalued = await changed(`deal/${deal.id}`, { deal_value: { currency: 'NOK', value: 200 } })
  assert.equal(revalued.deal_value_in_base_currency.value, 50)
  const back = await undone(await seqOf('deal', deal.id))
  assert.equal((back.deal_value_in_base_currency as JsonObject).value, 25)
  // Each closing has its own time: the first is no longer the current one.
  await refused(winning, 409)
  await refused(reopening, 409)
})

test('a deal that was closed otherwise keeps its base amount when that is undone', async () => {
  await changed('currency/578', { rate: 0.5 })
  const deal = await made('deal', dealBody(known, { deal_value: { currency: 'NOK', value: 100 } }))
  await changed(`deal/${deal.id}`, won())
  const lost = { lost_reason: 'Price is too high', deal_closed_on: '2026-05-01' }
  await changed(`deal/${deal.id}`, { pipeline_stage: known.stages.Lost!, ...lost })
  await changed('currency/578', { rate: 0.25 })
  const back = await undone(await seqOf('deal', deal.id))
  assert.equal((back.deal_value_in_base_currency as JsonObject).value, 50)
})

test('lines come back with the names and prices that they had', async () => {
  const price = (unit_price: string) => [{ currency: 'USD', unit_price, tax: '7.5', discount: 10 }]
  const product = await made('product', { name: 'Lamp', product_code: 'L1', unit_price: price('9.99') })
  const lines = [{ product: product.id, quantity: 3 }]
  const deal = await made('deal', dealBody(known, { deal_value: { currency: 'USD', products: lines } }))
  await changed(`deal/${deal.id}`, { deal_value: { currency: 'USD', value: 5, products: [] } })
  await changed(`product/${product.id}`, { name: 'Lantern', unit_price: price('1') })
  const back = await undone(await seqOf('deal', deal.id))
  assert.deepEqual(valuesOf(back), valuesOf(deal))
  assert.equal((back.deal_value as { products: JsonObject[] }).products[0]!.name, 'Lamp')
})

test('a creation is undone by a deletion, that by a restoration, and that by a deletion', async () => {
  const contact = await made('contact', { last_name: 'Brief' })
  const gone = await undone(await seqOf('contact', contact.id))
  assert.ok(gone.deleted_at)
  assert.equal(gone.version, 2)
  assert.equal((await get(`${v1}/contact/${contact.id}`)).status, 404)
  const deletion = await seqOf('contact', contact.id)
  const back = await undone(deletion)
  assert.deepEqual([back.deleted_at, back.version], [null, 3])
  const restoration = await seqOf('contact', contact.id)
  assert.ok((await undone(restoration)).deleted_at)
  // The current deletion is another than the first.
  const { errors } = await refused(deletion, 409)
  assert.equal(errors[0].field, 'deleted_at')
  await undone(await seqOf('contact', contact.id))
  // The deletion that undoes a restoration includes later changes.
  const last = await seqOf('contact', contact.id)
  await changed(`contact/${contact.id}`, { first_name: 'Ana' })
  assert.equal((await undone(last)).first_name, 'Ana')
})

test('what was changed since is not undone: the answer has both values, and who changed it', async () => {
  const deal = await made('deal', dealBody(known, { title: 'Mine' }))
  const creation = await seqOf('deal', deal.id)
  await changed(`deal/${deal.id}`, { title: 'Yours', description: 'Kept' })
  const seq = await seqOf('deal', deal.id)
  const theirs = await changed(`deal/${deal.id}`, { title: 'Theirs' })
  const later = await seqOf('deal', deal.id)
  const me = (await get(`${v1}/me`)).body.data.user
  const problem = await refused(seq, 409)
  assert.equal(problem.code, 5007)
  const by = { seq: later, at: theirs.updated_at, actor: { id: me.id, name: me.name } }
  assert.deepEqual(problem.errors, [
    {
      ...{ field: 'title', path: '/title', code: 'changed_since', message: 'title has been changed since.' },
      ...{ made: 'Yours', current: 'Theirs', by },
    },
  ])
  const { errors } = await refused(creation, 409)
  assert.deepEqual(
    errors.map(({ field }: JsonObject) => field),
    ['title', 'description'],
  )
  assert.deepEqual((await get(`${v1}/deal/${deal.id}`)).body.data, theirs)
  // The only event of a deleted record that can be undone is its deletion.
  await call('DELETE', `${v1}/deal/${deal.id}`)
  const [one] = (await refused(later, 409)).errors
  assert.deepEqual(
    [one.field, one.made, typeof one.current, one.by.actor.id],
    ['deleted_at', null, 'string', me.id],
  )
})

test('a change that is undone can be undone once, and again by its own event', async () => {
  const deal = await made('deal', dealBody(known, { title: 'A' }))
  await changed(`deal/${deal.id}`, { title: 'B' })
  const first = await seqOf('deal', deal.id)
  await undone(first)
  await refused(first, 409)
  const second = await seqOf('deal', deal.id)
  assert.equal((await undone(second)).title, 'B')
  assert.equal((await undone(first)).title, 'A')
})

test('rules, references and unique values judge it as they judge an update', async () => {
  const company = await made('company', { name: 'Gone soon' })
  const deal = await made('deal', dealBody(known, { company: company.id }))
  await changed(`deal/${deal.id}`, { company: null })
  await call('DELETE', `${v1}/company/${company.id}`)
  const [problem] = (await refused(await seqOf('deal', deal.id), 422)).errors
  assert.deepEqual([problem.field, problem.code], ['company', 'reference_not_found'])

  const first = await made('tag', { name: 'Hot' })
  await changed(`tag/${first.id}`, { name: 'Cold' })
  await made('tag', { name: 'hot' })
  assert.equal((await refused(await seqOf('tag', first.id), 409)).code, 5003)

  const used = await made('contact', { last_name: 'Used' })
  await made('deal', dealBody(known, { primary_contact: used.id }))
  assert.equal((await refused(await seqOf('contact', used.id), 409)).code, 5004)

  // The forecast category requires the date, which another user has removed since.
  const dated = await made('deal', dealBody(known, { expected_close_date: '2026-09-01' }))
  const category = Object.values(known.options.forecast_category!)[0]!
  const forecast = await changed(`deal/${dated.id}`, { forecast_category: category })
  assert.equal(forecast.forecast_category, category)
  await changed(`deal/${dated.id}`, { forecast_category: null })
  const seq = await seqOf('deal', dated.id)
  await changed(`deal/${dated.id}`, { expected_close_date: null })
  const [rule] = (await refused(seq, 422)).errors
  assert.equal(rule.code, 'required_with_forecast_category')
})

test('a creation is not undone where others have logged something on the record since', async () => {
  const deal = await made('deal', dealBody(known, { title: 'Logged' }))
  const seq = await seqOf('deal', deal.id)
  const activity = await made('activity', { kind: 'Call', subject: 'Theirs', deal: deal.id })
  const { errors, code } = await refused(seq, 409)
  assert.deepEqual([errors[0].code, errors[0].resource, errors[0].count], ['in_use', 'activity', 1])
  assert.equal((await get(`${v1}/activity/${activity.id}`)).status, 200, String(code))
  // A deletion takes both along, and so does the undo of what brought both back.
  assert.equal((await call('DELETE', `${v1}/deal/${deal.id}`)).status, 200)
  assert.equal((await call('POST', `${v1}/deal/${deal.id}/restore`)).status, 200)
  await undone(await seqOf('deal', deal.id))
  assert.equal((await get(`${v1}/activity/${activity.id}`)).status, 404)
})

test('a note that became one is what it was', async () => {
  const activity = await made('activity', { kind: 'Task', subject: 'Call back', deal: null })
  await changed(`activity/${activity.id}`, { kind: 'Note' })
  assert.deepEqual(valuesOf(await undone(await seqOf('activity', activity.id))), valuesOf(activity))
})

test('If-Match and Idempotency-Key work as for an update', async () => {
  const deal = await made('deal', dealBody(known, { title: 'A' }))
  const { version } = await changed(`deal/${deal.id}`, { title: 'B' })
  const seq = await seqOf('deal', deal.id)
  const conflict = await undo(seq, { 'if-match': '"1"' })
  assert.equal(conflict.status, 412, conflict.text)
  assert.equal(conflict.headers.get('etag'), `"${version}"`)
  const headers = { 'if-match': `"${version}"`, 'idempotency-key': 'undo-once' }
  const one = await undo(seq, headers)
  const two = await undo(seq, headers)
  assert.equal(one.status, 200, one.text)
  assert.equal(two.text, one.text)
  assert.equal(two.headers.get('idempotency-replayed'), 'true')

  const tag = await made('tag', { name: 'Short-lived' })
  const creation = await seqOf('tag', tag.id)
  assert.equal((await undo(creation, { 'if-match': '"7"' })).status, 412)
  const key = { 'idempotency-key': 'undo-creation' }
  const deleted = await undo(creation, key)
  assert.equal(deleted.headers.get('etag'), '"2"')
  const repeated = await undo(creation, key)
  assert.deepEqual([repeated.text, repeated.headers.get('etag')], [deleted.text, '"2"'])
  const deletion = await seqOf('tag', tag.id)
  assert.equal((await undo(deletion, { 'if-match': '"1"' })).status, 412)
  const restored = await undo(deletion, { ...key, 'idempotency-key': 'undo-deletion' })
  assert.equal((await undo(deletion, { 'idempotency-key': 'undo-deletion' })).text, restored.text)
})

test('there is no such event, none any more, or none that can be undone', async () => {
  for (const seq of [0, 9_999_999, Number.MAX_SAFE_INTEGER]) await refused(seq, 404)
  assert.equal((await call('POST', `${v1}/event/abc/undo`)).status, 400)
  assert.equal((await call('POST', `${v1}/event/1/undo?expand=x`)).status, 400)
  const code = async (resource: string, id: number) => (await refused(await seqOf(resource, id), 422)).code
  const stage = await changed(`pipeline_stage/${known.stages.New}`, { name: 'Newer' })
  assert.equal(await code('pipeline_stage', stage.id), 2004)
  await changed(`pipeline_stage/${known.stages.New}`, { name: 'New' })
  const user = await made('user', { name: 'Zoe', email: 'zoe@example.com' })
  assert.equal(await code('user', user.id), 2004)
  const secret = await made('token', { name: 'x', scopes: ['deal:read'] })
  assert.equal(await code('token', secret.id), 2004)
  const webhook = await made('webhook', { url: 'http://127.0.0.1:9/', events: ['*'], is_active: 'No' })
  assert.equal(await code('webhook', webhook.id), 2004)
  const body = { source: 'deal', field_name: 'Undone', type: 'SINGLE_STRING' }
  assert.equal(await code('field', (await made('field', body)).id), 2004)
})

test('it takes the scope, the record and the fields of the change', async () => {
  const secretOf = async (role: JsonObject, scopes: string[]) => {
    const { id } = await made('role', { name: `Role ${Math.random()}`, scopes, ...role })
    const user = await made('user', { name: 'Jo', email: `jo${id}@example.com`, role: id })
    const { token } = await made('token', { name: 'Jo', user: user.id, scopes: ['admin'] })
    return { authorization: `Bearer ${token}` }
  }
  const all = ['deal:read', 'deal:write', 'contact:read']
  const reader = await secretOf({}, ['deal:read'])
  const own = await secretOf({ visibility: { deal: 'own' } }, all)
  const changing = await secretOf({ may_change: { deal: 'own' } }, all)
  const hiding = await secretOf({ hidden_fields: ['deal.description'] }, all)
  const locking = await secretOf({ locked_fields: ['deal.description'] }, all)
  const untimed = await secretOf({ hidden_fields: ['deal.won_time', 'deal.lost_time'] }, all)
  const deal = await made('deal', dealBody(known, { title: 'A', description: 'A' }))
  const { id } = deal
  await changed(`deal/${id}`, { description: 'B' })
  const described = await seqOf('deal', id)
  await changed(`deal/${id}`, { title: 'B' })
  const titled = await seqOf('deal', id)
  assert.match((await refused(titled, 403, reader)).detail, /deal:write/)
  assert.match((await refused(titled, 404, own)).detail, /no event/)
  // Events of records that the caller may not read are hidden, too.
  const field = await made('field', { source: 'deal', field_name: 'Not theirs', type: 'SINGLE_STRING' })
  const unread = [
    await seqOf('user', (await made('user', { name: 'Unread', email: 'unread@example.com' })).id),
    await seqOf('contact', (await made('contact', { last_name: 'Unread' })).id),
    await seqOf('field', field.id),
  ]
  for (const seq of unread) assert.match((await refused(seq, 404, reader)).detail, /no event/)
  const blind = await secretOf({ hidden_fields: [`deal.${field.internal_name}`] }, ['field:read'])
  await refused(unread[2]!, 404, blind)
  const privately = await secretOf({}, ['token:read', 'field:read'])
  await refused(
    await seqOf('token', (await made('token', { name: 'x', scopes: ['deal:read'] })).id),
    404,
    privately,
  )
  assert.match((await refused(unread[2]!, 403, privately)).detail, /field:write/)
  await refused(titled, 403, changing)
  const hidden = await refused(described, 403, hiding)
  assert.doesNotMatch(JSON.stringify(hidden), /description/)
  assert.match((await refused(described, 403, locking)).detail, /: description\.$/)
  assert.equal((await undone(titled, hiding)).description, undefined)
  await changed(`deal/${id}`, { title: 'C' })
  assert.equal((await undone(await seqOf('deal', id), locking)).title, 'A')
  // Hidden fields that changed since a creation are not revealed.
  const [problem] = (await refused(await firstOf(id), 409, hiding)).errors
  assert.deepEqual([problem.field, problem.current], [null, undefined])
  // Fields derived from the stage are undone for a caller who may set the stage.
  const closed = await changed(`deal/${id}`, won())
  assert.ok(closed.won_time)
  await undone(await seqOf('deal', id), untimed)
  assert.equal((await get(`${v1}/deal/${id}`)).body.data.won_time, null)
  // Another account has events of its own.
  assert.equal((await undo(described, { authorization: 'Bearer unknown' })).status, 401)
  assert.equal((await undo(described, { authorization: `Bearer ${token}` })).status, 200)
})

const firstOf = async (id: number): Promise<number> => {
  const [row] = await db.query(
    'SELECT min(seq)::text AS seq FROM event WHERE account_id = 1 AND record_id = $1::bigint',
    [String(id)],
  )
  return Number(row!.seq)
}

test('an undo that hands a record out of sight is answered, also when it is sent again', async () => {
  const scopes = ['deal:read', 'deal:write']
  const role = await made('role', { name: 'Hands over', scopes, visibility: { deal: 'own' } })
  const user = await made('user', { name: 'Hands over', email: 'over@example.com', role: role.id })
  const secret = (await made('token', { name: 'x', user: user.id, scopes })).token
  const deal = await made('deal', dealBody(known))
  await changed(`deal/${deal.id}`, { sales_owner: user.id })
  const headers = { authorization: `Bearer ${secret}`, 'idempotency-key': 'hand-over' }
  const seq = await seqOf('deal', deal.id)
  assert.equal((await undone(seq, headers)).sales_owner, known.owner)
  assert.deepEqual(await undone(seq, headers), { id: deal.id })
  await refused(seq, 404, { ...headers, 'idempotency-key': 'another' })
})

test('of undos at once one wins; an update at the same moment comes before or after', async () => {
  const deal = await made('deal', dealBody(known, { title: 'A', description: 'A' }))
  for (let round = 0; round < 8; round++) {
    const { version } = await changed(`deal/${deal.id}`, { title: `B${round}`, description: `B${round}` })
    const seq = await seqOf('deal', deal.id)
    const [replies, update] = await Promise.all([
      Promise.all(Array.from({ length: 4 }, () => undo(seq))),
      call('PATCH', `${v1}/deal/${deal.id}`, { title: `C${round}` }),
    ])
    assert.equal(update.status, 200, update.text)
    const statuses = replies.map(({ status }) => status)
    const wins = statuses.filter(status => status === 200).length
    assert.ok(wins <= 1 && statuses.every(status => [200, 409].includes(status)), statuses.join())
    const now = (await get(`${v1}/deal/${deal.id}`)).body.data
    // Either the update came last, or the undo was refused because of it: an undo is never partial.
    assert.equal(now.title, `C${round}`)
    assert.equal(now.description, wins ? 'A' : `B${round}`)
    assert.equal(now.version, version + 1 + wins)
    await changed(`deal/${deal.id}`, { title: 'A', description: 'A' })
  }
  const contact = await made('contact', { last_name: 'Raced' })
  const seq = await seqOf('contact', contact.id)
  const [...all] = await Promise.all([
    ...Array.from({ length: 3 }, () => undo(seq)),
    call('PATCH', `${v1}/contact/${contact.id}`, { first_name: 'Late' }),
  ])
  const wins = all.slice(0, 3).filter(({ status }) => status === 200).length
  assert.equal(wins + (all[3]!.status === 200 ? 1 : 0), 1, all.map(({ status }) => status).join())
})

test('an event that is no longer kept is gone', async () => {
  await db.query('DELETE FROM event WHERE account_id = 1 AND seq < 5')
  const { code, errors } = await refused(4, 410)
  assert.deepEqual([code, errors[0].oldest], [4005, 5])
})

test('what a change did to a field that was deleted since stays, all else is written back', async () => {
  const field = await made('field', { source: 'deal', field_name: 'Short-lived', type: 'SINGLE_STRING' })
  const { id, internal_name: name } = field
  const deal = await made('deal', dealBody(known, { title: 'Before' }))
  await changed(`deal/${deal.id}`, { title: 'After', [name]: 'x' })
  const both = await seqOf('deal', deal.id)
  await changed(`deal/${deal.id}`, { [name]: 'y' })
  const alone = await seqOf('deal', deal.id)
  assert.equal((await call('DELETE', `${v1}/field/${id}`)).status, 200)
  const undoneBoth = await undo(both)
  assert.equal(undoneBoth.body.data.title, 'Before')
  const [warning, ...others] = undoneBoth.body.meta.warnings
  assert.deepEqual([warning.field, warning.code, others], [name, 'out_of_use', []])
  const { detail, errors } = await refused(alone, 422)
  assert.match(detail, /only fields that are out of use by now/)
  assert.match(errors[0].message, new RegExp(`^${name} is out of use by now .* restore the field`))
  assert.equal((await call('POST', `${v1}/field/${id}/restore`)).status, 200)
  assert.equal((await undone(alone))[name], 'x')
})

test('so does what it did to a field that was taken out of use since', async () => {
  const field = await made('field', { source: 'deal', field_name: 'Paused', type: 'SINGLE_STRING' })
  const { id, internal_name: name } = field
  const deal = await made('deal', dealBody(known, { title: 'Before' }))
  await changed(`deal/${deal.id}`, { title: 'After', [name]: 'x', description: 'Long' })
  const all = await seqOf('deal', deal.id)
  await changed(`deal/${deal.id}`, { [name]: 'y' })
  const alone = await seqOf('deal', deal.id)
  const fields = ((await get(`${v1}/field/list?source=deal`)).body.data.fields as JsonObject[][]).flat()
  const description = fields.find(one => one.internal_name === 'description')!.id
  const use = async (is_active: boolean) => {
    for (const one of [id, description]) {
      const reply = await call('PATCH', `${v1}/field/${one}`, { is_active })
      assert.equal(reply.status, 200, reply.text)
    }
  }
  await use(false)
  const reply = await undo(all)
  assert.deepEqual([reply.status, reply.body.data?.title], [200, 'Before'], reply.text)
  const warned = reply.body.meta.warnings.map((one: JsonObject) => one.field).sort()
  assert.deepEqual(warned, [name, 'description'].sort())
  assert.match((await refused(alone, 422)).errors[0].message, /take the field into use/)
  // The field keeps nothing else from being undone by a role that hides it, and is not named.
  const again = await seqOf('deal', deal.id)
  await undone(again)
  const hidden_fields = [`deal.${name}`]
  const role = await made('role', { name: 'Unpaused', scopes: ['deal:read', 'deal:write'], hidden_fields })
  const user = await made('user', { name: 'Un', email: 'unpaused@example.com', role: role.id })
  const secret = await made('token', { name: 'Un', user: user.id, scopes: role.scopes })
  const hiding = await undo(all, { authorization: `Bearer ${secret.token}` })
  assert.equal(hiding.status, 200, hiding.text)
  assert.deepEqual(
    hiding.body.meta.warnings.map((one: JsonObject) => one.field),
    ['description'],
  )
  await use(true)
  const { data } = await get(`${v1}/deal/${deal.id}`).then(({ body }) => body)
  assert.deepEqual([data.title, data[name], data.description], ['Before', 'y', 'Long'])
})
