/**
 * The moment of a write (D123). Only the database knows it, once the write has the account's lock. Until then
 * `moment` stands for it: in a record's values, in its text, and in its event. No request can contain
 * `moment`, because NUL is refused (D15).
 */
export const moment = '\0'

/** The same as the parameter of a column: no request can send this date (D16). */
export const momentParam = 'infinity'

/** The same within JSON text. */
export const momentJson = JSON.stringify(moment)
