/** A record in its table, and the SQL that reads its row; write/rows.ts writes it. */
import type { CallerParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { recordRow } from '../fields/columns.ts'
import type { Values } from '../fields/field.ts'
import type { Json } from '../json.ts'
import type { StatementsToWrite } from '../mergeable-write.ts'
import { type Caller, callerParamValues, changeableColumn, visible } from '../rights/visibility.ts'
import { type Param, prepared, type Sql, type Statement, sql } from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'
import { renderedSql } from './rendered-record.ts'
import type { ReadWork } from './work.ts'

export type Reader = {
  /** True on a cluster, which asks all nodes for a fenced subquery that does not name its account (D178) */
  readonly isDistributed?: boolean
  query(
    text: string,
    params?: readonly (string | null)[],
    replan?: boolean,
  ): Promise<readonly Record<string, string | null>[]>
  /** Reads in the turn of an account (D102). Absent in transactions and in background work. */
  inTurn?(turn: { readonly account: string; readonly signal?: AbortSignal }): Reader
}

/** Reads values also as the bytes that PostgreSQL sent. */
export type RawReader = Reader & {
  queryBytes(
    text: string,
    params: readonly (string | null)[],
    replan?: boolean,
  ): Promise<readonly (readonly (Buffer | null)[])[]>
}

/**
 * Reads and writes. A function that takes one can be called with the database, too: then each of its
 * statements is a transaction of its own.
 */
export type Transaction = Reader & {
  /** True if a write of one record is a transaction of several statements, too (D164) */
  readonly hasOnlyTransactions: boolean
  /**
   * Runs statements that write to an account, in one transaction, and returns the rows of the last one.
   * Concurrent writes of one account may share a commit, and mergeable ones their statements.
   */
  write(account: string, content: StatementsToWrite): Promise<readonly Record<string, string | null>[]>
  /**
   * Runs several writes in one transaction; `act` returns `commits`: true to commit, false to roll back.
   * Absent within a transaction: they don't nest.
   */
  transaction?<T>(
    turn: { readonly account: string; readonly signal?: AbortSignal },
    act: (tx: Transaction) => Promise<{ readonly commits: boolean; readonly result: T }>,
  ): Promise<T>
}

export type Changes = { [name: string]: { before: Json; after: Json } }

/** A record to be written: all its values, and the values that change. */
export type RecordToWrite = { readonly after: Values; readonly changes: Changes }

/** The reads of a caller that may take long: in the account's turn (D102). */
export function longReads(db: Reader, { catalog }: Caller): Reader {
  return db.inTurn?.({ account: String(catalog.account.id) }) ?? db
}

export function tableOf({ resource }: ResourceSchema): Sql {
  return sql.id(resource.name)
}

/**
 * Reads a live record that the caller sees: version; record; and is_moved, true if a value may have changed
 * since the version was written (D89).
 */
export function recordStatement({ schema, context }: ReadWork, id: string): Statement {
  return asked(toRead(schema), context, id)
}

/**
 * Reads records in order to change them: id; version; record; state, a hash that differs after every change
 * of the stored text, also after one that makes no version; and is_changeable, true if the caller may change
 * it.
 */
export function recordsToChange({ schema, context }: ReadWork, ids: readonly (number | string)[]): Statement {
  return asked(toChange(schema), context, `{${ids.join()}}`)
}

const toRead = memoize((schema: ResourceSchema) => recordsBy(schema, readColumns, id => sql`${id}::bigint`))
const toChange = memoize((schema: ResourceSchema) =>
  recordsBy(schema, changeColumns, ids => sql`ANY(${ids}::bigint[])`),
)

function recordsBy(schema: ResourceSchema, columns: typeof readColumns, isIn: (id: Param) => Sql) {
  return prepared((account, actor, territories, id, followedAt) => {
    const params = { account, actor, territories, resources: new Map([[schema.resource.name, schema]]) }
    return sql`
    SELECT ${columns(schema, params, followedAt)}
    FROM ${tableOf(schema)} r
    WHERE ${visible(schema.resource.name, params, sql`r`)} AND r.id = ${isIn(id)} AND r.deleted_at IS NULL`
  })
}

function asked(statement: ReturnType<typeof recordsBy>, caller: Caller, id: string): Statement {
  return statement(...callerParamValues(caller), id, caller.catalog.followedAt)
}

/** True if values of `r` that change without a write differ from those at its last write, or may. */
export function isMoved({ whole }: ResourceSchema, { account }: CallerParams, followedAt: Param): Sql {
  const { maintained } = whole.resource
  const volatile = whole.fields.filter(field => field.is_volatile && !field.maintained_by)
  const computed = volatile.filter(field => field.computed)
  const isFollowing = volatile.length > computed.length
  // The cheapest conditions first: one true condition is enough.
  const all = [
    ...(isFollowing ? [sql`r.updated_at < ${followedAt}::timestamptz`] : []),
    ...(maintained ? [sql`r.updated_at <= r.${sql.id(maintained.movedAt)}`] : []),
    ...computed.map(({ moves }) => moves?.(recordRow(account)) ?? sql`true`),
  ]
  return sql`(${all.length ? sql.join(all, sql` OR `) : sql`false`})::text AS is_moved`
}

/** The columns of recordStatement, over the row `r`. */
function readColumns(schema: ResourceSchema, params: CallerParams, followedAt: Param): Sql {
  return sql`r.version::text AS version, ${renderedSql(schema, params.account)} AS record,
      ${isMoved(schema, params, followedAt)}`
}

/** The columns of recordsToChange, over the row `r`. */
export function changeColumns(schema: ResourceSchema, params: CallerParams): Sql {
  return sql`r.id::text AS id, r.version::text AS version, ${renderedSql(schema, params.account)} AS record,
      ${stateOf(sql`r.document`)}::text AS state, ${changeableColumn(schema.resource.name, params, sql`r`)}`
}

/** SQL of a 64-bit hash of a stored text. */
export function stateOf(document: Sql): Sql {
  return sql`hashtextextended(${document}, 0)`
}
