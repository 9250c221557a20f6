/** Custom field administration (D36): an account shapes its own records, on a running service. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { customTypes, kinds } from '../../src/fields/kinds.ts'
import type { Json } from '../../src/json.ts'
import type { Transaction } from '../../src/records/store.ts'
import { workOn } from '../../src/records/work.ts'
import { updateRecord } from '../../src/records/write/save.ts'
import { resources } from '../../src/resources/resources.ts'
import { purgeFields } from '../../src/work/background/purge.ts'
import { earlier } from '../support/citus.ts'
import { eventually } from '../support/eventually.ts'
import { samples } from '../support/kind-samples.ts'
import { dealBody, problemsOf, type Reply, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, get, known, made } = service
const created = async (body: Json): Promise<Reply['body']['data']> => {
  const reply = await call('POST', `${v1}/field`, body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data
}
const refused = async (status: number, method: string, path: string, body?: Json): Promise<string[]> => {
  const reply = await call(method, `${v1}${path}`, body)
  assert.equal(reply.status, status, reply.text)
  return problemsOf(reply)
}
const list = async (query: string) => {
  const reply = await get(`${v1}/deal/view/list?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data as { id: number; [name: string]: Json }[]
}

/** The seventeen custom fields of the interface (D35). */
const interfaces = [
  ...[
    'SINGLE_STRING',
    'TEXT',
    'SINGLE_NUMBER',
    'DROPDOWN',
    'MULTISELECT',
    'ADDRESS',
    'OWNER',
    'COMPANY',
    'CONTACT',
  ],
  ...['MONETARY', 'PHONE', 'EMAIL', 'TIME', 'DATE', 'TIME_RANGE', 'DATE_RANGE', 'DATE_TIME_RANGE'],
]

test('the seventeen types can be added, and what is no type of a custom field can not', async () => {
  assert.equal(interfaces.length, 17)
  assert.deepEqual(
    interfaces.filter(type => !customTypes.some(known => known === type)),
    [],
  )
  for (const type of ['JSON', 'TAGS', 'DATE_TIME', 'nope', 7]) {
    assert.deepEqual(await refused(422, 'POST', '/field', { source: 'deal', field_name: 'X', type }), [
      '/type invalid_value',
    ])
  }
})

for (const source of ['deal', 'product'] as const) {
  for (const type of customTypes) {
    test(`${source}: a field of type ${type} lives from its making to its end`, async () => {
      const name = `cf_a_${type.toLowerCase()}`
      const options = kinds[type].hasOptions ? { options: ['One', 'Two'] } : {}
      const field = await created({ source, field_name: `A ${type}`, type, ...options })
      assert.deepEqual(
        [field.internal_name, field.type, field.is_custom, field.section],
        [name, type, true, 'Custom fields'],
      )
      const isSortable: boolean = field.is_sortable
      const { input: value, stored: expected = value } = kinds[type].hasOptions
        ? { input: 'Two', stored: type === 'MULTISELECT' ? [field.options[1].id] : field.options[1].id }
        : samples(known)[type]!.good[0]!
      const body =
        source === 'deal' ? dealBody(known, { [name]: value }) : { name: 'A product', [name]: value }
      const record = await call('POST', `${v1}/${source}`, body)
      assert.equal(record.status, 201, record.text)
      const { id } = record.body.data
      assert.deepEqual(record.body.data[name], expected)
      const found = async (query: string) =>
        (await get(`${v1}/${source}/view/list?${query}`)).body.data.map((one: { id: number }) => one.id)
      assert.deepEqual(await found(`filter=${name}:notnull(true)`), [id])
      const sorted = await get(`${v1}/${source}/view/list?pageSize=1&sort=${name}:desc`)
      assert.equal(sorted.status, isSortable ? 200 : 400, sorted.text)
      if (isSortable) assert.equal(sorted.body.data[0].id, id)
      const described = (await get(`${v1}/field/list?source=${source}`)).body.data.fields.flat()
      assert.ok(
        described.some(
          (one: { id: number; is_sortable: boolean }) =>
            one.id === field.id && one.is_sortable === isSortable,
        ),
      )

      const required = await call('PATCH', `${v1}/field/${field.id}`, { is_required: true })
      assert.equal(required.body.data.is_required, true, required.text)
      const without = source === 'deal' ? dealBody(known) : { name: 'Another' }
      assert.deepEqual(problemsOf(await call('POST', `${v1}/${source}`, without)), [`/${name} required`])
      assert.deepEqual(problemsOf(await call('PATCH', `${v1}/${source}/${id}`, { [name]: null })), [
        `/${name} required`,
      ])

      assert.equal((await call('DELETE', `${v1}/field/${field.id}`)).status, 200)
      assert.equal(name in (await get(`${v1}/${source}/${id}`)).body.data, false)
      assert.equal((await get(`${v1}/${source}/view/list?filter=${name}:isnull(true)`)).status, 400)
      assert.deepEqual(problemsOf(await call('PATCH', `${v1}/${source}/${id}`, { [name]: value })), [
        `/${name} unknown_field`,
      ])
      assert.equal((await call('POST', `${v1}/${source}`, without)).status, 201)
      const restored = await call('POST', `${v1}/field/${field.id}/restore`)
      assert.equal(restored.status, 200, restored.text)
      assert.deepEqual((await get(`${v1}/${source}/${id}`)).body.data[name], expected)
      assert.equal((await call('PATCH', `${v1}/field/${field.id}`, { is_required: false })).status, 200)
      assert.equal((await call('DELETE', `${v1}/field/${field.id}`)).status, 200)
    })
  }
}

