/** If-Match (D7): a write that is meant for one version of a record. Knows no HTTP and no resource. */
import { type Problem, Refusal } from '../errors.ts'

/** The versions that the caller may have read, as the texts of their ETags; null if any will do. */
export type Precondition = readonly string[] | null

/**
 * Throws `version_conflict` if `what` has another version than the caller has read. `differing`: the problems
 * that say what differs, if known.
 */
export function requireVersion(
  what: string,
  version: number | string,
  precondition: Precondition,
  differing: () => readonly Problem[] | null = () => null,
): void {
  if (precondition === null || precondition.includes(String(version))) return
  const read = precondition.join(' or ') || 'the one that If-Match names'
  const detail = `${what} is at version ${version}, not ${read}. Read it again and repeat the change.`
  const message = `It is at version ${version}.`
  const own: Problem = { field: 'version', path: '', code: 'changed_since_read', message, current: version }
  const problems = differing() ?? [own]
  throw new Refusal('version_conflict', detail, problems, { etag: etagOf(version) })
}

export function etagOf(version: number | string): string {
  return `"${version}"`
}
