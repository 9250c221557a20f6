/**
 * The protocol of every statement that writes to an account. It takes the account's lock, changes rows,
 * raises the account's counter, and appends its events under the next `seq`, all at one moment, `at`: the
 * database's time under the lock, but never before the account's last moment (D123). So `seq`, `event.at` and
 * the times in records agree between processes and clocks. It writes nothing if the configuration that
 * validated it is too old (D115). Callers give only their own rows; idempotency.ts adds that of a key.
 */
import type { WriteParams } from '../fields/caller-params.ts'
import { jsonInstant, momentJson, momentParam } from '../fields/moment.ts'
import { type Caller, callerParamsOf } from '../rights/visibility.ts'
import { compile, type Param, type Part, param, type Sql, type SqlType, sql } from '../sql.ts'
import type { Transaction } from './store.ts'

/** The origin of a write, which its events record (D69). The service's own writes have none. */
export type Origin = {
  readonly token?: { readonly id: number } | null
  readonly session?: { readonly id: number } | null
  /** the X-Request-Id */
  readonly requestId?: string
  /** the job that carried it out (D84) */
  readonly job?: { readonly id: number } | null
}

/** The parameters that every write has, each bound to one placeholder. */
export function author(
  caller: Caller & Origin & { readonly idle?: ReadonlyMap<number, string> },
  at: Date | null = null,
): WriteParams {
  const { token, session, requestId = null, job, idle } = caller
  const idOf = (one: { readonly id: number } | null = null) => param(one && String(one.id))
  return {
    ...callerParamsOf(caller),
    at: param(at?.toISOString() ?? null),
    idle: idle?.size ? param(`{${[...idle.keys()].join()}}`) : null,
    version: param(caller.catalog.version),
    origin: { token: idOf(token), session: idOf(session), request: param(requestId), job: idOf(job) },
  }
}

/** The steps of a write, in their order. */
export type Write = {
  /** CTEs that change rows once the account is locked; they may name `locked.at` */
  readonly changes?: readonly Sql[]
  /** a condition: if it is false, nothing is written and no `seq` is taken */
  readonly when?: Sql
  /** number of the account's next record ids to take; the last of them is `counted.last_id` */
  readonly ids?: Param | number
  /** CTEs that write rows after that; they may name `counted.at` */
  readonly rows?: readonly Sql[]
  /** the events, in the order of `seq` */
  readonly events: readonly Event[]
  /** True if it changes the configuration, of which it then makes a new version */
  readonly isConfiguration?: boolean
  /**
   * True if its moment is after that of every earlier write, so that the moment identifies what it deletes
   */
  readonly hasOwnMoment?: boolean
  /** True if nothing is saved afterwards that an older configuration validated (D115) */
  readonly endsOlder?: boolean
  /** SELECT of the row to return */
  readonly answer: Sql
}

/** An event. Its SQL may name `e`, the row of `of`. */
export type Event = {
  readonly type: string | Sql
  /** aliases of its type (D69), such as deal.won; or SQL of an array of texts */
  readonly aliases?: readonly string[] | Sql
  readonly resource: string | Sql
  /** its record: a CTE, or a SELECT, with `id` and `version` */
  readonly of: Sql
  /** True if `of` may have any number of rows; each is an event, in the order of the ids */
  readonly isOfEach?: boolean
  /** number of rows, if `of` has several that don't exist before they are counted */
  readonly count?: Param
  /** order of several rows; default: by id */
  readonly order?: Sql
  /** SQL of JSON text */
  readonly changes?: Sql
}

/** The CTEs of a write, of which the last is `answer`. */
export function writing(params: WriteParams, write: Write): Sql[] {
  const { changes = [], rows = [], events, isConfiguration = false, answer } = write
  return [
    lockedAt(params, write),
    ...changes,
    counted(params, write),
    ...rows,
    ...events.map((event, index) => appended(params, event, index, events.slice(index + 1))),
    ...(isConfiguration ? [versioned(params)] : []),
    sql`answer AS (${answer})`,
  ]
}

/** A statement made of CTEs. It returns the rows of the last CTE, `answer`. */
export function statementOf(ctes: readonly Sql[]): Sql {
  return sql`WITH ${sql.join(ctes, sql`,\n`)}\nSELECT * FROM answer`
}

/** Waits for the account's writes in progress. A statement after it sees what they wrote. */
export function lockAccount(account: Param): Sql {
  return sql`SELECT 1 FROM counter WHERE account_id = ${account}::bigint FOR UPDATE`
}

/** The text of `lockAccount`, for a statement that goes before a write. */
export const lockFirst: string = compile(lockAccount(param(null))).text

/**
 * The CTE `locked`. Every write locks the account's counter first, which prevents deadlocks, and holds it
 * until its commit, so that seq is in commit order.
 */
export function locked(account: Param): Sql {
  return sql`locked AS MATERIALIZED (${lockAccount(account)})`
}

/** Runs a statement that writes to the account, which is $1; after `first` as in Transaction. */
export function carryOut(db: Transaction, account: Param, statement: Sql, first?: string): Rows {
  const { text, values } = compile(statement, account)
  return db.write(account.value!, text, values, first)
}

type Rows = ReturnType<Transaction['write']>

/**
 * From the commit of this statement on, nothing is saved that an older configuration validated. A statement
 * after it sees everything that was saved before. So a record that then follows the configuration keeps
 * following it.
 */
