/**
 * Prepares independent operations of a batch to be validated and written in bulk (D78). An operation that has
 * a problem or may depend on another is carried out individually, which also says what is wrong. Knows no
 * HTTP.
 */
import { Refusal, type Warning } from '../errors.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Field, Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { moment } from '../fields/moment.ts'
import { type Json, type JsonObject, parseJson } from '../json.ts'
import { mayRead, mayWrite } from '../rights/rights.ts'
import { callerParamsOf, isChangeable } from '../rights/visibility.ts'
import { ask } from '../sql.ts'
import { mapYielding } from '../waiting/yielding.ts'
import type { Operation } from './batch.ts'
import { type NameLookup, resolveNames } from './names.ts'
import { type Parsed, parseRecord } from './parse.ts'
import { isMet } from './precondition.ts'
import { askReferences, copiedFrom, lookIn, missingReferences, relatedOf } from './references.ts'
import { canBeRemovedTogether } from './remove-many.ts'
import { applyRules, authoredBy, blank, changesOf, keptOf, type WriteContext } from './save.ts'
import { type RecordToWrite, recordsToChange, type Transaction } from './store.ts'
import { holdersSelect, keyed } from './unique.ts'
import { completed, isKnown } from './update.ts'
import { withUniqueKey } from './upsert.ts'
import type { DraftOfMany } from './write-many.ts'

/**
 * An operation that can be carried out in bulk with others of its kind: it writes a record or deletes one.
 * `unchanged` if it changes nothing.
 */
export type Ready =
  | { readonly removed: number }
  | ({ readonly warnings: readonly Warning[] } & (
      | { readonly draft: Unplaced }
      | { readonly unchanged: Row & { readonly id: string } }
    ))

/** A record to be written; it and its nested records get their ids when they are written. */
export type Unplaced = RecordToWrite &
  Pick<DraftOfMany, 'aliases'> &
  Pick<Parsed, 'nested'> & {
    readonly read: (NonNullable<DraftOfMany['read']> & Pick<DraftOfMany, 'id'>) | null
  }

export type Written = Exclude<Ready, { readonly removed: number }>

type Row = Readonly<Record<string, string | null>>

/**
 * True if records of a resource can be written in bulk: each is validated on its own, with its references.
 */
export function canGoTogether({ resource }: ResourceSchema): boolean {
  const { isConfiguration, quota, whyForbidden, invariant, actor } = resource
  return !isConfiguration && !quota && !whyForbidden && !invariant && !actor
}

/**
 * Prepares the first of these operations, as many as are about different records, in the transaction `db`;
 * null for one to carry out individually. `hasNames`: true if they name records.
 */
export async function prepared(
  db: Transaction,
  schema: ResourceSchema,
  operations: readonly Operation[],
  context: WriteContext,
): Promise<{ readonly ready: readonly (Ready | null)[]; readonly hasNames: boolean }> {
  const rows = await readRows(db, schema, operations, context)
  const targets = run(schema, operations, rows)
  const { read, hasNames } = await parsedTogether(db, schema, targets, context)
  const parsed = read.flatMap(one => (one ? [one.parsed] : []))
  const references = parsed.flatMap(one => one.references)
  const live = await askReferences(db, callerParamsOf(context), references)
  const related = relatedOf(live, context)
  const look = lookIn(live)
  const ready = await mapYielding(read.entries(), ([index, one]): Ready | null => {
    const { op, id } = targets[index]?.operation ?? {}
    if (op === 'delete') return { removed: id! }
    if (!one) return null
    const { parsed, row, before } = one
    if (!parsed.nested.every(inner => mayWrite(context, inner.schema.resource.name))) return null
    const isNew = parsed.references.filter(reference => !before || !isKnown(reference, schema, before))
    if (missingReferences(isNew, look, context.idle).length > 0) return null
    if (!copiedFrom(isNew, context.catalog).every(resource => mayRead(context, resource))) return null
    for (const inner of parsed.nested) applyRules(inner.schema, inner.parsed, null, context, related, null)
    const after = applyRules(schema, parsed, before, context, related, null)
    if (parsed.problems.count > 0) return null
    const { warnings, nested } = parsed
    return readyOf(schema, context, { row, before, after, warnings, nested })
  })
  const taken = await takenValues(db, schema, ready, context)
  return { ready: ready.map((one, index) => (taken.has(index) ? null : one)), hasNames }
}

