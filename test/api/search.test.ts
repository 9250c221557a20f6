/** Search (D86): its results, their order, and its refusals. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { newSecret } from '../../src/accounts/token.ts'
import type { Json } from '../../src/json.ts'
import { foundMax, newestMax, searchedTexts } from '../../src/lists/search/statement.ts'
import { resources } from '../../src/resources/resources.ts'
import { compile } from '../../src/sql.ts'
import { makeFindable } from '../support/findable.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const service = await startService()
const { call, db, get, known, made } = service
type Hit = { resource: string; id: number; name: string; detail: string | null }
const search = (q: string, more = '') => get(`${v1}/search?q=${encodeURIComponent(q)}${more}`)
const found = async (q: string, more = ''): Promise<Hit[]> => {
  const reply = await search(q, more)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}
const names = (hits: readonly Hit[]) => hits.map(({ name }) => name)

// biome-ignore lint/suspicious/noExplicitAny: records of any resource
type Any = any

before(() => makeFindable(service))

test('the best comes first: the whole, the beginning, the beginning of words, a part', async () => {
  assert.deepEqual(names(await found('blixen')), [
    'Blixen',
    'Zoë Blixenin',
    'Blixen GmbH',
    'Blixen rollout',
    'Rollout of Blixen',
    'Microblixens',
  ])
  assert.deepEqual(names(await found('ROLLOUT blix', '&resources=deal')), [
    'Rollout of Blixen',
    'Blixen rollout',
  ])
  assert.deepEqual(names(await found('blixen', '&pageSize=2')), ['Blixen', 'Zoë Blixenin'])
  assert.equal((await search('blixen', '&pageSize=2')).body.meta.hasMore, true)
  assert.equal((await search('blixen')).body.meta.hasMore, false)
})

test('e-mails, codes and digits of phones are found, and shown as detail', async () => {
  const zoe = { resource: 'contact', name: 'Zoë Blixenin' }
  const told = async (q: string) => (await found(q)).map(({ id: _id, ...hit }) => hit)
  assert.deepEqual(await told('zoe.z@mail'), [{ ...zoe, detail: 'Zoe.Z@Mail.Example' }])
  for (const q of ['555 12 34', '+1 (555) 1234-0', '15551234', '555-1234', 'zoë 555-1234'])
    assert.deepEqual(await told(q), [{ ...zoe, detail: '+1 (555) 1234-0' }], q)
  assert.deepEqual(await told('080077712'), [{ ...zoe, detail: '0800.777/12' }])
  assert.deepEqual(await told('blix-9'), [{ resource: 'product', name: 'Gateway Z', detail: 'BLIX-900' }])
  assert.deepEqual(await told('9876543'), [
    { resource: 'company', name: 'Blixen GmbH', detail: '+49 30 9876-543' },
  ])
  // A number does not continue in the next one.
  assert.deepEqual(await told('1234008'), [])
})

test('030… and +49 30… are one phone number; extensions are a part of it', async () => {
  const german = ['Abroad', 'Both', 'Within']
  for (const q of ['030 7654321', '0307654321', '(030) 765-4321'])
    assert.deepEqual(names(await found(q)).toSorted(), [...german, 'Far', 'Other'].toSorted(), q)
  for (const q of ['+49 30 7654321', '+49307654321', '0049 30 7654321', '+49 (0)30 7654321'])
    assert.deepEqual(names(await found(q)).toSorted(), german, q)
  for (const q of [
    '+49 40 556677 ext. 5',
    '+49 40 556677 x5',
    '+4940556677-5',
    '040 556677 #5',
    '040556677;ext=5',
  ])
    assert.deepEqual(names(await found(q)).toSorted(), ['Ext', 'Line', 'Pause', 'Short'], q)
  const [kept] = await found('+49 40 556677 ext. 5', '&resources=company')
  assert.ok(
    ['+49 40 556677 ext. 5', '+49 40 556677x5', '040 556677-5', '040 556677,5'].includes(kept!.detail!),
  )
})

test('short words of digits are found apart, although together they may be a number', async () => {
  const apart = { name: 'Apart', phones: [{ phone_type: 1, phone_number: '+33 71 80 64 92' }] }
  const beside = { name: 'Beside', phones: [{ phone_type: 1, phone_number: '+33 71 92 00 00' }] }
  for (const company of [apart, beside]) await made('company', company)
  assert.deepEqual(names(await found('71 92', '&resources=company')), ['Beside', 'Apart'])
})

test('one character of Chinese, Japanese or Korean is a word', async () => {
  assert.deepEqual(names(await found('東')), ['東京支社の更新', 'Renewal 東'])
  assert.deepEqual(names(await found('の')), ['東京支社の更新'])
  assert.deepEqual(names(await found('점')), ['서울 지점'])
})

test('any case and spelling, without accents; % and _ and \\ stand for themselves (D126)', async () => {
  const odd = ['ΑΣ Ödön 100%_sure \\ done']
  for (const q of [
    'ας',
    'ÖDÖN',
    'odon',
    'o\u0308do\u0308n',
    '100%_',
    '%_sure \\',
    'zélèbre'.slice(0, 0) || '0%_s',
  ])
    assert.deepEqual(names(await found(q)), odd, q)
  for (const q of ['zélèbre', 'zelebre', 'ZELÈ', 'ze\u200blebre'])
    assert.deepEqual(names(await found(q)), ['Ze\u0301le\u0300bre'], q)
  for (const q of ['zoe blixenin', 'Zoë blixenin', 'ZO\u00cb blixenin'])
    assert.deepEqual(names(await found(q)), ['Zoë Blixenin'], q)
  assert.deepEqual(names(await found('100__sure')), [])
  assert.deepEqual(names(await found('"; DROP TABLE deal')), [])
})

test('indexed custom texts are found by their beginning', async () => {
  const fields = (await get(`${v1}/field/list?source=deal`)).body.data.fields.flat()
  const { id } = fields.find((field: Any) => field.internal_name === 'cf_custom_text_field')
  const [deal] = await Promise.all([
    made('deal', dealBody(known, { title: 'Plain', cf_custom_text_field: 'Order 66-Alpha' })),
  ])
  assert.deepEqual(await found('order 66'), [])
  assert.equal((await call('PATCH', `${v1}/field/${id}`, { is_indexed: true })).status, 200)
  assert.deepEqual(await found('ORDER 66-a'), [
    { resource: 'deal', id: deal.id, name: 'Plain', detail: 'Order 66-Alpha' },
  ])
  assert.deepEqual(await found('66-alpha'), [])
  assert.equal((await call('PATCH', `${v1}/field/${id}`, { is_indexed: false })).status, 200)
})

test('what is deleted is not found', async () => {
  const { id } = await made('deal', dealBody(known, { title: 'Quagmire' }))
  assert.deepEqual(names(await found('quagmire')), ['Quagmire'])
  await call('DELETE', `${v1}/deal/${id}`)
  assert.deepEqual(await found('quagmire'), [])
})

test('a search is refused with every problem', async () => {
  for (const [query, problems] of [
    ['', ['q required']],
    ['q=a', ['q too_short']],
    ['q=%20a%20', ['q too_short']],
    [`q=${'x'.repeat(201)}`, ['q too_long']],
    [`q=${'x+'.repeat(11)}`, ['q too_many']],
    ['q=ab%00c', ['q invalid_characters']],
    ['q=%CC%81%CC%81', ['q required']],
    ['q=ab&q=cd', ['q contradiction']],
    ['q=ab&resources=deals', ['resources unknown_resource']],
    ['q=ab&resources=user,pipeline', ['resources unknown_resource', 'resources unknown_resource']],
    ['q=a&pageSize=51&resources=,', ['q too_short', 'resources unknown_resource', 'pageSize invalid_value']],
    ['q=ab&page=2', ['page unknown_parameter']],
  ] as const) {
    const { status, body } = await get(`${v1}/search?${query}`)
    assert.equal(status, 400, query)
    assert.deepEqual(
      body.errors.map((problem: Any) => `${problem.parameter} ${problem.code}`),
      problems,
      query,
    )
  }
  for (const q of ['["', '",', '"]', 'example"'])
    assert.deepEqual(
      (await found(q)).filter(({ resource }) => resource !== 'deal'),
      [],
      q,
    )
  for (const q of ['x'.repeat(200), `${'ab '.repeat(9)}ab`, '😀😀', '--', "''"])
    assert.equal((await search(q)).status, 200, q)
})

test('it answers for what the caller may read, sees and is shown (D63 to D65)', async () => {
  const secretOf = async (name: string, body: { [name: string]: Json }) => {
    const role = await made('role', { name, ...body })
    const email = `${name.toLowerCase()}@example.com`
    const user = await made('user', { name, email, role: role.id })
    const token = newSecret('token', 1)
    await createToken(db, { account: 1, user: user.id, name, scopes: ['admin'], token })
    return { authorization: `Bearer ${token}` }
  }
  const blind = await secretOf('Blind', {
    scopes: ['contact:read', 'product:read'],
    visibility: { contact: 'own' },
    hidden_fields: ['product.product_code'],
  })
  const asked = async (q: string, as: Record<string, string>, more = '') =>
    (await call('GET', `${v1}/search?q=${encodeURIComponent(q)}${more}`, undefined, as)).body.data
  assert.deepEqual(await asked('blixen', blind), [])
  assert.deepEqual(await asked('blixen', blind, '&resources=deal'), [])
  assert.deepEqual(await asked('blix-900', blind), [])
  const [gateway] = await asked('gateway z', blind)
  assert.deepEqual([gateway.name, gateway.detail], ['Gateway Z', null])
})

test('common words are looked for among the newest records, and by the beginning of names', async () => {
  const title = `CASE WHEN i = 1 THEN 'Murmur' ELSE 'About murmur ' || i END`
  await db.query(
    `INSERT INTO deal SELECT n.* FROM deal d, generate_series(1, $1::bigint) i,
       jsonb_populate_record(d, jsonb_build_object('id', 1000000 + i, 'title', ${title})) n
     WHERE d.account_id = 1 AND d.id = (SELECT max(id) FROM deal WHERE account_id = 1 AND deleted_at IS NULL)`,
    [String(foundMax + newestMax + 10)],
  )
  const hits = await found('murmur', '&pageSize=50')
  const last = foundMax + newestMax + 10
  assert.deepEqual(names(hits), [
    'Murmur',
    ...Array.from({ length: 49 }, (_, index) => `About murmur ${last - index}`),
  ])
  // Trigram indexes don't contain two letters.
  assert.deepEqual(names(await found('mu', '&pageSize=2')), ['Murmur', `About murmur ${last}`])
})

test('each resource has the index that its search needs', async () => {
  const catalog = await loadCatalog(db, resources, 1)
  for (const [name, index] of [
    ['deal', 'deal_title_trigram'],
    ['contact', 'contact_searched'],
    ['company', 'company_searched'],
    ['product', 'product_searched'],
  ] as const) {
    const { text } = compile(searchedTexts(catalog.resources.get(name)!).indexed)
    await db.query(`CREATE INDEX probe ON ${name} USING gin ((${text.replaceAll('r.', '')}) gin_trgm_ops)`)
    const [row] = await db.query(
      "SELECT pg_get_indexdef('probe'::regclass) AS probe, pg_get_indexdef(to_regclass($1)) AS ours",
      [index],
    )
    assert.equal(row!.ours, row!.probe!.replace('probe', index))
    await db.query('DROP INDEX probe')
  }
})
