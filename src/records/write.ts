/**
 * How an account is written to, by every statement: it takes the account's lock, changes something, and
 * appends what happened under the next `seq`. All of that has one moment, `at`, the database's time under the
 * lock, which is never before the account's last one (D123): so `seq`, `event.at` and what records say of
 * when they were written agree, however many processes write and whatever their clocks say. Such a statement
 * has $1 account, $2 actor, $3 the moment, null but where history is written that was not made just now, and
 * $4 the version of the configuration by which it was judged: it writes nothing where that one is too old
 * (D115).
 */
import { momentJson, momentParam } from '../fields/moment.ts'
import { jsonInstant } from './document.ts'

/** $1 account. Waits for the account's writes under way; a statement after it sees them. */
export const lockAccount = 'SELECT 1 FROM counter WHERE account_id = $1::bigint FOR UPDATE'

/**
 * The CTE `locked`. Every write takes the account's counter first, so that no two can wait for each other,
 * and holds it until its commit, so that seq is in commit order.
 */
export const locked = `locked AS MATERIALIZED (${lockAccount})`

/**
 * The same with `at`. The time and the oldest configuration are asked outside of what locks the row, so after
 * waiting for it.
 */
export const lockedAt =
  "locked AS MATERIALIZED (SELECT greatest(c.last_at, date_trunc('milliseconds', coalesce($3::timestamptz, clock_timestamp()))) AS at " +
  'FROM (SELECT last_at, oldest_version FROM counter WHERE account_id = $1::bigint FOR UPDATE) c WHERE c.oldest_version <= $4::bigint)'

/**
 * $1 account, $2 version. From its commit on nothing is saved that was judged by an older configuration, and
 * a statement after it sees all that was: so what is brought in line then, stays so.
 */
export const endOlder =
  'UPDATE counter SET oldest_version = $2::bigint WHERE account_id = $1::bigint AND oldest_version < $2::bigint'

/**
 * The CTE `counted`: the `last_seq` of so many events, and `at`. Carried out only when something was changed,
 * so that seq has no gaps.
 */
export function counted(events: string, condition = 'EXISTS (SELECT FROM r)', set = ''): string {
  return (
    `counted AS (UPDATE counter c SET ${set}last_seq = c.last_seq + ${events}, last_at = locked.at FROM locked ` +
    `WHERE c.account_id = $1::bigint AND ${condition} RETURNING c.last_id, c.last_seq, locked.at)`
  )
}

export type Events = {
  /** SQL of the event's type, and of the resource it is about */
  readonly type: string
  readonly resource: string
  /** what it is about: a CTE, or a SELECT, with `id` and `version` */
  readonly of: string
  /** how many events come after it in its statement */
  readonly before?: string
  readonly changes?: string
}

/** A CTE that appends an event for each row of `of`, which is called e. */
export function appended(
  name: string,
  { type, resource, of, before = '0', changes = `'{}'` }: Events,
): string {
  return (
    `${name} AS (INSERT INTO event (account_id, seq, type, resource, record_id, version, actor, at, changes) ` +
    `SELECT $1::bigint, counted.last_seq - ${before}, ${type}, ${resource}, e.id, e.version, $2::bigint, counted.at, ${changes}::jsonb ` +
    `FROM counted, ${of} e)`
  )
}

/** SQL of the JSON text `param` with `at`, which is SQL too, in the place of the moment. */
export function dated(param: string, at: string): string {
  return `replace(${param}::text, '${momentJson}', ${jsonInstant(at)})`
}

/** SQL of a column's value: its parameter, or `at` in the place of the moment. */
export function columnValue(param: string, type: string, at: string): string {
  if (type !== 'timestamptz') return `${param}::${type}`
  return `CASE ${param}::timestamptz WHEN '${momentParam}' THEN ${at} ELSE ${param}::timestamptz END`
}
