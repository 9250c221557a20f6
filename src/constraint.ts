/**
 * Which constraint refused a write. A distributed database keeps a table in shards: it names a constraint
 * with the number of the shard at the end, and sometimes in the message only. Knows no constraint.
 */

/** The name of the constraint as the migrations give it; '' when the error names none. */
export function constraintOf(error: unknown): string {
  const { constraint_name, message = '' } = error as { constraint_name?: string; message?: string }
  const name = constraint_name || /constraint "([^"]+)"/.exec(message)?.[1] || ''
  return name.replace(/_\d+$/, '')
}
