/** Who did what a history tells of. Pure. */
import type { Named } from '../../api/api.ts'

export type Actor = {
  readonly id: number | null
  readonly name: string | null
  /** what a program asked with */
  readonly token?: Named | null
}

/** Who it was. The service itself and its command line are no user; the names of users need a right. */
export const sayActor = ({ id, name }: Actor): string => name ?? (id === null ? 'The service' : 'Somebody')
