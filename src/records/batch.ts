/**
 * A batch (D78): many writes of one resource in one transaction. Each sees the writes before it, and has the
 * result that it would have as a single write. together.ts validates what it can in bulk; the code of single
 * writes does the rest. Knows no HTTP.
 */
import { Refusal } from '../errors.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Values } from '../fields/field.ts'
import type { Json } from '../json.ts'
import { ask, param, sql } from '../sql.ts'
import { createRecord } from './create.ts'
import type { Precondition } from './precondition.ts'
import { removeRecord } from './remove.ts'
import { restoreRecord } from './restore.ts'
import type { Saved, WriteContext } from './save.ts'
import type { Transaction } from './store.ts'
import { canGoTogether, prepared, type Ready } from './together.ts'
import { updateRecord } from './update.ts'
import { idByUniqueKey, type UniqueKey, upsertRecord } from './upsert.ts'
import { lockFirst } from './write.ts'
import { carryOutTogether } from './write-together.ts'

export const operationNames = ['create', 'update', 'upsert', 'delete', 'restore'] as const

/** One write of a batch. An id or a unique value identifies its record; a create has neither. */
export type Operation = {
  readonly op: (typeof operationNames)[number]
  readonly id: number | null
  readonly told: UniqueKey | null
  readonly precondition: Precondition
  readonly body: Json
  /** the body, if it depends on the stored record */
  readonly bodyOn?: (before: Values) => Json
}

/** Result of an operation: the saved record, the id of the deleted record, or the refusal. */
export type Outcome = { readonly saved: Saved } | { readonly deleted: number } | { readonly refusal: Refusal }

/** Number of operations that are validated and written in bulk. */
const togetherMax = 250
const togetherMin = 8

/**
 * Carries the operations out in the transaction `db` and returns their outcomes in order. Records deleted at
 * `since` or later can be restored. Throws `busy_record` if the context's catalog is outdated: retry the
 * batch with a newer one.
 */
export async function carryOutBatch(
  db: Transaction,
  schema: ResourceSchema,
  operations: readonly Operation[],
  context: WriteContext,
  since: Date,
): Promise<Outcome[]> {
  await lockLatest(db, context)
  const outcomes: Outcome[] = []
  const single = (operation: Operation) => alone(db, schema, operation, context, since)
  for (let most = togetherMax; outcomes.length < operations.length; ) {
    const rest = operations.slice(outcomes.length, outcomes.length + most)
    const run = canGoTogether(schema)
      ? await prepared(db, schema, rest, context)
      : { ready: [], hasNames: false }
    if (run.ready.length === 0) outcomes.push(await single(rest[0]!))
    else if (await carryOutRun(run.ready, run.hasNames)) most = togetherMax
    else most = Math.max(togetherMin, most >> 1)
  }
  return outcomes

  /** True if the whole run was carried out as prepared. */
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
        // Names in later operations may mean the records that it created.
        const hasMade = 'saved' in outcome && outcome.saved.created.length > 0
        if (hasNames && hasMade && index + 1 < ready.length) return false
      }
    }
    await write()
    return true
  }

  /** If the database refuses one of several, tries each half (bisection), down to that one. */
  async function writeAll(all: readonly { operation: Operation; ready: Ready }[]): Promise<Outcome[]> {
    if (all.length === 0) return []
    const ready = all.map(one => one.ready)
    const carriedOut = await carryOutTogether(db, schema, ready, context)
    if (carriedOut) return carriedOut
    if (all.length === 1) return [await single(all[0]!.operation)]
    const half = all.length >> 1
    return [...(await writeAll(all.slice(0, half))), ...(await writeAll(all.slice(half)))]
  }
}

/** Takes the account's lock, which keeps the catalog from changing. */
async function lockLatest(db: Transaction, { catalog }: WriteContext): Promise<void> {
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

/** Carries out one operation like a request of its own. */
async function alone(
  db: Transaction,
  schema: ResourceSchema,
  { op, id, told, precondition, body, bodyOn }: Operation,
  context: WriteContext,
  since: Date,
): Promise<Outcome> {
  const isConditional = precondition !== null
  const idOf = async () => id ?? idByUniqueKey(db, schema, context, told!)
  try {
    switch (op) {
      case 'create':
        if (isConditional) throw noVersion()
        return { saved: await createRecord(db, schema, body, context) }
      case 'upsert':
        return {
          saved: await upsertRecord(db, schema, told!, body, context, precondition, isConditional, bodyOn),
        }
      case 'update':
        return { saved: await updateRecord(db, schema, await idOf(), body, context, precondition) }
      case 'delete': {
        const deleted = await idOf()
        await removeRecord(db, schema, deleted, context, precondition)
        return { deleted }
      }
      case 'restore':
        return { saved: await restoreRecord(db, schema, id!, context, since, precondition) }
    }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error }
    throw error
  }
}

/** A record that doesn't exist yet has no version to match (RFC 9110 §13.1.1). */
function noVersion(): Refusal {
  return new Refusal(
    'version_conflict',
    'A new record has no version that if_match could name; leave it out.',
  )
}
