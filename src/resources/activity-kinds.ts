/** The kinds of activities (D73), the same in every account, and those with a special meaning. Data only. */

/** Their options are numbered from 1. */
export const kindNames = ['Call', 'Meeting', 'Task', 'E-mail', 'Note'] as const

/** The ids of the static dropdown `kind` that count differently. */
export const kindOf = { email: 4, note: 5 } as const
