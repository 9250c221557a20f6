/**
 * A record in its table: the columns of its fields, and the SQL that reads and writes its row. The rest of a
 * statement that writes is in write.ts.
 */
import type { CallerParams, WriteParams } from '../fields/caller-params.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import type { Column } from '../fields/columns.ts'
import { recordRow } from '../fields/columns.ts'
import type { Field, Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import type { Json } from '../json.ts'
import { changeableColumn, sightOf, sightValues, type Viewer, visible } from '../rights/visibility.ts'
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

/** Reads values as the bytes that PostgreSQL sent. */
export type BytesReader = {
  queryBytes(
    text: string,
    params: readonly (string | null)[],
    replan?: boolean,
  ): Promise<readonly (readonly (Buffer | null)[])[]>
}

/** Reads from and writes to a database. A transaction has the same functions and can be used instead. */
export type Queryable = Reader & {
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
}

/** Runs several writes in one transaction; `act` returns `isKept`: true to commit, false to roll back. */
export type Transactional = {
  transaction<T>(
    asker: { readonly account: string; readonly signal?: AbortSignal },
    act: (tx: Queryable) => Promise<{ readonly isKept: boolean; readonly result: T }>,
  ): Promise<T>
}

/** The changes of a write, by field. */
export type Changes = { [name: string]: { before: Json; after: Json } }

/** A record to be written: all its values, and the values that change. */
export type RecordToWrite = { readonly after: Values; readonly changes: Changes }

export function tableOf({ resource }: ResourceFields): Sql {
  return sql.id(resource.name)
}

/**
 * Reads a live record that the viewer sees: version; record; and is_moved, true if a value may have changed
 * since the version was written (D89).
 */
export function recordStatement(fields: ResourceFields, viewer: Viewer, id: string): Statement {
  return asked(toRead(fields), viewer, id)
}

/**
 * Reads a record in order to change it: version; record; state, a hash that differs after every change of the
 * stored text, also after one that makes no version; and is_changeable, true if the viewer may change it.
 */
export function recordToChange(fields: ResourceFields, viewer: Viewer, id: string): Statement {
  return asked(toChange(fields), viewer, id)
}

const toRead = memoize((fields: ResourceFields) => oneRecord(fields, readColumns))
const toChange = memoize((fields: ResourceFields) => oneRecord(fields, changeColumns))

function oneRecord(fields: ResourceFields, columns: typeof readColumns) {
  return prepared((account, actor, territories, id, followedAt) => {
    const sight = { account, actor, territories, resources: new Map([[fields.resource.name, fields]]) }
    return sql`
    SELECT ${columns(fields, sight, followedAt)}
    FROM ${tableOf(fields)} r
    WHERE ${visible(fields.resource.name, sight, sql`r`)} AND r.id = ${id}::bigint AND r.deleted_at IS NULL`
  })
}

function asked(statement: ReturnType<typeof oneRecord>, viewer: Viewer, id: string): Statement {
  return statement(...sightValues(viewer), id, viewer.catalog.followedAt)
}

/** Like recordToChange, for several records: also `id`. */
export function recordsToChange(fields: ResourceFields, viewer: Viewer, ids: readonly number[]): Sql {
  const [sight, r] = [sightOf(viewer), sql`r`]
  return sql`
    SELECT r.id::text AS id, ${changeColumns(fields, sight)}
    FROM ${tableOf(fields)} r
    WHERE ${visible(fields.resource.name, sight, r)} AND r.id = ANY(${`{${ids.join()}}`}::bigint[])
      AND r.deleted_at IS NULL`
}

/** True if values of `r` that change without a write differ from those at its last write, or may. */
export function isMoved({ whole }: ResourceFields, followedAt: Param): Sql {
  const { kept } = whole.resource
  const volatile = whole.fields.filter(field => field.is_volatile && !field.kept_by)
  const computed = volatile.filter(field => field.computed)
  const isFollowing = volatile.length > computed.length
  // The cheapest conditions first: one true condition is enough.
  const all = [
    ...(isFollowing ? [sql`r.updated_at < ${followedAt}::timestamptz`] : []),
    ...(kept ? [sql`r.updated_at <= r.${sql.id(kept.movedAt)}`] : []),
    ...computed.map(({ moves }) => moves?.(recordRow) ?? sql`true`),
  ]
  return sql`(${all.length ? sql.join(all, sql` OR `) : sql`false`})::text AS is_moved`
}

/** The columns of recordStatement, over the row `r`. */
function readColumns(fields: ResourceFields, _sight: CallerParams, followedAt: Param): Sql {
  return sql`r.version::text AS version, ${renderedSql(fields)} AS record, ${isMoved(fields, followedAt)}`
}

/** The columns of recordToChange, over the row `r`. */
export function changeColumns(fields: ResourceFields, sight: CallerParams): Sql {
  return sql`r.version::text AS version, ${renderedSql(fields)} AS record,
      ${stateOf(sql`r.document`)}::text AS state, ${changeableColumn(fields.resource.name, sight, sql`r`)}`
}

/** SQL of a 64-bit hash of a stored text. */
export function stateOf(document: Sql): Sql {
  return sql`hashtextextended(${document}, 0)`
}

/** The row that a write of the record `r` returns; `unread` skips rendering. */
export function answerOf(fields: ResourceFields, unread = false): Sql {
  const record = unread ? sql`'{}'` : renderedSql(fields)
  return sql`SELECT r.id::text AS id, r.version::text AS version, ${record} AS record FROM r`
}

/** A CTE that inserts a record with this id, once the counter is raised. */
export function insertedRow(
  name: Sql,
  fields: ResourceFields,
  { account }: WriteParams,
  id: Sql,
  draft: RecordToWrite,
): Sql {
  const { columns, insert } = shapeOf(fields.whole)
  const values = columns.flatMap(column => valuesOf(column, draft.after))
  const document = renderedMembers(fields, draft.after)
  return sql`${name} AS (${insert([account, id, customOf(fields, draft.changes).set, document, ...values])})`
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
export function assignedRow(fields: ResourceFields, { after, changes }: RecordToWrite): Sql {
  const at = sql`locked.at`
  const custom = customOf(fields, changes)
  const changed = shapeOf(fields.whole).columns.filter(
    ({ field }) => field.is_hidden || field.internal_name in changes || setByUpdate.has(field.internal_name),
  )
  const assigned = changed.flatMap(column => {
    const values = valuesOf(column, after)
    return column.columns.map(({ type }, index) => {
      return sql`${column.names[index]!} = ${columnValue(values[index]!, type, at)}`
    })
  })
  return sql`version = version + 1, custom = (custom || ${custom.set}::jsonb) - ${custom.unset}::text[],
    document = ${dated(renderedMembers(fields, after), at)},
    ${sql.join(assigned, sql`,\n    `)}`
}

export const setByUpdate: ReadonlySet<string> = new Set(['updated_at', 'updated_by'])

/** The event of a record that the CTE `of` inserts. */
export function createdEvent({ resource }: ResourceFields, draft: RecordToWrite, of: Sql): Event {
  const { name, also } = resource
  const more = also ? { also: also(null, draft.after) } : {}
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
export const shapeOf = memoize((fields: ResourceFields): Shape => {
  const columns = fields.fields
    .filter(field => !field.is_custom && !field.computed && !field.is_of_store && !field.kept_by)
    .map(field => {
      const own = kinds[field.type].columns(field)
      return { field, columns: own, names: own.map(({ name }) => sql.id(name)) }
    })
  return { columns, insert: insertOf(tableOf(fields), columns) }
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
  { whole: fields }: ResourceFields,
  changes: Changes,
): { set: string; unset: string } {
  const changed = fields.fields.filter(field => field.is_custom && field.internal_name in changes)
  const value = (field: Field) => changes[field.internal_name]!.after
  const set = Object.fromEntries(
    changed.filter(field => value(field) !== null).map(field => [field.internal_name, value(field)]),
  )
  const unset = changed.filter(field => value(field) === null).map(field => field.internal_name)
  return { set: JSON.stringify(set), unset: `{${unset.join(',')}}` }
}
