/**
 * Shared by create and update: applies the resource's rules to a draft of the record, and turns the draft
 * into the parameters of one statement. Knows no HTTP and no particular resource.
 */
import { type Problem, problemAt, Refusal, sentence, type Warning } from '../errors.ts'
import type { WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { emptyValue, type Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { moment } from '../fields/moment.ts'
import type { Draft, Undone } from '../fields/resource.ts'
import { isSameJson } from '../json.ts'
import { mayRead } from '../rights/rights.ts'
import { type Caller, callerParamsOf } from '../rights/visibility.ts'
import { memoize } from '../waiting/memoize.ts'
import { constraintRefusal } from './constraint.ts'
import { type IdempotentRequest, storedResponse, type Written, writeIdempotently } from './idempotency.ts'
import type { Parsed, Reference } from './parse.ts'
import { quotaProblem } from './record-quota.ts'
import { askReferences, copiedFrom, lookIn, missingReferences, relatedOf } from './references.ts'
import { isHiddenByRole } from './rendered-record.ts'
import { renderReplay, renderSaved } from './replay.ts'
import type { Changes, RecordToWrite, Transaction } from './store.ts'
import { type Candidate, clashesOf, duplicate, isTaken } from './unique.ts'
import { author, type Origin, type Write, writing } from './write.ts'

/** The caller of a write, their configuration and their rights; the service itself has them all. */
export type WriteContext = Caller &
  Origin & {
    /** time of the write, for sample data with a history; default: now, by the database's clock */
    readonly at?: Date
    /** fields whose sent values are stored, though the service normally sets them (D80) */
    readonly overrides?: readonly string[]
    /** inactive users to whom records may newly point (D80), by their ids */
    readonly idle?: ReadonlyMap<number, string>
    /** True to skip rendering: the caller ignores the saved records, which may be {} in bulk */
    readonly unread?: true
    /** True in a dry run (D79), for which others may wait */
    readonly isDry?: true
    /** the key of an idempotent request (D8) */
    readonly idempotency?: IdempotentRequest | null
  }

/** A saved record: JSON text as the database built it. */
export type Saved = {
  readonly id: number
  readonly version: number
  readonly record: string
  readonly warnings: readonly Warning[]
  /** the records that were created with it (D1) */
  readonly created: readonly { readonly resource: string; readonly id: number }[]
  /** True if the request created it */
  readonly isNew?: boolean
  /** True if the request changed nothing */
  readonly isUnchanged?: boolean
}

/** The response to a write, without the record. */
type WriteResponse = Pick<Saved, 'warnings' | 'created' | 'isNew' | 'isUnchanged'>

/** Replays the record that the same request saved earlier (D8); null if there is none. */
export async function findIdempotentResponse(
  db: Transaction,
  schema: ResourceSchema,
  context: WriteContext,
): Promise<Saved | null> {
  const written = await storedResponse<WriteResponse>(db, requestKeyOf(context))
  return written && (await renderReplay(db, schema, context, [savedOf(schema, context, written)]))[0]!
}

/**
 * Writes a record, after the statement `first`; null if no row was written. Throws `duplicate` if a unique
 * value of one of the candidates is taken (D76).
 */
export async function save(
  db: Transaction,
  schema: ResourceSchema,
  context: WriteContext,
  write: (params: WriteParams) => Write,
  response: WriteResponse,
  { first, candidates }: { readonly first?: string | undefined; readonly candidates: readonly Candidate[] },
): Promise<Saved | null> {
  const params = authorOf(context)
  const { idempotency = null } = context
  const statement = writing(params, write(params))
  const written = await writeIdempotently(db, params.account, idempotency, statement, response, first).catch(
    async error => {
      if (!isTaken(error)) throw constraintRefusal(error, context.catalog) ?? error
      const clashes = await clashesOf(db, context, candidates)
      if (clashes.length) throw duplicate(schema, clashes)
      // The value has become free meanwhile.
      return undefined
    },
  )
  return written ? savedOf(schema, context, written) : null
}

/** The key by which idempotency.ts finds an earlier response. */
export function requestKeyOf({ catalog, idempotency = null }: WriteContext) {
  return { account: String(catalog.account.id), idempotency }
}

/** The author of a write, as parameters of a statement. */
export function authorOf(context: WriteContext): WriteParams {
  return author(context, context.at)
}

/** The saved record as its author may see it, from the row that a write returns. */
export function savedOf(
  schema: ResourceSchema,
  context: WriteContext,
  { row, response }: Written<WriteResponse>,
): Saved {
  const saved = { id: Number(row.id), version: Number(row.version), record: row.record!, ...response }
  return { ...saved, record: renderSaved(schema, context, saved) }
}

/** Input of a write's validation besides its body. */
type Validated = {
  /** the stored record of an update, null on create */
  readonly before: Values | null
  /** the references that are new in the record */
  readonly added: readonly Reference[]
  /** True if an earlier attempt wrote nothing: a referenced record may be missing */
  readonly recheck: boolean
  /** the change that an update undoes */
  readonly undoes?: Undone | null
}

/**
 * The validated record, as it would be saved. Throws `validation_failed` with every problem of parsing,
 * references and rules, also of nested records. The statement that writes the record checks its references.
 * So they are queried here in three cases only: the record copies values from them, an earlier attempt wrote
 * nothing, or there are other problems and the caller should see all at once.
 */
export async function validateRecord(
  db: Transaction,
  schema: ResourceSchema,
  parsed: Parsed,
  { before, added, recheck, undoes = null }: Validated,
  context: WriteContext,
): Promise<RecordToWrite> {
  const { problems, nested, references } = parsed
  const { catalog, rights } = context
  for (const inner of nested) rights?.need(`${inner.schema.resource.name}:write`)
  // The response shows values that are copied from a record (D65).
  for (const resource of copiedFrom(added, catalog)) rights?.need(`${resource}:read`)
  const isCopied = copiedFrom(references, catalog).length > 0
  const addMissing = (row: Record<string, string | null>) => {
    for (const problem of missingReferences(added, lookIn(row), context.idle)) problems.add(() => problem)
  }
  const isAsked = recheck || isCopied || problems.count > 0
  const row = isAsked ? await askReferences(db, callerParamsOf(context), references) : {}
  if (isAsked) addMissing(row)
  const related = relatedOf(row, context)
  for (const inner of nested) applyRules(inner.schema, inner.parsed, null, context, related, null)
  const after = applyRules(schema, parsed, before, context, related, undoes)
  const quota = before ? null : await quotaProblem(db, schema, catalog.account.id, after)
  if (quota) problems.add(() => quota)
  if (problems.count) {
    if (!isAsked) addMissing(await askReferences(db, callerParamsOf(context), added))
    for (const clash of await clashesOf(db, context, candidatesOf(schema, parsed, { before, after })))
      problems.add(() => clash)
    const count = problems.count === 1 ? 'one problem' : `${problems.count} problems`
    throw new Refusal('validation_failed', `The ${schema.resource.name} was not saved: ${count}.`, problems)
  }
  refuseForbidden(schema, context, before, after)
  return { after, changes: changesOf(schema, before ?? blank(schema), after) }
}

/** The record and its nested records, as candidates for a clash of unique values. */
export function candidatesOf(
  schema: ResourceSchema,
  { nested, path }: Parsed,
  { before, after }: Pick<Candidate, 'before' | 'after'>,
): Candidate[] {
  const inner = nested.map(({ schema, parsed }) => ({
    schema,
    after: parsed.values,
    before: null,
    path: parsed.path,
  }))
  return [{ schema, after, before, path }, ...inner]
}

/** The record after the resource's rules. Adds the rules' problems to its own. */
export function applyRules(
  schema: ResourceSchema,
  { values, sent, problems, warnings, path }: Parsed,
  before: Values | null,
  context: WriteContext,
  related: Draft['related'],
  undoes: Undone | null,
): Values {
  const after: Values = { ...blank(schema), ...before, ...values }
  const kept = keptOf(values, context)
  // The rules decide if these fields have a value; only then does the sent one replace it.
  const byRules = Object.keys(kept).filter(name => !name.startsWith('created_'))
  for (const name of byRules) after[name] = before?.[name] ?? null
  const isHidden = (name: string) => isHiddenByRole(schema, name)
  const isTold = !before || mayRead(context, schema.resource.name)
  schema.resource.applyRules({
    before,
    after,
    sent,
    undoes,
    related,
    catalog: context.catalog,
    now: moment,
    clock: new Date(),
    problem: (field, code, message, { at = '', because = field, hint, ...more } = {}) => {
      // An unreadable value is one problem, not also a missing one.
      if (at === '' && problems.kept.some(problem => `${problem.path}/`.startsWith(`${path}/${field}/`)))
        return
      if (isHidden(field) || isHidden(because)) problems.add(hiddenProblem)
      else
        problems.add(
          () => ({
            field,
            path: `${path}/${field}${at}`,
            code,
            message: sentence(`/${field}${at}`, message),
            ...more,
          }),
          hint,
        )
    },
    // Warnings of rules reveal the stored record.
    warn: warning => {
      if (isTold && !isHidden(warning.field)) warnings.push(warning)
    },
  })
  if (undoes && before) giveBack(schema, after, before, undoes)
  for (const name of byRules) if (after[name] !== null) after[name] = kept[name]!
  return after
}

/**
 * Applied after the rules of an undo (D83): fields of the change get their former values, also times and
 * names of lines; other read-only fields stay as stored. Values that follow from stages, rates and the clock
 * are current.
 */
function giveBack({ whole }: ResourceSchema, after: Values, before: Values, { former }: Undone): void {
  for (const { internal_name: name, is_volatile, is_hidden, is_read_only } of whole.fields) {
    if (is_volatile || is_hidden) continue
    if (name in former) after[name] = former[name]!
    else if (is_read_only) after[name] = before[name] ?? null
  }
}

/** The problem of a field that the caller's role hides (D64); it does not name the field. */
export function hiddenProblem(): Problem {
  return problemAt('', 'not_allowed', 'A rule does not allow this record.')
}

/** Throws `forbidden` if the author may not make the change. */
export function refuseForbidden(
  { resource }: ResourceSchema,
  { catalog, rights, actor }: WriteContext,
  before: Values | null,
  after: Values | null,
): void {
  const reason = rights && resource.whyForbidden?.({ before, after, catalog, rights, actor })
  if (reason) throw new Refusal('forbidden', reason)
}

export function changesOf({ whole }: ResourceSchema, before: Values, after: Values): Changes {
  const changes: Changes = {}
  for (const { internal_name: name, is_hidden, computed, is_of_store, maintained_by } of whole.fields) {
    if (is_hidden || computed || is_of_store || maintained_by) continue
    const [old, value] = [before[name] ?? null, after[name] ?? null]
    if (!isSameJson(old, value)) changes[name] = { before: old, after: value }
  }
  return changes
}

/** The times and users of a new record. */
export function authoredBy(actor: number): Values {
  return { created_at: moment, updated_at: moment, created_by: actor, updated_by: actor }
}

/** The sent values that are stored, though the service normally sets these fields. */
export function keptOf(values: Values, { overrides = [] }: WriteContext): Values {
  const kept = overrides.filter(name => values[name] !== undefined && values[name] !== null)
  return Object.fromEntries(kept.map(name => [name, values[name]!]))
}

/** A record with every field empty, so that rules never meet an absent member. */
export const blank = memoize(
  ({ whole }: ResourceSchema): Values =>
    Object.fromEntries(
      whole.fields.map(field => [field.internal_name, emptyValue(field, kinds[field.type])]),
    ),
)
