/**
 * Deals that other systems call won or lost whatever their stage is. Here the stage decides: such a deal goes
 * to the stage of its pipeline that means won or lost, and is closed on the day that the file states.
 */
import type { Catalog } from '../../fields/catalog.ts'
import type { Values } from '../../fields/field.ts'
import { dateIn } from '../../fields/iso8601.ts'
import { findOption } from '../../fields/kinds/dropdown.ts'
import type { Json, JsonObject } from '../../json.ts'

/**
 * Takes the `status` out of a body and sets the stage that means it, of the default pipeline if the body
 * names neither pipeline nor stage. Sets the day of closing, if the body has none and its stage or status is
 * a closed one: the day of the time of closing, else the expected one.
 */
export function close(body: JsonObject, kept: JsonObject, catalog: Catalog): Closing {
  const { status } = body
  if (status === undefined && body.deal_closed_on !== undefined) return { isDated: false, by: null }
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
  const by = body.pipeline === undefined && body.pipeline_stage === undefined ? kind : null
  if (kind === null) return { isDated: false, by }
  const pipeline = own ?? sent?.pipeline ?? pipelines.find(({ is_default }) => is_default)?.id
  const stage = stages.find(one => one.pipeline === pipeline && one.kind === kind)
  if (stage && sent?.kind !== kind) body.pipeline_stage = stage.id
  const moment = kept[kind === 'won' ? 'won_time' : 'lost_time'] ?? body.expected_close_date
  if (body.deal_closed_on !== undefined || typeof moment !== 'string') return { isDated: false, by }
  const day = moment.length === 10 ? moment : dateIn(catalog.account.time_zone, new Date(moment))
  if (day !== null) body.deal_closed_on = day
  return { isDated: day !== null, by }
}

/** `isDated`: it set the day. `by`: the kind that alone decides on the stage; else null. */
export type Closing = { readonly isDated: boolean; readonly by: 'won' | 'lost' | null }

/** The stage of a stored deal's own pipeline that means won or lost: the one that it has, or the first. */
export function closedStageOf({ pipeline, pipeline_stage }: Values, kind: string, { stages }: Catalog): Json {
  const all = [...stages.values()].filter(stage => stage.pipeline === pipeline && stage.kind === kind)
  return (all.find(({ id }) => id === pipeline_stage) ?? all[0])?.id ?? null
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
