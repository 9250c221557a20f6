/**
 * Moves records away from a record that is to be deleted (D37). Each is updated like by a request of the
 * caller: with its event, its rules and the rights of the role. All are validated before the first is moved.
 * Knows no resource.
 */
import { busy, problemAt, Refusal } from '../errors.ts'
import type { CallerParams } from '../fields/caller-params.ts'
import { byName, type ResourceSchema } from '../fields/catalog.ts'
import type { Values } from '../fields/field.ts'
import { pluralOf } from '../fields/synonyms.ts'
import { isSameJson, type JsonObject } from '../json.ts'
import { callerParamsOf, changeable, visible } from '../rights/visibility.ts'
import { ask, type Sql, sql } from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'
import { type Transaction, tableOf } from './store.ts'
import { type Work, workOn } from './work.ts'
import type { Operation, WriteContext } from './write/operation.ts'
import { refuseUnwritable } from './write/rules.ts'
import { saveRecord, validOperation } from './write/save.ts'

const batch = 100
/** Maximum number of records that a dry run moves, or of events that it undoes: others wait for it. */
export const dryMax = 200

/** The given target can't take the records; the message says why. */
export class NoTarget extends Error {}

/**
 * Records of a resource to move: a condition on the row `x`, and the members that move a record; none of one
 * that does not meet the condition.
 */
export type Move = {
  readonly resource: string
  readonly where: Sql
  readonly change: (record: JsonObject) => JsonObject
}

/**
 * Moves all records that the caller may change. Throws the refusal of any update, and `forbidden` if the
 * caller's role hides or locks a field that a move changes (D64).
 */
export async function moveRecords(
  db: Transaction,
  context: WriteContext,
  moves: readonly Move[],
): Promise<void> {
  const all = moves.map(move => {
    const { schema, ...work } = workOn(db, context, move.resource)
    return { move, work: { ...work, schema: allInUse(schema) } }
  })
  for (const { move, work } of all) await judge(work, move)
  for (const { move, work } of all) await carryOut(work, move)
}

/**
 * The fields that are out of use taken for fields in use: a move changes these, too, as they point to the
 * record until their values are purged, and come back with them if they are restored.
 */
const allInUse = memoize((schema: ResourceSchema): ResourceSchema => {
  const fields = schema.fields.map(field => ({ ...field, is_active: true }))
  return { ...schema, fields, byName: byName(fields) }
})

export async function hasAny(db: Transaction, context: WriteContext, move: Move): Promise<boolean> {
  return (await found(workOn(db, context, move.resource), move)).length > 0
}

/** The condition that the row `x` is moved by `move`. */
export function isMovedBy({ resource, where }: Move, params: CallerParams): Sql {
  const x = sql`x`
  return sql`(${visible(resource, params, x)} AND ${changeable(resource, params, x)} AND ${where})`
}

async function judge(work: Work, move: Move): Promise<void> {
  const { context } = work
  let count = 0
  for (let records = await found(work, move); records.length > 0; ) {
    count += records.length
    if (context.isDry && count > dryMax) {
      const message = `A dry run moves at most ${dryMax} ${pluralOf(move.resource)}. Without it all are judged before the first is moved.`
      throw tooManyToTry('There is too much to move in vain.', message)
    }
    context.rights?.need(`${move.resource}:write`)
    await Promise.all(
      records.map(id =>
        validOperation(work, operationOf(work, move, id), true).catch(error =>
          unmoved(move, id, error, nothingMoved),
        ),
      ),
    )
    records = await found(work, move, records.at(-1)!)
  }
}

async function carryOut(work: Work, move: Move): Promise<void> {
  for (let before = ''; ; ) {
    const records = await found(work, move)
    if (records.length === 0) return
    const ids = records.join()
    if (before === ids) throw busy(`The ${pluralOf(move.resource)} can't be moved now; try again.`)
    before = ids
    await Promise.all(
      records.map(id =>
        saveRecord(work, operationOf(work, move, id)).catch(error => unmoved(move, id, error, someMoved)),
      ),
    )
  }
}

/** The refusal of a dry run of more than `dryMax`. */
export function tooManyToTry(detail: string, message: string): Refusal {
  return new Refusal('validation_failed', detail, [
    { ...problemAt('', 'too_many', message), parameter: 'dry_run' },
  ])
}

/** The ids of the first records after the id `after` that the caller may move. */
async function found({ db, schema, context }: Work, move: Move, after = 0): Promise<number[]> {
  const statement = sql`SELECT x.id::text AS id FROM ${tableOf(schema)} x
      WHERE ${isMovedBy(move, callerParamsOf(context))} AND x.id > ${String(after)}::bigint
        AND x.deleted_at IS NULL
      ORDER BY x.id LIMIT ${sql.integer(batch)}`
  return (await ask(db, statement)).map(({ id }) => Number(id))
}

/**
 * The update that moves a record as it is when it is written: one that others have moved away meanwhile stays
 * there. It sends the members that change, as the role may well lock the others.
 */
function operationOf({ schema }: Work, { change }: Move, id: number): Operation {
  const bodyOn = (before: Values) => {
    const moved = Object.entries(change(before))
    const changed = moved.filter(([name, value]) => !isSameJson(value, before[name] ?? null))
    const names = changed.map(([name]) => name)
    refuseUnwritable(schema, names, 'To move it changes what your role does not let you change')
    return Object.fromEntries(changed)
  }
  return { op: 'update', id, key: null, precondition: null, body: {}, bodyOn }
}

const nothingMoved = 'so nothing is moved or deleted.'
/** All records passed validation; this one has changed since. */
const someMoved =
  'because it was changed meanwhile; nothing is deleted. What was moved before it stays moved.'

/** Ignores a record that was deleted meanwhile. Names a record whose own rules refuse the move. */
function unmoved({ resource }: Move, id: number, error: unknown, what: string): void {
  if (!(error instanceof Refusal)) throw error
  if (error.slug === 'record_not_found') return
  const name = `${resource[0]!.toUpperCase()}${resource.slice(1)}`
  throw new Refusal(error.slug, `${name} ${id} can't be moved, ${what} ${error.message}`, error.problems)
}
