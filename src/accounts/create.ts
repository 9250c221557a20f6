/** Creates an account with all that deals and products need (D39, D40), in the caller's transaction. */
import type { ResourceSchema } from '../fields/catalog.ts'
import type { JsonObject } from '../json.ts'
import { renderedMembers } from '../records/rendered-record.ts'
import type { Transaction } from '../records/store.ts'
import { workOn } from '../records/work.ts'
import { blank } from '../records/write/rules.ts'
import { createRecord } from '../records/write/save.ts'
import { resources } from '../resources/resources.ts'
import { ask, sql } from '../sql.ts'
import { loadCatalog } from './callers.ts'
import { isoCurrencies } from './currencies.ts'
import { administratorRole, defaultOptions, defaultPipeline, defaultRoles } from './defaults.ts'

export type NewAccount = {
  readonly name: string
  readonly ownerName: string
  readonly ownerEmail: string
  /** when the account was created; default: now. The history of the sample data begins then */
  readonly at?: Date
  /** IANA name in the form of `timeZone`; default: UTC */
  readonly timeZone?: string
  /** code of a currency of ISO 4217; default: USD */
  readonly baseCurrency?: string
}

/**
 * The ids of the new account and its owner. Ids of records count from 1 (D45): the owner, the pipeline, its
 * stages.
 */
export async function createAccount(
  tx: Transaction,
  { name, ownerName, ownerEmail, at, timeZone = 'UTC', baseCurrency = 'USD' }: NewAccount,
): Promise<{ account: number; owner: number }> {
  const base = isoCurrencies.find(({ code }) => code === baseCurrency)!.id
  const madeAt = (at ?? new Date()).toISOString()
  const [row] = await ask(
    tx,
    // The number of a purged account may be reused. The versions of its configuration are not: processes may
    // have cached them.
    sql`INSERT INTO account (account_id, name, time_zone, base_currency, created_at, catalog_version)
      SELECT coalesce(max(account_id), 0) + 1, ${name}::text, ${timeZone}::text, ${String(base)}::int,
        ${madeAt}::timestamptz, CASE WHEN count(*) = 0 THEN 1 ELSE extract(epoch FROM now())::bigint END
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
  await insertRows(tx, account, 'option', options)
  const { resources: all } = await loadCatalog(tx, resources, Number(account))
  await insertRows(tx, account, 'currency', currencyRows(all.get('currency')!, madeAt, base))
  await insertRows(tx, account, 'role', roleRows(all.get('role')!, madeAt), [
    ...['id', 'name', 'built_in', 'scopes', 'visibility', 'may_change', 'hidden_fields', 'locked_fields'],
    ...['created_at', 'updated_at', 'document'],
  ])
  // The rest are ordinary records. The owner is recorded as their own creator.
  const create = async (resource: string, body: JsonObject) => {
    const catalog = await loadCatalog(tx, resources, Number(account))
    const context = { catalog, actor: owner, ...(at ? { at } : {}) }
    return (await createRecord(workOn(tx, context, resource), body)).id
  }
  await create('user', { name: ownerName, email: ownerEmail, role: administratorRole })
  const pipeline = await create('pipeline', { name: defaultPipeline.name, is_default: 'Yes' })
  for (const stage of defaultPipeline.stages) await create('pipeline_stage', { ...stage, pipeline })
  return { account: Number(account), owner }
}

/** All of ISO 4217. Only the base currency has a rate. */
function currencyRows(schema: ResourceSchema, at: string, base: number): object[] {
  return isoCurrencies.map(row => {
    const values = {
      ...row,
      rate: row.id === base ? 1 : null,
      is_active: 1,
      created_at: at,
      updated_at: at,
      metadata: {},
    }
    return { ...values, document: renderedMembers(schema, values) }
  })
}

/** Inserts rows of an account. `columns`: those that are set; default: all members of the first row. */
export async function insertRows(
  tx: Transaction,
  account: string,
  table: string,
  rows: readonly object[],
  columns: readonly string[] = Object.keys(rows[0]!),
): Promise<void> {
  const names = sql.join(columns.map(name => sql.id(name)))
  const all = sql`json_populate_recordset(NULL::${sql.id(table)}, ${JSON.stringify(rows)}::json)`
  await ask(
    tx,
    sql`INSERT INTO ${sql.id(table)} (account_id, ${names}) SELECT ${account}::bigint, ${names} FROM ${all}`,
  )
}

type OptionRow = { id: number; resource: string; field: string; name: string; position: number }

function optionRows(firstId: number): OptionRow[] {
  return defaultOptions
    .flatMap(({ resource, field, names }) =>
      names.map((name, index) => ({ resource, field, name, position: index + 1 })),
    )
    .map((option, index) => ({ ...option, id: firstId + index }))
}

/** The roles that every account has (D62). They can't be deleted. */
function roleRows(schema: ResourceSchema, at: string): object[] {
  const blankRole = blank(schema)
  return defaultRoles.map(role => {
    const values = { ...blankRole, ...role, created_at: at, updated_at: at }
    return { ...values, document: renderedMembers(schema, values) }
  })
}
