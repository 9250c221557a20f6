/**
 * Undoes the changes of a record one after the other (D72), and so tells what it was after each. Knows no
 * database and no field.
 */
import type { Json, JsonObject } from '../json.ts'

/** An event of a record, with the values to revert. */
export type Step = {
  readonly seq: number
  readonly type: string
  readonly version: number
  /** ISO 8601, UTC, to the millisecond */
  readonly at: string
  readonly actor: number
  /** field → its values before and after */
  readonly changes: { readonly [field: string]: { readonly before: Json; readonly after: Json } }
  /**
   * time and user of the record's last write; if this event doesn't write it, such as a deletion, those of an
   * earlier event
   */
  readonly written: LastWrite
}
type LastWrite = { readonly at: string; readonly by: number }

/** The differences after an event: values of fields, and the store's own columns. */
export type StateAfterEvent = {
  readonly values: ReadonlyMap<string, Json>
  /** null if nothing has happened since */
  readonly storeColumns: ReturnType<typeof storeColumnsOf> | null
}

/** The changes of one record as they are undone, and the differences after each of the events asked for. */
export type Undoing = {
  readonly past: ReadonlyMap<number, StateAfterEvent>
  /** Takes the next step: the newest first, none missing. Keeps nothing of those that were not asked for. */
  undo(step: Step): void
}

export function undoingOf(asked: ReadonlySet<number>): Undoing {
  const past = new Map<number, StateAfterEvent>()
  const values = new Map<string, Json>()
  let isNewest = true
  return {
    past,
    undo(step) {
      if (asked.has(step.seq))
        past.set(step.seq, { values: new Map(values), storeColumns: isNewest ? null : storeColumnsOf(step) })
      for (const [field, { before }] of Object.entries(step.changes)) values.set(field, before)
      isNewest = false
    },
  }
}

function storeColumnsOf({ type, version, at, actor, written }: Step) {
  const isDeletion = type.endsWith('.deleted')
  return {
    version,
    updated_at: written.at,
    updated_by: written.by,
    deleted_at: isDeletion ? at : null,
    deleted_by: isDeletion ? actor : null,
  }
}

/** The former record, from the current one. A custom field without a value is absent from it (D43). */
export function recordAsOf(now: JsonObject, { values, storeColumns }: StateAfterEvent): JsonObject {
  const record: JsonObject = { ...now, ...storeColumns }
  for (const [field, value] of values) {
    if (value === null && field.startsWith('cf_')) delete record[field]
    else record[field] = value
  }
  return record
}
