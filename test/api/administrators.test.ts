/**
 * An account always has an administrator: no deletion, role change or deactivation removes the last one, not
 * two concurrent ones, and not callers with fewer rights (D62, D121).
 */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { newSecret } from '../../src/accounts/token.ts'
import type { Json } from '../../src/json.ts'
import { resources } from '../../src/resources/resources.ts'
import { purgeFields } from '../../src/work/background/purge.ts'
import { type Reply, startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const { aSecondGoesBy, call, db, another } = await startService({ sampleData: false })
const other = await another()

type User = { readonly id: number; readonly path: string; readonly as: { authorization: string } }
let names = 0

/** A user with a role, and a token with all scopes of the role. */
async function user(role: string): Promise<User> {
  const name = `user${++names}`
  const reply = await call('POST', `${v1}/user`, { name, email: `${name}@example.com`, role })
  assert.equal(reply.status, 201, reply.text)
  const { id } = reply.body.data
  const token = newSecret('token', 1)
  await createToken(db, { account: 1, user: id, name, scopes: ['admin'], token })
  return { id, path: `${v1}/user/${id}`, as: { authorization: `Bearer ${token}` } }
}

const read = async ({ id }: User) =>
  (
    await db.query(
      'SELECT role::text, is_active::text, deleted_at::text FROM "user" WHERE account_id = 1 AND id = $1::bigint',
      [String(id)],
    )
  )[0]!
const events = async () => (await db.query('SELECT count(*) AS n FROM event WHERE account_id = 1'))[0]!.n
const code = (reply: Reply) => [reply.status, reply.body?.code]

/** The only administrators are the owner, whose token `call` uses, and those that a test makes. */
const setOwner = (role: number) =>
  db.query('UPDATE "user" SET role = $1::bigint WHERE account_id = 1 AND id = 1', [String(role)])
beforeEach(async () => {
  await setOwner(1)
  await db.query('UPDATE "user" SET role = 3 WHERE account_id = 1 AND id <> 1')
  aSecondGoesBy()
})
const manager = await call('POST', `${v1}/role`, {
  name: 'Personnel',
  scopes: ['user:read', 'user:write', 'role:write', 'role:read', 'deal:read'],
})
assert.equal(manager.status, 201, manager.text)
const personnel = manager.body.data.id

test('the last who administers is not deleted, demoted or taken out of use; who is out of use does not count', async () => {
  const [second, idle] = [await user('Administrator'), await user('Administrator')]
  assert.equal((await call('PATCH', idle.path, { is_active: 'No' })).status, 200)
  for (const [method, body] of [
    ['DELETE'],
    ['PATCH', { role: 'Member' }],
    ['PATCH', { is_active: 'No' }],
    ['PATCH', { role: 'Member', is_active: 'No', name: 'x' }],
  ] as const) {
    await setOwner(3)
    const before = await events()
    const reply = await call(method, second.path, body, second.as)
    // No user can delete themselves.
    assert.deepEqual(code(reply), method === 'DELETE' ? [409, 5004] : [409, 5006], reply.text)
    assert.equal(await events(), before)
    await setOwner(1)
    const done = await call(method, second.path, body)
    assert.equal(done.status, 200, done.text)
    if (method === 'DELETE') assert.equal((await call('POST', `${second.path}/restore`)).status, 200)
    await call('PATCH', second.path, { role: 'Administrator', is_active: 'Yes' })
    const token = newSecret('token', 1)
    await createToken(db, { account: 1, user: second.id, name: 'again', scopes: ['admin'], token })
    Object.assign(second.as, { authorization: `Bearer ${token}` })
  }
  await setOwner(3)
  const allowed = await call('PATCH', second.path, { name: 'Still here' }, second.as)
  assert.equal(allowed.status, 200, allowed.text)
})

test('the last role that administers keeps its scope', async () => {
  const made = await call('POST', `${v1}/role`, { name: 'Own administrators', scopes: ['admin'] })
  assert.equal(made.status, 201, made.text)
  const path = `${v1}/role/${made.body.data.id}`
  const boss = await user('Own administrators')
  await setOwner(3)
  const refused = await call('PATCH', path, { scopes: ['deal:read'] }, boss.as)
  assert.deepEqual(code(refused), [409, 5006], refused.text)
  await setOwner(1)
  assert.equal((await call('PATCH', path, { scopes: ['deal:read'] })).status, 200)
  const fixed = await call('PATCH', `${v1}/role/1`, { scopes: ['deal:read'] })
  assert.deepEqual([fixed.status, fixed.body.errors[0].code], [422, 'immutable'], fixed.text)
  assert.equal((await call('PATCH', `${v1}/role/1`, { name: 'Boss' })).status, 200)
  assert.equal((await call('PATCH', `${v1}/role/1`, { name: 'Administrator' })).status, 200)
})

test('a role that comes with the account or is in use is not deleted', async () => {
  for (const id of [1, 2, 3, 4]) assert.equal((await call('DELETE', `${v1}/role/${id}`)).status, 409)
  const made = await call('POST', `${v1}/role`, { name: 'In use', scopes: ['deal:read'] })
  const path = `${v1}/role/${made.body.data.id}`
  const member = await user('In use')
  const reply = await call('DELETE', path)
  assert.deepEqual([...code(reply), reply.body.errors[0].message], [409, 5004, '1 user points to it.'])
  assert.equal((await call('PATCH', member.path, { role: 'Member' })).status, 200)
  assert.equal((await call('DELETE', path)).status, 200)
})

test('who administers is changed only by who administers too; nobody gives more than they have', async () => {
  const [clerk, boss, colleague] = [
    await user('Personnel'),
    await user('Administrator'),
    await user('Member'),
  ]
  const attempts: [method: string, path: string, body?: Json][] = [
    ['DELETE', boss.path],
    ['PATCH', boss.path, { email: 'mine@example.com' }],
    ['PATCH', clerk.path, { role: 'Administrator' }],
    ['PATCH', clerk.path, { role: 'Manager' }],
    ['PATCH', clerk.path, { territories: [] }],
    ['POST', `${v1}/user`, { name: 'x', email: 'x@example.com', role: 'Administrator' }],
    ['POST', `${v1}/role`, { name: 'More', scopes: ['deal:write'] }],
    ['PATCH', `${v1}/role/${personnel}`, { scopes: ['admin'] }],
  ]
  for (const [method, path, body] of attempts) {
    const before = await events()
    const reply = await call(method, path, body, clerk.as)
    const isNothing = JSON.stringify(body) === '{"territories":[]}'
    assert.deepEqual(code(reply)[0], isNothing ? 200 : 403, `${method} ${path} ${reply.text}`)
    assert.equal(await events(), before)
  }
  const made = await call('POST', `${v1}/role`, { name: 'Less', scopes: ['deal:read'] }, clerk.as)
  assert.equal(made.status, 201, made.text)
  const less = await call('PATCH', colleague.path, { role: 'Less' }, clerk.as)
  assert.equal(less.status, 200, less.text)
  // Control of the e-mail gives sign-in and access to everything of that user.
  const email = (of: string) => ({ email: `${of}-${clerk.id}@example.com` })
  assert.equal((await call('PATCH', colleague.path, email('theirs'), clerk.as)).status, 403)
  assert.equal((await call('PATCH', clerk.path, email('own'), clerk.as)).status, 200)
  assert.equal((await call('DELETE', colleague.path, undefined, clerk.as)).status, 200)
  assert.equal((await call('DELETE', boss.path)).status, 200)
})

test('who does not see a field makes and renames roles that do not see it either', async () => {
  const field = await call('POST', `${v1}/field`, { source: 'deal', field_name: 'Gone', type: 'TEXT' })
  const hidden_fields = ['deal.payment_status', 'deal.cf_gone']
  const scopes = ['role:read', 'role:write', 'deal:read']
  const own = await call('POST', `${v1}/role`, { name: 'Human resources', scopes, hidden_fields })
  assert.equal(own.status, 201, own.text)
  const { as } = await user('Human resources')
  const path = `${v1}/role/${own.body.data.id}`
  const make = (name: string, more: object) => call('POST', `${v1}/role`, { name, scopes, ...more }, as)
  assert.equal((await make('Sees more', {})).status, 403)
  const like = await make('Sees the same', { hidden_fields })
  assert.deepEqual([like.status, like.body.data?.hidden_fields], [201, hidden_fields], like.text)
  assert.equal((await make('Sees less', { hidden_fields: [...hidden_fields, 'deal.no'] })).status, 422)
  // Hidden fields of a role may be deleted since.
  assert.equal((await call('DELETE', `${v1}/field/${field.body.data.id}`)).status, 200)
  await purgeFields(db, await loadCatalog(db, resources, 1), new Date(Date.now() + 60_000))
  const renamed = await call('PATCH', path, { name: 'HR' }, as)
  assert.equal(renamed.status, 200, renamed.text)
})

/** A token of a user with fewer scopes than their role. */
async function narrow({ id }: User, scopes: string[]) {
  const token = newSecret('token', 1)
  const made = await createToken(db, { account: 1, user: id, name: 'narrow', scopes, token })
  return { id: made, as: { authorization: `Bearer ${token}` } }
}

test('a token that has less than its user gives no more than it has itself', async () => {
  const [boss, colleague, member] = [
    await user('Administrator'),
    await user('Manager'),
    await user('Read only'),
  ]
  const people = await narrow(boss, ['user:read', 'user:write', 'role:read', 'role:write'])
  const readOnly = `${v1}/role/4`
  const attempts: [method: string, path: string, body: Json][] = [
    ['PATCH', member.path, { role: 1 }],
    ['PATCH', member.path, { role: 2 }],
    ['PATCH', colleague.path, { email: 'mine@example.com' }],
    ['PATCH', boss.path, { name: 'Other' }],
    ['POST', `${v1}/user`, { name: 'x', email: 'x@example.com', role: 1 }],
    ['POST', `${v1}/user`, { name: 'x', email: 'x@example.com', role: 2 }],
    ['POST', `${v1}/role`, { name: 'More', scopes: ['admin'] }],
    ['POST', `${v1}/role`, { name: 'More', scopes: ['deal:read'] }],
    ['PATCH', readOnly, { scopes: ['admin'] }],
    ['PATCH', readOnly, { name: 'Reading' }],
  ]
  for (const [method, path, body] of attempts) {
    const before = await events()
    assert.equal((await call(method, path, body, people.as)).status, 403, `${method} ${path}`)
    assert.equal(await events(), before)
  }
  const made = await call('POST', `${v1}/role`, { name: 'Personnel 2', scopes: ['user:read'] }, people.as)
  assert.equal(made.status, 201, made.text)
  const given = await call('PATCH', member.path, { role: made.body.data.id }, people.as)
  assert.equal(given.status, 200, given.text)
  // Removing a right does not require having it: a name, or being active.
  assert.equal((await call('PATCH', colleague.path, { name: 'Other' }, people.as)).status, 200)
  assert.equal((await call('PATCH', colleague.path, { is_active: 'No' }, people.as)).status, 200)
})

test('a token that does not administer has the own tokens and webhooks of its user, and of those no more', async () => {
  const [boss, colleague] = [await user('Administrator'), await user('Manager')]
  const scopes = ['token:read', 'token:write', 'webhook:read', 'webhook:write', 'deal:read', 'event:read']
  const own = await narrow(boss, scopes)
  const [wide, same, theirs] = [
    await narrow(boss, ['admin']),
    await narrow(boss, scopes),
    await narrow(colleague, ['deal:read']),
  ]
  const url = 'http://127.0.0.1:9/'
  const hook = await call('POST', `${v1}/webhook`, { url, events: ['deal.*'] }, colleague.as)
  assert.equal(hook.status, 201, hook.text)
  const token = (id: number) => `${v1}/token/${id}`
  for (const [method, path, body, expected] of [
    ['GET', token(theirs.id), undefined, 404],
    ['POST', `${token(theirs.id)}/rotate`, {}, 404],
    ['DELETE', token(theirs.id), undefined, 404],
    ['GET', `${v1}/webhook/${hook.body.data.id}`, undefined, 404],
    ['PATCH', `${v1}/webhook/${hook.body.data.id}`, { url: `${url}stolen` }, 404],
    ['POST', `${v1}/webhook/${hook.body.data.id}/rotate`, {}, 404],
    ['POST', `${token(wide.id)}/rotate`, {}, 403],
    ['PATCH', token(wide.id), { expires_at: null, name: 'Mine' }, 403],
    ['PATCH', token(same.id), { name: 'Mine' }, 200],
    // Revoking is no granting.
    ['DELETE', token(wide.id), undefined, 200],
  ] as const) {
    const reply = await call(method, path, body, own.as)
    assert.equal(reply.status, expected, `${method} ${path} ${reply.text}`)
  }
  const listed = await call('GET', `${v1}/token/view/list?pageSize=500`, undefined, own.as)
  const users = new Set(listed.body.data.map(({ user }: { user: number }) => user))
  assert.deepEqual([...users], [boss.id], listed.text)
  // The feed hides the others' tokens, too, except from administrators.
  const told = (as: object) => call('GET', `${v1}/event?resource=token&limit=1000`, undefined, as as never)
  const feed = await told(own.as)
  const ofOthers = (feed.body.data ?? []).filter(({ id }: { id: number }) => id === theirs.id)
  assert.deepEqual(ofOthers, [], feed.text)
  // The same list, requested often by both: each gets their own.
  for (let time = 0; time < 4; time++)
    for (const [as, sees] of [
      [own.as, false],
      [boss.as, true],
    ] as const) {
      const { body } = await call('GET', `${v1}/token/view/list?pageSize=400`, undefined, as)
      assert.equal(
        body.data.some(({ id }: { id: number }) => id === theirs.id),
        sees,
      )
    }
})

const endings: { [verb: string]: (one: User) => [method: string, path: string, body: Json | undefined] } = {
  delete: (one: User) => ['DELETE', one.path, undefined],
  demote: (one: User) => ['PATCH', one.path, { role: 'Member' }],
  'end the use of': (one: User) => ['PATCH', one.path, { is_active: 'No' }],
}
for (const [name, ending] of Object.entries(endings)) {
  test(`of two administrators who ${name} each other at the same moment, over two processes, one stays`, async () => {
    await setOwner(3)
    for (let round = 0; round < 12; round++) {
      await setOwner(1)
      const [one, two] = [await user('Administrator'), await user('Administrator')]
      // Their process has cached both already: this tests the statement.
      await Promise.all([
        call('GET', two.path, undefined, one.as),
        other.call('GET', one.path, undefined, two.as),
      ])
      await setOwner(3)
      const replies = await Promise.all([call(...ending(two), one.as), other.call(...ending(one), two.as)])
      const statuses = replies.map(reply => reply.status).sort()
      assert.deepEqual(statuses, [200, 409], replies.map(reply => reply.text).join())
      const left = (await Promise.all([one, two].map(read))).filter(
        row => row.role === '1' && row.is_active === '1' && row.deleted_at === null,
      )
      assert.equal(left.length, 1)
      await db.query('UPDATE "user" SET role = 3 WHERE account_id = 1 AND id <> 1')
    }
  })
}
