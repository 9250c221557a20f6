/**
 * Shared by all validation of the administration: the collected problems, each with path and hint, and
 * readers of a body's members. Pure.
 */
import { type Hint, type ProblemCode, Problems, sentence, type Warning } from '../errors.ts'
import { isBlank } from '../fields/blank.ts'
import type { Catalog } from '../fields/catalog.ts'
import { codePoints, isStorable } from '../fields/code-points.ts'
import type { Field } from '../fields/field.ts'
import { suggestion } from '../fields/nearest.ts'
import { isObject, type Json, type JsonObject, pointerStep } from '../json.ts'
import type { Nested, Reference } from '../records/parse.ts'
import { isHiddenByRole } from '../records/rendered-record.ts'
import type { Caller } from '../rights/visibility.ts'

export type Validation = {
  readonly catalog: Catalog
  readonly problems: Problems
  readonly warnings: Warning[]
  /** records that must exist when the change is saved */
  readonly references: Reference[]
  /** records that a default would create; not allowed, so it is refused */
  readonly nested: Nested[]
  /** true if the caller's role hides the field (D64): messages must not name it */
  readonly isHidden: (field: Field) => boolean
  /** Adds a problem of the member at `path`. */
  readonly reject: (path: string, code: ProblemCode, message: string, hint?: Hint) => undefined
}

export function newValidation(catalog: Catalog, caller: Caller | undefined): Validation {
  const isHidden = ({ resource, internal_name: name }: Field) => {
    const schema = caller?.catalog.resources.get(resource)
    return schema !== undefined && isHiddenByRole(schema, name)
  }
  const problems = new Problems()
  const reject: Validation['reject'] = (path, code, message, hint) => {
    // A form is a list, and its places are no members.
    const member = path.split('/')[1] ?? null
    const field = member && /^\d+$/.test(member) ? null : member
    problems.add(() => ({ field, path, code, message: sentence(path, message) }), hint)
  }
  return { catalog, problems, warnings: [], references: [], nested: [], isHidden, reject }
}

/** The body as an object of known members; read-only ones are reported as warnings and left out. */
export function membersOf(
  body: Json,
  known: readonly string[],
  readOnly: readonly string[],
  validation: Validation,
): JsonObject {
  if (!isObject(body)) {
    validation.reject('', 'wrong_type', 'must be a JSON object')
    return {}
  }
  const sent: JsonObject = {}
  for (const [name, value] of Object.entries(body)) {
    if (known.includes(name)) sent[name] = value
    else if (readOnly.includes(name)) warnOfReadOnly(name, validation)
    else {
      const hint = () => suggestion(name, known, `It has: ${known.join(', ')}.`)
      validation.reject(`/${pointerStep(name)}`, 'unknown_field', 'is not a known member', hint)
    }
  }
  return sent
}

/** Warns that a member, or the one of it at `path`, is ignored. */
export function warnOfReadOnly(field: string, { warnings }: Validation, path = `/${field}`): void {
  warnings.push({ field, path, code: 'read_only', message: 'It is read-only; what was sent is ignored.' })
}

/** A display name: 1 to 255 characters, trimmed; one of them is visible (D6). */
export function nameOf(value: Json | undefined, path: string, validation: Validation): string | undefined {
  if (value === undefined || value === null) return validation.reject(path, 'required', 'must be given')
  if (typeof value !== 'string') return validation.reject(path, 'wrong_type', 'must be a string')
  const name = value.trim()
  if (isBlank(name)) return validation.reject(path, 'required', 'must not be empty')
  if (!isStorable(name)) {
    return validation.reject(path, 'invalid_characters', 'must not contain NUL or half of a surrogate pair')
  }
  if (codePoints(name) > 255) return validation.reject(path, 'too_long', 'must have at most 255 characters')
  return name
}

export function booleanOf(
  value: Json | undefined,
  path: string,
  validation: Validation,
): boolean | undefined {
  if (value === undefined) return undefined
  return typeof value === 'boolean' ? value : validation.reject(path, 'wrong_type', 'must be true or false')
}

/** A position in a list, counted from 1. */
export function positionOf(value: Json | undefined, validation: Validation): number | undefined {
  if (value === undefined || value === null) return undefined
  const isPlace = typeof value === 'number' && Number.isInteger(value) && value >= 1
  return isPlace ? value : validation.reject('/position', 'wrong_type', 'must be a whole number from 1')
}

export const givenByClosing = 'the request that closes a deal gives it'

/** True if only closed deals have a value in the field: reason and date of closing (rules 2 and 3). */
export function isOfClosing({ is_required, rules }: Field): boolean {
  return !is_required && rules.some(rule => rule === 2 || rule === 3)
}
