/**
 * Moves all deals of a stage or of a pipeline, so that it can be deleted (D37). Each deal is updated as by a
 * request, with its event and its rules. All deals are judged before the first is moved. Knows no HTTP.
 */
import { Refusal } from '../errors.ts'
import type { Stage } from '../fields/catalog.ts'
import { isSameName } from '../fields/name.ts'
import type { Context } from '../records/save.ts'
import type { Queryable } from '../records/store.ts'
import { judgeUpdate, updateRecord } from '../records/update.ts'
import { ask, sql } from '../sql.ts'

const batch = 100

/** What is named as the place to move to can't take the deals; the message says why. */
export class NoTarget extends Error {}

type Move = { readonly source: Stage; readonly target: Stage }

/**
 * Moves the deals of stage `from` to stage `to`, which must have the same kind: a move never closes or
 * reopens a deal.
 */
export async function moveStage(db: Queryable, context: Context, from: number, to: number): Promise<void> {
  const { stages } = context.catalog
  const [source, target] = [stages.get(from), stages.get(to)]
  if (!source) return
  if (!target || target.id === source.id) throw new NoTarget(`there is no other stage ${to}.`)
  if (target.kind !== source.kind)
    throw new NoTarget(`"${source.name}" is ${source.kind}, "${target.name}" is ${target.kind}.`)
  await moveAll(db, context, [{ source, target }])
}

/**
 * Moves the deals of a pipeline to another one: to the stage of the same name and kind, else to the first of
 * the same kind.
 */
export async function movePipeline(db: Queryable, context: Context, from: number, to: number): Promise<void> {
  const { pipelines } = context.catalog
  if (!pipelines.has(from)) return
  if (!pipelines.has(to) || from === to) throw new NoTarget(`there is no other pipeline ${to}.`)
  const stages = [...context.catalog.stages.values()]
  const targets = stages.filter(stage => stage.pipeline === to)
  const moves: Move[] = []
  for (const source of stages.filter(stage => stage.pipeline === from)) {
    const alike = targets.filter(stage => stage.kind === source.kind)
    const target = alike.find(stage => isSameName(stage.name, source.name)) ?? alike[0]
    if (target) moves.push({ source, target })
    else if ((await dealsIn(db, context, source)).length > 0)
      throw new NoTarget(`pipeline ${to} has no stage that is ${source.kind}, as "${source.name}" is.`)
  }
  await moveAll(db, context, moves)
}

async function moveAll(db: Queryable, context: Context, moves: readonly Move[]): Promise<void> {
  for (const move of moves) await judgeDeals(db, context, move)
  for (const move of moves) await moveDeals(db, context, move)
}

/** Throws if the update of any of the deals would be refused. */
async function judgeDeals(db: Queryable, context: Context, { source, target }: Move): Promise<void> {
  const fields = context.catalog.resources.get('deal')!
  for (
    let ids = await dealsIn(db, context, source);
    ids.length > 0;
    ids = await dealsIn(db, context, source, ids.at(-1))
  ) {
    await Promise.all(
      ids.map(id =>
        judgeUpdate(db, fields, id, placeIn(target), context).catch(error =>
          unmoved(id, error, nothingMoved),
        ),
      ),
    )
  }
}

async function moveDeals(db: Queryable, context: Context, { source, target }: Move): Promise<void> {
  const fields = context.catalog.resources.get('deal')!
  for (let before = ''; ; ) {
    const ids = await dealsIn(db, context, source)
    if (ids.length === 0) return
    if (before === ids.join())
      throw new Refusal('busy_record', "The deals can't be moved now; try again.", [], {
        'retry-after': '1',
      })
    before = ids.join()
    await Promise.all(
      ids.map(id =>
        updateRecord(db, fields, id, placeIn(target), context).catch(error => unmoved(id, error, someMoved)),
      ),
    )
  }
}

/** The members of an update that puts a deal into a stage. */
function placeIn({ pipeline, id }: Stage) {
  return { pipeline, pipeline_stage: id }
}

/** The first deals of a stage, from the one after `after` on. */
async function dealsIn(db: Queryable, { catalog }: Context, stage: Stage, after = 0): Promise<number[]> {
  const account = String(catalog.account.id)
  const rows = await ask(
    db,
    sql`SELECT id::text AS id FROM deal
      WHERE account_id = ${account}::bigint AND pipeline_stage = ${String(stage.id)}::bigint
        AND id > ${String(after)}::bigint AND deleted_at IS NULL
      ORDER BY id LIMIT ${sql.integer(batch)}`,
  )
  return rows.map(row => Number(row.id))
}

const nothingMoved = 'so nothing is moved or deleted.'
/** All deals could be moved when they were judged; this one has changed since. */
const someMoved =
  'because it was changed meanwhile; nothing is deleted. Deals that were moved before it stay in their new stage.'

/** A deal that was deleted meanwhile need not be moved. A deal whose own rules refuse the move is named. */
function unmoved(id: number, error: unknown, what: string): void {
  if (!(error instanceof Refusal)) throw error
  if (error.slug === 'record_not_found') return
  throw new Refusal(error.slug, `Deal ${id} can't be moved, ${what} ${error.message}`, error.problems)
}
