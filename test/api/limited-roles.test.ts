/** Operations of a role that sees less: what still works, and what stays hidden (D62 to D65). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/json.ts'
import { eventually } from '../support/eventually.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, known, made } = service

let people = 0
/** A new user with a new role, and functions that send requests as this user. */
const somebody = async (scopes: string[], limits: JsonObject = {}) => {
  const name = `Somebody ${++people}`
  const role = await made('role', { name, scopes, ...limits })
  const user = await made('user', { name, email: `somebody${people}@example.com`, role: role.id })
  const { token } = await made('token', { name, user: user.id, scopes: ['admin'] })
  const headers = { authorization: `Bearer ${token}` }
  const asked = (method: string, path: string, body?: Json, more: Record<string, string> = {}) =>
    call(method, `${v1}/${path}`, body, { ...headers, ...more })
  return { user, role, asked }
}
const both = (...resources: string[]) => resources.flatMap(name => [`${name}:read`, `${name}:write`])

test('what points to something unseen is restored, and a deletion of it undone', async () => {
  const { user, asked } = await somebody([...both('deal', 'activity'), 'contact:read', 'company:read'], {
    visibility: { deal: 'own', contact: 'own', company: 'own' },
    hidden_fields: ['deal.company'],
  })
  const company = await made('company', { name: 'Unseen' })
  const body = dealBody(known, { sales_owner: user.id, company: company.id })
  const { id } = await made('deal', body)
  assert.equal((await asked('DELETE', `deal/${id}`)).status, 200)
  const restored = await asked('POST', `deal/${id}/restore`)
  assert.equal(restored.status, 200, restored.text)
  assert.equal(restored.body.data.primary_contact, known.contact)
  assert.equal((await asked('DELETE', `deal/${id}`)).status, 200)
  const [deletion] = (await asked('GET', `deal/${id}/history`)).body.data
  const undone = await asked('POST', `event/${deletion.seq}/undo`)
  assert.equal(undone.status, 200, undone.text)
  const unseen = await made('deal', dealBody(known))
  const activity = await made('activity', { kind: 'Task', subject: 'A', deal: unseen.id, owner: user.id })
  assert.equal((await asked('DELETE', `activity/${activity.id}`)).status, 200)
  assert.equal((await asked('POST', `activity/${activity.id}/restore`)).status, 200)
})

test('a restoration that fails for a hidden field does not name it', async () => {
  const { asked } = await somebody(both('deal'), { hidden_fields: ['deal.company'] })
  const company = await made('company', { name: 'Gone' })
  const { id } = await made('deal', dealBody(known, { company: company.id }))
  assert.equal((await asked('DELETE', `deal/${id}`)).status, 200)
  assert.equal((await call('DELETE', `${v1}/company/${company.id}`)).status, 200)
  const refused = await asked('POST', `deal/${id}/restore`)
  assert.deepEqual([refused.status, problemsOf(refused)], [422, [' not_allowed']])
  assert.doesNotMatch(refused.text, new RegExp(`company|${company.id}`))
  const told = await call('POST', `${v1}/deal/${id}/restore`)
  assert.deepEqual(problemsOf(told), ['/company reference_not_found'])
})

test('a refused deletion counts no hidden pointer, and nothing that the token may not read', async () => {
  const informant = {
    source: 'deal',
    field_name: 'Informant',
    type: 'CONTACT',
  }
  const { internal_name: name } = await made('field', informant)
  const contact = await made('contact', { last_name: 'Needed' })
  await made('deal', dealBody(known, { primary_contact: contact.id }))
  await made('deal', dealBody(known, { [name]: contact.id }))
  const hiding = await somebody([...both('contact'), 'deal:read'], { hidden_fields: [`deal.${name}`] })
  const unreading = await somebody(both('contact'))
  const told = async (asked: (typeof hiding)['asked']) => {
    const refused = await asked('DELETE', `contact/${contact.id}`)
    assert.equal(refused.status, 409, refused.text)
    return refused.body.errors.map(({ message, count }: JsonObject) => [message, count])
  }
  const all = (method: string, path: string) => call(method, `${v1}/${path}`)
  assert.deepEqual(await told(all), [['2 deals point to it.', 2]])
  const more = "1 deal points to it, and so do some that you can't see."
  assert.deepEqual(await told(hiding.asked), [[more, 1]])
  const unseen = "There are deals that you can't see and that point to it."
  assert.deepEqual(await told(unreading.asked), [[unseen, 0]])
})

