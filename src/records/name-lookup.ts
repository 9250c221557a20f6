/** The names in a request that stand for ids (D75), and what was found for them. Does no I/O. */
import { codePoints, isStorable } from '../fields/code-points.ts'
import type { Reference } from './parse.ts'
import type { ReferenceStates } from './references.ts'

/** A record that matches a name; `name` is the name it is shown under. */
export type Match = { readonly id: number; readonly name: string }

/** Used in place of a field to compare the full names of people. */
export const fullName = 'full name'

export type NameQuery = { readonly resource: string; readonly text: string; readonly by: string | null }

/**
 * Maximum number of names in a request (D116), and the maximum length of each: an e-mail has 320 characters.
 */
export const namesMax = 1000
const lengthMax = 320
/** The message of the problem with a name beyond them. */
export const tooManyNames = `is one name too many: a request may have ${namesMax}`
/** Maximum number of candidates listed for a name; one more is read. */
export const candidatesMax = 10

type Found = {
  readonly answers: ReadonlyMap<string, readonly Match[]>
  readonly referenceState: ReferenceStates | null
  readonly near: ReadonlyMap<string, readonly Match[]>
  /** the names that were looked up */
  readonly known: readonly NameQuery[]
}

const nothing: Found = { answers: new Map(), referenceState: null, near: new Map(), known: [] }

/** The names that a request contains, and their lookup results. */
export class NameLookup {
  readonly #found: Found
  readonly #asked = new Map<string, NameQuery>()
  /** references in defaults that are not looked up yet */
  readonly defaults: Reference[] = []

  constructor(found = nothing) {
    this.#found = found
  }

  /** the names of the request so far */
  get asked(): readonly NameQuery[] {
    return [...this.#found.known, ...this.#asked.values()]
  }

  /**
   * The records of a resource that match a name; null until it is looked up. `by`: the one field to compare,
   * or `fullName`.
   */
  matches(resource: string, text: string, by: string | null = null): readonly Match[] | null {
    if (!canBeName(text)) return []
    const key = keyOf({ resource, by, text })
    const known = this.#found.answers.get(key)
    if (known) return known
    if (this.#asked.size <= namesMax) this.#asked.set(key, { resource, text, by })
    return null
  }

  /**
   * The records with names similar to one that no record has, the most similar first; sought for few names.
   */
  near(resource: string, text: string): readonly Match[] {
    return this.#found.near.get(keyOf({ resource, by: null, text })) ?? []
  }

  /** True if the record that a default names exists and is active; null until it is looked up. */
  isThere(reference: Reference): boolean | null {
    const { referenceState } = this.#found
    if (referenceState) return referenceState(reference.resource, reference.id) === 'live'
    this.defaults.push(reference)
    return null
  }

  get areTooMany(): boolean {
    return Math.max(this.#asked.size, this.#found.known.length) > namesMax
  }
}

export function keyOf({ resource, by, text }: NameQuery): string {
  return JSON.stringify([resource, by, text])
}

/** True if a text can be the name of a record: not blank, not too long, and storable. */
export function canBeName(text: string): boolean {
  return text.trim() !== '' && codePoints(text) <= lengthMax && isStorable(text)
}