export function endOlder(db: Transaction, account: number, version: string): Rows {
  const [own, latest] = [param(String(account)), param(version)]
  return carryOut(
    db,
    own,
    sql`
    UPDATE counter SET oldest_version = ${latest}::bigint
    WHERE account_id = ${own}::bigint AND oldest_version < ${latest}::bigint`,
  )
}

/**
 * Reserves `count` ids for the account's records, or for its fields and options. Returns the first of them.
 * An unused id is never reused.
 */
export async function reserveIds(
  db: Transaction,
  account: number,
  of: 'last_id' | 'last_field_id',
  count: number,
): Promise<number> {
  const [own, last, many] = [param(String(account)), sql.id(of), param(String(count))]
  const [row] = await carryOut(
    db,
    own,
    sql`
    UPDATE counter SET ${last} = ${last} + ${many}::bigint WHERE account_id = ${own}::bigint
    RETURNING (${last} - ${many}::bigint + 1)::text AS first`,
  )
  return Number(row!.first)
}

/**
 * The CTE `locked` with `at`. The inner SELECT waits for the lock. The time and the oldest configuration are
 * read outside of it, and so after the wait.
 */
function lockedAt({ account, at, version }: WriteParams, { hasOwnMoment }: Write): Sql {
  const first = hasOwnMoment ? sql`c.last_at + interval '1 millisecond'` : sql`c.last_at`
  return sql`locked AS MATERIALIZED (
  SELECT greatest(
    ${first}, date_trunc('milliseconds', coalesce(${at}::timestamptz, clock_timestamp()))) AS at
  FROM (SELECT last_at, oldest_version FROM counter WHERE account_id = ${account}::bigint FOR UPDATE) c
  WHERE c.oldest_version <= ${version}::bigint
)`
}

/** The CTE `counted`: the `last_seq` of all events, and `at`. */
function counted({ account, version }: WriteParams, { events, when, ids, endsOlder }: Write): Sql {
  const id = ids ? sql`last_id = c.last_id + ${many(ids)}, ` : sql.none
  const oldest = endsOlder ? sql`oldest_version = ${version}::bigint + 1, ` : sql.none
  return sql`counted AS (
  UPDATE counter c
  SET ${id}${oldest}last_seq = c.last_seq + ${numberOf(events)}, last_at = locked.at
  FROM locked
  WHERE c.account_id = ${account}::bigint AND ${when ?? sql`EXISTS (SELECT 1 FROM r)`}
  RETURNING c.last_id, c.last_seq, locked.at
)`
}

/** A CTE that appends an event for each row of `event.of`. The events of `later` get higher numbers. */
function appended(params: WriteParams, event: Event, index: number, later: readonly Event[]): Sql {
  const { account, actor, origin } = params
  const { type, aliases = [], resource, of, isOfEach, count, order = sql`e.id` } = event
  const { changes = sql`'{}'` } = event
  const after = later.length ? sql` - ${numberOf(later)}` : sql.none
  const isOfSeveral = isOfEach || count !== undefined
  const before = isOfSeveral ? sql` + 1 - row_number() OVER (ORDER BY ${order} DESC)` : sql.none
  return sql`${sql.id(`event${index}`)} AS (
  INSERT INTO event (account_id, seq, type, also, resource, record_id, version, at, changes,
    actor, token, session, request_id, job)
  SELECT ${account}::bigint, counted.last_seq${after}${before}, ${textOf(type)},
    ${Array.isArray(aliases) ? sql.text(`{${aliases.join()}}`) : (aliases as Sql)}::text[], ${textOf(resource)}, e.id,
    e.version, counted.at,
    ${changes}::jsonb, ${actor}::bigint, ${origin.token}::bigint, ${origin.session}::bigint,
    ${origin.request}::text, ${origin.job}::bigint
  FROM counted, ${of} e
)`
}

function textOf(text: string | Sql): Sql {
  return typeof text === 'string' ? sql.text(text) : text
}

/** SQL of the number of these events. */
function numberOf(events: readonly Event[]): Sql {
  const several = events
    .filter(event => event.isOfEach)
    .map(({ of }) => sql` + (SELECT count(*) FROM ${of} e)`)
  const counted = events.flatMap(({ count }) => (count ? [sql` + ${many(count)}`] : []))
  const single = sql.integer(events.length - several.length - counted.length)
  const all = [...several, ...counted]
  return all.length ? sql`(${single}${sql.join(all, sql.none)})` : single
}

function many(count: Param | number): Sql {
  return typeof count === 'number' ? sql.integer(count) : sql`${count}::bigint`
}

/** A write to the configuration makes a new version of the catalog. */
function versioned({ account }: WriteParams): Sql {
  return sql`versioned AS (
  UPDATE account SET catalog_version = catalog_version + 1
  WHERE account_id = ${account}::bigint AND EXISTS (SELECT 1 FROM counted)
)`
}

/** SQL of a JSON text in which `at`, also SQL, replaces the stand-in for the moment. */
export function dated(json: Part, at: Sql): Sql {
  return sql`replace(${json}::text, ${momentJson}, ${jsonInstant(at)})`
}

const moment = sql.text(momentParam)

/** SQL of a column's value, in which `at` replaces the stand-in for the moment. */
export function columnValue(value: Part, type: SqlType, at: Sql): Sql {
  if (type !== 'timestamptz') return sql`${value}::${sql.type(type)}`
  return sql`CASE ${value}::timestamptz WHEN ${moment} THEN ${at} ELSE ${value}::timestamptz END`
}
