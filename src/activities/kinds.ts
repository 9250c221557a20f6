/** The kinds of activities (D73), the same in every account, and which of them mean something. Data only. */

/** The option of the first is 1. */
export const kindNames = ['Call', 'Meeting', 'Task', 'E-mail', 'Note'] as const

/** The ids of the static dropdown `kind` that count differently. */
export const kindOf = { email: 4, note: 5 } as const