test('very many pointers are counted up to a thousand', async () => {
  const source = { source: 'deal', type: 'CONTACT', field_name: 'Sponsor' }
  const { id: field, internal_name: name } = await made('field', source)
  const contact = await made('contact', { last_name: 'Needed by many' })
  const { id } = await made('deal', dealBody(known, { [name]: contact.id }))
  const copy = (from: number, to: number) =>
    db.query(`INSERT INTO deal SELECT r.* FROM deal d, generate_series(${from}, ${to}) n,
      LATERAL jsonb_populate_record(d, jsonb_build_object('id', 2000000 + n)) r
    WHERE d.account_id = 1 AND d.id = ${id}`)
  const told = async () => {
    const { body } = await call('DELETE', `${v1}/contact/${contact.id}`)
    return body.errors.map(({ message, count, hint }: JsonObject) => [message, count, hint])
  }
  await copy(1, 999)
  assert.deepEqual(await told(), [['1000 deals point to it.', 1000, undefined]])
  await copy(1000, 1000)
  assert.deepEqual(await told(), [['More than 1000 deals point to it.', 1000, undefined]])
  await call('PATCH', `${v1}/field/${field}`, { is_active: false })
  const [[, , hint]] = await told()
  assert.match(hint, /^At least 1000 have it only in fields that are out of use/)
})

test('a locked unique field creates no doubles, and a hidden one is unknown to imports', async () => {
  const field = { source: 'deal', type: 'SINGLE_STRING', is_unique: true }
  const { internal_name: name } = await made('field', { ...field, field_name: 'Ledger' })
  const scopes = [...both('deal', 'job'), 'contact:read', 'import:write']
  const locking = await somebody(scopes, { locked_fields: [`deal.${name}`] })
  const path = `deal/by/${name}/L-1`
  const refused = await locking.asked('PUT', path, dealBody(known))
  assert.equal(refused.status, 403, refused.text)
  assert.match(refused.body.detail, new RegExp(`: ${name}\\.$`))
  const upsert = { op: 'upsert', by: { field: name, value: 'L-1' }, data: dealBody(known) }
  const { body } = await locking.asked('POST', 'deal/batch', { operations: [upsert, upsert] })
  assert.deepEqual(
    body.data.map(({ status }: { status: number }) => status),
    [403, 403],
  )
  const deal = await made('deal', dealBody(known, { [name]: 'L-1' }))
  const found = await locking.asked('PUT', path, { title: 'Found' })
  assert.deepEqual([found.status, found.body.data.id, found.body.data[name]], [200, deal.id, 'L-1'])

  const hiding = await somebody(scopes, { hidden_fields: [`deal.${name}`] })
  for (const { asked } of [locking, hiding]) {
    const csv = { 'content-type': 'text/csv' }
    const taken = await asked('POST', 'import?resource=deal&format=csv', 'title,ledger\nA,L-1\n', csv)
    const { id } = taken.body.data
    const by = async (one: string) => {
      const reply = await asked('PATCH', `import/${id}`, { duplicates: { by: one, action: 'skip' } })
      return [reply.status, reply.body.errors[0].message]
    }
    assert.deepEqual(await by(name), await by('cf_not_there'))
  }
})

test('a field that the role locks is read-only wherever it is described', async () => {
  const { id, internal_name: name } = await made('field', {
    ...{ source: 'deal', type: 'SINGLE_STRING', field_name: 'Locked away' },
  })
  const path = `field/${id}`
  const open = await somebody(['deal:read', 'field:read'], {})
  const locking = await somebody(['deal:read', 'field:read'], { locked_fields: [`deal.${name}`] })
  const read = await open.asked('GET', path)
  assert.equal(read.body.data.is_read_only, false)
  const { body } = await locking.asked('GET', 'field/list?source=deal')
  const listed = body.data.fields.flat().find((field: { id: number }) => field.id === id)
  const etag = read.headers.get('etag')!
  const alone = await locking.asked('GET', path, undefined, { 'if-none-match': etag })
  assert.deepEqual([alone.status, alone.body.data.is_read_only, listed.is_read_only], [200, true, true])
})

test('a rule tells nothing of the hidden field that decides on it', async () => {
  const { asked } = await somebody(both('deal'), { hidden_fields: ['deal.forecast_category'] })
  const forecast = { forecast_category: 'Commit', expected_close_date: '2026-12-12' }
  const { id } = await made('deal', dealBody(known, forecast))
  const refused = await asked('PATCH', `deal/${id}`, { expected_close_date: null })
  assert.deepEqual([refused.status, problemsOf(refused)], [422, [' not_allowed']])
  assert.doesNotMatch(refused.text, /forecast|expected_close_date/)
  const told = await call('PATCH', `${v1}/deal/${id}`, { expected_close_date: null })
  assert.deepEqual(problemsOf(told), ['/expected_close_date required_with_forecast_category'])
})