/**
 * The indexes of new records with a unique value that a stored or an earlier one has. Found here, they don't
 * keep the others from being written in bulk.
 */
async function takenValues(
  db: Transaction,
  schema: ResourceSchema,
  ready: readonly (Ready | null)[],
  context: WriteContext,
): Promise<Set<number>> {
  const taken = new Set<number>()
  for (const field of keyed(schema)) {
    const places = new Map<string, number>()
    for (const [index, one] of ready.entries()) {
      if (!one || !('draft' in one) || one.draft.read) continue
      for (const text of textsOf(one.draft.after[field.internal_name] ?? null, field))
        if (places.has(text)) taken.add(index)
        else places.set(text, index)
    }
    if (places.size === 0) continue
    const rows = await ask(db, holdersSelect(context, schema, field, [...places.keys()]))
    const indexes = [...places.values()]
    for (const { place } of rows) taken.add(indexes[Number(place) - 1]!)
  }
  return taken
}

function textsOf(value: Json, field: Field): string[] {
  const { texts, compared } = kinds[field.type].unique!
  return texts(value).map(text => compared(text, field))
}

/** Operation → the stored record that it is about, if there is one. */
async function readRows(
  db: Transaction,
  schema: ResourceSchema,
  operations: readonly Operation[],
  context: WriteContext,
): Promise<ReadonlyMap<Operation, Row>> {
  const rows = new Map<Operation, Row>()
  const byId = Map.groupBy(operations.filter(hasId), ({ id }) => String(id))
  const ids = [...byId.keys()].map(Number)
  const found = ids.length ? await ask(db, recordsToChange(schema, context, ids)) : []
  for (const row of found) for (const one of byId.get(row.id!)!) rows.set(one, row)
  const told = operations.filter(({ told }) => told !== null)
  for (const [field, of] of Map.groupBy(told, ({ told }) => told!.field)) {
    const texts = of.map(({ told }) => told!.text)
    for (const row of await ask(db, holdersSelect(context, schema, field, texts)))
      rows.set(of[Number(row.place) - 1]!, { ...row, id: row.holder! })
  }
  return rows
}

function hasId({ op, id }: Operation): boolean {
  return op === 'update' && id !== null
}

/** The target of an operation; null for one to carry out individually. */
type Target = { readonly operation: Operation; readonly row: Row | null } | null

/** The operations up to the second one about the same record. */
function run(
  schema: ResourceSchema,
  operations: readonly Operation[],
  rows: ReadonlyMap<Operation, Row>,
): Target[] {
  const targets: Target[] = []
  const seen = new Set<string>()
  for (const operation of operations) {
    const row = rows.get(operation) ?? null
    const key = keyOf(operation, row)
    if (key !== null && seen.has(key)) break
    if (key !== null) seen.add(key)
    targets.push(isApart(schema, operation, row) ? null : { operation, row })
  }
  return targets
}

/** Key of the record that an operation is about; null for a new one. */
function keyOf({ id, told }: Operation, row: Row | null): string | null {
  if (row?.id) return row.id
  return id === null ? told && JSON.stringify([told.field.id, told.text]) : String(id)
}

/** True if an operation is to be carried out individually, as far as known before its validation. */
function isApart(schema: ResourceSchema, { op, told, precondition }: Operation, row: Row | null): boolean {
  if (op === 'create') return precondition !== null
  if (op === 'delete') return precondition !== null || told !== null || !canBeRemovedTogether(schema)
  if (op === 'restore') return true
  if (row) return !row.id || !isChangeable(row) || !isMet(precondition, Number(row.version))
  return op === 'update' || told === null || told.field.is_read_only || precondition !== null
}

