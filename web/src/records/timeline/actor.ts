/** The actor of an event. Pure. */
import type { Named } from '../../api/api.ts'

export type Actor = {
  readonly id: number | null
  readonly name: string | null
  /** the token of a program */
  readonly token?: Named | null
  /** set if an agent wrote it (D148), and the name of its program */
  readonly origin?: string
  readonly client?: string | null
}

/** The name of an actor. The service and its command line are no users; names of users need a scope. */
export function actorName({ id, name, origin, client }: Actor): string {
  const user = name ?? (id === null ? 'The service' : 'Somebody')
  return origin ? `${user} by ${client ?? 'an agent'}` : user
}
