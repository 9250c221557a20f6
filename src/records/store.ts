/**
 * A record in its table: the columns of its fields, and the SQL that reads and writes its row. The rest of a
 * statement that writes is in write.ts.
 */
import type { CallerParams, WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Column } from '../fields/columns.ts'
import { recordRow } from '../fields/columns.ts'
import type { Field, Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import type { Json } from '../json.ts'
import {
  type Caller,
  callerParamsOf,
  callerParamValues,
  changeableColumn,
  visible,
} from '../rights/visibility.ts'
import {
  type Param,
  type Part,
  param,
  pattern,
  prepared,
  type Sql,
  type Statement,
  sql,
  type Value,
} from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'
import { renderedMembers, renderedSql } from './rendered-record.ts'
import { columnValue, dated, type Event } from './write.ts'

/** Reads from a database. */
export type Reader = {
  query(
    text: string,
    params?: readonly (string | null)[],
    replan?: boolean,
  ): Promise<readonly Record<string, string | null>[]>
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
  /**
   * Runs one statement that writes to an account, after the statement `first` if given. Concurrent writes of
   * one account may share a commit.
   */
  write(
    account: string,
    text: string,
    params: readonly (string | null)[],
    first?: string,
  ): Promise<readonly Record<string, string | null>[]>
  /**
   * Runs several writes in one transaction; `act` returns `isKept`: true to commit, false to roll back.
   * Absent within a transaction: they don't nest.
   */
  transaction?<T>(
    turn: { readonly account: string; readonly signal?: AbortSignal },
    act: (tx: Transaction) => Promise<{ readonly isKept: boolean; readonly result: T }>,
  ): Promise<T>
}

/** The changes of a write, by field. */
export type Changes = { [name: string]: { before: Json; after: Json } }

/** A record to be written: all its values, and the values that change. */
export type RecordToWrite = { readonly after: Values; readonly changes: Changes }

export function tableOf({ resource }: ResourceSchema): Sql {
  return sql.id(resource.name)
}

/**
 * Reads a live record that the caller sees: version; record; and is_moved, true if a value may have changed
 * since the version was written (D89).
 */
export function recordStatement(schema: ResourceSchema, caller: Caller, id: string): Statement {
  return asked(toRead(schema), caller, id)
}

/**
 * Reads a record in order to change it: version; record; state, a hash that differs after every change of the
 * stored text, also after one that makes no version; and is_changeable, true if the caller may change it.
 */
export function recordToChange(schema: ResourceSchema, caller: Caller, id: string): Statement {
  return asked(toChange(schema), caller, id)
}

const toRead = memoize((schema: ResourceSchema) => oneRecord(schema, readColumns))
const toChange = memoize((schema: ResourceSchema) => oneRecord(schema, changeColumns))

function oneRecord(schema: ResourceSchema, columns: typeof readColumns) {
  return prepared((account, actor, territories, id, followedAt) => {
    const params = { account, actor, territories, resources: new Map([[schema.resource.name, schema]]) }
    return sql`
    SELECT ${columns(schema, params, followedAt)}
    FROM ${tableOf(schema)} r
    WHERE ${visible(schema.resource.name, params, sql`r`)} AND r.id = ${id}::bigint AND r.deleted_at IS NULL`
  })
}

function asked(statement: ReturnType<typeof oneRecord>, caller: Caller, id: string): Statement {
  return statement(...callerParamValues(caller), id, caller.catalog.followedAt)
}

/** Like recordToChange, for several records: also `id`. */
export function recordsToChange(schema: ResourceSchema, caller: Caller, ids: readonly number[]): Sql {
  const [params, r] = [callerParamsOf(caller), sql`r`]
  return sql`
    SELECT r.id::text AS id, ${changeColumns(schema, params)}
    FROM ${tableOf(schema)} r
    WHERE ${visible(schema.resource.name, params, r)} AND r.id = ANY(${`{${ids.join()}}`}::bigint[])
      AND r.deleted_at IS NULL`
}

/** True if values of `r` that change without a write differ from those at its last write, or may. */
export function isMoved({ whole }: ResourceSchema, followedAt: Param): Sql {
  const { maintained } = whole.resource
  const volatile = whole.fields.filter(field => field.is_volatile && !field.maintained_by)
  const computed = volatile.filter(field => field.computed)
  const isFollowing = volatile.length > computed.length
  // The cheapest conditions first: one true condition is enough.
  const all = [
    ...(isFollowing ? [sql`r.updated_at < ${followedAt}::timestamptz`] : []),
    ...(maintained ? [sql`r.updated_at <= r.${sql.id(maintained.movedAt)}`] : []),
    ...computed.map(({ moves }) => moves?.(recordRow) ?? sql`true`),
  ]
  return sql`(${all.length ? sql.join(all, sql` OR `) : sql`false`})::text AS is_moved`
}

/** The columns of recordStatement, over the row `r`. */
function readColumns(schema: ResourceSchema, _params: CallerParams, followedAt: Param): Sql {
  return sql`r.version::text AS version, ${renderedSql(schema)} AS record, ${isMoved(schema, followedAt)}`
}

/** The columns of recordToChange, over the row `r`. */
export function changeColumns(schema: ResourceSchema, params: CallerParams): Sql {
  return sql`r.version::text AS version, ${renderedSql(schema)} AS record,
      ${stateOf(sql`r.document`)}::text AS state, ${changeableColumn(schema.resource.name, params, sql`r`)}`
}

/** SQL of a 64-bit hash of a stored text. */
export function stateOf(document: Sql): Sql {
  return sql`hashtextextended(${document}, 0)`
}

/** The row that a write of the record `r` returns; `unread` skips rendering. */
export function answerOf(schema: ResourceSchema, unread = false): Sql {
  const record = unread ? sql`'{}'` : renderedSql(schema)
  return sql`SELECT r.id::text AS id, r.version::text AS version, ${record} AS record FROM r`
}

/** A CTE that inserts a record with this id, once the counter is raised. */
export function insertedRow(
  name: Sql,
  schema: ResourceSchema,
  { account }: WriteParams,
  id: Sql,
  draft: RecordToWrite,
): Sql {
  const { columns, insert } = shapeOf(schema.whole)
  const values = columns.flatMap(column => valuesOf(column, draft.after))
  const document = renderedMembers(schema, draft.after)
  return sql`${name} AS (${insert([account, id, customOf(schema, draft.changes).set, document, ...values])})`
}

/** An INSERT of: account, id, custom, document, and the values of the columns. */
function insertOf(table: Sql, columns: readonly FieldColumns[]): (given: readonly Part[]) => Sql {
  const at = sql`counted.at`
  const all = columns.flatMap(({ columns }) => columns)
  return pattern(4 + all.length, ([account, id, custom, document, ...values]) => {
    const named = all.map(({ name, type }, index) => {
      return sql`${columnValue(values[index]!, type, at)} AS ${sql.id(name)}`
    })
    const names = columns.map(({ names }) => sql.join(names))
    return sql`
  INSERT INTO ${table} (account_id, id, custom, document,
    ${sql.join(names, sql`,\n    `)})
  SELECT ${account!}::bigint, ${id!}, ${custom!}::jsonb, ${dated(document!, at)},
    ${sql.join(named, sql`,\n    `)}
  FROM counted RETURNING *
`
  })
}

/**
 * The SET items of an UPDATE: only the columns of the fields that change. Most changes touch a field or two,
 * and a deal has sixty columns.
 */
export function assignedRow(schema: ResourceSchema, { after, changes }: RecordToWrite): Sql {
  const at = sql`locked.at`
  const custom = customOf(schema, changes)
  const changed = shapeOf(schema.whole).columns.filter(
    ({ field }) => field.is_hidden || field.internal_name in changes || setByUpdate.has(field.internal_name),
  )
  const assigned = changed.flatMap(column => {
    const values = valuesOf(column, after)
    return column.columns.map(({ type }, index) => {
      return sql`${column.names[index]!} = ${columnValue(values[index]!, type, at)}`
    })
  })
  return sql`version = version + 1, custom = (custom || ${custom.set}::jsonb) - ${custom.unset}::text[],
    document = ${dated(renderedMembers(schema, after), at)},
    ${sql.join(assigned, sql`,\n    `)}`
}

export const setByUpdate: ReadonlySet<string> = new Set(['updated_at', 'updated_by'])

/** The event of a record that the CTE `of` inserts. */
export function createdEvent({ resource }: ResourceSchema, draft: RecordToWrite, of: Sql): Event {
  const { name, aliases } = resource
  const more = aliases ? { aliases: aliases(null, draft.after) } : {}
  return { type: `${name}.created`, ...more, resource: name, of, changes: changesSql(draft) }
}

/** The event's changes of a record, as JSON text. */
export function changesSql({ changes }: RecordToWrite): Sql {
  return dated(JSON.stringify(changes), sql`counted.at`)
}

export type FieldColumns = {
  readonly field: Field
  readonly columns: readonly Column[]
  readonly names: readonly Sql[]
}
type Shape = { readonly columns: readonly FieldColumns[]; readonly insert: ReturnType<typeof insertOf> }

/** The columns that a record's own writes set, with the field of the service each belongs to. */
export const shapeOf = memoize((schema: ResourceSchema): Shape => {
  const columns = schema.fields
    .filter(field => !field.is_custom && !field.computed && !field.is_of_store && !field.maintained_by)
    .map(field => {
      const own = kinds[field.type].columns(field)
      return { field, columns: own, names: own.map(({ name }) => sql.id(name)) }
    })
  return { columns, insert: insertOf(tableOf(schema), columns) }
})

/** The values of a field's columns. A value that the statement uses twice is bound to one placeholder. */
export function valuesOf({ field, columns }: FieldColumns, after: Values): (Value | Param)[] {
  const texts = kinds[field.type].write(after[field.internal_name] ?? null, field)
  return columns.map(({ type }, index) => {
    const text = texts[index]!
    return type === 'timestamptz' ? param(text) : text
  })
}

/**
 * The custom members that a change sets, as JSON text; and the names of those that it clears, as an array
 * literal.
 */
export function customOf(
  { whole: schema }: ResourceSchema,
  changes: Changes,
): { set: string; unset: string } {
  const changed = schema.fields.filter(field => field.is_custom && field.internal_name in changes)
  const value = (field: Field) => changes[field.internal_name]!.after
  const set = Object.fromEntries(
    changed.filter(field => value(field) !== null).map(field => [field.internal_name, value(field)]),
  )
  const unset = changed.filter(field => value(field) === null).map(field => field.internal_name)
  return { set: JSON.stringify(set), unset: `{${unset.join(',')}}` }
}