test('who may set the stage reopens a deal, also where its reason and day are locked or hidden', async () => {
  const { New, Won } = known.stages
  for (const limit of ['locked_fields', 'hidden_fields']) {
    const fields = ['deal.won_reason', 'deal.deal_closed_on']
    const { asked } = await somebody(both('deal'), { [limit]: fields })
    const closed = { pipeline_stage: Won!, won_reason: 'Price', deal_closed_on: '2026-05-01' }
    const { id } = await made('deal', dealBody(known, closed))
    assert.equal((await asked('PATCH', `deal/${id}`, { pipeline_stage: New! })).status, 200)
    const { won_reason, deal_closed_on } = (await call('GET', `${v1}/deal/${id}`)).body.data
    assert.deepEqual([won_reason, deal_closed_on], [null, null])
    // Locked fields that are sent along are ignored.
    await call('PATCH', `${v1}/deal/${id}`, closed)
    const whole = (await asked('GET', `deal/${id}`)).body.data
    assert.equal((await asked('PUT', `deal/${id}`, { ...whole, pipeline_stage: New! })).status, 200)
    const reopened = (await call('GET', `${v1}/deal/${id}`)).body.data
    assert.deepEqual([reopened.won_reason, reopened.deal_closed_on], [null, null])
  }
})

test('a repeated change of fields shows nothing that the role hides by then', async () => {
  const { role, asked } = await somebody([...both('field'), ...both('deal')])
  const key = (name: string) => ({ 'idempotency-key': name })
  const body = { source: 'deal', field_name: 'Secret by then', type: 'SINGLE_STRING' }
  const made = await asked('POST', 'field', body, key('secret-field'))
  assert.equal(made.status, 201, made.text)
  const form = (await asked('GET', 'field/form?source=deal')).body.data
  const arranged = await asked('PUT', 'field/form?source=deal', form, key('secret-form'))
  assert.match(arranged.text, /cf_secret_by_then/)
  const path = `field/${made.body.data.id}`
  const renamed = () => asked('PATCH', path, { field_name: 'Secret soon' }, key('secret-name'))
  assert.equal((await renamed()).body.data.field_name, 'Secret soon')
  await call('PATCH', `${v1}/role/${role.id}`, { hidden_fields: ['deal.cf_secret_by_then'] })
  await eventually(
    async () => !(await asked('GET', 'field/form?source=deal')).text.includes('cf_secret'),
    'the hidden field',
  )
  const again = await asked('POST', 'field', body, key('secret-field'))
  assert.deepEqual([again.status, again.body.data], [201, { id: made.body.data.id }])
  const repeated = await renamed()
  assert.deepEqual([repeated.status, repeated.body.data], [200, { id: made.body.data.id }])
  for (const [method, of] of [
    ...(['GET', 'PATCH', 'DELETE'] as const).map(method => [method, path] as const),
    ['POST', `${path}/restore`] as const,
  ])
    assert.equal((await asked(method, of, method === 'PATCH' ? { field_name: 'X' } : undefined)).status, 404)
  const rearranged = await asked('PUT', 'field/form?source=deal', form, key('secret-form'))
  assert.deepEqual([rearranged.status, /cf_secret/.test(rearranged.text)], [200, false], rearranged.text)
})

test('a required field that a role hides or locks is not named by it, and blocks none of its updates', async () => {
  const deal = await made('deal', dealBody(known))
  const risk = { source: 'deal', field_name: 'Risk', type: 'SINGLE_STRING', is_required: true }
  const { id: field, internal_name: name } = await made('field', { ...risk, default_value: 'none' })
  for (const limit of ['hidden_fields', 'locked_fields']) {
    const { asked } = await somebody(both('deal'), { [limit]: [`deal.${name}`] })
    const changed = await asked('PATCH', `deal/${deal.id}`, { description: 'B' })
    assert.equal(changed.status, 200, changed.text)
    const { id } = (await asked('POST', 'deal', dealBody(known))).body.data
    assert.equal((await call('GET', `${v1}/deal/${id}`)).body.data[name], 'none')
  }
  // Required if the caller may set it.
  const missing = await call('PATCH', `${v1}/deal/${deal.id}`, { description: 'C' })
  assert.deepEqual(problemsOf(missing), [`/${name} required`])
  const without = await call('PATCH', `${v1}/field/${field}`, { default_value: null })
  assert.deepEqual([without.status, problemsOf(without)], [422, ['/is_required required_field']])
  assert.equal((await call('DELETE', `${v1}/field/${field}`)).status, 200)
  await service.db.query("UPDATE field SET default_value = 'null' WHERE id = $1::bigint", [String(field)])
  const restored = await call('POST', `${v1}/field/${field}/restore`)
  assert.deepEqual(problemsOf(restored), ['/is_required required_field'])
})

