/** Values typed to close a deal, until they are saved: the dialog closes before the service can refuse. */
import type { StageKind } from '../../api/stage-kind.ts'
import type { Money } from '../../fields/kinds/money.tsx'
import { whoIsSignedIn } from '../../shell/me.ts'

type UnsavedClosing = {
  readonly kind: StageKind
  /** the id of an option of the kind */
  readonly reason: string | null
  /** null: the day on which it is saved */
  readonly date: string | null
  /** the value of the deal in this version, if it was typed */
  readonly amount: Money | undefined
  readonly version: unknown
}

/** "1 7 12", the account, the user and the deal → its unsaved closing */
const all = new Map<string, UnsavedClosing>()
const keyOf = (deal: number) => `${whoIsSignedIn()} ${deal}`

/** by the id of the deal, of the user who is signed in */
export const unsavedClosings = {
  get: (deal: number) => all.get(keyOf(deal)),
  set: (deal: number, closing: UnsavedClosing) => all.set(keyOf(deal), closing),
  delete: (deal: number) => all.delete(keyOf(deal)),
}
