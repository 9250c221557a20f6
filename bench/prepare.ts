/** What the bench measures: a database with many deals, sixteen accounts to write to, and the cases with their statements. */
import { createAccount, createToken } from '../src/accounts/create.ts'
import { loadCatalog } from '../src/accounts/directory.ts'
import { firstStart } from '../src/accounts/first-start.ts'
import { createSample } from '../src/accounts/sample.ts'
import { newToken } from '../src/accounts/token.ts'
import { migrate } from '../src/db/migrate.ts'
import { type Database, openDatabase } from '../src/db/open.ts'
import type { ResourceFields } from '../src/fields/catalog.ts'
import type { Json } from '../src/json.ts'
import { pageStatement } from '../src/list/list.ts'
import { readListQuery } from '../src/list/query.ts'
import { createRecord } from '../src/records/create.ts'
import type { Queryable } from '../src/records/store.ts'
import { updateRecord } from '../src/records/update.ts'
import { resources } from '../src/resources.ts'
import type { Statement } from './driver.ts'

export type Prepared = {
  readonly ids: readonly [number, number]
  readonly statements: { readonly [name: string]: readonly Statement[] }
}

export type Case = {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly plainPath: string | null
  readonly body: string | null
  /** over sixteen accounts instead of one */
  readonly isSpread: boolean
  readonly statements: readonly Statement[]
  readonly aims: { readonly pgbench?: number; readonly plain?: number }
}

/** One token an account, the same in every run: a bench's database holds nothing worth guarding. */
export const accountTokens = Array.from({ length: 16 }, (_, index) =>
  newToken(index + 1, count => new Uint8Array(count).fill(index + 1)),
)

const word = 'quarry'
const stage = 5
const newDeal = {
  title: 'Benchmark deal',
  pipeline: 2,
  pipeline_stage: 3,
  primary_contact: 68,
  sales_owner: 1,
  deal_value: { currency: 'USD', value: 1250 },
}
const change = { description: 'Changed by the benchmark' }

export function cases({ statements }: Prepared): Case[] {
  const v1 = '/rest/api/v1/deal'
  const read = { method: 'GET', body: null, isSpread: false }
  const create = { method: 'POST', path: v1, plainPath: '/deal', body: JSON.stringify(newDeal), statements: statements.create! }
  const update = {
    method: 'PATCH',
    path: `${v1}/{id}`,
    plainPath: '/deal/{id}',
    body: JSON.stringify(change),
    statements: statements.update!,
  }
  return [
    {
      ...read,
      name: 'get',
      path: `${v1}/{id}`,
      plainPath: '/deal/{id}',
      statements: statements.get!,
      aims: { pgbench: 0.4, plain: 1.3 },
    },
    {
      ...read,
      name: 'list of 25, by stage, newest first',
      path: `${v1}/view/list?filter=pipeline_stage:eq(${stage})&sort=id:desc`,
      plainPath: `/list?stage=${stage}`,
      statements: statements.list!,
      aims: { pgbench: 0.4, plain: 1.8 },
    },
    {
      ...read,
      name: 'title contains',
      path: `${v1}/view/list?filter=title:like(${word})&sort=id:desc`,
      plainPath: `/contains?word=${word}`,
      statements: statements.contains!,
      aims: {},
    },
    { ...create, name: 'create, one account', isSpread: false, aims: { plain: 1 } },
    { ...create, name: 'create, 16 accounts', isSpread: true, aims: { plain: 1 } },
    { ...update, name: 'update, one account', isSpread: false, aims: { plain: 1 } },
  ]
}

/** A database with `count` deals in its first account, made of the sample's, set-based. */
export async function prepareDeals(open: { url?: string; dataDir?: string }, count: number): Promise<Prepared> {
  const db = await openDatabase({ ...open, log: line => console.error(line), statementTimeoutMs: 600_000 })
  try {
    await migrate(db)
    await firstStart(db, { now: new Date(), sampleData: true, presetToken: accountTokens[0]!, createSample })
    const from = await multiply(db, count)
    await otherAccounts(db)
    await db.sql.unsafe('VACUUM (ANALYZE)').simple()
    return { ids: [from, from + count - 1], statements: await capture(db, from) }
  } finally {
    await db.close()
  }
}

