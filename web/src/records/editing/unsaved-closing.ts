/** Values typed to close a deal, until they are saved: the dialog closes before the service can refuse. */
import type { StageKind } from '../../board/stage-kind.ts'
import type { Money } from '../../fields/kinds/money.tsx'

type UnsavedClosing = {
  readonly kind: StageKind
  /** the id of an option of the kind */
  readonly reason: string | null
  readonly date: string
  /** the value of the deal, if it was typed */
  readonly amount: Money | undefined
}

/** by the id of the deal */
export const unsavedClosings = new Map<number, UnsavedClosing>()