test('a label makes the internal name; a name that is given is kept; neither may be there already', async () => {
  assert.equal(
    (await created({ source: 'deal', field_name: 'Straße & Größe (m²)', type: 'TIME' })).internal_name,
    'cf_strasse_grosse_m2',
  )
  const given = await created({
    source: 'deal',
    field_name: 'Given',
    type: 'TIME',
    internal_name: 'cf_own_name',
  })
  assert.equal(given.internal_name, 'cf_own_name')
  const again = { source: 'deal', field_name: 'GIVEN ', type: 'DATE', internal_name: 'cf_own_name' }
  assert.deepEqual(await refused(409, 'POST', '/field', again), [
    '/field_name name_taken',
    '/internal_name name_taken',
  ])
  // The same name is accepted for another resource.
  assert.equal((await created({ ...again, source: 'product' })).internal_name, 'cf_own_name')
  await call('DELETE', `${v1}/field/${given.id}`)
  const deleted = await call('POST', `${v1}/field`, { ...again, field_name: 'Other' })
  assert.deepEqual(
    [deleted.status, deleted.body.errors[0].hint],
    [409, `Restore it: it is the field ${given.id}.`],
  )
  for (const internal_name of ['industry', 'cf_', 'cf_Größe', 'cf_a b', 'cf_"x', `cf_${'a'.repeat(58)}`, 7]) {
    const body = { source: 'deal', field_name: 'Odd', type: 'TIME', internal_name }
    assert.deepEqual(
      await refused(422, 'POST', '/field', body),
      ['/internal_name invalid_value'],
      String(internal_name),
    )
  }
  assert.deepEqual(
    await refused(422, 'POST', '/field', { source: 'deal', field_name: '金额', type: 'TIME' }),
    ['/internal_name required'],
  )
})

test('every problem of a field is reported at once, and nothing is half-saved', async () => {
  const before = (await get(`${v1}/field/list?source=deal&include_deleted=true`)).text
  const body = {
    source: 'deals',
    field_name: ' ',
    type: 'DROPDWN',
    is_required: 'yes',
    config: { max_length: 1 },
    colour: 'red',
    options: ['a'],
  }
  assert.deepEqual(await refused(422, 'POST', '/field', body), [
    '/colour unknown_field',
    '/field_name required',
    '/source invalid_value',
    '/type invalid_value',
  ])
  const more = {
    source: 'deal',
    field_name: 'More',
    type: 'SINGLE_STRING',
    is_required: 'yes',
    default_value: 7,
    position: 0,
    config: { max_length: 256, min_lenght: 1, 'a/b~': 1 },
  }
  assert.deepEqual(await refused(422, 'POST', '/field', more), [
    '/config/a~1b~0 unknown_field',
    '/config/max_length loosens_limit',
    '/config/min_lenght unknown_field',
    '/default_value wrong_type',
    '/is_required wrong_type',
    '/position wrong_type',
  ])
  const twice = { source: 'deal', field_name: 'Twice', type: 'DROPDOWN', options: ['One', ' one', '', 7] }
  assert.deepEqual(await refused(422, 'POST', '/field', twice), [
    '/options/1 name_taken',
    '/options/2 required',
    '/options/3 wrong_type',
  ])
  const objects = { ...twice, options: [{ name: '' }, { id: 3 }, { name: 'One' }, { name: ' one' }] }
  assert.deepEqual(await refused(422, 'POST', '/field', objects), [
    '/options/0/name required',
    '/options/1/name required',
    '/options/3/name name_taken',
  ])
  // Characters that nobody sees are no name.
  const named = { ...twice, field_name: '\u200b', internal_name: 'cf_unseen' }
  assert.deepEqual(await refused(422, 'POST', '/field', named), [
    '/field_name required',
    '/options/1 name_taken',
    '/options/2 required',
    '/options/3 wrong_type',
  ])
  const unseen = { ...twice, section: '\u2800', options: ['\u200b', ' \u3164', '\u0001'] }
  assert.deepEqual(await refused(422, 'POST', '/field', unseen), [
    '/options/0 required',
    '/options/1 required',
    '/options/2 required',
    '/section required',
  ])
  const many = Array.from({ length: 101 }, (_, index) => `Option ${index}`)
  assert.deepEqual(await refused(422, 'POST', '/field', { ...twice, options: many }), ['/options too_many'])
  assert.deepEqual(await refused(422, 'POST', '/field', { ...twice, type: 'TIME' }), [
    '/options not_configurable',
  ])
  assert.deepEqual(
    await refused(422, 'POST', '/field', []),
    ['/field_name required', '/source required', '/type required', ' wrong_type'].toSorted(),
  )
  assert.equal((await get(`${v1}/field/list?source=deal&include_deleted=true`)).text, before)
})

test('what makes a field what it is can not be changed; the rest can, and only what was sent', async () => {
  const field = await created({
    source: 'deal',
    field_name: 'Grade',
    type: 'SINGLE_STRING',
    config: { max_length: 10 },
    default_value: 'B',
  })
  const path = `/field/${field.id}`
  assert.deepEqual(
    await refused(422, 'PATCH', path, { type: 'TEXT', internal_name: 'cf_x', source: 'product' }),
    ['/internal_name immutable', '/source immutable', '/type immutable'],
  )
  const changed = (
    await call('PATCH', `${v1}${path}`, {
      field_name: 'Class',
      config: { min_length: 2 },
      default_value: null,
    })
  ).body.data
  assert.deepEqual(
    [changed.field_name, changed.config, changed.default_value],
    ['Class', { max_length: 10, min_length: 2 }, null],
  )
  assert.deepEqual(await refused(422, 'PATCH', path, { config: { min_length: 11 } }), [
    '/config/min_length contradiction',
  ])
  // Writing back the whole descriptor changes nothing.
  const whole = await call('PUT', `${v1}${path}`, changed)
  assert.equal(whole.status, 200, whole.text)
  assert.deepEqual(whole.body.data, changed)
  const back = (await call('PATCH', `${v1}${path}`, { config: { max_length: null, min_length: null } })).body
    .data
  assert.deepEqual(back.config, { max_length: 255 })
  assert.equal((await call('GET', `${v1}${path}`)).body.data.field_name, 'Class')
  assert.equal((await call('GET', `${v1}/field/999999`)).status, 404)
  assert.equal((await call('DELETE', `${v1}/field/999999`)).status, 404)
  assert.equal((await call('POST', `${v1}/field/${field.id}/restore`)).status, 404)
})