type Read = { readonly parsed: Parsed; readonly row: Row | null; readonly before: Values | null }

/** The bodies, parsed with the names in them; null for one to carry out individually. */
async function parsedTogether(
  db: Transaction,
  schema: ResourceSchema,
  targets: readonly Target[],
  context: WriteContext,
): Promise<{ readonly read: readonly (Read | null)[]; readonly hasNames: boolean }> {
  const { name } = schema.resource
  let hasNames = false
  try {
    let count = targets.length
    const until = performance.now() + parsedWithinMs
    const read = await resolveNames(db, context, names => {
      const all: (Read | null)[] = []
      for (const target of targets.slice(0, count)) {
        all.push(parsedOne(schema, target, context, names))
        // The second pass, with the names resolved, parses just as many bodies.
        if (count === targets.length && performance.now() > until) count = all.length
      }
      hasNames ||= names.asked.length > 0
      // An earlier operation may change which record a name means.
      const isAsked = (resource: string) => names.asked.some(one => one.resource === resource)
      if (names.areTooMany || isAsked(name)) throw notTogether
      const isApart = (one: Read) => one.parsed.nested.some(inner => isAsked(inner.schema.resource.name))
      return all.map(one => (one && isApart(one) ? null : one))
    })
    return { read, hasNames }
  } catch (error) {
    if (!(error instanceof Refusal) && error !== notTogether) throw error
    return { read: targets.map(() => null), hasNames: true }
  }
}

/** Maximum time in milliseconds for which parsing in bulk may block the event loop. */
const parsedWithinMs = 20

const notTogether = new Error('These operations may depend on each other')

function parsedOne(
  schema: ResourceSchema,
  target: Target,
  context: WriteContext,
  names: NameLookup,
): Read | null {
  if (!target || target.operation.op === 'delete') return null
  const { operation, row } = target
  const { actor, catalog } = context
  const before = row && completed(schema, parseJson(row.record!) as JsonObject)
  try {
    const parsed = parseRecord(bodyOf(operation, before, context), schema, catalog, before, names)
    const isOfOthers = parsed.references.every(({ resource }) => resource !== schema.resource.name)
    if (!isOfOthers || !parsed.nested.every(inner => goesAlong(inner, schema))) return null
    if (!before) Object.assign(parsed.values, authoredBy(actor), keptOf(parsed.values, context))
    return { parsed, row, before }
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/** True if a nested record can be written in bulk with those of others: it needs no lookup. */
function goesAlong({ schema, sought }: Parsed['nested'][number], { resource }: ResourceSchema): boolean {
  return sought.field === null && schema.resource.name !== resource.name && canGoTogether(schema)
}

function bodyOf({ told, op, body, bodyOn }: Operation, before: Values | null, context: WriteContext): Json {
  if (op !== 'upsert') return body
  const whole = withUniqueKey(body, told!, context)
  return before ? (bodyOn?.(before) ?? body) : whole
}

/** The operation as it would be written; null for one that frees or takes a unique value. */
function readyOf(
  schema: ResourceSchema,
  { actor }: WriteContext,
  {
    row,
    before,
    after,
    warnings,
    nested,
  }: Pick<Read, 'row' | 'before'> & { after: Values } & Pick<Parsed, 'warnings' | 'nested'>,
): Written | null {
  const { aliases } = schema.resource
  const changes = changesOf(schema, before ?? blank(schema), after)
  const { id, version, state } = row ?? {}
  if (row && Object.keys(changes).length === 0) return { warnings, unchanged: { ...row, id: id! } }
  if (row && Object.keys(changes).some(name => isUnique(schema, name))) return null
  if (row) Object.assign(after, { updated_at: moment, updated_by: actor })
  const read = row ? { id: Number(id), version: version!, state: state! } : null
  const draft = { read, after, changes, aliases: aliases?.(before, after) ?? [], nested }
  return { warnings, draft }
}

function isUnique({ resource, whole }: ResourceSchema, name: string): boolean {
  return whole.byName.get(name)?.is_unique === true || Object.values(resource.unique ?? {}).includes(name)
}
