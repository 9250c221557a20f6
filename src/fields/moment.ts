/**
 * Placeholders for what only the database knows, once a write has the account's lock: the moment of the write
 * (D123), and the ids of its new records. They stand in a record's values, in its text and in its event. No
 * request can contain them, because NUL is refused (D15).
 */
import { type Sql, sql } from '../sql.ts'

/** Stands for the moment of the write in a record's values. */
export const momentPlaceholder = '\0'

/** Stands for it as the parameter of a column of times. No request can send this date (D16). */
export const momentInColumns = 'infinity'

/** Stands for it within JSON text; SQL of a literal. */
export const momentInJson = sql`'"\\u0000"'`

/** Stands for the id of the nth new record of the write, in texts. */
export function idPlaceholder(nth: number): string {
  return `\0${nth}`
}

/** SQL of a time as JSON text. */
export function jsonInstant(time: Sql): Sql {
  return sql`to_json(${instantText(time)})::text`
}

/** SQL of a time as text in the form of all answers. */
export function instantText(time: Sql): Sql {
  return sql`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/**
 * SQL of a moment and an interval, by immutable functions: a distributed PostgreSQL sets a column by no
 * others (D173).
 */
export function later(moment: Sql, interval: Sql): Sql {
  return sql`(${moment} AT TIME ZONE 'UTC' + ${interval}) AT TIME ZONE 'UTC'`
}