test("the interface's own fields can be tightened, never loosened", async () => {
  const fields = (await get(`${v1}/field/list?source=deal`)).body.data.fields.flat()
  const idOf = (name: string) =>
    fields.find((field: { internal_name: string }) => field.internal_name === name).id
  const patch = (name: string, body: Json) => call('PATCH', `${v1}/field/${idOf(name)}`, body)
  const codes = async (name: string, body: Json) => problemsOf(await patch(name, body))
  assert.deepEqual(await codes('title', { is_required: false, config: { max_length: 256 } }), [
    '/config/max_length loosens_limit',
    '/is_required interface_required',
  ])
  assert.deepEqual(await codes('title', { is_active: false }), ['/is_active interface_required'])
  assert.deepEqual(await codes('won_reason', { is_active: false }), ['/is_active interface_required'])
  assert.deepEqual(await codes('created_at', { is_required: true }), ['/is_required not_configurable'])
  assert.deepEqual(await codes('source', { is_indexed: true }), ['/is_indexed not_indexable'])
  assert.deepEqual(await codes('tags', { config: { max_limit: 11 } }), ['/config/max_limit loosens_limit'])
  assert.equal((await call('DELETE', `${v1}/field/${idOf('source')}`)).status, 422)

  assert.equal(
    (await patch('title', { field_name: 'Name of the deal', config: { max_length: 30 } })).status,
    200,
  )
  assert.deepEqual(problemsOf(await call('POST', `${v1}/deal`, dealBody(known, { title: 'x'.repeat(31) }))), [
    '/title too_long',
  ])
  assert.equal((await patch('description', { is_required: true, default_value: 'None yet' })).status, 200)
  const deal = (await call('POST', `${v1}/deal`, dealBody(known))).body.data
  assert.equal(deal.description, 'None yet')
  assert.deepEqual(problemsOf(await call('POST', `${v1}/deal`, dealBody(known, { description: '' }))), [
    '/description required',
  ])
  assert.equal((await patch('description', { is_required: false, default_value: null })).status, 200)
  assert.equal((await patch('payment_status', { is_active: false })).status, 200)
  assert.equal('payment_status' in (await get(`${v1}/deal/${deal.id}`)).body.data, false)
  assert.deepEqual(problemsOf(await call('PATCH', `${v1}/deal/${deal.id}`, { payment_status: 'Online' })), [
    '/payment_status unknown_field',
  ])
  assert.equal((await patch('payment_status', { is_active: true })).status, 200)
  assert.equal((await patch('title', { config: { max_length: null } })).body.data.config.max_length, 255)
})

test('a field made required later: old records read, and must have it with their next update', async () => {
  const old = (await call('POST', `${v1}/deal`, dealBody(known))).body.data
  const field = await created({
    source: 'deal',
    field_name: 'Later',
    type: 'SINGLE_NUMBER',
    is_required: true,
  })
  assert.equal((await get(`${v1}/deal/${old.id}`)).status, 200)
  assert.deepEqual(problemsOf(await call('PATCH', `${v1}/deal/${old.id}`, { description: 'x' })), [
    '/cf_later required',
  ])
  const updated = await call('PATCH', `${v1}/deal/${old.id}`, { description: 'x', cf_later: 1 })
  assert.equal(updated.body.data.cf_later, 1, updated.text)
  // A default fills a field that a create leaves out, and nothing else.
  await call('PATCH', `${v1}/field/${field.id}`, { default_value: 9 })
  assert.equal((await call('POST', `${v1}/deal`, dealBody(known))).body.data.cf_later, 9)
  assert.deepEqual(problemsOf(await call('POST', `${v1}/deal`, dealBody(known, { cf_later: null }))), [
    '/cf_later required',
  ])
  assert.deepEqual(problemsOf(await call('PATCH', `${v1}/field/${field.id}`, { default_value: 'nine' })), [
    '/default_value wrong_type',
  ])
  await call('DELETE', `${v1}/field/${field.id}`)
})

test('a limit that is narrowed later: a record that was read can be written back whole', async () => {
  const field = await created({ source: 'deal', field_name: 'Narrow', type: 'TEXT' })
  const old = (await call('POST', `${v1}/deal`, dealBody(known, { cf_narrow: 'x'.repeat(20) }))).body.data
  await call('PATCH', `${v1}/field/${field.id}`, { config: { max_length: 10 } })
  const back = await call('PATCH', `${v1}/deal/${old.id}`, { ...old, title: 'Another' })
  assert.equal(back.status, 200, back.text)
  assert.deepEqual([back.body.data.title, back.body.data.cf_narrow], ['Another', old.cf_narrow])
  const longer = await call('PATCH', `${v1}/deal/${old.id}`, { cf_narrow: 'x'.repeat(19) })
  assert.deepEqual(problemsOf(longer), ['/cf_narrow too_long'])
  await call('DELETE', `${v1}/field/${field.id}`)
})

test('the limits of a custom amount are those that are shown, in records and in the OpenAPI document', async () => {
  const config = { min: 10, max: 20 }
  const named = { source: 'deal', field_name: 'Between amounts', type: 'MONETARY', config }
  const field = (await call('POST', `${v1}/field`, named)).body.data
  const { id, internal_name: name } = field
  const put = async (value: Json) => {
    const reply = await call('POST', `${v1}/deal`, dealBody(known, { [name]: { currency: 'USD', value } }))
    return reply.status === 201 ? [] : problemsOf(reply)
  }
  for (const value of [9.99, '9.99', 0, 20.01])
    assert.deepEqual(await put(value), [`/${name}/value out_of_range`])
  for (const value of [10, '20']) assert.deepEqual(await put(value), [])
  const { properties } = (await get('/openapi.json')).body.components.schemas.deal_input
  const told = JSON.stringify(properties[name])
  assert.match(told, /"minimum":10,"maximum":20/)
  assert.equal((await call('PATCH', `${v1}/field/${id}`, { config: { min: null } })).body.data.config.min, 0)
  assert.deepEqual(await put('5'), [])
  assert.deepEqual(await put(-1), [`/${name}/value out_of_range`])
})

test('the limit of a multiselect counts options, however each is named', async () => {
  const named = {
    source: 'deal',
    field_name: 'Medals',
    type: 'MULTISELECT',
    options: ['Gold', 'Silver', 'Tin'],
  }
  const field = await created({ ...named, config: { max_limit: 1 } })
  const [gold, silver, tin] = field.options.map((option: { id: number }) => option.id)
  const { id } = await made('deal', dealBody(known, { cf_medals: ['Gold', gold] }))
  const change = async (cf_medals: Json) => {
    const reply = await call('PATCH', `${v1}/deal/${id}`, { cf_medals })
    return reply.status === 200 ? reply.body.data.cf_medals : problemsOf(reply)
  }
  assert.deepEqual(await change([silver, ' SILVER']), [silver])
  assert.deepEqual(await change(['Gold', 'gold', 'Gold', 'gold']), [gold])
  for (const many of [
    ['Gold', tin],
    [gold, silver, tin],
    ['Gold', 'Silver', 'Tin', 'Lead'],
  ])
    assert.deepEqual(await change(many), ['/cf_medals too_many'])
  await call('DELETE', `${v1}/field/${field.id}`)
})

