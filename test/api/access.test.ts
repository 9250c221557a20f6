/**
 * Every route of the table, requested by every kind of caller (D62, D65): without a token, with one that is
 * unknown, expired, revoked or lacks the scope, by each role, by a deactivated user, and from another
 * account. A new route that no row expects fails.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/create.ts'
import { newSecret } from '../../src/accounts/token.ts'
import { routes } from '../../src/http/routes.ts'
import type { Json } from '../../src/json.ts'
import { byQueries } from '../support/by-queries.ts'
import { startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const { call, db, made } = await startService()
const tx = byQueries(db)
let names = 0
/** The secret of a new token of a new user with a role. */
async function secretOf(role: string, scopes: string[] = ['admin'], more: { [name: string]: Json } = {}) {
  const name = `Asker ${++names}`
  const user = await made('user', { name, email: `asker${names}@example.com`, role })
  const token = await made('token', { name, user: user.id, scopes, ...more })
  return { user, token, secret: token.token as string }
}

const [expired, revoked, unscoped, idle] = [
  await secretOf('Administrator'),
  await secretOf('Administrator'),
  await secretOf('Administrator', []),
  await secretOf('Administrator'),
]
await call('PATCH', `${v1}/token/${expired.token.id}`, { expires_at: '2020-01-01T00:00:00Z' })
await call('DELETE', `${v1}/token/${revoked.token.id}`)
await call('PATCH', `${v1}/user/${idle.user.id}`, { is_active: 'No' })
const elsewhere = await createAccount(tx, {
  name: 'Other',
  ownerName: 'Them',
  ownerEmail: 'them@example.com',
})
const foreign = newSecret('token', elsewhere.account)
await createToken(db, {
  account: elsewhere.account,
  user: elsewhere.owner,
  name: 'x',
  scopes: ['admin'],
  token: foreign,
})

type Asker = {
  readonly name: string
  readonly secret: string | null
  readonly scopes: readonly string[] | null
}
const scopesOf = async (role: number) =>
  (await call('GET', `${v1}/role/${role}`)).body.data.scopes as string[]
/** All kinds of callers; scopes null: not authenticated. */
const askers: readonly Asker[] = [
  { name: 'no token', secret: null, scopes: null },
  { name: 'unknown', secret: newSecret('token', 1), scopes: null },
  { name: 'not a token', secret: 'nonsense', scopes: null },
  { name: 'expired', secret: expired.secret, scopes: null },
  { name: 'revoked', secret: revoked.secret, scopes: null },
  { name: 'out of use', secret: idle.secret, scopes: null },
  { name: 'without scopes', secret: unscoped.secret, scopes: [] },
  { name: 'read only', secret: (await secretOf('Read only')).secret, scopes: await scopesOf(4) },
  { name: 'member', secret: (await secretOf('Member')).secret, scopes: await scopesOf(3) },
  { name: 'manager', secret: (await secretOf('Manager')).secret, scopes: await scopesOf(2) },
  { name: 'administrator', secret: (await secretOf('Administrator')).secret, scopes: ['admin'] },
  { name: 'other account', secret: foreign, scopes: ['admin'] },
]

const table = routes({ db } as never)
/** No record has this id in any account, so that an admitted caller gets 404, and changes nothing. */
const nobody = 999_999_999

/** Statuses of a route for an admitted caller: no such record, or an incomplete request. */
function admitted(method: string, url: string): readonly number[] {
  if (url.endsWith('/rotate')) return [422]
  // A caller with a token has no session.
  if (method === 'DELETE' && url.endsWith('/session')) return [404]
  if (url.endsWith('/authorization')) return method === 'GET' ? [403] : [422]
  if (url.includes(':id')) return [404]
  if (method === 'POST' && url.endsWith('/view/list')) return [200]
  // A file is no JSON.
  if (url.endsWith('/import')) return [415]
  if (method !== 'GET' && method !== 'DELETE') return [400, 422]
  return [200, 400]
}

/** Statuses of public routes: there is no provider and no such calendar, and the body is no sign-in. */
function open(method: string, url: string): readonly number[] {
  if (url.includes('/openid') || url.includes('/calendar/')) return [404]
  return method === 'POST' ? [422] : [200]
}

for (const { method, url, scope } of table) {
  test(`${method} ${url}`, async () => {
    const path = url.replace(/:(id|option|delivery)/g, String(nobody)).replace(':name', 'lists')
    const body: Json | undefined =
      method === 'GET' || method === 'DELETE' ? undefined : url.endsWith('/view/list') ? {} : { no_such: 1 }
    for (const { name, secret, scopes } of askers) {
      const headers = { authorization: secret === null ? '' : `Bearer ${secret}` }
      const { status, text } = await call(method, path, body, headers)
      const isIn = scopes && (scope === 'any' || scopes.includes('admin') || scopes.includes(scope))
      const expected =
        // Without a token the document describes the service alone; a wrong token is refused (D90).
        url === '/openapi.json' && secret !== null && scopes === null
          ? [401]
          : scope === 'public'
            ? open(method, url)
            : scopes === null
              ? [401]
              : isIn
                ? admitted(method, url)
                : [403]
      assert.ok(expected.includes(status), `${name}: ${status}, not ${expected.join(' or ')}. ${text}`)
    }
  })
}

test('every route has a scope, and no resource is left out of the roles that see everything', async () => {
  const scopes = new Set(table.map(({ scope }) => scope).filter(scope => scope.endsWith(':read')))
  const reader = await scopesOf(4)
  assert.deepEqual(
    [...scopes].filter(scope => !reader.includes(scope)),
    [],
  )
})
