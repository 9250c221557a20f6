/** The actor of an event. Pure. */
import type { Named } from '../../api/api.ts'

export type Actor = {
  readonly id: number | null
  readonly name: string | null
  /** the token of a program */
  readonly token?: Named | null
}

/** The name of an actor. The service and its command line are no users; names of users need a scope. */
export const actorName = ({ id, name }: Actor): string => name ?? (id === null ? 'The service' : 'Somebody')
