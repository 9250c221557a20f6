/**
 * The moment of a write (D123). Only the database knows it, once the write has the account's lock. Until then
 * `moment` is its placeholder: in a record's values, in its text, and in its event. No request can contain
 * `moment`, because NUL is refused (D15).
 */
import { type Sql, sql } from '../sql.ts'

/** The placeholder in a record's values. */
export const moment = '\0'

/** The placeholder as the parameter of a column: no request can send this date (D16). */
export const momentParam = 'infinity'

/** The placeholder within JSON text, as SQL of that text. */
export const momentJson = sql`'"\\u0000"'`

/** SQL of a time as JSON text. */
export function jsonInstant(time: Sql): Sql {
  return sql`to_json(to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text`
}
