/**
 * The moves of all deals of a stage or of a pipeline, so that it can be deleted (D37); records/move.ts
 * carries them out. Knows no HTTP.
 */
import type { Stage } from '../../fields/catalog.ts'
import { isSameName } from '../../fields/name.ts'
import { hasAny, type Move, NoTarget } from '../../records/move.ts'
import type { Transaction } from '../../records/store.ts'
import type { WriteContext } from '../../records/write/operation.ts'
import { sql } from '../../sql.ts'

/**
 * The move of the deals of stage `from` to stage `to`, which must have the same kind: a move never closes or
 * reopens a deal. Throws NoTarget.
 */
export async function stageMoves(
  _db: Transaction,
  { catalog: { stages } }: WriteContext,
  from: number,
  to: number,
): Promise<Move[]> {
  const [source, target] = [stages.get(from), stages.get(to)]
  if (!source) return []
  if (!target || target.id === source.id) throw new NoTarget(`there is no other stage ${to}.`)
  if (target.kind !== source.kind)
    throw new NoTarget(`"${source.name}" is ${source.kind}, "${target.name}" is ${target.kind}.`)
  return [stageMove(source, target)]
}

/**
 * The moves of the deals of a pipeline to another one: to the stage of the same name and kind, else to the
 * first of the same kind. Throws NoTarget.
 */
export async function pipelineMoves(
  db: Transaction,
  context: WriteContext,
  from: number,
  to: number,
): Promise<Move[]> {
  const { pipelines } = context.catalog
  if (!pipelines.has(from)) return []
  if (!pipelines.has(to) || from === to) throw new NoTarget(`there is no other pipeline ${to}.`)
  const stages = [...context.catalog.stages.values()]
  const targets = stages.filter(stage => stage.pipeline === to)
  const moves: Move[] = []
  for (const source of stages.filter(stage => stage.pipeline === from)) {
    const alike = targets.filter(stage => stage.kind === source.kind)
    const target = alike.find(stage => isSameName(stage.name, source.name)) ?? alike[0]
    if (target) moves.push(stageMove(source, target))
    else if (await hasAny(db, context, stageMove(source, source)))
      throw new NoTarget(`pipeline ${to} has no stage that is ${source.kind}, as "${source.name}" is.`)
  }
  return moves
}

function stageMove(source: Stage, { pipeline, id }: Stage): Move {
  return {
    resource: 'deal',
    where: sql`x.pipeline_stage = ${String(source.id)}::bigint`,
    change: deal => (deal.pipeline_stage === source.id ? { pipeline, pipeline_stage: id } : {}),
  }
}
