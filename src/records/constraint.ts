/**
 * Translates a broken constraint of the schema into a refusal. Knows how the schema names its constraints:
 * unique indexes as the resources declare them, foreign keys as PostgreSQL names them.
 */
import { constraintOf } from '../db/constraint.ts'
import { memberProblem, Refusal } from '../errors.ts'
import { isHollow } from '../fields/blank.ts'
import type { Resource } from '../fields/resource.ts'
import type { Candidate } from './unique.ts'

/**
 * The refusal of a write of `records` for a database error; null if the error is about no constraint of a
 * resource.
 */
export function constraintRefusal(
  error: unknown,
  { resources }: { readonly resources: ReadonlyMap<string, { readonly resource: Resource }> },
  records: readonly Candidate[],
): Refusal | null {
  const { code } = error as { code?: string }
  if (code !== '23503' && code !== '23505') return null
  const refusalOf = code === '23503' ? goneReference : takenValue
  const name = constraintOf(error)
  for (const { resource } of resources.values()) {
    const refusal = refusalOf(resource, name, records)
    if (refusal) return refusal
  }
  return null
}

/** A referenced record was deleted between the check and the write. */
function goneReference(
  resource: Resource,
  constraint: string,
  records: readonly Candidate[],
): Refusal | null {
  const found = resource.fields.find(
    ({ internal_name: name }) => constraint === `${resource.name}_account_id_${name}_fkey`,
  )
  if (!found) return null
  const { internal_name: field } = found
  const message = `The record that ${field} points to was deleted meanwhile.`
  const problem = memberProblem(field, 'reference_not_found', message, pathOf(records, resource, field))
  return new Refusal('validation_failed', 'The record was not saved: one problem.', [problem])
}

function takenValue(resource: Resource, constraint: string, records: readonly Candidate[]): Refusal | null {
  const { unique = {}, source } = resource
  const field = Object.hasOwn(unique, constraint) ? unique[constraint] : undefined
  if (!field) return null
  const what = source.name.toLowerCase()
  const code = field === 'name' ? 'name_taken' : 'value_taken'
  const message = `Another ${what} has the same ${field}.`
  const problem = memberProblem(field, code, message, pathOf(records, resource, field))
  return new Refusal('duplicate', `There is a ${what} with that ${field} already.`, [problem])
}

/** The path of the first of the records that has a value in the field: it may be nested in another. */
function pathOf(records: readonly Candidate[], { name }: Resource, field: string): string {
  const hasValue = ({ schema, after }: Candidate) =>
    schema.resource.name === name && !isHollow(after[field] ?? null)
  return records.find(hasValue)?.path ?? ''
}
