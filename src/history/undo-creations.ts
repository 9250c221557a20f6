/**
 * Undoes the creations of many records in bulk (D83): records that are unchanged and that nothing needs.
 * `undo` handles the others, and says what prevents it.
 */
import { type JsonObject, parseJson } from '../json.ts'
import { canBeRemovedTogether, removeTogether } from '../records/remove.ts'
import { renderedSql } from '../records/rendered-record.ts'
import type { Changes } from '../records/store.ts'
import type { Work } from '../records/work.ts'
import { lockStatement } from '../records/write/protocol.ts'
import { allows } from '../rights/scopes.ts'
import { callerParamsOf, visible } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import { mapYielding } from '../waiting/yielding.ts'
import { differingFrom, isUndone } from './undo.ts'

/** Fewer are undone individually, which is quicker than a search for a record that stays. */
const fewest = 8

/** Undoes as many as possible of these events, creations of one resource, in this order; returns those. */
export async function undoCreations(work: Work, seqs: readonly number[]): Promise<ReadonlySet<number>> {
  const { db, schema, context } = work
  const { name } = schema.resource
  const mayWrite = !context.rights || allows(context.rights.scopes, `${name}:write`)
  if (seqs.length < fewest || !mayWrite || !isUndone(schema.resource) || !canBeRemovedTogether(schema))
    return new Set()
  const params = callerParamsOf(context)
  // Under the lock, nobody changes the records between reading and deleting them.
  await ask(db, lockStatement(params.account.value!))
  const statement = sql`SELECT e.seq::text AS seq, e.record_id::text AS id, e.changes::text AS changes,
    ${renderedSql(schema, params.account)} AS record
FROM event e JOIN ${sql.id(name)} r ON ${visible(name, params, sql`r`)} AND r.id = e.record_id
WHERE e.account_id = ${params.account}::bigint AND e.seq = ANY(${`{${seqs.join()}}`}::bigint[])
ORDER BY e.seq DESC`
  const rows = await ask(db, statement)
  const unchanged = await mapYielding(rows, ({ seq, id, changes, record }) => {
    const made = parseJson(changes!) as unknown as Changes
    const event = { ...work, seq: Number(seq), id: Number(id), verb: 'created', changes: made }
    return differingFrom(event, parseJson(record!) as JsonObject).length === 0 ? [event] : []
  })
  const removed = await removedOf(work, unchanged.flat())
  return new Set(removed.map(({ seq }) => seq))
}

type Event = { readonly seq: number; readonly id: number }

/** If one of several can't be removed, tries each half (bisection). */
async function removedOf(work: Work, events: readonly Event[]): Promise<readonly Event[]> {
  if (events.length < fewest) return []
  const ids = events.map(({ id }) => id)
  if (await removeTogether(work, ids)) return events
  const half = events.length >> 1
  const first = await removedOf(work, events.slice(0, half))
  return [...first, ...(await removedOf(work, events.slice(half)))]
}