test('a wrong default is named as the member that was sent', async () => {
  const body = { source: 'deal', field_name: 'Headcount', type: 'SINGLE_NUMBER', default_value: 'many' }
  const number = await created({ ...body, default_value: 1 })
  const wanted = { ...body, field_name: 'Old fee', type: 'MONETARY' }
  const money = await created({ ...wanted, default_value: { currency: 'GBP', value: 5 } })
  const owner = { ...body, field_name: 'Coach', type: 'OWNER', default_value: 999_999 }
  for (const [method, path, sent, pointer] of [
    ['POST', '/field', { ...body, field_name: 'Heads' }, '/default_value'],
    ['POST', '/field', { ...body, field_name: '日本' }, '/default_value'],
    ['POST', '/field', owner, '/default_value'],
    ['PATCH', `/field/${number.id}`, { default_value: 'many' }, '/default_value'],
    [
      'PATCH',
      `/field/${money.id}`,
      { default_value: { currency: 'GBP', value: 'x' } },
      '/default_value/value',
    ],
  ] as [string, string, Json, string][]) {
    const reply = await call(method, `${v1}${path}`, sent)
    assert.equal(reply.status, 422, reply.text)
    const { field, message } = reply.body.errors.find((one: { path: string }) => one.path === pointer)
    assert.equal(field, 'default_value', reply.text)
    assert.ok(message.startsWith(`${pointer.slice(1).replace('/', '.')} `), reply.text)
  }
  for (const { id } of [number, money]) await call('DELETE', `${v1}/field/${id}`)
})

test('no default gives rights to a new user, role or token', async () => {
  const defaults = { 'user.role': 1, 'role.scopes': ['admin'], 'token.scopes': ['admin'], 'token.user': 1 }
  for (const [name, value] of Object.entries(defaults)) {
    const [source, member] = name.split('.')
    const { fields } = (await get(`${v1}/field/list?source=${source}`)).body.data
    const { id } = fields.flat().find((one: { internal_name: string }) => one.internal_name === member)
    const reply = await call('PATCH', `${v1}/field/${id}`, { default_value: value })
    assert.equal(reply.status, 422, name)
    assert.deepEqual(problemsOf(reply), ['/default_value not_configurable'], name)
  }
})

test('an object without members is no value of a required field', async () => {
  const { fields } = (await get(`${v1}/field/list?source=deal`)).body.data
  const { id } = fields.flat().find((one: { internal_name: string }) => one.internal_name === 'metadata')
  assert.equal((await call('PATCH', `${v1}/field/${id}`, { is_required: true })).status, 200)
  const refusal = await call('POST', `${v1}/deal`, dealBody(known, { metadata: {} }))
  assert.deepEqual(problemsOf(refusal), ['/metadata required'])
  const taken = await call('POST', `${v1}/deal`, dealBody(known, { metadata: { a: null } }))
  assert.deepEqual(problemsOf(taken), ['/metadata required'])
  assert.equal((await call('POST', `${v1}/deal`, dealBody(known, { metadata: { a: 1 } }))).status, 201)
  const empty = { is_required: true, default_value: { a: null } }
  const changed = await call('PATCH', `${v1}/field/${id}`, empty)
  assert.deepEqual([changed.status, changed.body.data.default_value], [200, null], changed.text)
  await call('PATCH', `${v1}/field/${id}`, { is_required: false })
})

test('the id of a new field or option is ignored with a warning', async () => {
  const options = [{ name: 'Gold', id: 7 }, 'Silver']
  const body = { source: 'deal', field_name: 'Level', type: 'DROPDOWN', id: 7, options }
  const { body: answer } = await call('POST', `${v1}/field`, body)
  assert.notEqual(answer.data.id, 7)
  assert.notEqual(answer.data.options[0].id, 7)
  assert.deepEqual(
    answer.meta.warnings.map(({ code, path }: { code: string; path: string }) => `${path} ${code}`),
    ['/id read_only', '/options/0/id read_only'],
  )
})

test('options keep their ids, change names, order and use; what is out of use stays with those that have it', async () => {
  const field = await created({
    source: 'deal',
    field_name: 'Tier',
    type: 'DROPDOWN',
    options: ['Low', 'High'],
    default_value: 'Low',
  })
  const [low, high] = field.options
  assert.equal(field.default_value, low.id)
  const path = `${v1}/field/${field.id}/option`
  const middle = await call('POST', path, { name: 'Middle', position: 2 })
  assert.equal(middle.status, 201, middle.text)
  assert.equal(middle.headers.get('location'), `${path}/${middle.body.data.id}`)
  const values = async (query = '') =>
    (await get(`${v1}/field/dropdown?name=cf_tier${query}`)).body.data.map(
      (option: { name: string }) => option.name,
    )
  assert.deepEqual(await values(), ['Low', 'Middle', 'High'])
  const deal = (await call('POST', `${v1}/deal`, dealBody(known, { cf_tier: 'High' }))).body.data
  assert.equal((await call('PATCH', `${path}/${high.id}`, { name: 'Top', position: 1 })).status, 200)
  assert.deepEqual(await values(), ['Top', 'Low', 'Middle'])
  assert.equal((await get(`${v1}/deal/${deal.id}`)).body.data.cf_tier, high.id)
  assert.deepEqual(
    (await list(`filter=cf_tier:notnull(true)&sort=cf_tier:asc&expand=cf_tier`)).map(one => one._expanded),
    [{ cf_tier: { id: high.id, name: 'Top' } }],
  )
  assert.deepEqual(problemsOf(await call('POST', path, { name: ' low ' })), ['/name name_taken'])
  assert.deepEqual(
    problemsOf(await call('PATCH', `${path}/${low.id}`, { name: 'Middle', is_default: 'yes' })),
    ['/is_default wrong_type', '/name name_taken'],
  )
  assert.equal((await call('DELETE', `${path}/${high.id}`)).status, 200)
  assert.deepEqual(await values(), ['Low', 'Middle'])
  assert.deepEqual(await values('&include_inactive=true'), ['Top', 'Low', 'Middle'])
  assert.deepEqual(problemsOf(await call('POST', `${v1}/deal`, dealBody(known, { cf_tier: high.id }))), [
    '/cf_tier inactive_option',
  ])
  assert.equal(
    (await call('PATCH', `${v1}/deal/${deal.id}`, { cf_tier: high.id, description: 'again' })).status,
    200,
  )
  assert.equal((await list(`filter=cf_tier:eq(${high.id})`)).length, 1)
  assert.equal((await call('PATCH', `${path}/${high.id}`, { is_active: true })).status, 200)
  assert.equal((await call('PATCH', `${path}/${middle.body.data.id}`, { is_default: true })).status, 200)
  assert.equal((await get(`${v1}/field/${field.id}`)).body.data.default_value, middle.body.data.id)
  assert.equal((await call('POST', `${v1}/deal`, dealBody(known))).body.data.cf_tier, middle.body.data.id)
  assert.equal(
    (await call('PATCH', `${v1}/field/${field.id}`, { default_value: null })).body.data.default_value,
    null,
  )
  await Promise.all(Array.from({ length: 97 }, (_, index) => call('POST', path, { name: `Tier ${index}` })))
  assert.equal((await values()).length, 100)
  const last = await call('POST', path, { name: 'One too many' })
  assert.deepEqual([last.status, problemsOf(last)], [422, [' too_many']])
  assert.equal((await call('PATCH', `${path}/999999`, { name: 'x' })).status, 404)
})

