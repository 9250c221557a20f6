/**
 * Many records of one resource, written by one statement (D78): new ones with their keys, and changed ones,
 * with their events in the order of the drafts. What single writes check against others' changes needs no
 * check here: whoever calls this has the account's lock, and has read under it.
 */
import type { ResourceFields } from '../fields/catalog.ts'
import { param, type Sql, sql } from '../sql.ts'
import { renderedMembers } from './rendered-record.ts'
import {
  answerOf,
  customOf,
  type FieldColumns,
  type RecordToWrite,
  setByUpdate,
  shapeOf,
  stateOf,
  tableOf,
  valuesOf,
} from './store.ts'
import { restoredKeys } from './unique.ts'
import { type Author, columnValue, dated, type Write } from './write.ts'

/** A record to be written; `read` as it was read, null for a new one. */
export type DraftOfMany = RecordToWrite & {
  readonly read: { readonly id: number; readonly version: string; readonly state: string } | null
  /** what else its event is */
  readonly also: readonly string[]
}

/**
 * The columns of the CTE `drafts`, before those of the record. `nth`: which of the new ones it is. The first
 * are JSON.
 */
const own = ['custom', 'document', 'changes', 'id', 'nth', 'version', 'state', 'unset', 'also']
const jsons = 3

/**
 * The write of all of them. It answers a row for each: id, version, record ({} where `unread`). No two drafts
 * are of one record, and none changes a unique value: in one statement there is no order in which a value is
 * given up and taken.
 */
export function writeOfMany(
  by: Author,
  fields: ResourceFields,
  drafts: readonly DraftOfMany[],
  unread?: true,
): Write {
  const { name } = fields.resource
  const changed = drafts.filter(({ read }) => read !== null)
  const ids = changed.map(({ read }) => read!.id)
  const names = new Set(changed.flatMap(({ changes }) => Object.keys(changes)))
  const made = param(String(drafts.length - changed.length))
  const isMade = changed.length < drafts.length
  const written = shapeOf(fields.whole).columns.filter(
    ({ field }) =>
      isMade || field.is_hidden || names.has(field.internal_name) || setByUpdate.has(field.internal_name),
  )
  const newId = sql`counted.last_id - ${made}::bigint + d.nth::bigint`
  const r = sql`r`
  return {
    changes: [draftsOf(fields, drafts, written), changedRows(by, fields, written, names, ids)],
    when: sql`(SELECT count(*) FROM changed) = ${String(changed.length)}::bigint`,
    ids: made,
    rows: [
      madeRows(by, fields, written, isMade, newId),
      sql`r AS (SELECT * FROM made UNION ALL SELECT * FROM changed)`,
      ...restoredKeys(by, fields, sql`made`, 'taken_by_new'),
      ...(fields.resource.bringsInLine?.(by, r) ?? []),
    ],
    events: [
      {
        type: sql`CASE WHEN e.is_new THEN ${sql.text(`${name}.created`)} ELSE ${sql.text(`${name}.updated`)} END`,
        also: sql`e.also`,
        resource: name,
        of: sql`(
    SELECT r.id, r.version, d.id IS NULL AS is_new, d.also, d.changes, d.place
    FROM counted, drafts d, r WHERE r.id = coalesce(d.id::bigint, ${newId}))`,
        count: param(String(drafts.length)),
        order: sql`e.place`,
        changes: dated(sql`e.changes`, sql`counted.at`),
      },
    ],
    answer: answerOf(fields, unread),
  }
}

