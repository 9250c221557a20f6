/**
 * Deals that other systems call won or lost whatever their stage is. Here the stage decides: such a deal goes
 * to the stage of its pipeline that means won or lost, and is closed on the day that the file states.
 */
import type { Catalog } from '../../fields/catalog.ts'
import { dateIn } from '../../fields/iso8601.ts'
import { findOption } from '../../fields/kinds/dropdown.ts'
import type { Json, JsonObject } from '../../json.ts'

/**
 * Takes the `status` out of a body and sets the stage that means it. Sets the day of closing, if the body has
 * none and its stage or status is a closed one: the day of the time of closing, else the expected one.
 * Returns true if it set the day.
 */
export function close(body: JsonObject, kept: JsonObject, catalog: Catalog): boolean {
  const { status } = body
  if (status === undefined && body.deal_closed_on !== undefined) return false
  delete body.status
  const sentKind = typeof status === 'string' || typeof status === 'number' ? kindOf(String(status)) : null
  const stages = [...catalog.stages.values()]
  const pipelines = [...catalog.pipelines.values()]
  const own = chosen(body.pipeline, pipelines)?.id
  const sent = chosen(
    body.pipeline_stage,
    stages.filter(({ pipeline }) => own === undefined || pipeline === own),
  )
  const kind = sentKind ?? (sent && sent.kind !== 'open' ? sent.kind : null)
  if (kind === null) return false
  const pipeline = own ?? sent?.pipeline ?? pipelines.find(({ is_default }) => is_default)?.id
  const stage = stages.find(one => one.pipeline === pipeline && one.kind === kind)
  if (stage && sent?.kind !== kind) body.pipeline_stage = stage.id
  const moment = kept[kind === 'won' ? 'won_time' : 'lost_time'] ?? body.expected_close_date
  if (body.deal_closed_on !== undefined || typeof moment !== 'string') return false
  const day = moment.length === 10 ? moment : dateIn(catalog.account.time_zone, new Date(moment))
  if (day !== null) body.deal_closed_on = day
  return day !== null
}

/** Kinds of stages for which a reason or day of closing makes sense; other deals may have it, too. */
const closes: { readonly [field: string]: readonly string[] } = {
  won_reason: ['won'],
  lost_reason: ['lost'],
  deal_closed_on: ['won', 'lost'],
}

/** True if a field is a reason or day of closing and the body's deal is not closed that way. */
export function isOutOfPlace(field: string, body: JsonObject, catalog: Catalog): boolean {
  const kinds = closes[field]
  if (!kinds) return false
  const pipeline = chosen(body.pipeline, [...catalog.pipelines.values()])?.id
  const own = [...catalog.stages.values()].filter(
    stage => pipeline === undefined || stage.pipeline === pipeline,
  )
  const stage = chosen(body.pipeline_stage, own)
  return stage !== undefined && !kinds.includes(stage.kind)
}

/** The names and ids of the field's own options, and their synonyms in other systems. */
function kindOf(text: string): 'won' | 'lost' | null {
  if (/^(?:2|(?:closed[ -]?)?won)$/i.test(text.trim())) return 'won'
  return /^(?:3|(?:closed[ -]?)?lost)$/i.test(text.trim()) ? 'lost' : null
}

function chosen<T extends { readonly id: number; readonly name: string }>(
  value: Json | undefined,
  all: readonly T[],
): T | undefined {
  return typeof value === 'string' || typeof value === 'number' ? findOption(value, all) : undefined
}