test("options of the interface's dynamic dropdowns are the account's; the others are not", async () => {
  const fields = (await get(`${v1}/field/list?source=deal`)).body.data.fields.flat()
  const idOf = (name: string) =>
    fields.find((field: { internal_name: string }) => field.internal_name === name).id
  for (const name of ['source', 'type', 'payment_status', 'won_reason', 'lost_reason', 'forecast_category']) {
    assert.equal(
      (await call('POST', `${v1}/field/${idOf(name)}/option`, { name: `New ${name}` })).status,
      201,
      name,
    )
  }
  assert.equal((await call('POST', `${v1}/deal`, dealBody(known, { source: 'new SOURCE' }))).status, 201)
  for (const name of ['status', 'pipeline', 'pipeline_stage', 'title']) {
    assert.equal((await call('POST', `${v1}/field/${idOf(name)}/option`, { name: 'x' })).status, 400, name)
  }
})

test('the form: fields move between sections, and the whole can be arranged', async () => {
  const field = await created({
    source: 'product',
    field_name: 'Shelf',
    type: 'SINGLE_STRING',
    section: 'Basic information',
    position: 2,
  })
  const form = async () =>
    (await get(`${v1}/field/form?source=product`)).body.data as { section: string; fields: string[] }[]
  const before = await form()
  assert.deepEqual([before[0]!.section, before[0]!.fields[1]], ['Basic information', 'cf_shelf'])
  const listed = (await get(`${v1}/field/list?source=product`)).body.data.fields[0].map(
    (one: { internal_name: string }) => one.internal_name,
  )
  assert.deepEqual(listed, before[0]!.fields)
  const moved = await call('PATCH', `${v1}/field/${field.id}`, { section: 'Storage' })
  assert.equal(moved.body.data.section, 'Storage')
  assert.deepEqual((await form()).at(-1), { section: 'Storage', fields: ['cf_shelf'] })
  const turned = (await form()).toReversed()
  assert.deepEqual((await call('PUT', `${v1}/field/form?source=product`, turned)).body.data, turned)
  assert.deepEqual(await form(), turned)
  // A section whose only field is deleted keeps its place too.
  await call('DELETE', `${v1}/field/${field.id}`)
  const without = turned.filter(part => part.section !== 'Storage')
  assert.deepEqual((await call('PUT', `${v1}/field/form?source=product`, without)).body.data, without)
  await call('POST', `${v1}/field/${field.id}/restore`)
  assert.deepEqual(await form(), turned)
  // Fields without a position come last in their section.
  await created({ source: 'product', field_name: 'Row', type: 'SINGLE_STRING' })
  assert.equal((await form()).find(part => part.section === 'Custom fields')!.fields.at(-1), 'cf_row')
  const bad = [
    { section: 'A', fields: ['name', 'name', 'nope'] },
    { section: 'A', 'b/c': 1 },
  ]
  assert.deepEqual(await refused(422, 'PUT', '/field/form?source=product', bad), [
    ' required',
    '/0/fields/1 contradiction',
    '/0/fields/2 unknown_field',
    '/1/b~1c unknown_field',
    '/1/fields wrong_type',
    '/1/section name_taken',
  ])
  const many = Array.from({ length: 1000 }, (_, index) => ({ section: `Part ${index}`, fields: ['name'] }))
  assert.deepEqual(await refused(422, 'PUT', '/field/form?source=product', many), [' too_many'])
  const [nameless] = (await call('PUT', `${v1}/field/form?source=product`, [{ fields: [] }])).body.errors
  assert.equal(nameless.field, null)
})

test('an index of its own: made in the background, used by ranges and sorts, and removed with the field', async () => {
  const field = await created({
    source: 'deal',
    field_name: 'Weight',
    type: 'SINGLE_NUMBER',
    is_indexed: true,
  })
  assert.match(field.index.state, /^(building|ready)$/)
  const until = (isDone: () => Promise<boolean>) => eventually(isDone, 'an end of the jobs')
  // Its definition can't be read while it is being dropped.
  const indexes = async () =>
    (
      await service.db.query('SELECT relname FROM pg_class WHERE relname = $1::text', [
        `custom_1_${field.id}`,
      ])
    ).length
  await until(async () => (await get(`${v1}/field/${field.id}`)).body.data.index.state === 'ready')
  assert.equal(await indexes(), 1)
  await call('PATCH', `${v1}/field/${field.id}`, { is_indexed: false })
  await until(async () => (await indexes()) === 0)
  await call('PATCH', `${v1}/field/${field.id}`, { is_indexed: true })
  await until(async () => (await indexes()) === 1)
  await call('DELETE', `${v1}/field/${field.id}`)
  await until(async () => (await indexes()) === 0)
  const several = { source: 'deal', field_name: 'Several', type: 'MULTISELECT', is_indexed: true }
  assert.deepEqual(await refused(422, 'POST', '/field', several), ['/is_indexed not_indexable'])
})