/** The CTE with a row for each draft, in their order; all its columns are texts. */
function draftsOf(
  fields: ResourceFields,
  drafts: readonly DraftOfMany[],
  written: readonly FieldColumns[],
): Sql {
  let made = 0
  const rows = drafts.map(draft => {
    const { read, changes, after, also } = draft
    const { set, unset } = customOf(fields, changes)
    const values = written.flatMap(column => valuesOf(column, after))
    return [
      ...[set, renderedMembers(fields, after), JSON.stringify(changes)],
      ...(read ? [String(read.id), null, read.version, read.state] : [null, String(++made), null, null]),
      ...[unset, `{${also.join()}}`],
      ...values.map(value => (value === null || typeof value === 'string' ? value : value.value)),
    ]
  })
  const names = [...own, ...columnsOf(written).map((_, index) => `c${index}`)]
  const arrays = names.map((_, index) => {
    const texts = rows.map(row => row[index]!)
    return index < jsons ? arrayOfJson(texts as string[]) : sql`${arrayOf(texts)}::text[]`
  })
  return sql`drafts AS MATERIALIZED (
  SELECT * FROM unnest(${sql.join(arrays)})
    WITH ORDINALITY d (${sql.join(names.map(name => sql.id(name)))}, place)
)`
}

/** The CTE that changes the rows that are there. */
function changedRows(
  { account }: Author,
  fields: ResourceFields,
  written: readonly FieldColumns[],
  names: ReadonlySet<string>,
  ids: readonly number[],
): Sql {
  const table = tableOf(fields)
  if (ids.length === 0) return sql`changed AS (SELECT * FROM ${table} WHERE false)`
  const at = sql`locked.at`
  const isSet = ({ field }: FieldColumns) =>
    field.is_hidden || names.has(field.internal_name) || setByUpdate.has(field.internal_name)
  const all = columnsOf(written)
  const set = all.flatMap(({ of, name, type }, index) =>
    isSet(of) ? [sql`${name} = ${columnValue(sql`d.${sql.id(`c${index}`)}`, type, at)}`] : [],
  )
  return sql`changed AS (
  UPDATE ${table} t SET version = t.version + 1, document = ${dated(sql`d.document`, at)},
    custom = (t.custom || d.custom::jsonb) - d.unset::text[],
    ${sql.join(set, sql`,\n    `)}
  FROM locked, drafts d
  WHERE t.account_id = ${account}::bigint AND t.id = ANY(${`{${ids.join()}}`}::bigint[])
    AND t.id = d.id::bigint AND t.version = d.version::int
    AND ${stateOf(sql`t.document`)} = d.state::bigint AND t.deleted_at IS NULL
  RETURNING t.*
)`
}

/** The CTE that makes the new ones. */
function madeRows(
  { account }: Author,
  fields: ResourceFields,
  written: readonly FieldColumns[],
  isMade: boolean,
  id: Sql,
): Sql {
  const table = tableOf(fields)
  if (!isMade) return sql`made AS (SELECT * FROM ${table} WHERE false)`
  const at = sql`counted.at`
  const all = columnsOf(written)
  const values = all.map(({ type }, index) => columnValue(sql`d.${sql.id(`c${index}`)}`, type, at))
  return sql`made AS (
  INSERT INTO ${table} (account_id, id, custom, document,
    ${sql.join(all.map(({ name }) => name))})
  SELECT ${account}::bigint, ${id}, d.custom::jsonb, ${dated(sql`d.document`, at)},
    ${sql.join(values, sql`,\n    `)}
  FROM counted, drafts d WHERE d.id IS NULL ORDER BY d.place RETURNING *
)`
}

function columnsOf(written: readonly FieldColumns[]) {
  return written.flatMap(of => of.columns.map(({ type }, index) => ({ of, type, name: of.names[index]! })))
}

/** The literal of an array of texts. */
function arrayOf(texts: readonly (string | null)[]): string {
  const items = texts.map(text => {
    if (text === null) return 'NULL'
    return /[\\"]/.test(text) ? `"${text.replace(/[\\"]/g, '\\$&')}"` : `"${text}"`
  })
  return `{${items.join()}}`
}

/** SQL of an array of JSON texts, which have no bare control characters: so nothing in them is escaped. */
function arrayOfJson(texts: readonly string[]): Sql {
  return sql`string_to_array(${texts.join('\x1f')}::text, chr(31))`
}
