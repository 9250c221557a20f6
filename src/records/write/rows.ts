/**
 * The rows of a write as SQL: one record by parameters, or many of a resource by arrays of them. New ids and
 * the moment come from `locked` and `counted` (protocol.ts), as nobody knows them before the account is
 * locked. Knows no particular resource.
 */
import type { WriteParams } from '../../fields/caller-params.ts'
import type { ResourceSchema } from '../../fields/catalog.ts'
import type { Column } from '../../fields/columns.ts'
import type { Field } from '../../fields/field.ts'
import { kinds } from '../../fields/kinds.ts'
import { idPlaceholder } from '../../fields/moment.ts'
import type { Json } from '../../json.ts'
import { arrayLiteral, type Part, pattern, type Sql, sql, type Value } from '../../sql.ts'
import { memoize } from '../../waiting/memoize.ts'
import { renderedMembers } from '../rendered-record.ts'
import { type RecordToWrite, stateOf, tableOf } from '../store.ts'
import {
  cellOf,
  counted,
  idOf,
  locked,
  withMoment,
  withPlaceholdersReplaced,
  withRealIds,
} from './placeholders.ts'

export type Row = RecordToWrite & {
  readonly schema: ResourceSchema
  /** the record that was read; null for a new one */
  readonly read: { readonly id: number; readonly version: string; readonly state: string } | null
  /** of a new record: its place among the new ones of the write, from 1 */
  readonly nth: number
  /** number of temporary ids that its values may have: -n stands for the id of the nth new record */
  readonly temporaryIds: number
  /** aliases and origin of its event */
  readonly aliases: readonly string[]
  readonly origin: WriteParams['origin']
}

/** An INSERT of new records of one resource. */
export function insertedRows(rows: readonly Row[]): Sql {
  const { columns, insert } = shapeOf(rows[0]!.schema.whole)
  const { from, values } = sourceOf(
    rows.map(row => [customOf(row), documentOf(row), String(row.nth), ...textsOf(columns, row)]),
    2,
  )
  const [custom, document, nth, ...texts] = values
  const text = withPlaceholdersReplaced(document!, counted, rows[0]!.temporaryIds)
  const cells = cellsOf(columns, texts, counted, rows[0]!).map(({ cell }) => cell)
  return insert([idOf(counted, nth!), custom!, text, from, ...cells])
}

/**
 * An UPDATE of records of one resource, if they are unchanged since they were read. It sets only the columns
 * of the fields that change in one of them: most changes touch a field or two, and a deal has sixty columns.
 */
export function updatedRows({ account }: WriteParams, rows: readonly Row[]): Sql {
  const [first] = rows
  const { schema } = first!
  const names = new Set(rows.flatMap(({ changes }) => Object.keys(changes)))
  const columns = shapeOf(schema.whole).columns.filter(
    ({ field }) => field.is_hidden || names.has(field.internal_name) || setByUpdate.has(field.internal_name),
  )
  const { from, values } = sourceOf(
    rows.map(row => [customOf(row), documentOf(row), ...keyOf(row), ...textsOf(columns, row)]),
    2,
    [...typesOfKey, ...columns.flatMap(({ columns }) => columns.map(({ type }) => sql.type(type)))],
  )
  const [custom, document, id, version, state, ...texts] = values
  const set = cellsOf(columns, texts, locked, first!).map(
    ({ name, type, cell }) => sql`${name} = ${cell}::${sql.type(type)}`,
  )
  return sql`
  UPDATE ${tableOf(schema)} t SET version = t.version + 1,
    custom = ${custom!}::jsonb,
    document = ${withPlaceholdersReplaced(document!, locked, first!.temporaryIds)},
    ${sql.join(set, sql`,\n    `)}
  FROM locked${from}
  WHERE ${isAsRead(account, rows, [id!, version!, state!])}
`
}

const typesOfKey = (['jsonb', 'text', 'bigint', 'int', 'bigint'] as const).map(sql.type)

