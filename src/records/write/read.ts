/**
 * Reads operations: the stored record that each is about, and its body as typed values, with the names in it
 * resolved. Of several operations each statement reads what all need.
 */
import { memberProblem, type Problem, Refusal, requireRefusal } from '../../errors.ts'
import type { Values } from '../../fields/field.ts'
import { isObject, isSameJson, type Json, type JsonObject, parseJson } from '../../json.ts'
import { mayRead } from '../../rights/rights.ts'
import { isChangeable } from '../../rights/visibility.ts'
import { ask } from '../../sql.ts'
import { mapYielding } from '../../waiting/yielding.ts'
import type { NameQuery } from '../name-lookup.ts'
import { resolveNamesOfEach } from '../names.ts'
import { type Parsed, parseRecord } from '../parse.ts'
import { requireVersion } from '../precondition.ts'
import { mayNotChange, nameOf, recordNotFound } from '../read.ts'
import { recordsToChange } from '../store.ts'
import { holdersSelect } from '../unique.ts'
import { bodyByKey, noHolder } from '../unique-key.ts'
import type { Work } from '../work.ts'
import type { Operation } from './operation.ts'
import { authorValues, blank, overriddenOf } from './rules.ts'

/** A stored record as a write reads it: id, version, record, state, is_changeable. */
export type StoredRow = Readonly<Record<string, string | null>>

/** An operation that saves a record, with the stored one; null if it creates one. */
export type Target = {
  readonly operation: Operation
  readonly row: StoredRow | null
  readonly before: Values | null
  readonly body: Json
}

/** An operation with its parsed body, and the names that it contains. */
export type ReadOperation = Target & { readonly parsed: Parsed; readonly names: readonly NameQuery[] }

/** The result of a step for each operation: a refused one has its refusal in the place of its result. */
export type Results<T> = readonly (T | Refusal)[]

/** Maps the operations that are not refused so far. A refusal that `map` throws becomes the result. */
export function mapAccepted<T, R>(all: Results<T>, map: (one: T) => R): Promise<(R | Refusal)[]> {
  return mapYielding(all, one => {
    if (one instanceof Refusal) return one
    try {
      return map(one)
    } catch (error) {
      return requireRefusal(error)
    }
  })
}

/** The operations with their stored records: refused if it is not there, or the caller may not change it. */
export async function findTargets(work: Work, operations: readonly Operation[]): Promise<Results<Target>> {
  const rows = await readTargetRows(work, operations)
  return mapAccepted(operations, operation => targetOf(work, operation, rows.get(operation)))
}

export async function parseBodies(work: Work, targets: Results<Target>): Promise<Results<ReadOperation>> {
  const { db, schema, context } = work
  const accepted = targets.flatMap(one => (one instanceof Refusal ? [] : [one]))
  const hidesStored = !mayRead(context, schema.resource.name)
  const reads = accepted.map(({ body, before }) => {
    return (names: Parameters<typeof parseRecord>[4]) =>
      parseRecord(body, schema, context.catalog, before, names, hidesStored)
  })
  const resolved = (await resolveNamesOfEach(db, context, reads)).values()
  return mapAccepted(targets, target => {
    const { names, ...one } = resolved.next().value!
    if ('error' in one) throw one.error
    addUnsent(work, target, one.value)
    requireReadVersion(work, target, one.value)
    return { ...target, parsed: one.value, names }
  })
}

/** Adds what no body has: the author, and what the calling code adds. */
function addUnsent({ context }: Work, { operation: { options = {} }, before }: Target, parsed: Parsed): void {
  const { values, problems } = parsed
  const made = before ? {} : authorValues(context.actor)
  const overridden = before ? {} : overriddenOf(values, context)
  Object.assign(values, made, options.values, overridden)
  for (const problem of options.problems ?? []) problems.add(() => problem)
  parsed.warnings.push(...(options.warnings ?? []))
}

/** Compares the version that the caller has read with that of the stored record. */
function requireReadVersion(
  { schema, context }: Work,
  { operation: { precondition }, row, before, body }: Target,
  { values }: Parsed,
): void {
  if (!row || !before) return
  const isTold = mayRead(context, schema.resource.name)
  const differing = () => (isTold ? conflicts(values, before, body) : null)
  requireVersion(nameOf(schema, Number(row.id)), Number(row.version), precondition, differing)
}

/**
 * The current and the sent value of each field that differs (D7). The sent value is that of the body: the
 * parsed one may refer to a record that is not created yet.
 */
function conflicts(values: Values, stored: Values, body: Json): Problem[] {
  const sent: JsonObject = isObject(body) ? body : {}
  const conflicting = Object.keys(values).filter(name => !isSameJson(values[name]!, stored[name] ?? null))
  return conflicting.map(name => ({
    ...memberProblem(name, 'changed_since_read', `${name} differs from the stored value.`),
    current: stored[name] ?? null,
    ...(Object.hasOwn(sent, name) ? { sent: sent[name]! } : {}),
  }))
}

/** The stored records. A record that has the value, but that the caller doesn't see, is a row without id. */
async function readTargetRows(
  work: Work,
  operations: readonly Operation[],
): Promise<ReadonlyMap<Operation, StoredRow>> {
  const { db } = work
  const rows = new Map<Operation, StoredRow>()
  const byId = Map.groupBy(
    operations.filter(({ op, id }) => op === 'update' && id !== null),
    ({ id }) => String(id),
  )
  const ids = [...byId.keys()]
  const found = ids.length ? await ask(db, recordsToChange(work, ids)) : []
  for (const row of found) for (const one of byId.get(row.id!)!) rows.set(one, row)
  const keyed = operations.filter(({ op, key }) => op !== 'create' && key !== null)
  for (const [field, of] of Map.groupBy(keyed, ({ key }) => key!.field)) {
    const texts = of.map(({ key }) => key!.text)
    for (const row of await ask(db, holdersSelect(work, field, texts)))
      rows.set(of[Number(row.place) - 1]!, row)
  }
  return rows
}

function targetOf(work: Work, operation: Operation, row: StoredRow | undefined): Target {
  const { schema } = work
  const { op, id, key, precondition, body, bodyOn } = operation
  if (op === 'create' && precondition !== null) {
    // A record that doesn't exist yet has no version to match (RFC 9110 §13.1.1).
    const message = 'A new record has no version that if_match could name; leave it out.'
    throw new Refusal('version_conflict', message)
  }
  if (op === 'update' && !row?.id) throw key ? noHolder(schema, key) : recordNotFound(schema, id!)
  const sent = op === 'upsert' ? bodyByKey(work, operation, row) : body
  if (!row) return { operation, row: null, before: null, body: sent }
  if (!isChangeable(row)) throw mayNotChange(schema, Number(row.id))
  // Custom fields that were never set are not in the stored text (D43).
  const before = { ...blank(schema), ...(parseJson(row.record!) as JsonObject) }
  return { operation, row, before, body: bodyOn?.(before) ?? sent }
}
