/**
 * Administration never ends: not by a deletion, not by one at the same moment, and not by those who have less
 * (D121).
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { createToken } from '../../src/accounts/create.ts'
import { newToken } from '../../src/accounts/token.ts'
import { createDatabase } from '../support/postgres.ts'
import { startService, v1 } from '../support/service.ts'

const url =
  process.env.TEST_ENGINE === 'postgres' ? await createDatabase(process.env.TEST_DATABASE_URL!) : undefined
const { call, db, another } = await startService({ sampleData: false, ...(url && { url }) })
/**
 * Another process on the same database; the embedded one has room for one process only, and gets a second
 * service in it.
 */
const other = url ? await startService({ url }) : await another()
const now = new Date()

type User = { readonly id: number; readonly path: string; readonly as: { authorization: string } }
let names = 0

/**
 * A user with a token that may do this; made in the database, so that who administers is for the tests to
 * say.
 */
async function user(...scopes: string[]): Promise<User> {
  const [row] = await db.query(
    `WITH counted AS (UPDATE counter SET last_id = last_id + 1 WHERE account_id = 1 RETURNING last_id)
     INSERT INTO "user" (account_id, id, name, email, document, created_at, updated_at)
     SELECT 1, last_id, $1::text, $1::text || '@example.com', '"name":"x"', now(), now() FROM counted RETURNING id`,
    [`user${++names}`],
  )
  const id = Number(row!.id)
  return { id, path: `${v1}/user/${id}`, as: { authorization: `Bearer ${await tokenOf(id, scopes)}` } }
}

async function tokenOf(id: number, scopes: string[]): Promise<string> {
  const token = newToken(1, randomBytes)
  const write = (_account: string, text: string, params: readonly (string | null)[]) => db.query(text, params)
  await createToken(
    { query: db.query, write },
    { account: 1, user: id, name: `of ${id}`, scopes, token, now },
  )
  return token
}

const isLive = async ({ id }: User) =>
  (
    await db.query('SELECT 1 FROM "user" WHERE account_id = 1 AND id = $1::bigint AND deleted_at IS NULL', [
      String(id),
    ])
  ).length > 0
const events = async () => (await db.query('SELECT count(*) AS n FROM event WHERE account_id = 1'))[0]!.n

/** Nobody administers but those that a test makes. */
beforeEach(() =>
  db.query("UPDATE token SET revoked_at = now() WHERE account_id = 1 AND 'admin' = ANY (scopes)"),
)

test('the only one with a valid admin token is not deleted; what expired, was revoked or is of a deleted user does not count', async () => {
  const [seller, last] = [await user('user:write'), await user('admin')]
  const [expired, revoked, gone] = [await user('admin'), await user('admin'), await user('admin')]
  await db.query("UPDATE token SET expires_at = now() - interval '1 second' WHERE user_id = $1::bigint", [
    String(expired.id),
  ])
  await db.query('UPDATE token SET revoked_at = now() WHERE user_id = $1::bigint', [String(revoked.id)])
  await db.query('UPDATE "user" SET deleted_at = now() WHERE id = $1::bigint', [String(gone.id)])
  const before = await events()
  const reply = await call('DELETE', last.path, undefined, seller.as)
  assert.deepEqual([reply.status, reply.body.code], [409, 5006], reply.text)
  assert.equal(await events(), before)
  assert.equal((await call('GET', last.path, undefined, last.as)).status, 200)
  // The others administer nothing and may go.
  for (const one of [expired, revoked])
    assert.equal((await call('DELETE', one.path, undefined, seller.as)).status, 200)
  // With a second administrator the first may go, and then the second is the last.
  const next = await user('admin')
  assert.equal((await call('DELETE', last.path, undefined, next.as)).status, 200)
  assert.equal((await call('DELETE', next.path, undefined, seller.as)).status, 409)
})

test('who administers is deleted only by who administers too', async () => {
  const [seller, first, second] = [
    await user('user:write', 'field:write'),
    await user('admin'),
    await user('admin'),
  ]
  const refused = await call('DELETE', first.path, undefined, seller.as)
  assert.deepEqual([refused.status, refused.body.code], [403, 3002], refused.text)
  assert.ok(await isLive(first))
  assert.equal((await call('DELETE', first.path, undefined, second.as)).status, 200)
  const colleague = await user('deal:read')
  assert.equal((await call('DELETE', colleague.path, undefined, seller.as)).status, 200)
})

test('where nobody administers, deletions go on as before', async () => {
  const [seller, colleague] = [await user('user:write'), await user('deal:read')]
  assert.equal((await call('DELETE', colleague.path, undefined, seller.as)).status, 200)
})

for (const scope of ['admin', 'user:write']) {
  test(`of two with ${scope} who delete each other at the same moment, over two processes, one stays`, async () => {
    for (let round = 0; round < 20; round++) {
      const [one, two] = [await user(scope), await user(scope)]
      // Both are known to their process already: what is judged is the statement.
      await Promise.all([
        call('GET', two.path, undefined, one.as),
        other.call('GET', one.path, undefined, two.as),
      ])
      const replies = await Promise.all([
        call('DELETE', two.path, undefined, one.as),
        other.call('DELETE', one.path, undefined, two.as),
      ])
      const statuses = replies.map(reply => reply.status).sort()
      assert.deepEqual(
        statuses,
        [200, scope === 'admin' ? 409 : 401],
        replies.map(reply => reply.text).join(),
      )
      assert.notEqual(await isLive(one), await isLive(two))
      await db.query("UPDATE token SET revoked_at = now() WHERE account_id = 1 AND 'admin' = ANY (scopes)")
    }
  })
}
