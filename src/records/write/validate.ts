/**
 * Validates operations: the rights that they need, the records that they point to, the rules of the resource
 * and its limits. A refusal has every problem at once. References and people are read for all
 * operations together. Knows no particular resource.
 */
import { Refusal } from '../../errors.ts'
import type { ResourceSchema } from '../../fields/catalog.ts'
import type { Values } from '../../fields/field.ts'
import { kinds } from '../../fields/kinds.ts'
import type { Invariant } from '../../fields/resource.ts'
import type { Json } from '../../json.ts'
import { ask, param, sql } from '../../sql.ts'
import { mentionProblems } from '../mentions.ts'
import type { Nested, Reference } from '../parse.ts'
import { quotaProblem } from '../record-quota.ts'
import { copiedFrom, lookUpReferences, missingReferences } from '../references.ts'
import type { Changes } from '../store.ts'
import { type Candidate, clashesOf } from '../unique.ts'
import type { Work } from '../work.ts'
import { mapAccepted, type ReadOperation, type Results } from './read.ts'
import { applyRules, blank, changesOf, refuseForbidden } from './rules.ts'

/** An operation that may be carried out, with its record as it is to be saved. */
export type ValidOperation = Ruled & { readonly changes: Changes; readonly invariant: Invariant | null }

/** An operation after the rules: what the record becomes, and each record to create with it. */
type Ruled = Checked & {
  readonly after: Values
  readonly nested: readonly (Nested & { readonly after: Values })[]
}

type Checked = ReadOperation & {
  /** the references that are new in the record */
  readonly added: readonly Reference[]
  /** True if references are looked up now, and not only by the write */
  readonly looksUpReferences: boolean
}

export type Validation = {
  /** True if an earlier attempt wrote nothing: a record that it points to may be missing */
  readonly recheck?: boolean
  /**
   * True for several records under the account's lock: nothing changes until they are written. Not all
   * problems of a refused one are sought, because it is carried out alone then.
   */
  readonly isLocked?: boolean
}

/**
 * The operations that may be carried out. The others are refused: `validation_failed` with every problem of
 * parsing, references and rules, also of nested records, or `forbidden`.
 */
export async function validate(
  work: Work,
  operations: Results<ReadOperation>,
  { recheck = false, isLocked = false }: Validation,
): Promise<Results<ValidOperation>> {
  const { db, context } = work
  const mustLookUp = recheck || isLocked
  for (const one of operations)
    if (!(one instanceof Refusal)) await one.operation.options?.check?.(one.before!)
  const checked = await mapAccepted(operations, one => checkRights(work, one, mustLookUp))
  const asked = checked.flatMap(one =>
    one instanceof Refusal || !one.looksUpReferences ? [] : one.parsed.references,
  )
  const { referenceState, related } = await lookUpReferences(db, context, asked, isLocked)
  const ruled = await mapAccepted(checked, one => {
    const { parsed, before, operation, added, looksUpReferences } = one
    if (looksUpReferences)
      for (const problem of missingReferences(added, referenceState, context.allowedInactive))
        parsed.problems.add(() => problem)
    const nested = parsed.nested.map(inner => ({
      ...inner,
      after: applyRules({ ...work, schema: inner.schema }, inner.parsed, null, related, null),
    }))
    const { undoes = null } = operation.options ?? {}
    return { ...one, nested, after: applyRules(work, parsed, before, related, undoes) }
  })
  const accepted = ruled.flatMap(one => (one instanceof Refusal ? [] : [one]))
  const written = accepted.map(({ parsed, before, after }) => ({ before, after, at: parsed.path }))
  const mentioned = await mentionProblems(work, written)
  for (const [index, one] of accepted.entries()) {
    for (const problem of mentioned[index]!) one.parsed.problems.add(() => problem)
    if (!isLocked) await addDatabaseProblems(work, one)
  }
  const valid = await mapAccepted(ruled, one => validOf(work, one))
  for (const one of valid)
    if (mustLookUp && !(one instanceof Refusal) && one.invariant) await requireInvariant(work, one.invariant)
  return valid
}

