/** The cache of accounts in a process: it evicts those that are not used (D38). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Callers } from '../../src/accounts/callers.ts'
import { createAccount } from '../../src/accounts/create.ts'
import { newSecret } from '../../src/accounts/token.ts'
import type { Database } from '../../src/db/open.ts'
import { resources } from '../../src/resources/resources.ts'
import { byQueries } from '../support/by-queries.ts'
import { startService } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const { db } = await startService({ sampleData: false })
const tx = byQueries(db)

async function tokenOfNewAccount(name: string): Promise<string> {
  const email = `${name}@example.com`
  const { account, owner } = await createAccount(tx, { name, ownerName: name, ownerEmail: email })
  const token = newSecret('token', account)
  await createToken(tx, { account, user: owner, name, scopes: ['admin'], token })
  return token
}

test('the account not asked for longest is forgotten with all its callers, and found again', async () => {
  const [a, b, c] = [await tokenOfNewAccount('a'), await tokenOfNewAccount('b'), await tokenOfNewAccount('c')]
  let loads = 0
  const query: Database['query'] = (text, params, replan) => {
    if (text.includes("'followed_at'")) loads++
    return db.query(text, params, replan)
  }
  let now = 0
  const callers = new Callers(byQueries({ query }), resources, () => now, 2)
  /** Number of configurations that were read for a caller, who is the right one. */
  const readFor = async (token: string) => {
    const before = loads
    const caller = (await callers.identify(token))!
    assert.equal(caller.catalog.account.name, { [a]: 'a', [b]: 'b', [c]: 'c' }[token])
    return loads - before
  }
  const asked = async (...tokens: string[]) => {
    const read: number[] = []
    for (const token of tokens) read.push(await readFor(token))
    return read
  }
  assert.deepEqual(await asked(a, b, a, b), [1, 1, 0, 0])
  // A second later both are looked up again, a the last. So c replaces b in the cache.
  now = 1000
  assert.deepEqual(await asked(b, a, c), [0, 0, 1])
  assert.deepEqual(await asked(a, c, b), [0, 0, 1])
  // a had not been looked up since.
  assert.deepEqual(await asked(c, b, a), [0, 0, 1])
})
