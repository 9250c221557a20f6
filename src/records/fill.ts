/**
 * Fills or requires the fields that a body leaves out (D6). Does no I/O: records that defaults name are
 * looked up like the names of the body (names.ts).
 */
import { memberProblem } from '../errors.ts'
import { isHollow } from '../fields/blank.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Field, Values } from '../fields/field.ts'
import { howToWrite } from '../fields/kinds/how-to-write.ts'
import { kinds } from '../fields/kinds.ts'
import type { Json } from '../json.ts'
import { newParseState, type Parsed, type ParseState, parseContextOf } from './parse.ts'
import { hiddenProblem } from './rendered-record.ts'

/**
 * Handles a field that the body leaves out. On create its default fills it. A required field must have a
 * value; on update only if the caller's role may write it and the body is not empty, as that of the rotation
 * of a secret is. `field` is the definition that no role limits.
 */
export function fillOrRequire(
  field: Field,
  { byName, resource }: ResourceSchema,
  before: Values | null,
  parsed: Parsed & ParseState,
): void {
  if (!field.is_active || field.is_read_only || field.is_hidden) return
  const { internal_name: name } = field
  const value = before ? null : defaultValueOf(field, parsed)
  if (value !== null) {
    if (value !== undefined) parsed.values[name] = value
    return
  }
  if (!field.is_required || (before && !isHollow(before[name] ?? null))) return
  const { is_hidden, is_read_only } = byName.get(name)!
  const isUngiven = is_hidden || is_read_only
  if (before && (isUngiven || parsed.sent.size === 0)) return
  // Once what a default names is gone, a role that can't give the field creates records without it. A field
  // that every record needs can't be left out.
  const isNeeded = resource.fields.some(({ id, is_required }) => id === field.id && is_required)
  if (isUngiven && !isNeeded && !isHollow(defaultOf(field))) return
  const rule = field.rules.includes(1) ? { rule: 1 } : {}
  const missing = () => ({ ...memberProblem(name, 'required', `${name} is required.`, parsed.path), ...rule })
  if (is_hidden) parsed.problems.add(hiddenProblem)
  else
    parsed.problems.add(missing, () => {
      // Only the stages of the pipeline that was sent are options.
      const outer = field.within && parsed.values[field.within]
      const options = field.options.filter(({ within }) => !outer || within === outer)
      return howToWrite({ ...field, options })
    })
}

/**
 * The value of a field's default. Null if there is none, or if the record that it names is deleted or
 * inactive; undefined as long as that record has not been looked up. The caller has not sent the value, and
 * need not see that record.
 */
function defaultValueOf(
  field: Field,
  { catalog, names, references, path }: Parsed & ParseState,
): Json | undefined {
  const fallback = defaultOf(field)
  if (isHollow(fallback)) return null
  const state = newParseState(catalog)
  const context = parseContextOf(field, `${path}/${field.internal_name}`, state)
  const value = kinds[field.type].parse(fallback, context, null) ?? null
  const named = state.references.map(reference => ({ ...reference, by: 'default' as const }))
  const areThere = named.map(reference => names?.isThere(reference) ?? null)
  if (value === null || areThere.includes(false)) return null
  if (areThere.includes(null)) return undefined
  references.push(...named)
  return value
}

/** The default of a field that a new record leaves out; null for none. */
export function defaultOf(field: Field): Json {
  if (!kinds[field.type].hasOptions || field.default_value !== null) return field.default_value
  // An account's default pipeline is the one that its users see first. It is no default value: the interface
  // wants every new deal to name its pipeline.
  return field.related
    ? null
    : (field.options.find(option => option.is_default && option.is_active)?.id ?? null)
}

/** True if a body that creates a record must have the field: it is required, and has no default. */
export function mustBeGiven(field: Field): boolean {
  return field.is_active && field.is_required && isHollow(defaultOf(field))
}
