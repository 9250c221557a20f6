/**
 * A record as it was after one of its events: what later events changed is undone (D72). Events tell each
 * value from before and after, so nothing else has to be kept. Pure; knows no SQL and no particular resource.
 */
import type { Json, JsonObject } from '../json.ts'

/** An event of a record, as far as it says what to undo. */
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
   * when and by whom the record was written last; for an event that doesn't write it, such as a deletion, by
   * an event before
   */
  readonly written: Written
}
export type Written = { readonly at: string; readonly by: number }

/** What was different after an event: values of fields, and what the store keeps of each record. */
export type Then = {
  readonly values: ReadonlyMap<string, Json>
  /** null where nothing has happened since: the record is as it was */
  readonly kept: {
    readonly version: number
    readonly updated_at: string
    readonly updated_by: number
    readonly deleted_at: string | null
    readonly deleted_by: number | null
  } | null
}

/**
 * What was different after each of the events `asked` of one record. `steps`: the newest first, none
 * missing.
 */
export function undone(steps: Iterable<Step>, asked: ReadonlySet<number>): Map<number, Then> {
  const found = new Map<number, Then>()
  const values = new Map<string, Json>()
  let isNewest = true
  for (const step of steps) {
    if (asked.has(step.seq))
      found.set(step.seq, { values: new Map(values), kept: isNewest ? null : kept(step) })
    for (const [field, { before }] of Object.entries(step.changes)) values.set(field, before)
    isNewest = false
  }
  return found
}

function kept({ type, version, at, actor, written }: Step): Then['kept'] {
  const isDeletion = type.endsWith('.deleted')
  return {
    version,
    updated_at: written.at,
    updated_by: written.by,
    deleted_at: isDeletion ? at : null,
    deleted_by: isDeletion ? actor : null,
  }
}

/** The record as it was then, from what it is now. A custom field without a value is absent from it (D43). */
export function recordAt(now: JsonObject, { values, kept }: Then): JsonObject {
  const record: JsonObject = { ...now, ...kept }
  for (const [field, value] of values) {
    if (value === null && field.startsWith('cf_')) delete record[field]
    else record[field] = value
  }
  return record
}
