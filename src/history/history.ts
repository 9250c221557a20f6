/** The history of a record (D70): its events, the newest first, in pages by cursor. Knows no HTTP. */
import {
  beginQuery,
  cursorOf,
  oneOf,
  type Parameters,
  pageSizeMax,
  throwProblems,
  wholeNumber,
} from '../lists/parameters.ts'
import { recordNotFound } from '../records/read.ts'
import type { ReadWork } from '../records/work.ts'
import { agentOrigin } from '../records/write/protocol.ts'
import { callerParamsOf, visible } from '../rights/visibility.ts'
import { seqCursorText, seqInCursor } from '../seq-cursor.ts'
import { ask, sql } from '../sql.ts'
import { eventRows, isByAgent, type PresentedEvent, presentEvents } from './present.ts'

export type HistoryRequest = {
  readonly pageSize: number
  /** only events before this one; null: from the newest */
  readonly before: number | null
  /** only what agents wrote (D148) */
  readonly isOfAgents: boolean
}

export type HistoryPage = {
  readonly events: readonly PresentedEvent[]
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

const pageSizeDefault = 25

/** Throws `unknown_parameter` or `malformed_query` with every problem. */
export function readHistoryQuery(parameters: Parameters): HistoryRequest {
  const query = beginQuery(parameters, ['pageSize', 'cursor', 'origin'])
  const pageSize = wholeNumber(query, ['pageSize'], pageSizeDefault, pageSizeMax)
  const before = cursorOf(query, seqInCursor)
  const isOfAgents = oneOf(query, 'origin', [agentOrigin]) !== null
  throwProblems(query.problems, 'The history could not be read.')
  return { pageSize, before, isOfAgents }
}

/**
 * A page of the history of a record that the caller sees, also of one that was deleted at `oldest` or
 * later. Throws `record_not_found`.
 */
export async function readHistory(
  { db, schema, context }: ReadWork,
  id: number,
  oldest: Date,
  { pageSize, before, isOfAgents }: HistoryRequest,
): Promise<HistoryPage> {
  const { name } = schema.resource
  const [params, record] = [callerParamsOf(context), sql`r`]
  const statement = sql`SELECT 1 AS found FROM ${sql.id(name)} r
    WHERE ${visible(name, params, record)} AND r.id = ${String(id)}::bigint
      AND (r.deleted_at IS NULL OR r.deleted_at >= ${oldest.toISOString()}::timestamptz)`
  const [known] = await ask(db, statement)
  if (!known) throw recordNotFound(schema, id)
  const isBefore = before === null ? sql.none : sql` AND e.seq < ${String(before)}::bigint`
  const condition = sql`e.account_id = ${params.account}::bigint AND e.record_id = ${String(id)}::bigint
      AND e.resource = ${sql.text(name)}${isBefore}${isOfAgents ? sql` AND ${isByAgent(sql`e`)}` : sql.none}`
  const rows = await ask(db, eventRows(params, condition, 'DESC', pageSize))
  const events = await presentEvents(db, context, rows)
  const hasMore = rows.at(-1)?.has_next === 'true'
  return { events, hasMore, nextCursor: hasMore ? seqCursorText(events.at(-1)!.seq) : null }
}
