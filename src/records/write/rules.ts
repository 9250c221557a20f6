/**
 * Applies the rules of a resource to a parsed record: what it becomes, with derived values, and the problems
 * of its fields with each other. Pure; knows no particular resource.
 */
import { type Problem, Refusal, sentence } from '../../errors.ts'
import type { ResourceSchema } from '../../fields/catalog.ts'
import { emptyValue, type Values } from '../../fields/field.ts'
import { kinds } from '../../fields/kinds.ts'
import { momentPlaceholder } from '../../fields/moment.ts'
import type { Draft, Undone } from '../../fields/resource.ts'
import { isSameJson } from '../../json.ts'
import { mayRead } from '../../rights/rights.ts'
import { memoize } from '../../waiting/memoize.ts'
import type { Parsed } from '../parse.ts'
import { hiddenProblem, isHiddenByRole } from '../rendered-record.ts'
import type { Changes } from '../store.ts'
import type { Work } from '../work.ts'
import type { WriteContext } from './operation.ts'

/** The record after the resource's rules. Adds the rules' problems to its own. */
export function applyRules(
  { schema, context }: Work,
  { values, sent, problems, warnings, path }: Parsed,
  before: Values | null,
  related: Draft['related'],
  undoes: Undone | null,
): Values {
  const after: Values = { ...blank(schema), ...before, ...values }
  const overridden = overriddenOf(values, context)
  // The rules decide whether these fields have a value. The value itself is the one that was sent.
  const byRules = Object.keys(overridden).filter(name => !name.startsWith('created_'))
  for (const name of byRules) after[name] = before?.[name] ?? null
  const isHidden = (name: string) => isHiddenByRole(schema, name)
  const accepted = [...sent].filter(name => !schema.byName.get(name)?.is_read_only)
  const isTold = !before || mayRead(context, schema.resource.name)
  const parsedCount = problems.listed.length
  const hasProblem = (name: string, of: readonly Problem[]) =>
    of.some(problem => `${problem.path}/`.startsWith(`${path}/${name}/`))
  schema.resource.applyRules?.({
    before,
    after,
    sent: new Set(accepted),
    undoes,
    related,
    catalog: context.catalog,
    momentPlaceholder,
    clock: new Date(),
    problem: (field, code, message, { at = '', because = field, hint, ...more } = {}) => {
      // An unreadable value is one problem, not also a missing one, nor one of a field that depends on it.
      if (at === '' && hasProblem(field, problems.listed)) return
      if (because !== field && hasProblem(because, problems.listed.slice(0, parsedCount))) return
      const told = { field, path: `${path}/${field}${at}`, code }
      if (isHidden(field) || isHidden(because)) problems.add(hiddenProblem)
      else problems.add(() => ({ ...told, message: sentence(`/${field}${at}`, message), ...more }), hint)
    },
    // Warnings of rules reveal the stored record.
    warn: warning => {
      const { field, path: at = `/${field}` } = warning
      if (isTold && !isHidden(field)) warnings.push({ ...warning, path: path + at })
    },
  })
  if (undoes && before) giveBack(schema, after, before, undoes)
  for (const name of byRules) if (after[name] !== null) after[name] = overridden[name]!
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

/**
 * Refuses an implicit change: throws `forbidden` if the role hides or locks one of these fields (D64).
 * `message` says why it matters, as a sentence without its end: locked fields are named there, hidden ones
 * never.
 */
export function refuseUnwritable(
  { byName }: ResourceSchema,
  names: readonly string[],
  message: string,
): void {
  const unwritable = names.map(name => byName.get(name)!).filter(one => one.is_hidden || one.is_read_only)
  if (unwritable.length === 0) return
  const locked = unwritable.flatMap(one => (one.is_hidden ? [] : one.internal_name))
  throw new Refusal('forbidden', `${message}${locked.length ? `: ${locked.join(', ')}` : ''}.`)
}

/** Throws `forbidden` if the author may not make the change. */
export function refuseForbidden(
  { schema: { resource }, context: { catalog, rights, actor } }: Work,
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
export function authorValues(actor: number): Values {
  return {
    created_at: momentPlaceholder,
    updated_at: momentPlaceholder,
    created_by: actor,
    updated_by: actor,
  }
}

/** The sent values that are stored, though the service normally sets these fields. */
export function overriddenOf(values: Values, { overrides = [] }: WriteContext): Values {
  const sent = overrides.filter(name => values[name] !== undefined && values[name] !== null)
  return Object.fromEntries(sent.map(name => [name, values[name]!]))
}

/** A record with every field empty, so that rules never meet an absent member. */
export const blank = memoize(
  ({ whole }: ResourceSchema): Values =>
    Object.fromEntries(
      whole.fields.map(field => [field.internal_name, emptyValue(field, kinds[field.type])]),
    ),
)