test('a field is not made required of roles that hide or lock it and create records', async () => {
  const { id, internal_name: name } = await made('field', {
    ...{ source: 'deal', field_name: 'Grade', type: 'DROPDOWN', options: ['A', 'B'] },
  })
  const { role } = await somebody(both('deal'), { hidden_fields: [`deal.${name}`] })
  const change = (body: Json, path = '') => call('PATCH', `${v1}/field/${id}${path}`, body)
  const refused = await change({ is_required: true })
  assert.deepEqual([refused.status, problemsOf(refused)], [422, ['/is_required required_field']])
  assert.match(refused.text, new RegExp(role.name))
  assert.equal((await change({ is_required: true, default_value: 'A' })).status, 200)
  // An option as a default must be visible to the role, too.
  await somebody(both('deal'), { hidden_fields: [`deal.${name}`] })
  const option = (await call('GET', `${v1}/field/${id}`)).body.data.options[0]
  const gone = await change({ is_active: false }, `/option/${option.id}`)
  assert.deepEqual(problemsOf(gone), ['/is_required required_field'])
  assert.equal((await change({ is_required: false })).status, 200)
  assert.equal((await change({ is_active: false }, `/option/${option.id}`)).status, 200)
})

test('a default names what its caller need not see, and fills nothing when that is gone', async () => {
  const unseen = await made('contact', { last_name: 'Unseen' })
  const key = { source: 'deal', field_name: 'Key account', type: 'CONTACT', default_value: unseen.id }
  const { id: field, internal_name: name } = await made('field', key)
  const scopes = [...both('deal', 'contact'), 'field:write', 'field:read']
  const { asked } = await somebody(scopes, { visibility: { contact: 'own' } })
  const mine = { ...dealBody(known), primary_contact: { last_name: 'Mine' } }
  const filled = await asked('POST', 'deal', mine)
  assert.deepEqual([filled.status, filled.body.data[name]], [201, unseen.id], filled.text)
  const operations = [
    {
      op: 'create',
      data: { ...mine, primary_contact: (await asked('POST', 'contact', { last_name: 'Own' })).body.data.id },
    },
  ]
  const { body } = await asked('POST', 'deal/batch', { operations })
  assert.deepEqual([body.data[0].status, body.data[0].data[name]], [201, unseen.id])
  assert.equal((await asked('POST', 'deal', { ...mine, [name]: unseen.id })).status, 422)
  // A new default must be visible to the caller; the current one may be sent back.
  const other = await made('contact', { last_name: 'Other' })
  const set = async (id: number) => {
    const reply = await asked('PATCH', `field/${field}?dry_run=1`, { default_value: id })
    return [reply.status, ...(reply.status === 200 ? [] : problemsOf(reply))]
  }
  assert.deepEqual(await set(other.id), [422, '/default_value reference_not_found'])
  assert.deepEqual(await set(99_999_999), [422, '/default_value reference_not_found'])
  assert.deepEqual(await set(unseen.id), [200])
  const wrong = await asked('PATCH', `field/${field}`, { default_value: other.id })
  assert.match(wrong.body.errors[0].message, /^default_value is \d+, but there is no such contact\.$/)
  for (const deal of [filled.body.data, body.data[0].data]) await call('DELETE', `${v1}/deal/${deal.id}`)
  assert.equal((await call('DELETE', `${v1}/contact/${unseen.id}`)).status, 200)
  const unfilled = await asked('POST', 'deal', mine)
  assert.deepEqual([unfilled.status, unfilled.body.data[name]], [201, undefined], unfilled.text)
  const again = await asked('POST', 'deal/batch', { operations })
  assert.deepEqual([again.body.data[0].status, again.body.data[0].data[name]], [201, undefined])
  assert.equal((await call('PATCH', `${v1}/field/${field}`, { is_required: true })).status, 200)
  assert.deepEqual(problemsOf(await asked('POST', 'deal', mine)), [`/${name} required`])
  await call('DELETE', `${v1}/field/${field}`)
})