/** Throws `forbidden` without the rights to create what is nested and to read what the response shows. */
function checkRights({ schema, context }: Work, one: ReadOperation, mustLookUp: boolean): Checked {
  const { catalog, rights } = context
  const { parsed, before } = one
  // References that the record has already may be sent again, even if their records have been deleted since.
  // So a record that was read can be written back.
  const isKnown = before && knownReferences(schema, before)
  const added = isKnown ? parsed.references.filter(reference => !isKnown(reference)) : parsed.references
  for (const inner of parsed.nested) rights?.need(`${inner.schema.resource.name}:write`)
  // The response shows values that are copied from a record (D65). Nobody needs a right for a default.
  const sent = added.filter(({ by }) => by !== 'default')
  for (const name of copiedFrom(sent, catalog)) rights?.need(`${name}:read`)
  // The statement that writes the record checks its references. They are looked up earlier if the record
  // copies values from them, and if there are other problems: the caller should see all at once.
  const isCopied = copiedFrom(parsed.references, catalog).length > 0
  return { ...one, added, looksUpReferences: mustLookUp || isCopied || parsed.problems.count > 0 }
}

/** Adds the problems that only the database knows: of record quotas and, beside others, of references. */
async function addDatabaseProblems(work: Work, one: Ruled): Promise<void> {
  const { db, schema, context } = work
  const { parsed, before, after, added, looksUpReferences } = one
  const { problems } = parsed
  const quota = before ? null : await quotaProblem(work, after)
  if (quota) problems.add(() => quota)
  if (problems.count === 0) return
  if (!looksUpReferences) {
    const { referenceState } = await lookUpReferences(db, context, added, false)
    for (const problem of missingReferences(added, referenceState, context.allowedInactive))
      problems.add(() => problem)
  }
  for (const clash of await clashesOf(db, context, candidatesOf(schema, one))) problems.add(() => clash)
}

/** Throws the refusal of an operation with problems, or of a change that its author may not make. */
function validOf(work: Work, one: Ruled): ValidOperation {
  const { schema } = work
  const { parsed, before, after } = one
  const { problems } = parsed
  if (problems.count) {
    const count = problems.count === 1 ? 'one problem' : `${problems.count} problems`
    throw new Refusal('validation_failed', `The ${schema.resource.name} was not saved: ${count}.`, problems)
  }
  refuseForbidden(work, before, after)
  const changes = changesOf(schema, before ?? blank(schema), after)
  const isChanged = Object.keys(changes).length > 0
  const invariant = (isChanged && schema.resource.invariant?.(before, after)) || null
  return { ...one, changes, invariant }
}

async function requireInvariant({ db, context }: Work, { condition, refusal }: Invariant): Promise<void> {
  const account = param(String(context.catalog.account.id))
  const [row] = await ask(db, sql`SELECT (${condition(account)})::text AS is_kept`)
  if (row!.is_kept !== 'true') throw refusal()
}

/** The record and its nested records, as candidates for a clash of unique values. */
export function candidatesOf(
  schema: ResourceSchema,
  { parsed: { path }, before, after, nested }: Ruled,
): Candidate[] {
  const inner = nested.map(({ schema, after, parsed: { path } }) => ({ schema, after, before: null, path }))
  return [{ schema, after, before, path }, ...inner]
}

/** A test if the stored record has a reference already, in the same field. */
function knownReferences({ byName }: ResourceSchema, before: Values): (reference: Reference) => boolean {
  const idsOf = new Map<string, ReadonlySet<Json>>()
  return ({ field, id, path }) => {
    // In a nested record, a field of the same name is another field.
    const type = path.split('/')[1] === field ? byName.get(field)?.type : undefined
    if (!type) return false
    let ids = idsOf.get(field)
    if (!ids) {
      const value = before[field] ?? null
      ids = new Set<Json>(kinds[type].pointsTo?.(value) ?? [value].flat())
      idsOf.set(field, ids)
    }
    return ids.has(id)
  }
}