test('events tell what was changed, in the order of all others', async () => {
  const [{ seq }] = (await service.db.query(
    'SELECT last_seq::text AS seq FROM counter WHERE account_id = 1',
  )) as [{ seq: string }]
  const field = await created({ source: 'deal', field_name: 'WriteResponse', type: 'TIME' })
  await call('PATCH', `${v1}/field/${field.id}`, { field_name: 'Retold' })
  await call('DELETE', `${v1}/field/${field.id}`)
  const events = await service.db.query(
    'SELECT type, record_id::text AS id FROM event WHERE account_id = 1 AND seq > $1::bigint ORDER BY seq',
    [seq],
  )
  assert.deepEqual(
    events.map(event => `${event.type} ${event.id}`),
    ['created', 'updated', 'deleted'].map(verb => `field.${verb} ${field.id}`),
  )
})

test('every process sees a change within a second, its own at once, and none refuses as unknown what another has made', async () => {
  const other = await service.another()
  // Both processes have cached the configuration.
  for (const one of [service, other])
    assert.equal((await one.get(`${v1}/deal/view/list?pageSize=1`)).status, 200)
  const field = await created({ source: 'deal', field_name: 'Shared', type: 'DROPDOWN', options: ['One'] })
  assert.equal((await call('POST', `${v1}/deal`, dealBody(known, { cf_shared: 'One' }))).status, 201)
  const deal = await other.call('POST', `${v1}/deal`, dealBody(known, { cf_shared: 'One' }))
  assert.equal(deal.status, 201, deal.text)
  await call('POST', `${v1}/field/${field.id}/option`, { name: 'Two' })
  const updated = await other.call('PATCH', `${v1}/deal/${deal.body.data.id}`, { cf_shared: 'Two' })
  assert.equal(updated.status, 200, updated.text)
  await call('POST', `${v1}/field/${field.id}/option`, { name: 'Three' })
  assert.equal(
    (await other.get(`${v1}/deal/view/list?filter=cf_shared:eq(Three)&sort=cf_shared:asc`)).status,
    200,
  )
  const more = await created({ source: 'deal', field_name: 'Shared more', type: 'TIME' })
  assert.equal((await other.get(`${v1}/field/dropdown?name=cf_shared`)).status, 200)
  assert.equal((await other.get(`${v1}/field/${more.id}`)).status, 200)
  // A value that this process writes survives a write by the other, which doesn't know the field yet.
  const known2 = (await call('PATCH', `${v1}/deal/${deal.body.data.id}`, { cf_shared_more: '09:30' })).body
    .data
  const later = (await other.call('PATCH', `${v1}/deal/${known2.id}`, { description: 'by the other' })).body
    .data
  assert.deepEqual([later.cf_shared_more, later.description], ['09:30', 'by the other'])
  await call('PATCH', `${v1}/field/${field.id}`, { is_required: true })
  service.aSecondGoesBy()
  assert.deepEqual(problemsOf(await other.call('POST', `${v1}/deal`, dealBody(known))), [
    '/cf_shared required',
  ])
  await call('PATCH', `${v1}/field/${field.id}`, { is_required: false })
})

test('administrators at once, in three processes: all their changes are there, and of one name there is one field', async () => {
  const processes = [service, await service.another(), await service.another()]
  const field = await created({ source: 'deal', field_name: 'Both', type: 'DROPDOWN' })
  const path = `${v1}/field/${field.id}/option`
  const added = await Promise.all(
    Array.from({ length: 21 }, (_, index) =>
      processes[index % 3]!.call('POST', path, { name: `Option ${index}` }),
    ),
  )
  for (const reply of added) assert.equal(reply.status, 201, reply.text)
  assert.equal((await get(`${v1}/field/dropdown?name=cf_both`)).body.data.length, 21)
  const body = { source: 'deal', field_name: 'Contested', type: 'TIME' }
  const contested = await Promise.all(
    [0, 1, 2, 3].map(index => processes[index % 3]!.call('POST', `${v1}/field`, body)),
  )
  assert.deepEqual(contested.map(reply => reply.status).toSorted(), [201, 409, 409, 409])
})

test('a deleted field is purged after thirty days: its values are gone, its name is free', async () => {
  const field = await created({ source: 'deal', field_name: 'Brief', type: 'SINGLE_STRING' })
  const deal = (
    await call('POST', `${v1}/deal`, dealBody(known, { cf_brief: 'soon gone', description: 'stays' }))
  ).body.data
  await call('DELETE', `${v1}/field/${field.id}`)
  const purge = async (days: number) => {
    const at = new Date(Date.now() + days * 86_400_000)
    return purgeFields(
      service.db,
      await loadCatalog(service.db, resources, 1),
      new Date(at.getTime() - 30 * 86_400_000),
    )
  }
  assert.equal((await purge(29)).includes('cf_brief'), false)
  assert.equal((await purge(31)).includes('cf_brief'), true)
  const stored = await service.db.query(
    'SELECT custom::text AS custom, document FROM deal WHERE account_id = 1 AND id = $1::bigint',
    [String(deal.id)],
  )
  assert.doesNotMatch(JSON.stringify(stored), /soon gone/)
  const read = await get(`${v1}/deal/${deal.id}`)
  assert.deepEqual([read.body.data.description, read.body.data.version], ['stays', deal.version])
  assert.equal((await call('POST', `${v1}/field/${field.id}/restore`)).status, 404)
  assert.equal(
    (await created({ source: 'deal', field_name: 'Brief', type: 'SINGLE_NUMBER' })).internal_name,
    'cf_brief',
  )
  assert.equal('cf_brief' in (await get(`${v1}/deal/${deal.id}`)).body.data, false)
})

