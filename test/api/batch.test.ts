/**
 * POST /{resource}/batch (D78): its input, its answers and its effects. That it equals single writes is a
 * law.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/json.ts'
import { eventually } from '../support/eventually.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, db, known } = service
const batch = (resource: string, body: Json, headers?: Record<string, string>, query = '') =>
  call('POST', `${v1}/${resource}/batch${query}`, body, headers)
const create = (data: JsonObject) => ({ op: 'create', data })
const count = async (table: string) =>
  Number((await db.query(`SELECT count(*)::text AS n FROM ${table} WHERE account_id = 1`))[0]!.n)

test('answers every operation in order, as its own request would be', async () => {
  const made = await batch('product', {
    operations: [create({ name: 'One' }), create({}), create({ name: 'Two' })],
  })
  assert.equal(made.status, 200, made.text)
  assert.deepEqual(
    made.body.data.map(({ status }: { status: number }) => status),
    [201, 422, 201],
  )
  assert.deepEqual(made.body.meta, { succeeded: 2, failed: 1 })
  const [first, wrong, second] = made.body.data
  assert.equal(second.data.id, first.data.id + 1)
  assert.deepEqual([wrong.type, wrong.code], ['/docs/errors#validation_failed', 2001])
  assert.equal(wrong.errors[0].path, '/name')
  const { id } = first.data
  const changed = await batch('product', {
    operations: [
      { op: 'update', id, if_match: 1, data: { name: 'Changed' } },
      { op: 'update', id, if_match: 1, data: { name: 'Stale' } },
      { op: 'delete', id },
      { op: 'update', id, data: { name: 'Gone' } },
      { op: 'restore', id },
      { op: 'delete', id: 999_999 },
    ],
  })
  const statuses = changed.body.data.map(({ status }: { status: number }) => status)
  assert.deepEqual(statuses, [200, 412, 200, 404, 200, 404], changed.text)
  assert.deepEqual(changed.body.data[2].data, { id, deleted: true })
  assert.equal((await get(`${v1}/product/${id}`)).body.data.name, 'Changed')
})

test('atomic is all or none', async () => {
  const operations = [
    create({ name: 'Atomic' }),
    create({ name: 'x'.repeat(300) }),
    { op: 'delete', id: 999_999 },
  ]
  const before = [await count('product'), await count('event')]
  const reply = await batch('product', { operations, atomic: true })
  assert.equal(reply.status, 422, reply.text)
  assert.match(reply.headers.get('content-type')!, /problem\+json/)
  assert.deepEqual(problemsOf(reply), ['/operations/1/data/name too_long', '/operations/2 not_carried_out'])
  const statuses = reply.body.data.map(({ status }: { status: number }) => status)
  assert.deepEqual([statuses, reply.body.meta], [[424, 422, 404], { succeeded: 0, failed: 2 }])
  assert.deepEqual([await count('product'), await count('event')], before)
  const good = await batch('product', { operations: operations.slice(0, 1), atomic: true })
  assert.deepEqual([good.status, await count('product')], [200, before[0]! + 1])
})

test('problems of an operation without data have the path of the operation', async () => {
  const { id: company } = await service.made('company', { name: 'In use' })
  await service.made('deal', dealBody(known, { company }))
  const { id: contact } = await service.made('contact', { first_name: 'Ann', last_name: 'Gone' })
  const { id } = await service.made('deal', dealBody(known, { primary_contact: contact }))
  for (const path of [`deal/${id}`, `contact/${contact}`])
    assert.equal((await call('DELETE', `${v1}/${path}`)).status, 200)
  const used = await batch('company', { operations: [{ op: 'delete', id: company }], atomic: true })
  assert.deepEqual(problemsOf(used), ['/operations/0 in_use'], used.text)
  const orphan = await batch('deal', { operations: [{ op: 'restore', id }], atomic: true })
  assert.deepEqual(problemsOf(orphan), ['/operations/0 reference_not_found'], orphan.text)
})

test('one Idempotency-Key stands for the whole', async () => {
  const headers = { 'idempotency-key': 'batch-1' }
  const body = { operations: [create({ name: 'Once' }), create({})] }
  const first = await batch('product', body, headers)
  const before = await count('product')
  const again = await batch('product', body, headers)
  assert.deepEqual(again.body, first.body)
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.equal(await count('product'), before)
  const other = await batch('product', { operations: [create({ name: 'Other' })] }, headers)
  assert.equal(other.body.type, '/docs/errors#idempotency_key_reused')
  const another = await service.another()
  // The format of an earlier version.
  const kept = JSON.stringify({ status: 200, body: '{"code":0,"data":[],"meta":{"kept":"before"}}' })
  await db.query("UPDATE idempotency SET told = $1 WHERE key LIKE '%batch-1'", [kept])
  const old = await batch('product', body, headers)
  assert.deepEqual([old.status, old.body.meta.kept], [200, 'before'], old.text)
  const key = { 'idempotency-key': 'batch-2' }
  const race = await Promise.all(
    [service, another, service, another].map(one => one.call('POST', `${v1}/product/batch`, body, key)),
  )
  assert.equal(await count('product'), before + 1, race.map(({ text }) => text).join('\n'))
})

test('a repeated batch is answered again, or goes on, once the role hides what it names', async () => {
  const unique = await call('PATCH', `${v1}/field/203`, { is_unique: true })
  assert.equal(unique.status, 200, unique.text)
  const scopes = ['product:read', 'product:write']
  const role = await service.made('role', { name: 'Batches', scopes })
  const user = await service.made('user', { name: 'Ba', email: 'ba@example.com', role: role.id })
  const { token } = await service.made('token', { name: 'Ba', user: user.id, scopes })
  const hide = (...hidden_fields: string[]) => call('PATCH', `${v1}/role/${role.id}`, { hidden_fields })
  for (const atomic of [true, false]) {
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': `batch-hidden-${atomic}` }
    const by = (value: string) => ({ field: 'product_code', value: `${value}-${atomic}` })
    // Steps begin with 8 operations.
    const operations = [
      ...Array.from({ length: 9 }, (_, n) => ({ op: 'upsert', by: by(`B${n}`), data: { name: 'B' } })),
      { op: 'update', by: by('B1'), data: { name: 'C' } },
      { op: 'delete', by: by('B2') },
      create({ name: 'Last' }),
    ]
    const first = await batch('product', { operations, atomic }, headers)
    assert.deepEqual(first.body.meta, { succeeded: 12, failed: 0 }, first.text)
    await hide('product.product_code')
    const again = await batch('product', { operations, atomic }, headers)
    assert.equal(again.headers.get('idempotency-replayed'), 'true', again.text)
    assert.deepEqual(again.body.meta, first.body.meta)
    assert.doesNotMatch(again.text, /product_code/)
    const other = await batch('product', { operations, atomic }, { ...headers, 'idempotency-key': 'other' })
    assert.deepEqual([other.status, problemsOf(other)[0]], [422, '/operations/0/by invalid_value'])
    if (!atomic) {
      // Simulates a service that was killed after the first step.
      await db.query("DELETE FROM idempotency WHERE account_id = 1 AND key LIKE '%batch-hidden-false %'")
      const rest = await batch('product', { operations, atomic }, headers)
      const statuses = rest.body.data.map(({ status }: { status: number }) => status)
      assert.deepEqual(statuses, [...Array(8).fill(201), 400, 400, 400, 201], rest.text)
    }
    await hide()
  }
  await call('PATCH', `${v1}/field/203`, { is_unique: false })
})

test('a dry run answers the same and saves nothing', async () => {
  const operations = [create({ name: 'Tried' }), create({}), { op: 'delete', id: 999_999 }]
  const before = [await count('product'), await count('event'), await count('idempotency')]
  const reply = await batch('product', { operations }, { 'idempotency-key': 'dry' }, '?dry_run=1')
  assert.deepEqual(reply.body.meta, { succeeded: 1, failed: 2, dryRun: true })
  assert.deepEqual([reply.body.data[0].status, reply.body.data[0].data.id], [201, null])
  assert.deepEqual([await count('product'), await count('event'), await count('idempotency')], before)
})

test('a dry run shows no id of what an operation before makes', async () => {
  await call('PATCH', `${v1}/field/203`, { is_unique: true })
  const by = { field: 'product_code', value: 'DRY-1' }
  const operations = [
    create({ name: 'A', product_code: 'DRY-1' }),
    { op: 'update', by, data: { name: 'B' } },
    { op: 'delete', by },
  ]
  const { body } = await batch('product', { operations }, {}, '?dry_run=1')
  assert.deepEqual(
    body.data.map(({ status, data }: { status: number; data: { id: number | null } }) => [status, data.id]),
    [
      [201, null],
      [200, null],
      [200, null],
    ],
  )
  await call('PATCH', `${v1}/field/203`, { is_unique: false })
  const company = { name: 'Only tried Ltd.' }
  const deals = [create(dealBody(known, { company })), create(dealBody(known, { company: company.name }))]
  const both = await batch('deal', { operations: deals }, {}, '?dry_run=1')
  assert.deepEqual(
    both.body.data.map(({ data }: { data: { company: number | null } }) => data.company),
    [null, null],
    both.text,
  )
})

test('what is no batch is refused whole, with every problem', async () => {
  const before = await count('product')
  const wrong: [Json, string[]][] = [
    [[], [' wrong_type']],
    [{}, ['/operations required']],
    [{ operations: [] }, ['/operations out_of_range']],
    [{ operations: Array(501).fill(create({ name: 'x' })) }, ['/operations out_of_range']],
    [
      { operations: [create({ name: 'x' })], atomic: 'yes', more: 1 },
      ['/atomic wrong_type', '/more unknown_field'],
    ],
    [
      {
        operations: [
          create({ name: 'x' }),
          { op: 'merge' },
          7,
          { op: 'create', id: 1, data: {} },
          { op: 'update', data: {} },
          { op: 'update', id: '1', data: {} },
          { op: 'upsert', id: 1, data: {} },
          { op: 'restore', by: { field: 'name', value: 'x' } },
          { op: 'update', id: 1, by: { field: 'product_code', value: 'x' }, data: {} },
          { op: 'delete', id: 1, data: {} },
          { op: 'update', by: { field: 'name', value: 'x' }, data: {} },
          { op: 'update', id: 1, if_match: 'x', data: {}, nothing: 1 },
        ],
      },
      [
        '/operations/1/op invalid_value',
        '/operations/10/by invalid_value',
        '/operations/11/if_match wrong_type',
        '/operations/11/nothing unknown_field',
        '/operations/2 wrong_type',
        '/operations/3/id contradiction',
        '/operations/4/id required',
        '/operations/5/id wrong_type',
        '/operations/6/id contradiction',
        '/operations/7/by contradiction',
        '/operations/7/by invalid_value',
        '/operations/8/by invalid_value',
        '/operations/8/id required',
        '/operations/9/data contradiction',
      ],
    ],
  ]
  for (const [body, problems] of wrong) {
    const reply = await batch('product', body)
    assert.equal(reply.status, 422, reply.text)
    assert.deepEqual(problemsOf(reply), problems)
  }
  assert.equal(await count('product'), before)
  const parameter = await batch('product', { operations: [create({ name: 'x' })] }, {}, '?expand=owner')
  assert.equal(parameter.body.type, '/docs/errors#unknown_parameter')
  const conditional = await batch('product', { operations: [create({ name: 'x' })] }, { 'if-match': '"1"' })
  assert.equal(conditional.status, 412)
})

test('a unique number beyond a double identifies its record', async () => {
  const field = { source: 'deal', field_name: 'Long number', type: 'SINGLE_NUMBER', is_unique: true }
  assert.equal((await call('POST', `${v1}/field`, field)).status, 201)
  const [number, next] = ['9007199254740993', '9007199254740992']
  const upsert = (value: string, title: string) =>
    `{"op":"upsert","by":{"field":"cf_long_number","value":${value}},"data":${JSON.stringify(dealBody(known, { title }))}}`
  const operations = [
    upsert(number, 'A'),
    upsert(next, 'B'),
    upsert(`"${number}"`, 'C'),
    upsert(`${number}.0`, 'D'),
  ]
  const reply = await call('POST', `${v1}/deal/batch`, `{"operations":[${operations.join()}]}`)
  assert.equal(reply.status, 200, reply.text)
  const told = reply.body.data.map((one: { status: number }) => one.status)
  assert.deepEqual(told, [201, 201, 200, 200], reply.text)
  const read = await get(`${v1}/deal/by/cf_long_number/${number}`)
  assert.deepEqual([read.body.data.title, read.text.includes(number)], ['D', true])
})

test('an answer lists no more problems than one of a single request', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`x${index}`, 1]))
  const reply = await batch('product', { operations: Array(400).fill(create(unknown)) })
  assert.equal(reply.body.meta.failed, 400)
  const listed = reply.body.data.flatMap(({ errors }: { errors: Json[] }) => errors)
  assert.equal(listed.length, 500)
  assert.ok(reply.text.length < 1_000_000)
})

test('records made within others, and copies of products, are written as single requests write them', async () => {
  const product = (await call('POST', `${v1}/product`, { name: 'Line' })).body.data.id
  const lines = { currency: 'EUR', products: [{ product, quantity: 2, unit_price: 10 }] }
  const reply = await batch('deal', {
    operations: [
      create(dealBody(known, { title: 'With lines', deal_value: lines })),
      create({ ...dealBody(known), primary_contact: { last_name: 'Nested' } }),
      create(dealBody(known, { title: 'Plain', company: { name: 'New Ltd', find_by: 'name' } })),
      create(dealBody(known, { title: 'Same', company: { name: 'New Ltd', find_by: 'name' } })),
    ],
  })
  assert.equal(reply.body.meta.failed, 0, reply.text)
  const [withLines, nested, plain, same] = reply.body.data
  assert.equal(withLines.data.deal_value.value, 20)
  assert.equal(nested.meta.created.length, 1)
  assert.equal(plain.data.company, same.data.company)
})

test('resources that an account is made of have no batches', async () => {
  for (const resource of ['pipeline', 'role', 'currency', 'token', 'webhook'])
    assert.ok([404, 405].includes((await batch(resource, { operations: [] })).status), resource)
})

/** Each with a contact and a company of its own: the slowest operations. */
const nested = (count: number, name: string): Json[] =>
  Array.from({ length: count }, (_, index) => ({
    op: 'create',
    data: dealBody(known, {
      title: `${name} ${index}`,
      primary_contact: { last_name: `${name} ${index}` },
      company: { name: `${name} ${index}` },
    }),
  }))
