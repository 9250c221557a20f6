/** Jobs of several accounts (D84): accounts take turns, so none waits for all the jobs of another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/create.ts'
import { newSecret } from '../../src/accounts/token.ts'
import { findWork } from '../../src/work/jobs/progress.ts'
import { byQueries } from '../support/by-queries.ts'
import { importerOf } from '../support/import-jobs.ts'
import { startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'

const service = await startService({ sampleData: false })
const { db, call, get } = service

/** The same service as another account sees it. */
async function neighbour(): Promise<typeof service> {
  const email = 'neighbour@example.com'
  const tx = byQueries(db)
  const { account, owner } = await createAccount(tx, { name: 'Next', ownerName: 'Next', ownerEmail: email })
  const token = newSecret('token', account)
  await createToken(tx, { account, user: owner, name: 'Next', scopes: ['admin'], token })
  const headers = { authorization: `Bearer ${token}` }
  const asNeighbour: typeof call = (method, path, body) => call(method, path, body, headers)
  return { ...service, token, call: asNeighbour, get: path => asNeighbour('GET', path) }
}

const companies = (name: string, rows: number) =>
  ['name', ...Array.from({ length: rows }, (_, row) => `${name} ${row}`)].join('\n')

test('an import is done while most of ten larger ones of another account are not', async () => {
  const large = importerOf(service)
  const ids: number[] = []
  for (let count = 0; count < 10; count++)
    ids.push((await large.upload('company', companies(`Large ${count}`, 1500))).body.data.id)
  const small = importerOf(await neighbour())
  const { id } = (await small.upload('company', companies('Small', 300))).body.data
  for (const one of ids) assert.equal((await call('POST', `${v1}/import/${one}/run`)).status, 200)
  assert.equal((await small.told(id, 'run')).state, 'done')
  const states = await Promise.all(ids.map(async one => (await get(`${v1}/import/${one}`)).body.data.state))
  const running = states.filter(state => state === 'running')
  assert.ok(running.length >= 7, states.join())
  const ended = await Promise.all(ids.map(one => large.ended(one)))
  assert.deepEqual(new Set(ended.map(({ state, created }) => `${state} ${created}`)), new Set(['done 1500']))
})

test('many jobs of an account hide no job of another', async () => {
  // Only counted, in a transaction that is rolled back, so that no process begins them.
  await db.sql
    .begin(async tx => {
      const within = byQueries({ query: (text, params = []) => tx.query(text, params) })
      await within.query(
        `INSERT INTO job (SELECT (x.j).* FROM (
         SELECT jsonb_populate_record(NULL::job, to_jsonb(j) || jsonb_build_object('account_id', a.account_id,
           'id', 900000 + n, 'state', 'running', 'begun_at', now(), 'leased_until', '-infinity')) AS j
         FROM account a, generate_series(1, CASE a.account_id WHEN 1 THEN 150 ELSE 1 END) n,
           (SELECT * FROM job WHERE account_id = 1 ORDER BY id LIMIT 1) j) x)`,
        [],
      )
      const accounts = new Set(
        (await findWork({ ...within, isDistributed: false })).map(({ account }) => account),
      )
      assert.equal(accounts.size, 2)
      throw new Error('Nothing of it is kept')
    })
    .catch(error => assert.equal(error.message, 'Nothing of it is kept'))
})