async function multiply(db: Database, count: number): Promise<number> {
  const [row] = await db.query(
    "SELECT (last_id + 1)::text AS first, (SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns WHERE table_name = 'deal' AND column_name NOT IN ('account_id', 'id', 'title', 'document')) AS columns FROM counter WHERE account_id = 1",
  )
  const first = Number(row!.first)
  // One title in a thousand has the rare word that "title contains" looks for.
  await db.query(
    `INSERT INTO deal (account_id, id, title, document, ${row!.columns})
     SELECT 1, $1::bigint + i, t.title, replace(s.document, '"title":' || to_json(s.title)::text, '"title":' || to_json(t.title)::text), ${row!
       .columns!.split(', ')
       .map(name => `s.${name}`)
       .join(', ')}
     FROM generate_series(0, $2::int - 1) i
     JOIN (SELECT *, row_number() OVER (ORDER BY id) - 1 AS n FROM deal WHERE account_id = 1) s ON s.n = i % 300
     CROSS JOIN LATERAL (SELECT s.title || CASE WHEN i % 1000 = 7 THEN ' ${word} ' ELSE ' no ' END || i AS title) t`,
    [String(first), String(count)],
  )
  await db.query('UPDATE counter SET last_id = last_id + $1::bigint WHERE account_id = 1', [String(count)])
  return first
}

/** Accounts 2 to 16, each with a token and the one contact that a new deal needs. */
async function otherAccounts(db: Database): Promise<void> {
  const tx: Queryable = { query: db.query, write: (_account, text, params) => db.query(text, params) }
  const now = new Date()
  for (const token of accountTokens.slice(1)) {
    const { account, owner } = await createAccount(tx, {
      name: 'Another',
      ownerName: 'Owner',
      ownerEmail: 'owner@example.com',
      now,
    })
    await createToken(tx, { account, user: owner, name: 'Bench', scopes: ['admin'], token, now })
    await db.query(
      "INSERT INTO contact (account_id, id, last_name, created_at, updated_at) VALUES ($1::bigint, 68, 'Contact', now(), now())",
      [String(account)],
    )
    await db.query('UPDATE counter SET last_id = 100 WHERE account_id = $1::bigint', [String(account)])
  }
}

/** The statements of each case as the service itself sends them. */
async function capture(db: Database, id: number): Promise<Prepared['statements']> {
  const catalog = await loadCatalog(db, resources, 1)
  const fields = catalog.resources.get('deal')!
  const context = { catalog, actor: 1, now: new Date() }
  const sent: Statement[] = []
  const spy: Queryable = {
    query: (text, params = []) => {
      sent.push({ text, params: params.map(param => (param === String(id) ? '{id}' : param)), isWrite: false })
      return db.query(text, params)
    },
    write: async (_account, text, params) => {
      sent.push({ text, params: params.map(param => (param === String(id) ? '{id}' : param)), isWrite: true })
      return [{ id: '1', version: '1', record: '{}' }]
    },
  }
  const page = (filter: string): Statement[] => [{ ...statementOf(fields, filter, catalog), isWrite: false }]
  await createRecord(spy, fields, newDeal as Json, context)
  const create = sent.splice(0)
  await updateRecord(spy, fields, id, change, context)
  // Carried out over and over with the same parameters, it must not be refused for its version.
  const update = sent
    .splice(0)
    .map(statement => ({ ...statement, text: statement.text.replace('version = $7::int', 'version >= $7::int') }))
  return {
    get: [{ ...update[0]! }],
    list: page(`pipeline_stage:eq(${stage})`),
    contains: page(`title:like(${word})`),
    create,
    update,
  }
}

function statementOf(fields: ResourceFields, filter: string, catalog: Parameters<typeof readListQuery>[2]) {
  const request = readListQuery(
    new Map([
      ['filter', [filter]],
      ['sort', ['id:desc']],
    ]),
    fields,
    catalog,
  )
  const { text, values } = pageStatement(fields, 1, request)
  return { text, params: values }
}