/** The condition that these records, of one resource, are unchanged since they were read. */
export function areAsRead({ account }: WriteParams, rows: readonly Row[]): Sql {
  const { from, values } = sourceOf(rows.map(keyOf), 0)
  const count = String(rows.length)
  return sql`(
    SELECT count(*) FROM ${tableOf(rows[0]!.schema)} t${from}
    WHERE ${isAsRead(account, rows, values)}) = ${count}::bigint`
}

/**
 * The purge of a field (work/background/purge.ts) changes the text without a new version. So the state of the
 * text is compared, too: otherwise the text from before the purge would come back. The ids of several records
 * are also a condition of their own, which finds them in the primary key.
 */
function isAsRead(account: Part, rows: readonly Row[], [id, version, state]: readonly Part[]): Sql {
  const ids = `{${rows.map(({ read }) => read!.id).join()}}`
  const isAny = rows.length > 1 ? sql`t.id = ANY(${ids}::bigint[]) AND ` : sql.none
  return sql`t.account_id = ${account}::bigint AND ${isAny}t.id = ${id!}::bigint
    AND t.version = ${version!}::int AND ${stateOf(sql`t.document`)} = ${state!}::bigint
    AND t.deleted_at IS NULL`
}

function keyOf({ read }: Row): string[] {
  return [String(read!.id), read!.version, read!.state]
}

/** SELECT of these records of one resource from its table. */
export function selectOfRows({ account }: WriteParams, rows: readonly Row[]): Sql {
  const known = rows.flatMap(({ read }) => read?.id ?? [])
  const made = rows.flatMap(({ read, nth }) => (read ? [] : nth))
  const ids = [
    ...(known.length ? [sql`${`{${known.join()}}`}::bigint[]`] : []),
    ...(made.length
      ? [sql`ARRAY(SELECT counted.id_before + n FROM counted, unnest(${`{${made.join()}}`}::bigint[]) n)`]
      : []),
  ]
  return sql`SELECT t.* FROM ${tableOf(rows[0]!.schema)} t
  WHERE t.account_id = ${account}::bigint AND t.id = ANY(${sql.join(ids, sql` || `)})`
}

/** The events of these records, in their order; for `Event.of`. */
export function eventsOf(rows: readonly Row[]): Sql {
  const { from, values } = sourceOf(
    rows.map(({ schema: { resource }, read, nth, aliases, changes, origin }, index) => [
      ...[JSON.stringify(changes), `${resource.name}.${read ? 'updated' : 'created'}`, resource.name],
      ...[read && String(read.id), String(nth), read?.version ?? '0'],
      ...[`{${aliases.join()}}`, String(rows.length - 1 - index), origin.request.value, origin.trace.value],
    ]),
    1,
  )
  const [changes, type, resource, id, nth, version, aliases, behind, request, trace] = values
  return sql`LATERAL (
    SELECT ${changes!}::text AS changes, ${type!}::text AS type, ${resource!}::text AS resource,
      coalesce(${id!}::bigint, ${idOf(counted, nth!)}) AS id, ${version!}::int + 1 AS version,
      ${aliases!}::text[] AS aliases, ${behind!}::bigint AS behind,
      ${request!}::text AS request, ${trace!}::text AS trace
    FROM (SELECT 1) one${from})`
}

/** SQL of the event's changes of a record that is written alone. */
export function changesSql(row: Row): Sql {
  const { changes, schema, temporaryIds } = row
  const after = Object.entries(changes).map(([name, { after }]): [string, Json] => [name, after])
  const told = temporaryIds ? withRealIds(schema, Object.fromEntries(after), idPlaceholder) : {}
  const all = Object.entries(changes).map(([name, { before, after }]) => {
    return [name, { before, after: told[name] ?? after }]
  })
  const json = JSON.stringify(temporaryIds ? Object.fromEntries(all) : changes)
  return withPlaceholdersReplaced(json, counted, temporaryIds)
}

/** The event's changes of several records, as SQL. */
export const changesOfEach = withMoment(sql`e.changes`, counted)