test('defaults, options and descriptors say one thing', async () => {
  // A default fills a required dropdown too; an empty default does not.
  const required = {
    source: 'product',
    field_name: 'Choice',
    type: 'DROPDOWN',
    options: ['X', 'Y'],
    default_value: 'Y',
    is_required: true,
  }
  const choice = await created(required)
  const product = (await call('POST', `${v1}/product`, { name: 'Filled' })).body.data
  assert.equal(product.cf_choice, choice.options[1].id)
  await call('DELETE', `${v1}/field/${choice.id}`)
  const blank = await created({
    source: 'product',
    field_name: 'Blank',
    type: 'SINGLE_STRING',
    default_value: '  ',
    is_required: true,
  })
  assert.equal(blank.default_value, null)
  assert.deepEqual(problemsOf(await call('POST', `${v1}/product`, { name: 'Not filled' })), [
    '/cf_blank required',
  ])
  await call('DELETE', `${v1}/field/${blank.id}`)
  // A narrower limit is checked against the current default; deleting an option removes it from the default.
  const text = await created({
    source: 'product',
    field_name: 'Text',
    type: 'SINGLE_STRING',
    default_value: 'longer',
  })
  assert.deepEqual(problemsOf(await call('PATCH', `${v1}/field/${text.id}`, { config: { max_length: 3 } })), [
    '/default_value too_long',
  ])
  const several = await created({
    source: 'product',
    field_name: 'Some',
    type: 'MULTISELECT',
    options: ['P', 'Q'],
    default_value: ['P', 'Q'],
  })
  const [p, q] = several.options
  // An option and its dropdown value say the same of the default, and what was read can be written back.
  const own = `${v1}/field/${several.id}/option`
  const offered = async () => (await get(`${v1}/field/dropdown?name=cf_some`)).body.data
  for (const option of await offered()) {
    assert.equal(option.is_default, true)
    assert.deepEqual((await call('PATCH', `${own}/${option.id}`, option)).body.data, option)
  }
  const r = (await call('POST', own, { name: 'R' })).body.data
  assert.deepEqual(await offered().then(options => options.at(-1)), { ...r, is_default: false })
  for (const [id, is_default] of [
    [q.id, false],
    [r.id, true],
  ]) {
    const changed = await call('PATCH', `${own}/${id}`, { is_default })
    assert.deepEqual(problemsOf(changed), ['/is_default not_configurable'])
  }
  await call('DELETE', `${v1}/field/${several.id}/option/${p.id}`)
  assert.deepEqual((await call('POST', `${v1}/product`, { name: 'Some' })).body.data.cf_some, [q.id])
  assert.equal(
    (await call('PATCH', `${v1}/field/${several.id}`, { default_value: null })).body.data.default_value,
    null,
  )
  // Writing back every descriptor changes nothing.
  for (const source of ['deal', 'product', 'contact', 'pipeline_stage']) {
    const before = (await get(`${v1}/field/list?source=${source}`)).text
    for (const field of JSON.parse(before).data.fields.flat()) {
      const reply = await call('PUT', `${v1}/field/${field.id}`, field)
      assert.equal(reply.status, 200, `${field.internal_name}: ${reply.text}`)
    }
    assert.equal((await get(`${v1}/field/list?source=${source}`)).text, before)
  }
  const options = await service.db.query(
    'SELECT count(*)::text AS n FROM option WHERE account_id = 1 AND id < 1000',
  )
  assert.equal(options[0]!.n, '0')
})

test('limits change without the default: a marked option stays, and so does what is out of use by now', async () => {
  const options = ['X', 'Y']
  const dropdown = { source: 'deal', field_name: 'Marked', type: 'DROPDOWN', options, default_value: 'Y' }
  const { id, ...marked } = await created(dropdown)
  const { cf_marked: filled } = await made('deal', dealBody(known))
  assert.equal(filled, marked.options[1].id)
  const kept = await call('PATCH', `${v1}/field/${id}`, { config: {} })
  assert.deepEqual([kept.status, kept.body.data.default_value], [200, marked.default_value])
  assert.equal((await made('deal', dealBody(known))).cf_marked, filled)
  assert.equal((await call('PATCH', `${v1}/field/${id}`, { default_value: null })).status, 200)
  assert.equal((await made('deal', dealBody(known))).cf_marked, undefined)

  const default_value = { currency: 'GBP', value: 5 }
  const money = await created({ source: 'deal', field_name: 'Old money', type: 'MONETARY', default_value })
  const several = await created({
    ...{ source: 'deal', field_name: 'Old choices', type: 'MULTISELECT', options, default_value: ['X'] },
  })
  const use = async (is_active: boolean) => {
    const changed = await call('PATCH', `${v1}/currency/826`, { is_active })
    assert.equal(changed.status, 200, changed.text)
  }
  await use(false)
  const narrowed = await call('PATCH', `${v1}/field/${money.id}`, { config: { max: 100 } })
  assert.equal(narrowed.status, 200, narrowed.text)
  assert.deepEqual(narrowed.body.data.default_value, money.default_value)
  assert.equal((await call('PUT', `${v1}/field/${money.id}`, narrowed.body.data)).status, 200)
  assert.deepEqual(await refused(422, 'PATCH', `/field/${money.id}`, { config: { max: 4 } }), [
    '/default_value/value out_of_range',
  ])
  const other = { default_value: { currency: 'GBP', value: 6 } }
  assert.equal((await call('PATCH', `${v1}/field/${money.id}`, other)).status, 200)
  assert.deepEqual(await refused(422, 'PATCH', `/field/${several.id}`, other), ['/default_value wrong_type'])
  await use(true)
  for (const field of [id, money.id, several.id]) await call('DELETE', `${v1}/field/${field}`)
})

test('a stage that is the default and has been deleted is written back with its field', async () => {
  const stage = await made('pipeline_stage', { name: 'Passing', pipeline: known.pipeline, probability: 5 })
  const field = (await get(`${v1}/field/list?source=deal`)).body.data.fields
    .flat()
    .find((one: { internal_name: string }) => one.internal_name === 'pipeline_stage')
  const path = `${v1}/field/${field.id}`
  assert.equal((await call('PATCH', path, { default_value: stage.id })).status, 200)
  assert.equal((await call('DELETE', `${v1}/pipeline_stage/${stage.id}`)).status, 200)
  const { data } = (await get(path)).body
  assert.equal(data.default_value, stage.id)
  for (const [method, body] of [
    ['PUT', data],
    ['PATCH', { config: {} }],
    ['PATCH', { ...data, config: {} }],
  ] as const) {
    const reply = await call(method, path, body)
    assert.deepEqual([reply.status, reply.body.data?.default_value], [200, stage.id], reply.text)
  }
  const other = { default_value: 99_999_999 }
  assert.deepEqual(await refused(422, 'PATCH', `/field/${field.id}`, other), [
    '/default_value unknown_option',
  ])
  assert.equal((await call('PATCH', path, { default_value: null })).body.data.default_value, null)
})

