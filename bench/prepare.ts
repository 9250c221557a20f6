/**
 * Prepares the bench: a database with many deals, sixteen accounts to write to, and the cases with their
 * statements.
 */
import { loadCatalog } from '../src/accounts/callers.ts'
import { createAccount } from '../src/accounts/create.ts'
import { firstStart } from '../src/accounts/first-start.ts'
import { createSample } from '../src/accounts/sample/sample.ts'
import { newSecret } from '../src/accounts/token.ts'
import { migrate } from '../src/db/migrate.ts'
import { type Database, openDatabase } from '../src/db/open.ts'
import type { ResourceSchema } from '../src/fields/catalog.ts'
import type { Json } from '../src/json.ts'
import { pageStatement } from '../src/lists/page.ts'
import { readListQuery } from '../src/lists/query.ts'
import { statementsOf } from '../src/mergeable-write.ts'
import { readRecord } from '../src/records/read.ts'
import type { Transaction } from '../src/records/store.ts'
import { workOn } from '../src/records/work.ts'
import { createRecord, updateRecord } from '../src/records/write/save.ts'
import { resources } from '../src/resources/resources.ts'
import { timeouts } from '../test/support/timeouts.ts'
import { createToken } from '../test/support/tokens.ts'
import type { Statement } from './driver.ts'

export type Prepared = {
  /** range of the ids that are read */
  readonly ids: readonly [from: number, to: number]
  /** range of the ids that are updated */
  readonly updated: readonly [from: number, to: number]
  readonly statements: { readonly [name: string]: readonly Statement[] }
}

export type Case = {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly plainPath: string
  readonly body: string | null
  readonly ids: readonly [from: number, to: number]
  readonly accounts: readonly [from: number, to: number]
  readonly statements: readonly Statement[]
  readonly aims: { readonly pgbench?: number; readonly plain?: number }
}

