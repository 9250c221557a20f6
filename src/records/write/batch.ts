/**
 * A batch (D78): many writes of one resource in one transaction. Each sees the writes before it, and has the
 * result that it would have as a single write. Runs of operations that don't depend on each other are
 * validated and written at once; the others take the same way one by one, which also tells what is wrong.
 */
import { Refusal, requireRefusal } from '../../errors.ts'
import type { ResourceSchema } from '../../fields/catalog.ts'
import { ask } from '../../sql.ts'
import { canBeRemovedTogether, removeRecord, removeTogether } from '../remove.ts'
import { restoreRecord } from '../restore.ts'
import { comparedTexts, fieldsWithKeys, holdersSelect } from '../unique.ts'
import { foundBy } from '../unique-key.ts'
import type { Work } from '../work.ts'
import type { Operation, Outcome } from './operation.ts'
import { lockLatest } from './protocol.ts'
import { findTargets, parseBodies, type ReadOperation, type Results, type Target } from './read.ts'
import { saveMany, saveRecord } from './save.ts'
import { type ValidOperation, validate } from './validate.ts'

/** Maximum number of operations that are validated at once, and of records that are planned at once. */
const largest = 250

/** The context that the operations share. Records deleted at `since` or later can be restored. */
type Batch = Work & { readonly since: Date }

/**
 * Carries the operations out in the transaction `db` and returns their outcomes in order. Throws
 * `busy_record` if the context's catalog is outdated: retry the batch with a newer one.
 */
export async function carryOutBatch(...batch: Parameters<typeof carryOutLocked>): Promise<Outcome[]> {
  const [{ db, context }] = batch
  await lockLatest(db, context)
  return carryOutLocked(...batch)
}

/** The same for a transaction that has the account's lock, by `lockLatest`. */
export async function carryOutLocked(
  work: Work,
  operations: readonly Operation[],
  since: Date,
): Promise<Outcome[]> {
  const { schema } = work
  const batch = { ...work, since }
  const outcomes: Outcome[] = []
  while (outcomes.length < operations.length) {
    const window = untilRemoval(operations.slice(outcomes.length, outcomes.length + largest))
    const run = isIndividual(schema) ? [{ operation: window[0]!, ready: null }] : await runOf(batch, window)
    for (const all of alike(run)) outcomes.push(...(await together(batch, all)))
  }
  return outcomes
}

/**
 * The operations up to the first deletion by a unique value, which is known by its id only as it is carried
 * out: one after it may be about the same record.
 */
function untilRemoval(window: readonly Operation[]): readonly Operation[] {
  const first = window.findIndex(({ op, key }) => op === 'delete' && key !== null)
  return first < 0 ? window : window.slice(0, first + 1)
}

/**
 * True if each write of a resource depends on the one before it: on the catalog, on the number of records or
 * on what holds for all of them.
 */
function isIndividual({ resource: { isConfiguration, quota, invariant } }: ResourceSchema): boolean {
  return isConfiguration === true || quota !== undefined || invariant !== undefined
}

/** An operation of a run: its record to save, the id to delete, or null if it is carried out alone. */
type Ready = { readonly operation: Operation; readonly ready: ValidOperation | number | null }

/**
 * The operations in their order, those together that can be carried out at once: planning their records, with
 * the nested ones, is a moment in which no other request is answered.
 */
function alike(run: readonly Ready[]): (readonly Ready[])[] {
  const groups: Ready[][] = []
  let size = 0
  for (const one of run) {
    const { ready } = one
    const last = groups.at(-1)
    const records = ready !== null && typeof ready !== 'number' ? 1 + ready.nested.length : 1
    const isAlike =
      ready !== null && last && typeof last[0]!.ready === typeof ready && last[0]!.ready !== null
    const joins = isAlike && size + records <= largest
    size = joins ? size + records : records
    if (joins) last.push(one)
    else groups.push([one])
  }
  return groups
}

/** The first of these operations, up to the second one about the same record. */
async function runOf(batch: Batch, window: readonly Operation[]): Promise<Ready[]> {
  // Those that say their record by its id are divided before any is read.
  const distinct = beforeSecond(window, new Map())
  const saves = distinct.filter(isSave)
  const targets = await findTargets(batch, saves)
  const run = beforeSecond(distinct, new Map(saves.map((operation, index) => [operation, targets[index]!])))
  const independent = await independentOf(batch, targets.slice(0, run.filter(isSave).length))
  const bySave = new Map(saves.map((operation, index) => [operation, independent[index]]))
  return run.map(operation => ({
    operation,
    ready: bySave.get(operation) ?? (isRemoval(batch.schema, operation) ? operation.id : null),
  }))
}

function isSave({ op, unidentified }: Operation): boolean {
  return !unidentified && (op === 'create' || op === 'update' || op === 'upsert')
}

function isRemoval(schema: ResourceSchema, { op, precondition, key }: Operation): boolean {
  return op === 'delete' && precondition === null && key === null && canBeRemovedTogether(schema)
}

function beforeSecond(
  window: readonly Operation[],
  targets: ReadonlyMap<Operation, Target | Refusal>,
): readonly Operation[] {
  const seen = new Set<string>()
  const second = window.findIndex(operation => {
    const record = recordOf(operation, targets.get(operation))
    if (record === null || !seen.has(record)) return record !== null && !seen.add(record)
    return true
  })
  return second < 0 ? window : window.slice(0, second)
}