test('closing reasons and dates can neither be filled in nor be required of open deals', async () => {
  const fields = (await get(`${v1}/field/list?source=deal`)).body.data.fields.flat()
  for (const name of ['won_reason', 'lost_reason', 'deal_closed_on']) {
    const { id } = fields.find((field: { internal_name: string }) => field.internal_name === name)
    const value = name === 'deal_closed_on' ? '2020-01-01' : 1
    const codes = problemsOf(
      await call('PATCH', `${v1}/field/${id}`, { default_value: value, is_required: true }),
    )
    assert.ok(
      codes.includes('/default_value interface_required') &&
        codes.includes('/is_required interface_required'),
      `${name}: ${codes}`,
    )
  }
  const { id, options } = fields.find(
    (field: { internal_name: string }) => field.internal_name === 'won_reason',
  )
  const marked = await call('PATCH', `${v1}/field/${id}/option/${options[0].id}`, { is_default: true })
  assert.deepEqual(problemsOf(marked), ['/is_default interface_required'])
  const added = await call('POST', `${v1}/field/${id}/option`, { name: 'By default', is_default: true })
  assert.deepEqual(problemsOf(added), ['/is_default interface_required'])
})

test('what is in use goes before what is not; deleted and hidden names are not told', async () => {
  const field = await created({ source: 'deal', field_name: 'Secret', type: 'DROPDOWN', options: ['Same'] })
  await call('DELETE', `${v1}/field/${field.id}/option/${field.options[0].id}`)
  const again = (await call('POST', `${v1}/field/${field.id}/option`, { name: 'Same' })).body.data
  const deal = (await call('POST', `${v1}/deal`, dealBody(known, { cf_secret: 'Same' }))).body.data
  assert.equal(deal.cf_secret, again.id)
  assert.deepEqual(
    (await list('filter=cf_secret:eq(Same)')).map(one => one.id),
    [deal.id],
  )
  await call('DELETE', `${v1}/field/${field.id}`)
  for (const path of [
    'deal/view/list?fields=cf_secrt',
    'deal/view/list?fields=stage_rotting_day',
    'field/dropdown?name=cf_secrt',
    'deal/view/list?expand=cf_secret',
  ]) {
    assert.doesNotMatch((await get(`${v1}/${path}`)).text, /mean "(cf_secret|stage_rotting_days)"/, path)
  }
  assert.equal((await get(`${v1}/field/dropdown?name=cf_secret`)).status, 404)
  const deleted = (await get(`${v1}/field/list?source=deal&include_deleted=true`)).body.data.fields.flat()
  assert.match(deleted.find((one: { id: number }) => one.id === field.id).deleted_at, /T.*\.\d{3}Z$/)
})

test('a purge leaves alone what was restored meanwhile', async () => {
  const field = await created({ source: 'deal', field_name: 'Saved', type: 'SINGLE_STRING' })
  const deal = (await call('POST', `${v1}/deal`, dealBody(known, { cf_saved: 'kept' }))).body.data
  await call('DELETE', `${v1}/field/${field.id}`)
  const stale = await loadCatalog(service.db, resources, 1)
  await call('POST', `${v1}/field/${field.id}/restore`)
  assert.equal(
    (await purgeFields(service.db, stale, new Date(Date.now() + 86_400_000))).includes('cf_saved'),
    false,
  )
  assert.equal((await get(`${v1}/deal/${deal.id}`)).body.data.cf_saved, 'kept')
})

test('a purge is not undone by a change that began before it', async () => {
  const field = await created({ source: 'deal', field_name: 'Raced', type: 'SINGLE_STRING' })
  const deal = (await call('POST', `${v1}/deal`, dealBody(known, { cf_raced: 'forget me' }))).body.data
  await call('DELETE', `${v1}/field/${field.id}`)
  // Never outdated: the purge makes a newer configuration, and any process may expire older ones then (D115).
  const catalog = { ...(await loadCatalog(db, resources, 1)), version: '1000000' }
  let reads = 0
  // The database, with a purge after the first read.
  const interrupted: Transaction = {
    hasOnlyTransactions: db.hasOnlyTransactions,
    write: db.write,
    query: async (...asked) => {
      const rows = await db.query(...asked)
      if (reads++ === 0)
        assert.deepEqual(await purgeFields(db, catalog, new Date(Date.now() + 1000)), ['cf_raced'])
      return rows
    },
  }
  const context = { catalog, actor: 1 }
  const saved = await updateRecord(workOn(interrupted, context, 'deal'), deal.id, { title: 'Raced' })
  assert.deepEqual([saved.version, reads], [2, 2])
  const [row] = await db.query('SELECT custom::text AS custom, document FROM deal WHERE id = $1::bigint', [
    String(deal.id),
  ])
  assert.doesNotMatch(`${row!.custom} ${row!.document}`, /forget me/)
})

test('a field can not be restored when its values are due to go', async () => {
  const field = await created({ source: 'deal', field_name: 'Too late', type: 'TIME' })
  await call('DELETE', `${v1}/field/${field.id}`)
  const long = earlier('deleted_at', "interval '31 days'")
  await db.query(`UPDATE field SET deleted_at = ${long} WHERE id = $1::bigint`, [String(field.id)])
  assert.equal((await call('POST', `${v1}/field/${field.id}/restore`)).status, 404)
})

test('a required address needs a line: an object without one is empty (D6)', async () => {
  const body = { source: 'company', field_name: 'Warehouse', type: 'ADDRESS', is_required: true }
  const { data: field } = (await call('POST', `${v1}/field`, body)).body
  for (const cf_warehouse of [{}, [{}], [], null, { city: null }, { city: '' }, [{ city: ' ', state: '' }]]) {
    const reply = await call('POST', `${v1}/company`, { name: 'Nowhere', cf_warehouse })
    assert.equal(reply.status, 422, JSON.stringify(cf_warehouse))
    assert.deepEqual(problemsOf(reply), ['/cf_warehouse required'])
  }
  const there = await call('POST', `${v1}/company`, { name: 'There', cf_warehouse: { city: 'Lyon' } })
  assert.equal(there.status, 201, there.text)
  assert.equal((await call('DELETE', `${v1}/field/${field.id}`)).status, 200)
})
