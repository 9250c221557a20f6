/**
 * Single records as of some of their events (D72): which of them a caller sees, and which a filter matches.
 * The conditions of lists are applied to the current rows with later events reverted, as events have each
 * value before and after. Referenced records are current. as-of-day.ts reads all records of a day. Knows no
 * particular resource.
 */
import type { ResourceSchema } from '../fields/catalog.ts'
import { type Row, recordRow } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { jsonInstant } from '../fields/moment.ts'
import { type Json, type JsonObject, parseJson } from '../json.ts'
import type { Plan } from '../lists/plan.ts'
import { filterSql } from '../lists/where.ts'
import { renderedSql, shownMembers, shownText } from '../records/rendered-record.ts'
import { type Reader, tableOf } from '../records/store.ts'
import type { ReadWork } from '../records/work.ts'
import { type Caller, callerParamsOf, visible } from '../rights/visibility.ts'
import { ask, type Sql, sql } from '../sql.ts'
import { mapYielding, TimeSlice } from '../waiting/yielding.ts'
import { withinBytes } from './present.ts'
import { copyOf, copySql } from './reverted-columns.ts'
import { recordAsOf, type StateAfterEvent, type Step, type Undoing, undoingOf } from './undoing.ts'

/** An event of a record. `at`: ISO 8601 */
export type RecordEvent = { readonly seq: number; readonly id: number; readonly at: string }

/** A record as of an event, without fields that the caller's role hides; null if it has been purged. */
export type RecordAsOf = { readonly record: JsonObject | null; readonly isMatch: boolean }

/** Events that are read at a time. */
const pageMax = 2000
/** Number of attempts to read a record that changes meanwhile. */
const attempts = 5

/**
 * `seq` → the record after that event, if the caller saw it then and sees it now; values that follow from
 * other records are current (D63). `schema` is the resource's as the caller's role sees it; a null filter
 * matches all.
 */
export async function recordsAsOf(
  work: ReadWork,
  events: readonly RecordEvent[],
  filter: Plan | null,
): Promise<Map<number, RecordAsOf>> {
  const { schema } = work
  const found = new Map<number, RecordAsOf>()
  let left = events
  for (let attempt = 1; left.length > 0; attempt++) {
    const histories = await historiesOf(work, left)
    const rows = await rowsOf(work, left, histories, filter)
    // A row that has changed since its events were read would have the newer event's values.
    const hasChanged = ({ seq, id }: RecordEvent) => {
      const [row, history] = [rows.get(seq), histories.get(id)]
      return row && history && Number(row.version_now) !== history.version
    }
    const read = attempt === attempts ? left : left.filter(event => !hasChanged(event))
    await mapYielding(read, event => {
      const then = thenOf(schema, rows.get(event.seq), histories.get(event.id)?.past.get(event.seq), filter)
      if (then) found.set(event.seq, then)
    })
    left = left.filter(event => !read.includes(event))
  }
  return found
}

type Rows = Awaited<ReturnType<Reader['query']>>
type ReadRow = Rows[number]

function thenOf(
  schema: ResourceSchema,
  row: ReadRow | undefined,
  then: StateAfterEvent | undefined,
  filter: Plan | null,
): RecordAsOf | null {
  // The owner of a purged record is unknown.
  if (!row) return schema.visibility === 'all' ? { record: null, isMatch: filter === null } : null
  if (row.is_seen !== 'true') return null
  const now = parseJson(row.record!) as JsonObject
  const clock = byClock(schema).map(({ internal_name: name }, index): [string, Json] => [
    name,
    parseJson(row[`clock${index}`] ?? 'null'),
  ])
  const was = { ...(then ? recordAsOf(now, then) : now), ...Object.fromEntries(clock) }
  return { record: shownMembers(schema, was, null), isMatch: row.is_match === 'true' }
}

/** The changes of a record since the first requested event, and its newest version. */
type History = Pick<Undoing, 'past'> & { readonly version: number }

async function historiesOf(
  { db, schema, context }: ReadWork,
  events: readonly RecordEvent[],
): Promise<Map<number, History>> {
  const undoing = new Map<number, Undoing & { readonly version: number }>()
  const since = Math.min(...events.map(({ seq }) => seq))
  const ids = [...new Set(events.map(({ id }) => id))]
  const asked = new Set(events.map(({ seq }) => seq))
  const slice = new TimeSlice()
  for (let before: number | null = null; ; ) {
    const rows: Rows = await ask(db, stepsSql(context, schema, ids, since, before))
    for (const row of rows) {
      if (slice.isOver) await slice.yield()
      const step = stepOf(row)
      const id = Number(row.id)
      const of = undoing.get(id) ?? { version: step.version, ...undoingOf(asked) }
      undoing.set(id, of)
      of.undo(step)
    }
    if (rows.length === 0 || rows.at(-1)!.has_next === 'false') break
    before = Number(rows.at(-1)!.seq)
  }
  return undoing
}

