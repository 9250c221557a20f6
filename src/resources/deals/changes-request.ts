/** A request of the changes between two moments (D161), the kinds of change, the parts that a role sees. */
import type { Selection } from '../../lists/list-request.ts'

/** The kinds of change, in the order of the steps: first those that add to a forecast. */
export const stepKinds = [
  ...(['new', 'reopened', 'came_in', 'grown', 'moved_forward', 'pulled_in', 'rates'] as const),
  ...(['other', 'slipped', 'moved_back', 'shrunk', 'went_out', 'deleted', 'lost', 'won'] as const),
]
export type StepKind = (typeof stepKinds)[number]

export type ChangesRequest = Selection & {
  /** days, or instants in UTC; `to`: null for now */
  readonly from: string
  readonly to: string | null
  /** the first and the last day on which the deals of the forecast are expected; null: unbounded */
  readonly expectedFrom: string | null
  readonly expectedTo: string | null
  readonly isByOwner: boolean
  /** null: all */
  readonly kind: StepKind | null
  /** the deal behind which the deals of the kind go on */
  readonly after: number | null
  readonly pageSize: number
}

export const dealPageSizes = { usual: 10, max: 100 }

/** True for each part of a deal that the caller's role sees. */
export type SeenParts = {
  readonly value: boolean
  readonly weighted: boolean
  readonly owner: boolean
  readonly date: boolean
}

/** The part of the deals without an owner; 0 is the whole. */
export const nobody = -1
