/**
 * What administration's judgements share: the problems found, each with its path and hint, and the readers of a body's members. Pure.
 */
import type { Problem, Warning } from '../errors.ts'
import type { Catalog } from '../fields/catalog.ts'
import { nearest } from '../fields/nearest.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import type { Nested, Reference } from '../records/parse.ts'

export type Judgement = {
  readonly catalog: Catalog
  readonly problems: Problem[]
  readonly warnings: Warning[]
  /** records that must exist before anything is saved */
  readonly references: Reference[]
  /** a default creates no records; what it would create is refused */
  readonly nested: Nested[]
}

export function judgement(catalog: Catalog): Judgement {
  return { catalog, problems: [], warnings: [], references: [], nested: [] }
}

/** Notes a problem of the member at `path`. */
export function report({ problems }: Judgement, path: string, code: string, message: string, hint?: string): undefined {
  const field = path.split('/')[1] ?? null
  const what = path.slice(1).replaceAll('/', '.') || 'The body'
  problems.push({ field, path, code, message: `${what} ${message}.`, ...(hint ? { hint } : {}) })
  return undefined
}

/** The body as an object whose members are all known; what is read-only is noted and left out. */
export function membersOf(body: Json, known: readonly string[], readOnly: readonly string[], judge: Judgement): JsonObject {
  if (!isObject(body)) {
    report(judge, '', 'wrong_type', 'must be a JSON object')
    return {}
  }
  const sent: JsonObject = {}
  for (const [name, value] of Object.entries(body)) {
    if (known.includes(name)) sent[name] = value
    else if (readOnly.includes(name)) {
      judge.warnings.push({ field: name, code: 'read_only', message: 'It is not changed here; what was sent is ignored.' })
    } else {
      const near = nearest(name, known)
      const hint = near ? `Did you mean "${near}"?` : `It has: ${known.join(', ')}.`
      report(judge, `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, 'unknown_field', 'is not a member', hint)
    }
  }
  return sent
}

/** A name that people read: 1 to 255 characters, without blanks around it. */
export function nameOf(value: Json | undefined, path: string, judge: Judgement): string | undefined {
  if (value === undefined || value === null) return report(judge, path, 'required', 'must be given')
  if (typeof value !== 'string') return report(judge, path, 'wrong_type', 'must be a string')
  const name = value.trim()
  if (name === '') return report(judge, path, 'required', 'must not be empty')
  if ([...name].length > 255) return report(judge, path, 'too_long', 'must have at most 255 characters')
  if (name.includes('\0') || !name.isWellFormed()) {
    return report(judge, path, 'invalid_characters', 'must not contain NUL or half of a surrogate pair')
  }
  return name
}

export function booleanOf(value: Json | undefined, path: string, judge: Judgement): boolean | undefined {
  if (value === undefined) return undefined
  return typeof value === 'boolean' ? value : report(judge, path, 'wrong_type', 'must be true or false')
}

/** A place in a list, counted from 1. */
export function positionOf(value: Json | undefined, judge: Judgement): number | undefined {
  if (value === undefined || value === null) return undefined
  const isPlace = typeof value === 'number' && Number.isInteger(value) && value >= 1
  return isPlace ? value : report(judge, '/position', 'wrong_type', 'must be a whole number from 1')
}