test('a default that is out of use fills nothing', async () => {
  const gone = await made('user', { name: 'Gone', email: 'gone@example.com' })
  const gbp = (await call('GET', `${v1}/currency/view/list?filter=code:eq(GBP)`)).body.data[0]
  const field = (more: JsonObject) => made('field', { source: 'deal', ...more })
  const fields = [
    await field({ field_name: 'Coach', type: 'OWNER', default_value: gone.id }),
    await field({ field_name: 'Fee', type: 'MONETARY', default_value: { currency: gbp.id, value: 5 } }),
  ]
  const filled = async () => {
    const reply = await call('POST', `${v1}/deal`, dealBody(known))
    assert.equal(reply.status, 201, reply.text)
    return fields.map(({ internal_name: name }) => reply.body.data[name] !== undefined)
  }
  assert.deepEqual(await filled(), [true, true])
  for (const path of [`user/${gone.id}`, `currency/${gbp.id}`])
    assert.equal((await call('PATCH', `${v1}/${path}`, { is_active: 'No' })).status, 200)
  assert.deepEqual(await filled(), [false, false])
})

test('a role that can not give a required field creates records when its default is gone', async () => {
  const gone = await made('user', { name: 'Left', email: 'left@example.com' })
  const mentor = { source: 'deal', type: 'OWNER', field_name: 'Mentor', is_required: true }
  const { id: field, internal_name: name } = await made('field', { ...mentor, default_value: gone.id })
  const hiding = await somebody(both('deal'), { hidden_fields: [`deal.${name}`] })
  const locking = await somebody(both('deal'), { locked_fields: [`deal.${name}`] })
  assert.equal((await locking.asked('POST', 'deal', dealBody(known))).body.data[name], gone.id)
  assert.equal((await call('PATCH', `${v1}/user/${gone.id}`, { is_active: 'No' })).status, 200)
  for (const { asked } of [hiding, locking]) {
    const { status, body, text } = await asked('POST', 'deal', dealBody(known))
    assert.deepEqual([status, body.data?.[name]], [201, undefined], text)
    assert.equal((await asked('PATCH', `deal/${body.data.id}`, { title: 'Renamed' })).status, 200)
    const by = await call('PATCH', `${v1}/deal/${body.data.id}`, { title: 'Renamed again' })
    assert.deepEqual(problemsOf(by), [`/${name} required`])
  }
  assert.deepEqual(problemsOf(await call('POST', `${v1}/deal`, dealBody(known))), [`/${name} required`])
  await call('DELETE', `${v1}/field/${field}`)
})

test('a deal has an owner, whatever became of the default and however the role is limited', async () => {
  const gone = await made('user', { name: 'Former', email: 'former@example.com' })
  const { id } = (await call('GET', `${v1}/field/list?source=deal`)).body.data.fields
    .flat()
    .find(({ internal_name }: JsonObject) => internal_name === 'sales_owner')
  const setDefault = async (default_value: Json) =>
    assert.equal((await call('PATCH', `${v1}/field/${id}`, { default_value })).status, 200)
  await setDefault(gone.id)
  const { asked, role } = await somebody(both('deal'), { locked_fields: ['deal.sales_owner'] })
  assert.equal((await asked('POST', 'deal', dealBody(known))).body.data.sales_owner, gone.id)
  assert.equal((await call('PATCH', `${v1}/user/${gone.id}`, { is_active: 'No' })).status, 200)
  assert.deepEqual(problemsOf(await asked('POST', 'deal', dealBody(known))), ['/sales_owner required'])
  assert.equal((await call('PATCH', `${v1}/role/${role.id}`, { locked_fields: [] })).status, 200)
  await setDefault(null)
})

test('a role that hides what has become required is not restored', async () => {
  const field = await made('field', { source: 'deal', field_name: 'Channel', type: 'SINGLE_STRING' })
  const path = `${v1}/field/${field.id}`
  const hidden_fields = [`deal.${field.internal_name}`]
  const role = await made('role', { name: 'Returning', scopes: both('deal'), hidden_fields })
  assert.equal((await call('DELETE', `${v1}/role/${role.id}`)).status, 200)
  assert.equal((await call('PATCH', path, { is_required: true })).status, 200)
  const refused = await call('POST', `${v1}/role/${role.id}/restore`)
  assert.deepEqual([refused.status, problemsOf(refused)], [422, ['/hidden_fields/0 required_field']])
  assert.equal((await call('PATCH', path, { is_required: false })).status, 200)
  assert.equal((await call('POST', `${v1}/role/${role.id}/restore`)).status, 200)
  assert.equal((await call('DELETE', path)).status, 200)
})
