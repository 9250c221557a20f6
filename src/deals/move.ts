/**
 * Moves all deals of a stage, or of a pipeline, elsewhere, so that it can be deleted (D37). Each deal is updated as a person would do it, with
 * its event and its rules. Knows no HTTP.
 */
import { Refusal } from '../errors.ts'
import type { Stage } from '../fields/catalog.ts'
import { isSameName } from '../fields/name.ts'
import type { Context } from '../records/save.ts'
import type { Queryable } from '../records/store.ts'
import { updateRecord } from '../records/update.ts'

const batch = 100

/** Moves the deals of stage `from` to stage `to`, which must mean the same: an open deal is not won by moving house. */
export async function moveStage(db: Queryable, context: Context, from: number, to: number): Promise<void> {
  const { stages } = context.catalog
  const [source, target] = [stages.get(from), stages.get(to)]
  if (!source) return
  if (!target || target.id === source.id) throw noTarget(`${to} is no other stage.`)
  if (target.kind !== source.kind) throw noTarget(`"${source.name}" is ${source.kind}, "${target.name}" is ${target.kind}.`)
  await moveDeals(db, context, source, target)
}

/** Moves the deals of a pipeline to another one: to the stage of the same name and kind, else to the first of the same kind. */
export async function movePipeline(db: Queryable, context: Context, from: number, to: number): Promise<void> {
  const { pipelines } = context.catalog
  if (!pipelines.has(from)) return
  if (!pipelines.has(to) || from === to) throw noTarget(`${to} is no other pipeline.`)
  const stages = [...context.catalog.stages.values()]
  const targets = stages.filter(stage => stage.pipeline === to)
  for (const source of stages.filter(stage => stage.pipeline === from)) {
    const alike = targets.filter(stage => stage.kind === source.kind)
    const target = alike.find(stage => isSameName(stage.name, source.name)) ?? alike[0]
    const ids = await dealsIn(db, context, source)
    if (ids.length === 0) continue
    if (!target) throw noTarget(`pipeline ${to} has no stage that is ${source.kind}, as "${source.name}" is.`)
    await moveDeals(db, context, source, target)
  }
}

async function moveDeals(db: Queryable, context: Context, source: Stage, target: Stage): Promise<void> {
  const fields = context.catalog.resources.get('deal')!
  const body = { pipeline: target.pipeline, pipeline_stage: target.id }
  for (let before = ''; ; ) {
    const ids = await dealsIn(db, context, source)
    if (ids.length === 0) return
    if (before === ids.join())
      throw new Refusal('busy_record', 'The deals can not be moved now; try again.', [], { 'retry-after': '1' })
    before = ids.join()
    await Promise.all(ids.map(id => updateRecord(db, fields, id, body, context).catch(error => unmoved(id, error))))
  }
}

async function dealsIn(db: Queryable, { catalog }: Context, stage: Stage): Promise<number[]> {
  const rows = await db.query(
    `SELECT id::text AS id FROM deal WHERE account_id = $1::bigint AND pipeline_stage = $2::bigint AND deleted_at IS NULL ORDER BY id LIMIT ${batch}`,
    [String(catalog.account.id), String(stage.id)],
  )
  return rows.map(row => Number(row.id))
}

/** A deal that is gone by now need not be moved; one that its own rules keep back is named. */
function unmoved(id: number, error: unknown): void {
  if (!(error instanceof Refusal)) throw error
  if (error.slug === 'record_not_found') return
  throw new Refusal(error.slug, `Deal ${id} can't be moved, so nothing is deleted. ${error.message}`, error.problems)
}

function noTarget(why: string): Refusal {
  const problem = {
    field: null,
    path: '',
    parameter: 'move_to',
    code: 'invalid_value',
    message: `The deals can't be moved: ${why}`,
  }
  return new Refusal('malformed_query', 'Nothing was moved or deleted.', [problem])
}
