/**
 * Makes an account with everything that deals and products need (D39, D40), and its tokens. Runs inside the
 * caller's transaction.
 */
import type { JsonObject } from '../json.ts'
import { createRecord } from '../records/create.ts'
import { documentOf } from '../records/document.ts'
import type { Queryable } from '../records/store.ts'
import { resources } from '../resources.ts'
import { ask, param, sql } from '../sql.ts'
import { isoCurrencies } from './currencies.ts'
import { defaultOptions, defaultPipeline } from './defaults.ts'
import { loadCatalog } from './directory.ts'
import { hashToken } from './token.ts'

const baseCurrency = 840

export type NewAccount = {
  readonly name: string
  readonly ownerName: string
  readonly ownerEmail: string
  /** when the account was made, if not now: the history of the sample data begins then */
  readonly at?: Date
}

/**
 * The new account's id and its owner's. Ids of records count from 1 (D45): the owner, the pipeline, its
 * stages.
 */
export async function createAccount(
  tx: Queryable,
  { name, ownerName, ownerEmail, at }: NewAccount,
): Promise<{ account: number; owner: number }> {
  const madeAt = (at ?? new Date()).toISOString()
  const [row] = await ask(
    tx,
    sql`INSERT INTO account (account_id, name, base_currency, created_at)
      SELECT coalesce(max(account_id), 0) + 1, ${name}::text, ${String(baseCurrency)}::int,
        ${madeAt}::timestamptz
      FROM account RETURNING account_id::text AS id`,
  )
  const account = row!.id!
  const owner = 1
  const options = optionRows(1001)
  const last = String(options.at(-1)!.id)
  await ask(
    tx,
    sql`INSERT INTO counter (account_id, last_field_id) VALUES (${account}::bigint, ${last}::bigint)`,
  )
  await insertOptions(tx, account, options)
  await insertCurrencies(tx, account, madeAt)
  // The rest are records like any other. The owner is recorded as their own creator.
  const create = async (resource: string, body: JsonObject) => {
    const catalog = await loadCatalog(tx, resources, Number(account))
    const context = { catalog, actor: owner, ...(at ? { at } : {}) }
    return (await createRecord(tx, catalog.resources.get(resource)!, body, context)).id
  }
  await create('user', { name: ownerName, email: ownerEmail })
  const pipeline = await create('pipeline', { name: defaultPipeline.name, is_default: 'Yes' })
  for (const stage of defaultPipeline.stages) await create('pipeline_stage', { ...stage, pipeline })
  return { account: Number(account), owner }
}

/** All of ISO 4217. Only the base currency has a rate. */
async function insertCurrencies(tx: Queryable, account: string, at: string): Promise<void> {
  const { resources: all } = await loadCatalog(tx, resources, Number(account))
  const rows = isoCurrencies.map(row => {
    const values = {
      ...row,
      rate: row.id === baseCurrency ? 1 : null,
      is_active: 1,
      created_at: at,
      updated_at: at,
      metadata: {},
    }
    return { ...values, document: documentOf(all.get('currency')!, values) }
  })
  await ask(
    tx,
    sql`INSERT INTO currency (account_id, id, code, name, symbol, decimals, rate, is_active, created_at,
        updated_at, document)
      SELECT ${account}::bigint, c.*
      FROM json_to_recordset(${JSON.stringify(rows)}::json) c (id int, code text, name text, symbol text,
        decimals int, rate numeric, is_active int, created_at timestamptz, updated_at timestamptz,
        document text)`,
  )
}

export type OptionRow = { id: number; resource: string; field: string; name: string; position: number }

export async function insertOptions(
  tx: Queryable,
  account: string,
  options: readonly OptionRow[],
): Promise<void> {
  await ask(
    tx,
    sql`INSERT INTO option (account_id, id, resource, field, name, position)
      SELECT ${account}::bigint, o.id, o.resource, o.field, o.name, o.position
      FROM json_to_recordset(${JSON.stringify(options)}::json) o (id bigint, resource text, field text,
        name text, position int)`,
  )
}

function optionRows(firstId: number): OptionRow[] {
  return defaultOptions
    .flatMap(({ resource, field, names }) =>
      names.map((name, index) => ({ resource, field, name, position: index + 1 })),
    )
    .map((option, index) => ({ ...option, id: firstId + index }))
}

export type NewToken = {
  readonly account: number
  readonly user: number
  readonly name: string
  readonly scopes: readonly string[]
  readonly token: string
  readonly now: Date
}

/** Stores a token's hash, never the token. */
export async function createToken(
  tx: Queryable,
  { account, user, name, scopes, token, now }: NewToken,
): Promise<void> {
  const own = param(String(account))
  await ask(
    tx,
    sql`WITH counted AS (
        UPDATE counter SET last_id = last_id + 1 WHERE account_id = ${own}::bigint RETURNING last_id
      )
      INSERT INTO token (account_id, id, name, hash, scopes, user_id, created_at)
      SELECT ${own}::bigint, last_id, ${name}::text, ${hashToken(token)}::text,
        ${`{${scopes.join(',')}}`}::text[], ${String(user)}::bigint, ${now.toISOString()}::timestamptz
      FROM counted`,
  )
}
