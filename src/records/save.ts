/**
 * What create and update share: a draft is settled by its resource's rules and becomes the parameters of one
 * statement. Knows no HTTP and no particular resource.
 */
import { type Problem, Refusal, type Warning } from '../errors.ts'
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { emptyValue, type Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { moment } from '../fields/moment.ts'
import { isSameJson } from '../json.ts'
import { madeOnce } from '../made-once.ts'
import { constraintRefusal } from './constraint.ts'
import { shown } from './document.ts'
import { type Once, recall, type Written, writeOnce } from './once.ts'
import type { Parsed, Reference } from './parse.ts'
import { askReferences, missingReferences, relatedOf } from './references.ts'
import type { Draft } from './resource.ts'
import type { Changes, Queryable } from './store.ts'
import { type Author, author, type Write, writing } from './write.ts'

/** Who asks, and under which configuration. */
export type Context = {
  readonly catalog: Catalog
  readonly actor: number
  /** whether the actor's token has the scope admin */
  readonly isAdmin?: boolean
  /** when it happened, where history is written; else it happens now, as the database tells */
  readonly at?: Date
  /** the key under which it is carried out once */
  readonly once?: Once | null
}

/** A record as it was saved: JSON text as the database built it. */
export type Saved = {
  readonly id: number
  readonly version: number
  readonly record: string
  readonly warnings: readonly Warning[]
  /** the records that were created with it (D1) */
  readonly created: readonly { readonly resource: string; readonly id: number }[]
}

/** What the answer to a write says besides the record. */
type Told = Pick<Saved, 'warnings' | 'created'>

/** What the request has done before (D8); null when it has not. */
export async function savedBefore(
  db: Queryable,
  fields: ResourceFields,
  context: Context,
): Promise<Saved | null> {
  const written = await recall<Told>(db, askedOnce(context))
  return written && savedOf(fields, written)
}

/** Writes a record, after the statement `first`; null when there was no row to write. */
export async function save(
  db: Queryable,
  fields: ResourceFields,
  context: Context,
  write: (by: Author) => Write,
  told: Told,
  first?: string,
): Promise<Saved | null> {
  const by = authorOf(context)
  const { once = null } = context
  const statement = writing(by, write(by))
  const written = await writeOnce(db, by.account, once, statement, told, first).catch(error => {
    throw constraintRefusal(error, context.catalog) ?? error
  })
  return written ? savedOf(fields, written) : null
}

/** The way in which once.ts is asked. */
export function askedOnce({ catalog, once = null }: Context) {
  return { account: String(catalog.account.id), once }
}

/** Who writes, as a statement names them. */
export function authorOf({ catalog: { account, version }, actor, at }: Context): Author {
  return author(account.id, actor, version, at)
}

/** What was saved, of a row that a write answers. */
export function savedOf(fields: ResourceFields, { row, told }: Written<Told>): Saved {
  return { id: Number(row.id), version: Number(row.version), record: shown(fields, row.record!), ...told }
}

/** What a write is judged by beside its body. */
type Judged = {
  /** the stored record of an update, null on create */
  readonly before: Values | null
  /** what the record newly points to */
  readonly added: readonly Reference[]
  /** whether the statement that writes has written nothing, as something that it points to may be missing */
  readonly isDoubtful: boolean
}

/**
 * The record as it would be saved. Throws `validation_failed` with every problem of parsing, references and
 * rules, those of nested records too. The statement that writes the record finds out itself whether what the
 * record points to is there. So the database is asked here in three cases only: the record copies from what
 * it points to, the statement wrote nothing, or there are other problems and all are to be named at once.
 */
export async function settled(
  db: Queryable,
  fields: ResourceFields,
  parsed: Parsed,
  { before, added, isDoubtful }: Judged,
  context: Context,
): Promise<{ after: Values; changes: Changes }> {
  const { problems, nested, references } = parsed
  const { catalog } = context
  const isCopied = references.some(({ resource }) => catalog.resources.get(resource)!.resource.snapshot)
  const addMissing = (row: Record<string, string | null>) => {
    for (const problem of missingReferences(added, row)) problems.add(() => problem)
  }
  const isAsked = isDoubtful || isCopied || problems.count > 0
  const row = isAsked ? await askReferences(db, catalog, references) : {}
  if (isAsked) addMissing(row)
  const related = relatedOf(row)
  for (const inner of nested) judged(inner.fields, inner.parsed, null, context, related)
  const after = judged(fields, parsed, before, context, related)
  if (problems.count) {
    if (!isAsked) addMissing(await askReferences(db, catalog, added))
    const count = problems.count === 1 ? 'one problem' : `${problems.count} problems`
    throw new Refusal('validation_failed', `The ${fields.resource.name} was not saved: ${count}.`, problems)
  }
  return { after, changes: changesOf(fields, before ?? blank(fields), after) }
}

/** A record with what follows from its values; what its rules find is added to its problems. */
function judged(
  fields: ResourceFields,
  { values, sent, problems, warnings, path }: Parsed,
  before: Values | null,
  context: Context,
  related: Draft['related'],
): Values {
  const after: Values = { ...blank(fields), ...before, ...values }
  const full = before ? null : fullness(fields, context, after)
  if (full) problems.add(() => full)
  fields.resource.settle({
    before,
    after,
    sent,
    related,
    catalog: context.catalog,
    now: moment,
    problem: (field, code, message, { at = '', hint, ...more } = {}) => {
      // A value that could not be read is one problem, not also a missing one.
      if (at === '' && problems.kept.some(problem => `${problem.path}/`.startsWith(`${path}/${field}/`)))
        return
      problems.add(
        () => ({ field, path: `${path}/${field}${at}`, code, message: `${field} ${message}.`, ...more }),
        hint,
      )
    },
    warn: warning => void warnings.push(warning),
  })
  return after
}

/** The problem that an account has all it may have of a record's kind; null where it has not. */
export function fullness({ resource }: ResourceFields, { catalog }: Context, record: Values): Problem | null {
  const full = resource.full?.(catalog, record)
  return full ? { field: null, path: '', code: 'too_many', message: `The ${resource.name} ${full}.` } : null
}

export function changesOf(fields: ResourceFields, before: Values, after: Values): Changes {
  const changes: Changes = {}
  for (const { internal_name: name, is_hidden, computed, is_of_store } of fields.fields) {
    if (is_hidden || computed || is_of_store) continue
    const [old, value] = [before[name] ?? null, after[name] ?? null]
    if (!isSameJson(old, value)) changes[name] = { before: old, after: value }
  }
  return changes
}

/** Every field empty: so that rules never meet an absent member. */
export const blank = madeOnce(
  ({ fields }: ResourceFields): Values =>
    Object.fromEntries(fields.map(field => [field.internal_name, emptyValue(field, kinds[field.type])])),
)