/** Key of the record that an operation is about; null for a new one. */
function recordOf({ id, key }: Operation, target: Target | Refusal | undefined): string | null {
  if (target && !(target instanceof Refusal) && target.row) return target.row.id!
  return id === null ? key && JSON.stringify([key.field.id, key.text]) : String(id)
}

/** The records of operations that don't depend on others; null for those that do, and for refused ones. */
async function independentOf(batch: Batch, targets: Results<Target>): Promise<(ValidOperation | null)[]> {
  const { schema } = batch
  const read = await parseBodies(batch, targets)
  const all = read.flatMap(one => (one instanceof Refusal ? [] : [one]))
  // An earlier operation may change which record a name means.
  const found = all.flatMap(({ names }) => names.filter(({ by }) => by !== null))
  const nested = all.flatMap(({ parsed }) => parsed.nested)
  const made = new Set([
    schema.resource.name,
    ...found.map(({ resource }) => resource),
    ...nested.map(inner => inner.schema.resource.name),
  ])
  const isOpen = (one: ReadOperation) => !isDependent(schema, one, made)
  const open = read.map(one => (one instanceof Refusal || isOpen(one) ? one : null))
  const asked = open.filter(one => one !== null)
  const valid = (await validate(batch, asked, { isLocked: true })).values()
  const independent = open.map(one => {
    const found = one && valid.next().value!
    return found && !(found instanceof Refusal) && !changesUnique(schema, found) ? found : null
  })
  const taken = await takenValues(batch, independent)
  return independent.map((one, index) => (taken.has(index) ? null : one))
}

/** True if a record may depend on those that the run writes or creates, of the resources `made`. */
function isDependent(
  { resource }: ResourceSchema,
  { names, parsed: { references, nested } }: ReadOperation,
  made: ReadonlySet<string>,
): boolean {
  const goesAlong = ({ findBy, schema }: (typeof nested)[number]) =>
    findBy.field === null && schema.resource.name !== resource.name && !isIndividual(schema)
  return (
    names.some(name => made.has(name.resource)) ||
    references.some(reference => reference.resource === resource.name) ||
    !nested.every(goesAlong)
  )
}

/** True if a change takes or frees a unique value: others may free or take the same. */
function changesUnique({ resource, whole }: ResourceSchema, { before, changes }: ValidOperation): boolean {
  const byIndex = Object.values(resource.unique ?? {})
  const isUnique = (name: string) => whole.byName.get(name)?.is_unique === true || byIndex.includes(name)
  return before !== null && Object.keys(changes).some(isUnique)
}

/** The indexes of new records with a unique value that a stored or an earlier one has. */
async function takenValues(
  batch: Batch,
  operations: readonly (ValidOperation | null)[],
): Promise<Set<number>> {
  const taken = new Set<number>()
  for (const field of fieldsWithKeys(batch.schema)) {
    const first = new Map<string, { text: string; index: number }>()
    for (const [index, one] of operations.entries()) {
      if (!one || one.before) continue
      for (const [compared, text] of comparedTexts(one, field))
        if (first.has(compared)) taken.add(index)
        else first.set(compared, { text, index })
    }
    if (first.size === 0) continue
    const all = [...first.values()]
    const texts = all.map(({ text }) => text)
    const rows = await ask(batch.db, holdersSelect(batch, field, texts))
    for (const { place } of rows) taken.add(all[Number(place) - 1]!.index)
  }
  return taken
}

/** Carries out operations that are ready alike; if they can't be carried out at once, each half of them. */
async function together(batch: Batch, all: readonly Ready[]): Promise<Outcome[]> {
  const [{ operation, ready }] = all as readonly [Ready]
  if (ready === null) return [await alone(batch, operation)]
  const outcomes = await atOnce(batch, all)
  if (outcomes) return outcomes
  if (all.length === 1) return [await alone(batch, operation)]
  const half = all.length >> 1
  const first = await together(batch, all.slice(0, half))
  return [...first, ...(await together(batch, all.slice(half)))]
}

async function atOnce(batch: Batch, all: readonly Ready[]): Promise<Outcome[] | null> {
  if (typeof all[0]!.ready === 'number') {
    const ids = all.map(({ ready }) => ready as number)
    return (await removeTogether(batch, ids)) ? ids.map(deleted => ({ deleted })) : null
  }
  const operations = all.map(({ ready }) => ready as ValidOperation)
  return (await saveMany(batch, operations))?.map(saved => ({ saved })) ?? null
}

/** Carries out one operation like a request of its own. */
async function alone(batch: Batch, operation: Operation): Promise<Outcome> {
  const { op, id, key, precondition, unidentified } = operation
  try {
    if (unidentified) throw unidentified
    if (op === 'restore') return { saved: await restoreRecord(batch, id!, batch.since, precondition) }
    if (op !== 'delete') return { saved: await saveRecord(batch, operation) }
    const deleted = id ?? Number((await foundBy(batch, key!)).id)
    await removeRecord(batch, deleted, precondition)
    return { deleted }
  } catch (error) {
    return { refusal: requireRefusal(error) }
  }
}
