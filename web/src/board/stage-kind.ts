/** A stage's meaning, never its name (D19): the options of the field `kind`. */
export type StageKind = 1 | 2 | 3

export const kindOf = { open: 1, won: 2, lost: 3 } as const
