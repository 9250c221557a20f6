/**
 * Moments of an account's past that parameters name (D74, D161): days, of which the begin or the end is
 * meant, and instants. Knows no record and no HTTP.
 */
import { parameterProblem, Refusal } from '../errors.ts'
import { momentAfter, momentsOfDay } from '../fields/kinds/date-time.ts'
import { instantText } from '../fields/moment.ts'
import type { Reader } from '../records/store.ts'
import type { Caller } from '../rights/visibility.ts'
import { ask, type Param, param, type Sql, sql } from '../sql.ts'

/** A moment in the account's history. */
export type Past = {
  /** what happened before it is known: UTC, with milliseconds */
  readonly moment: string
  /** the last event before it */
  readonly seq: string
}

/** A parameter that names a moment: a day in the account's time zone, an instant, or now if it is null. */
export type NamedMoment = {
  readonly parameter: string
  readonly text: string | null
  /** true: of a day its end is meant, otherwise its begin */
  readonly isEnd: boolean
}

/**
 * The moment of a parameter. Throws `history_too_short` if the account's events do not reach that far back,
 * and `malformed_query` for what has not come yet.
 */
export async function pastOf(
  db: Reader,
  { catalog }: Caller,
  { parameter, text, isEnd }: NamedMoment,
): Promise<Past> {
  const { account } = catalog
  const own = param(String(account.id))
  const isDay = text?.length === 10
  const day = isDay ? momentsOfDay(text, catalog) : null
  const begins = text === null ? sql`now()` : sql`${day?.[0] ?? text}::timestamptz`
  const ends = day && isEnd ? momentAfter(day[1]) : begins
  const statement = sql`WITH named AS (SELECT ${begins} AS begins, ${ends} AS moment),
past AS (SELECT begins, ${text === null ? afterAll(own) : sql`moment`} AS moment FROM named)
SELECT ${instantText(sql`past.moment`)} AS moment,
  (SELECT e.seq FROM event e WHERE e.account_id = ${own}::bigint AND e.at < past.moment
    ORDER BY e.seq DESC LIMIT 1)::text AS seq,
  (SELECT to_char(e.at AT TIME ZONE ${account.time_zone}::text, 'YYYY-MM-DD') FROM event e
    WHERE e.account_id = ${own}::bigint ORDER BY e.seq LIMIT 1) AS first,
  (begins > now())::text AS is_future
FROM past`
  const [row] = await ask(db, statement)
  const { moment, seq, first, is_future: isFuture } = row!
  if (isFuture === 'true') {
    const message = `${text} has not come yet: ${parameter} takes ${isDay ? 'a day up to today' : 'a moment up to now'}.`
    throw new Refusal('malformed_query', message, [parameterProblem(parameter, 'invalid_value', message)])
  }
  if (seq) return { moment: moment!, seq }
  const detail = `There is no history of ${text}: the events of this account begin on ${first ?? text}.`
  throw new Refusal('history_too_short', detail, [parameterProblem(parameter, 'history_too_short', detail)])
}

/** SQL of a moment after all that has happened, also in this millisecond. */
function afterAll(account: Param): Sql {
  return sql`date_trunc('milliseconds', greatest(moment, (SELECT e.at FROM event e
    WHERE e.account_id = ${account}::bigint ORDER BY e.seq DESC LIMIT 1))) + interval '1 millisecond'`
}