/** A page of the events of records from `since` on, the newest first. `has_next`: if one more follows. */
function stepsSql(
  caller: Caller,
  { resource: { name } }: ResourceSchema,
  ids: readonly number[],
  since: number,
  before: number | null,
): Sql {
  const { account } = callerParamsOf(caller)
  const isBefore = before === null ? sql.none : sql` AND e.seq < ${String(before)}::bigint`
  const newest = sql`ORDER BY e.seq DESC`
  const events = sql`
    SELECT e.account_id, e.seq, e.resource, e.record_id, e.type, e.version, e.at, e.actor,
      e.changes::text AS changes
    FROM event e
    WHERE e.account_id = ${account}::bigint AND e.record_id = ANY(${`{${ids.join()}}`}::bigint[])
      AND e.resource = ${sql.text(name)} AND e.seq >= ${String(since)}::bigint${isBefore}
    ${newest} LIMIT ${sql.integer(pageMax + 1)}`
  const { from, where } = withinBytes(events, newest)
  return sql`
SELECT e.seq::text AS seq, e.record_id::text AS id, e.type, e.version::text AS version,
  ${jsonInstant(sql`e.at`)} AS at, e.actor::text AS actor, e.changes, e.has_next::text AS has_next,
  ${jsonInstant(sql`coalesce(w.at, e.at)`)} AS written_at, coalesce(w.actor, e.actor)::text AS written_by
FROM ${from}
LEFT JOIN LATERAL (
  SELECT x.at, x.actor FROM event x
  WHERE x.account_id = ${account}::bigint AND x.record_id = e.record_id AND x.resource = ${sql.text(name)}
    AND x.seq < e.seq AND NOT ${isWriting(sql`e`)} AND ${isWriting(sql`x`)}
  ORDER BY x.seq DESC LIMIT 1) w ON true
WHERE ${where} ${newest} LIMIT ${sql.integer(pageMax)}`
}

/** Condition that an event sets the time and user of its record's last write: a deletion does not. */
export function isWriting(event: Sql): Sql {
  return sql`split_part(${event}.type, '.', 2) IN ('created', 'updated', 'restored')`
}

function stepOf(row: ReadRow): Step {
  return {
    seq: Number(row.seq),
    type: row.type!,
    version: Number(row.version),
    at: JSON.parse(row.at!) as string,
    actor: Number(row.actor),
    changes: parseJson(row.changes!) as unknown as Step['changes'],
    written: { at: JSON.parse(row.written_at!) as string, by: Number(row.written_by) },
  }
}

/** The rows `r` as of their events, by `seq`: each is the current row `t` with other columns. */
async function rowsOf(
  { db, schema, context }: ReadWork,
  events: readonly RecordEvent[],
  histories: ReadonlyMap<number, History>,
  filter: Plan | null,
): Promise<Map<number, ReadRow>> {
  const [params, { name }] = [callerParamsOf(context), schema.resource]
  const row: Row = { ...recordRow(params.account), now: sql`i.at`, isDetached: true }
  const given = events.map(({ seq, id, at }) => {
    const { columns, set, unset } = columnsOf(schema, histories.get(id)?.past.get(seq))
    const members = `"columns":${columns},"set":${set},"unset":${JSON.stringify(unset)}`
    return `{"seq":${seq},"id":${id},"at":${JSON.stringify(at)},${members}}`
  })
  const clock = byClock(schema).map(
    (field, index) => sql`, ${shownText(field, row)} AS ${sql.id(`clock${index}`)}`,
  )
  const copies = schema.whole.fields.flatMap(field => {
    const copied = copyOf(field, schema.whole)
    if (!copied) return []
    const id = sql`(i.columns ->> ${sql.text(copied.of)})::bigint`
    const value = sql`jsonb_build_object(${sql.text(field.internal_name)}, ${copySql(copied, params.account, id)})`
    return [sql` || CASE WHEN i.columns ? ${sql.text(copied.of)} THEN ${value} ELSE '{}' END`]
  })
  const statement = sql`
SELECT i.seq::text AS seq, t.version::text AS version_now, ${renderedSql(schema, params.account)} AS record,
  (${visible(name, params, sql`r`)} AND ${visible(name, params, sql`t`)})::text AS is_seen,
  coalesce(${filter ? filterSql(filter, params, row) : sql`true`}, false)::text AS is_match${sql.join(clock, sql.none)}
FROM jsonb_to_recordset(${`[${given.join()}]`}::jsonb) i
    (seq bigint, id bigint, at timestamptz, columns jsonb, "set" jsonb, unset text[])
  JOIN ${tableOf(schema)} t ON t.account_id = ${params.account}::bigint AND t.id = i.id
  CROSS JOIN LATERAL jsonb_populate_record(t,
    i.columns || jsonb_build_object('custom', (t.custom || i."set") - i.unset)${sql.join(copies, sql.none)}) r`
  const rows = await ask(db, statement)
  return new Map(rows.map(row => [Number(row.seq), row]))
}

/** The fields that follow the clock. */
function byClock({ whole }: ResourceSchema): Field[] {
  return whole.fields.filter(field => field.is_volatile && field.computed)
}

/** The columns that had other values, as JSON text, and the custom values that were set, and unset. */
function columnsOf(
  { whole }: ResourceSchema,
  then: StateAfterEvent | undefined,
): { columns: string; set: string; unset: string[] } {
  const columns = Object.entries(then?.storeColumns ?? {}).map(
    ([name, value]) => `"${name}":${JSON.stringify(value)}`,
  )
  const set: JsonObject = {}
  const unset: string[] = []
  for (const [name, value] of then?.values ?? []) {
    const field = whole.byName.get(name)
    if (!field) continue
    if (field.is_custom) {
      if (value === null) unset.push(name)
      else set[name] = value
    } else if (!field.computed && !field.is_of_store) columns.push(...columnTexts(field, value))
  }
  return { columns: `{${columns.join()}}`, set: JSON.stringify(set), unset }
}

/** The columns of a field with a value, as members of JSON: jsonb unchanged, any other as its text. */
function columnTexts(field: Field, value: Json): string[] {
  const kind = kinds[field.type]
  const texts = kind.write(value, field)
  return kind.columns(field).map(({ name, type }, index) => {
    const text = texts[index] ?? null
    return `"${name}":${type === 'jsonb' ? (text ?? 'null') : JSON.stringify(text)}`
  })
}
