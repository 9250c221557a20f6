/**
 * A batch (D78): many writes of one resource in one transaction, in order, each seeing the ones before. The
 * answers are those of the same writes one by one. What can be judged and written together is
 * (together.ts); anything else is carried out by the code of single writes. Knows no HTTP.
 */
import { Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import type { Values } from '../fields/field.ts'
import type { Json } from '../json.ts'
import { ask, param, sql } from '../sql.ts'
import { createRecord } from './create.ts'
import type { Precondition } from './precondition.ts'
import { removeRecord } from './remove.ts'
import { restoreRecord } from './restore.ts'
import type { Context, Saved } from './save.ts'
import type { Queryable } from './store.ts'
import { canGoTogether, prepared, type Ready } from './together.ts'
import { updateRecord } from './update.ts'
import { idTold, type Told, upsertRecord } from './upsert.ts'
import { lockFirst } from './write.ts'
import { carryOutTogether } from './write-together.ts'

export const operationNames = ['create', 'update', 'upsert', 'delete', 'restore'] as const

/** One write of a batch. What it is about is told by an id or by a unique value; a create has neither. */
export type Operation = {
  readonly op: (typeof operationNames)[number]
  readonly id: number | null
  readonly told: Told | null
  readonly precondition: Precondition
  readonly body: Json
  /** the body for the record as it is, where that depends on what the record has */
  readonly bodyOn?: (before: Values) => Json
}

/** What became of an operation: the saved record, the id of a deleted one, or why it was refused. */
export type Outcome = { readonly saved: Saved } | { readonly deleted: number } | { readonly refusal: Refusal }

/** How many operations are judged and written together. */
const togetherMax = 250
const togetherMin = 8

/**
 * Carries operations out in the transaction `db`: their outcomes, in order. `since`: what was deleted then or
 * later can be restored. Throws `busy_record` where the context's catalog is outdated; then the whole may be
 * tried again with a newer one.
 */
export async function carryOutBatch(
  db: Queryable,
  fields: ResourceFields,
  operations: readonly Operation[],
  context: Context,
  since: Date,
): Promise<Outcome[]> {
  await lockLatest(db, context)
  const outcomes: Outcome[] = []
  const single = (operation: Operation) => alone(db, fields, operation, context, since)
  for (let most = togetherMax; outcomes.length < operations.length; ) {
    const rest = operations.slice(outcomes.length, outcomes.length + most)
    const run = canGoTogether(fields)
      ? await prepared(db, fields, rest, context)
      : { ready: [], hasNames: false }
    if (run.ready.length === 0) outcomes.push(await single(rest[0]!))
    else if (await carryOutRun(run.ready, run.hasNames)) most = togetherMax
    else most = Math.max(togetherMin, most >> 1)
  }
  return outcomes

  /** Whether all of the run could be carried out as it was prepared. */
  async function carryOutRun(ready: readonly (Ready | null)[], hasNames: boolean): Promise<boolean> {
    const first = outcomes.length
    let waiting: { readonly operation: Operation; readonly ready: Ready }[] = []
    const write = async () => {
      outcomes.push(...(await writeAll(waiting)))
      waiting = []
    }
    for (const [index, one] of ready.entries()) {
      const operation = operations[first + index]!
      if (one) {
        const [last] = waiting
        if (last && 'removed' in last.ready !== 'removed' in one) await write()
        waiting.push({ operation, ready: one })
      } else {
        await write()
        const outcome = await single(operation)
        outcomes.push(outcome)
        // Names that those after it give may mean what it made.
        const hasMade = 'saved' in outcome && outcome.saved.created.length > 0
        if (hasNames && hasMade && index + 1 < ready.length) return false
      }
    }
    await write()
    return true
  }

  /** Where one of several is refused by the database, halves of them are tried, down to that one. */
  async function writeAll(all: readonly { operation: Operation; ready: Ready }[]): Promise<Outcome[]> {
    if (all.length === 0) return []
    const ready = all.map(one => one.ready)
    const carriedOut = await carryOutTogether(db, fields, ready, context)
    if (carriedOut) return carriedOut
    if (all.length === 1) return [await single(all[0]!.operation)]
    const half = all.length >> 1
    return [...(await writeAll(all.slice(0, half))), ...(await writeAll(all.slice(half)))]
  }
}

/** Takes the account's lock, under which the catalog stays as it is. */
async function lockLatest(db: Queryable, { catalog }: Context): Promise<void> {
  const account = String(catalog.account.id)
  await db.query(lockFirst, [account])
  const own = param(account)
  const [row] = await ask(
    db,
    sql`SELECT catalog_version::text AS version FROM account WHERE account_id = ${own}::bigint`,
  )
  if (row?.version === catalog.version) return
  throw new Refusal('busy_record', 'The configuration was changed meanwhile; try again.', [], {
    'retry-after': '1',
  })
}

/** Carries one operation out as its own request would be. */
async function alone(
  db: Queryable,
  fields: ResourceFields,
  { op, id, told, precondition, body, bodyOn }: Operation,
  context: Context,
  since: Date,
): Promise<Outcome> {
  const isConditional = precondition !== null
  const idOf = async () => id ?? idTold(db, fields, context, told!)
  try {
    switch (op) {
      case 'create':
        if (isConditional) throw noVersion()
        return { saved: await createRecord(db, fields, body, context) }
      case 'upsert':
        return {
          saved: await upsertRecord(db, fields, told!, body, context, precondition, isConditional, bodyOn),
        }
      case 'update':
        return { saved: await updateRecord(db, fields, await idOf(), body, context, precondition) }
      case 'delete': {
        const deleted = await idOf()
        await removeRecord(db, fields, deleted, context, precondition)
        return { deleted }
      }
      case 'restore':
        return { saved: await restoreRecord(db, fields, id!, context, since, precondition) }
    }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error }
    throw error
  }
}

/** What has no version can meet no precondition (RFC 9110 §13.1.1). */
function noVersion(): Refusal {
  return new Refusal(
    'version_conflict',
    'A new record has no version that if_match could name; leave it out.',
  )
}