/**
 * Values of rows as SQL: the parameters of one row, or the columns of the FROM item `from` for several. The
 * first `jsons` are JSON texts. `types`: casts in `from`, as Citus sets no column by a stable cast (D173).
 */
function sourceOf(
  rows: readonly (readonly Value[])[],
  jsons: number,
  types: readonly Sql[] | null = null,
): { readonly from: Sql; readonly values: readonly Part[] } {
  if (rows.length === 1) return { from: sql.none, values: rows[0]! }
  const names = rows[0]!.map((_, index) => sql.id(`c${index}`))
  const arrays = names.map((_, index) => {
    const texts = rows.map(row => row[index]!)
    // JSON texts have no bare control characters, so they need no escaping.
    return index < jsons
      ? sql`string_to_array(${texts.join('\x1f')}::text, chr(31))`
      : sql`${arrayLiteral(texts)}::text[]`
  })
  const given = sql`unnest(${sql.join(arrays)}) d (${sql.join(names)})`
  const typed = types?.map((type, index) => sql`d.${names[index]!}::${type} AS ${names[index]!}`)
  return {
    from: typed ? sql`, (SELECT ${sql.join(typed)} FROM ${given} OFFSET 0) d` : sql`, ${given}`,
    values: names.map(name => sql`d.${name}`),
  }
}

/** The values of columns as SQL, with the moment and new ids in the place of their placeholders. */
function cellsOf(columns: readonly FieldColumns[], values: readonly Part[], row: Sql, { temporaryIds }: Row) {
  let index = 0
  return columns.flatMap(({ field, columns, names }) => {
    return columns.map(({ type }, place) => {
      const cell = cellOf(values[index++]!, type, row, temporaryIds > 0 && field.related !== null)
      return { name: names[place]!, type, cell }
    })
  })
}

/** An INSERT of: id, custom, document, more FROM items, and the values of the columns. */
function insertOf(table: Sql, columns: readonly FieldColumns[]): (parts: readonly Part[]) => Sql {
  const all = columns.flatMap(({ columns }) => columns)
  return pattern(4 + all.length, ([id, custom, document, from, ...cells]) => {
    const values = all.map(({ type }, index) => sql`${cells[index]!}::${sql.type(type)}`)
    return sql`
  INSERT INTO ${table} AS t (account_id, id, custom, document,
    ${sql.join(
      columns.map(({ names }) => sql.join(names)),
      sql`,\n    `,
    )})
  SELECT counted.account, ${id!}, ${custom!}::jsonb, ${document!},
    ${sql.join(values, sql`,\n    `)}
  FROM counted${from!}
`
  })
}

const setByUpdate: ReadonlySet<string> = new Set(['updated_at', 'updated_by'])

type FieldColumns = {
  readonly field: Field
  readonly columns: readonly Column[]
  readonly names: readonly Sql[]
}

/** The columns that a record's own writes set, with the field of the service each belongs to. */
const shapeOf = memoize((schema: ResourceSchema) => {
  const columns = schema.fields
    .filter(field => !field.is_custom && !field.computed && !field.is_of_store && !field.maintained_by)
    .map(field => {
      const own = kinds[field.type].columns(field)
      return { field, columns: own, names: own.map(({ name }) => sql.id(name)) }
    })
  return { columns, insert: insertOf(tableOf(schema), columns) }
})

function textsOf(columns: readonly FieldColumns[], { after }: Row): Value[] {
  return columns.flatMap(({ field }) => kinds[field.type].write(after[field.internal_name] ?? null, field))
}

/** The stored text of a record, with placeholders. */
function documentOf({ schema, after, temporaryIds }: Row): string {
  return renderedMembers(schema, temporaryIds ? withRealIds(schema, after, idPlaceholder) : after)
}

/** The stored custom members as JSON text. None has a temporary id: a custom field takes no nested record. */
function customOf({ after }: Row): string {
  const members = Object.entries(after).filter(([name, value]) => name.startsWith('cf_') && value !== null)
  return JSON.stringify(Object.fromEntries(members))
}
