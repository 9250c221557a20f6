/**
 * Finds the constraint that refused a write. A distributed database shards tables: it names a constraint with
 * the shard's number at the end, and sometimes in the message only. Knows no constraint.
 */

/** The constraint's name as in the migrations; '' if the error names none. */
export function constraintOf(error: unknown): string {
  const { constraint_name, message = '' } = error as { constraint_name?: string; message?: string }
  const name = constraint_name || /constraint "([^"]+)"/.exec(message)?.[1] || ''
  return name.replace(/_\d+$/, '')
}

/** True if an error says that a value of this unique index or primary key is taken. */
export function isTaken(error: unknown, constraint: string): boolean {
  return (error as { code?: string }).code === '23505' && constraintOf(error) === constraint
}
