/**
 * The moment of a write (D123). Only the database knows it, once it has the account's lock; till then
 * `moment` stands for it in a record's values, in its text and in what its event tells. No request can hold
 * it: NUL is refused (D15).
 */
export const moment = '\0'

/** The same as the parameter of a column: no date of a request is that far (D16). */
export const momentParam = 'infinity'

/** The same within JSON text. */
export const momentJson = JSON.stringify(moment)