const titled = async (name: string) =>
  (await get(`${v1}/deal/view/list?filter=title:like(${name})&pageSize=1&count=exact`)).body

test('others have their turn between the steps of a large batch', async () => {
  let isOver = false
  const whole = batch('deal', { operations: nested(300, 'Step') }).finally(() => {
    isOver = true
  })
  let lists = 0
  for (; !isOver; lists++) await get(`${v1}/deal/view/list?pageSize=1`)
  assert.deepEqual((await whole).body.meta, { succeeded: 300, failed: 0 })
  assert.ok(lists >= 10, `${lists} lists meanwhile`)
})

// On a server, other requests don't wait.
const isServer = process.env.TEST_ENGINE === 'postgres'
test('between two atomic batches others have as much time as these took', { skip: isServer }, async () => {
  let batches = 0
  const batching = (async () => {
    for (; batches < 6; batches++)
      await batch('deal', { operations: nested(60, `Whole ${batches}`), atomic: true })
  })()
  let lists = 0
  for (; batches < 6; lists++) await get(`${v1}/deal/view/list?pageSize=1`)
  await batching
  // Otherwise there is about one list for each batch.
  assert.ok(lists > 30, `${lists} lists beside ${batches} batches`)
})

test('a batch that was stopped in the middle goes on where it was, with its key', async () => {
  const headers = { 'idempotency-key': 'batch-stopped' }
  const operations = [{ op: 'create', data: {} }, ...nested(60, 'Stopped'), { op: 'create', data: {} }]
  const first = await batch('deal', { operations }, headers)
  assert.deepEqual(first.body.meta, { succeeded: 60, failed: 2 })
  const keys = await db.query(`SELECT key FROM idempotency
    WHERE account_id = 1 AND key LIKE '%batch-stopped%' ORDER BY created_at`)
  assert.ok(keys.length > 2, `${keys.length} steps`)
  // Simulates a service that was killed after the second step.
  const later = keys.slice(2).map(({ key }) => key)
  await db.query(`DELETE FROM idempotency WHERE account_id = 1 AND key = ANY($1::text[])`, [
    `{${later.map(key => JSON.stringify(key)).join()}}`,
  ])
  const kept = await db.query(`SELECT told FROM idempotency
    WHERE account_id = 1 AND key LIKE '%batch-stopped%' ORDER BY created_at`)
  const told = kept.flatMap(row => JSON.parse(row.told!).told)
  const lost = first.body.data.slice(told.length)
  for (const { data } of lost.filter((one: { data?: Json }) => one.data))
    await call('DELETE', `${v1}/deal/${data.id}`)
  const again = await batch('deal', { operations }, headers)
  assert.deepEqual(again.body.meta, { succeeded: 60, failed: 2 })
  assert.deepEqual(again.body.data.slice(0, told.length), first.body.data.slice(0, told.length))
  assert.equal(again.headers.get('idempotency-replayed'), null)
  assert.equal((await titled('Stopped')).meta.total, 60)
  const replayed = await batch('deal', { operations }, headers)
  assert.equal(replayed.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(replayed.body, again.body)
  const other = await batch('deal', { operations: nested(1, 'Other') }, headers)
  assert.equal(other.body.type, '/docs/errors#idempotency_key_reused')
})

test('what was refused at the end is refused again with its key, though it could be carried out by then', async () => {
  const headers = { 'idempotency-key': 'batch-refused-last' }
  const { body } = await batch('deal', { operations: nested(1, 'Before the last') })
  const { id } = body.data[0].data
  await call('DELETE', `${v1}/deal/${id}`)
  // Steps begin with 8 operations: the last step has only the refused one.
  const operations = [...nested(8, 'First step'), { op: 'update', id, data: { title: 'Last' } }]
  const first = await batch('deal', { operations }, headers)
  assert.deepEqual(first.body.meta, { succeeded: 8, failed: 1 })
  assert.equal((await call('POST', `${v1}/deal/${id}/restore`)).status, 200)
  const again = await batch('deal', { operations }, headers)
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(again.body, first.body)
})

test('a refusal in the middle of a batch says with its key what it says without', async () => {
  const { body } = await batch('product', { operations: [create({ name: 'Read once' })] })
  const { id } = body.data[0].data
  await call('PATCH', `${v1}/product/${id}`, { name: 'Changed since' })
  const stale = { op: 'update', id, if_match: 1, data: { name: 'Stale' } }
  const operations = [create({ name: 'Saved' }), ...Array.from({ length: 300 }, () => stale)]
  const { body: told } = await batch('product', { operations }, { 'idempotency-key': 'batch-told' })
  assert.deepEqual(told.meta, { succeeded: 1, failed: 300 })
  for (const { status, errors } of told.data.slice(1)) {
    assert.equal(status, 412)
    assert.deepEqual([errors[0].current, errors[0].sent], ['Changed since', 'Stale'])
  }
})

test('a change of configuration in the middle of a batch refuses none of it', async () => {
  const whole = batch('deal', { operations: nested(200, 'Changing') })
  await eventually(async () => (await titled('Changing')).meta.total > 0, 'a first step', 0)
  const made = await call('POST', `${v1}/field`, {
    ...{ source: 'deal', field_name: 'Made meanwhile', type: 'SINGLE_STRING' },
  })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual((await whole).body.meta, { succeeded: 200, failed: 0 })
  assert.equal((await titled('Changing')).meta.total, 200)
})

test('once a token is revoked, the rest of a batch is refused one by one', async () => {
  // A batch may end before its token is revoked. Only one that is interrupted shows how the rest is refused.
  let isInterrupted = false
  for (let round = 1; !isInterrupted; round++) {
    assert.ok(round <= 20, 'each batch ended before its token was revoked')
    const name = `Revoked${round}x`
    const token = await service.made('token', {
      name,
      scopes: ['deal:write', 'contact:write', 'company:write'],
    })
    const headers = { authorization: `Bearer ${token.token}` }
    const whole = batch('deal', { operations: nested(400, name) }, headers)
    await eventually(async () => (await titled(name)).meta.total > 0, 'a first step', 0)
    assert.equal((await call('DELETE', `${v1}/token/${token.id}`)).status, 200)
    const { data, meta } = (await whole).body
    assert.ok(meta.succeeded > 0, JSON.stringify(meta))
    assert.equal((await titled(name)).meta.total, meta.succeeded)
    isInterrupted = meta.failed > 0
    if (isInterrupted) assert.equal(data.at(-1).status, 401)
  }
})
