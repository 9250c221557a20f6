/** A stage's meaning, never its name (D19): the options of the field `kind`. */
export type StageKind = 1 | 2 | 3

export const stageKinds = { open: 1, won: 2, lost: 3 } as const

/** Where a stage is chosen, those that close a deal say so. */
export const closingWord = (kind: StageKind): 'won' | 'lost' | undefined =>
  kind === stageKinds.won ? 'won' : kind === stageKinds.lost ? 'lost' : undefined