/** One token an account, the same in every run: a bench's database holds no secrets. */
export const accountTokens = Array.from({ length: 16 }, (_, index) =>
  newSecret('token', index + 1, count => new Uint8Array(count).fill(index + 1)),
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
/** Another text with each request: an unchanged value would write nothing. */
const change = { description: 'Changed by the benchmark {n}' }
/**
 * The first of the updated deals' ids, the same in each account. The deals are alike, so that the parameters
 * of one update fit each of them: the driver and pgbench then change what the service changes, the
 * description, and no indexed column.
 */
const firstUpdated = 1_000_000

export function cases({ ids, updated, statements }: Prepared): Case[] {
  const v1 = '/rest/api/v1/deal'
  const [one, all]: [number, number][] = [
    [1, 1],
    [1, 16],
  ]
  const read = { method: 'GET', body: null, ids, accounts: one! }
  const aims = { plain: 1 }
  const create = { method: 'POST', path: v1, plainPath: '/deal', body: JSON.stringify(newDeal), ids, aims }
  const update = {
    method: 'PATCH',
    path: `${v1}/{id}`,
    plainPath: '/deal/{id}',
    body: JSON.stringify(change),
    ids: updated,
    aims,
  }
  const again = repeatable(statements.update!)
  const list = (filter: string) => `${v1}/view/list?filter=${filter}&sort=id:desc`
  return [
    {
      ...{ ...read, name: 'get', path: `${v1}/{id}`, plainPath: '/deal/{id}' },
      ...{ statements: statements.get!, aims: { pgbench: 0.4, plain: 1.3 } },
    },
    {
      ...{ ...read, name: 'list of 25, by stage, newest first', path: list(`pipeline_stage:eq(${stage})`) },
      ...{
        plainPath: `/list?stage=${stage}`,
        statements: statements.list!,
        aims: { pgbench: 0.4, plain: 1.8 },
      },
    },
    {
      // The service parses a repeated list once: these come once each.
      ...{ ...read, name: 'another list each time', path: list(`pipeline_stage:eq(${stage}),id:lt({id})`) },
      ...{
        plainPath: `/list-before?stage=${stage}&id={id}`,
        statements: statements.another!,
        aims: { pgbench: 0.4, plain: 1.8 },
      },
    },
    {
      ...{
        ...read,
        name: 'title contains',
        path: list(`title:like(${word})`),
        plainPath: `/contains?word=${word}`,
      },
      ...{ statements: statements.contains!, aims: {} },
    },
    { ...create, name: 'create, one account', accounts: one!, statements: statements.create! },
    { ...create, name: 'create, 16 accounts', accounts: all!, statements: spread(statements.create!) },
    { ...update, name: 'update, one account', accounts: one!, statements: again },
    { ...update, name: 'update, 16 accounts', accounts: all!, statements: spread(again) },
  ]
}

/** The statements in an account at random: each names its account first. */
function spread(statements: readonly Statement[]): Statement[] {
  return statements.map(statement => {
    const [, number] = /account_id = \$(\d+)::bigint/.exec(statement.text)!
    return { ...statement, params: statement.params.with(Number(number) - 1, '{account}') }
  })
}

/**
 * An update that runs over and over with the same parameters: without the checks of its version and its
 * record's state.
 */
function repeatable(statements: readonly Statement[]): Statement[] {
  const state = /hashtextextended\(t\.document, 0\) = (\$\d+::bigint)/
  return statements.map(statement => {
    if (!statement.isWrite) return statement
    if (!state.test(statement.text)) throw new Error('The update does not compare the state of its record')
    const text = statement.text.replace(/version = (\$\d+::int)/, 'version >= $1')
    return { ...statement, text: text.replace(state, '$1 IS NOT NULL') }
  })
}

/**
 * A database with `count` deals in its first account, copied from the sample's, and deals to update in all
 * sixteen.
 */
export async function prepareDeals(
  open: { url?: string; dataDir?: string },
  count: number,
): Promise<Prepared> {
  const db = await openDatabase({ ...open, ...timeouts(600_000), log: line => console.error(line) })
  try {
    await migrate(db)
    await firstStart(db, { now: new Date(), sampleData: true, presetToken: accountTokens[0]!, createSample })
    const [row] = await db.query('SELECT (last_id + 1)::text AS first FROM counter WHERE account_id = 1')
    const first = Number(row!.first)
    // One title in a thousand has the rare word that "title contains" looks for.
    const title = `s.title || CASE WHEN i % 1000 = 7 THEN ' ${word} ' ELSE ' no ' END || i`
    await copyDeals(db, { account: 1, of: 's.account_id = 1', first, count, title })
    await otherAccounts(db)
    // As many as in earlier versions, so that a comparison of versions is fair; few for a trial.
    const toUpdate = count < 2000 ? Math.ceil(count / 10) : 2000
    for (let account = 1; account <= accountTokens.length; account++)
      await dealsToUpdate(db, account, toUpdate)
    await db.sql.query('VACUUM (ANALYZE)')
    return {
      ids: [first, first + count - 1],
      updated: [firstUpdated, firstUpdated + toUpdate - 1],
      statements: await capture(db),
    }
  } finally {
    await db.close()
  }
}

type Copies = { account: number; of: string; first: number; count: number; title: string }

/** `count` deals from the id `first` on, copies in turn of those that `of` selects. */
async function copyDeals(db: Database, { account, of, first, count, title }: Copies): Promise<void> {
  const [row] = await db.query(
    "SELECT string_agg('s.' || quote_ident(column_name), ', ') AS columns FROM information_schema.columns " +
      "WHERE table_schema = 'public' AND table_name = 'deal' AND column_name NOT IN ('account_id', 'id', 'title', 'document')",
  )
  const columns = row!.columns!
  const made = await db.query(
    `WITH source AS (SELECT s.*, row_number() OVER (ORDER BY id) - 1 AS n, count(*) OVER () AS of FROM deal s WHERE ${of}),
     made AS (INSERT INTO deal (account_id, id, title, document, ${columns.replaceAll('s.', '')})
     SELECT $1::bigint, $2::bigint + i, t.title,
       replace(s.document, '"title":' || to_json(s.title)::text, '"title":' || to_json(t.title)::text), ${columns}
     FROM generate_series(0, $3::int - 1) i JOIN source s ON s.n = i % s.of CROSS JOIN LATERAL (SELECT ${title} AS title) t
     RETURNING document LIKE '%"title":' || to_json(title)::text || '%' AS is_right)
     SELECT count(*) FILTER (WHERE is_right)::text AS count FROM made`,
    [String(account), String(first), String(count)],
  )
  if (made[0]!.count !== String(count)) throw new Error(`${made[0]!.count} deals were made, not ${count}`)
  await db.query('UPDATE counter SET last_id = $2::bigint WHERE account_id = $1::bigint', [
    String(account),
    String(first + count - 1),
  ])
}

/** The deals to update: one created as a client would, then copied. */
async function dealsToUpdate(db: Database, account: number, count: number): Promise<void> {
  const catalog = await loadCatalog(db, resources, account)
  const body: Json = { ...newDeal, title: 'Deal to update' }
  const { id } = await createRecord(workOn(db, { catalog, actor: 1 }, 'deal'), body)
  const of = `s.account_id = ${account} AND s.id = ${id}`
  await copyDeals(db, { account, of, first: firstUpdated, count, title: 's.title' })
}

/** Accounts 2 to 16, each with a token and the one contact that a new deal needs. */
async function otherAccounts(db: Database): Promise<void> {
  for (const token of accountTokens.slice(1)) {
    const { account, owner } = await createAccount(db, {
      name: 'Another',
      ownerName: 'Owner',
      ownerEmail: 'owner@example.com',
    })
    await createToken(db, { account, user: owner, name: 'Bench', scopes: ['admin'], token })
    await db.query(
      "INSERT INTO contact (account_id, id, last_name, document, created_at, updated_at) VALUES ($1::bigint, $2::bigint, 'Contact', '', now(), now())",
      [String(account), String(newDeal.primary_contact)],
    )
    // The statements are those of the first account, which name the version of its configuration.
    await db.query(
      `UPDATE counter SET last_id = 100, oldest_version = (SELECT oldest_version FROM counter WHERE account_id = 1)
       WHERE account_id = $1::bigint`,
      [String(account)],
    )
    await db.query(
      `UPDATE account SET catalog_version = (SELECT catalog_version FROM account WHERE account_id = 1)
       WHERE account_id = $1::bigint`,
      [String(account)],
    )
  }
}

/** The statements of each case as the service itself sends them. */
async function capture(db: Database): Promise<Prepared['statements']> {
  const catalog = await loadCatalog(db, resources, 1)
  const schema = catalog.resources.get('deal')!
  const context = { catalog, actor: 1 }
  const id = firstUpdated
  const sent: Statement[] = []
  const note = (text: string, params: readonly (string | null)[], isWrite: boolean) =>
    sent.push({ text, params: params.map(param => (param === String(id) ? '{id}' : param)), isWrite })
  const spy: Transaction = {
    hasOnlyTransactions: false,
    query: (text, params = []) => {
      note(text, params, false)
      return db.query(text, params)
    },
    write: async (_account, content) => {
      for (const { text, values } of statementsOf(content)) note(text, values, true)
      return [{ id: '1', version: '1', record: '{}' }]
    },
  }
  const page = (filter: string): Statement[] => {
    const { text, params } = statementOf(schema, filter, catalog)
    note(text, params, false)
    return sent.splice(0)
  }
  await createRecord({ db: spy, schema, context }, newDeal as Json)
  const create = sent.splice(0)
  await updateRecord({ db: spy, schema, context }, id, change)
  const update = sent.splice(0)
  await readRecord({ db: spy, schema, context }, id)
  const get = sent.splice(0)
  return {
    get,
    list: page(`pipeline_stage:eq(${stage})`),
    another: page(`pipeline_stage:eq(${stage}),id:lt(${id})`),
    // Planned with the word's value, as in list.ts.
    contains: page(`title:like(${word})`).map(statement => ({ ...statement, isReplanned: true })),
    create,
    update,
  }
}

function statementOf(schema: ResourceSchema, filter: string, catalog: Parameters<typeof readListQuery>[2]) {
  const request = readListQuery(
    new Map([
      ['filter', [filter]],
      ['sort', ['id:desc']],
    ]),
    schema,
    catalog,
    new Date().toISOString(),
  )
  const { text, values } = pageStatement({ catalog, actor: 1 }, request)
  return { text, params: values }
}
