/**
 * The protocol of every write to an account. It takes the account's lock, changes rows, raises the account's
 * counter, and appends its events under the next `seq`, all at one moment, `at`: the database's time under
 * the lock, but never before the account's last moment (D123). So `seq`, `event.at` and the times in records
 * agree between processes and clocks. It writes nothing if the configuration that validated it is too old
 * (D115). A write is a plan of steps, which execute.ts turns into statements.
 */
import { busy } from '../../errors.ts'
import type { Step, WriteParams } from '../../fields/caller-params.ts'
import { jsonInstant } from '../../fields/moment.ts'
import type { MergeableWrite } from '../../mergeable-write.ts'
import { type Caller, callerParamsOf } from '../../rights/visibility.ts'
import { ask, compile, type Param, param, type Sql, type Statement, sql } from '../../sql.ts'
import type { Reference } from '../parse.ts'
import type { Transaction } from '../store.ts'

/** The origin of a write, which its events record (D69). The service's own writes have none. */
export type Origin = {
  readonly token?: { readonly id: number } | null
  readonly session?: { readonly id: number } | null
  /** the X-Request-Id */
  readonly requestId?: string
  /** header that carries the trace of the request on (D169) */
  readonly traceparent?: string | null
  /** the job that carried it out (D84) */
  readonly job?: { readonly id: number } | null
  /** set if an agent wrote it (D148) */
  readonly agent?: AgentOrigin
}

/** An agent's program, by the name that it tells. */
export type AgentOrigin = { readonly client: string | null }

/** The origin of what came by the Model Context Protocol. */
export const agentOrigin = 'mcp'

/** The author of a write: the parameters that every write has, each bound to one placeholder. */
export function writeParamsOf(
  caller: Caller & Origin & { readonly allowedInactive?: ReadonlyMap<number, string>; readonly at?: Date },
): WriteParams {
  const { token, session, requestId = null, traceparent = null, job, agent, allowedInactive, at } = caller
  const idOf = (one: { readonly id: number } | null = null) => param(one && String(one.id))
  return {
    ...callerParamsOf(caller),
    at: param(at?.toISOString() ?? null),
    allowedInactive: allowedInactive?.size ? param(`{${[...allowedInactive.keys()].join()}}`) : null,
    version: param(caller.catalog.version),
    origin: {
      ...{ token: idOf(token), session: idOf(session), request: param(requestId), job: idOf(job) },
      ...{ by: param(agent ? agentOrigin : null), client: param(agent?.client ?? null) },
      trace: param(traceparent),
    },
  }
}

/**
 * A write. Its SQL may read two rows of numbers. `locked` has the account, the moment `at`, the same as JSON
 * text `moment`, and `id_before`, the account's last id before the write. `counted` has these, too, and the
 * account's last numbers after the write, `last_id` and `last_seq`. The updates come before `counted`, so
 * they may not read it. An INSERT takes the account from one of the two rows, or from the row of a record, so
 * that Citus sends it to the account's node (`printer` in execute.ts).
 */
export type Write = {
  /** the records that must exist, else nothing is written */
  readonly references?: readonly Reference[]
  /** conditions before the write, without which nothing is written */
  readonly conditions?: readonly Sql[]
  /** True if the lock is a statement before, so that it sees what others commit while it waits */
  readonly locksFirst?: boolean
  /** changes of stored rows, `r` among them; if `r` changes none, one statement writes nothing at all */
  readonly updates?: readonly Step[]
  /** conditions that the stored rows are unchanged; only a transaction asks them, before it updates */
  readonly conditionsOfUpdates?: () => readonly Sql[]
  /** number of ids of records that it takes */
  readonly ids?: number
  /** new rows to which updated or other new rows point: a transaction writes them first */
  readonly referencedRows?: readonly Step[]
  /** other new rows, and what follows from the updates */
  readonly steps?: readonly Step[]
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
  /** SELECT of the rows to return */
  readonly answer: Sql
  /** set if it can be merged with others (merge.ts) */
  readonly mergeable?: Omit<MergeableWrite, 'alone'> | undefined
}

/** An event, or several of the rows of `of`. Its SQL may read that row as `e`. */
export type Event = {
  readonly type: string | Sql
  /** aliases of its type (D69), such as deal.won; or SQL of an array of texts */
  readonly aliases?: readonly string[] | Sql
  readonly resource: string | Sql
  /** its record: a step, or a SELECT, with `id` and `version` */
  readonly of: Sql
  /** number of the rows of `of`, if there are several; each has `behind`, the number of rows after it */
  readonly count?: number
  /**
   * if nobody knows that number before the lock: SQL that counts the rows before the updates. Their events
   * are in the order of their ids.
   */
  readonly countBefore?: Sql
  /** SQL of JSON text */
  readonly changes?: Sql
  /** the request and its trace; default: those of the write's author */
  readonly request?: Sql
  readonly trace?: Sql
}

/** Waits for the account's writes in progress. A statement after it sees what they wrote. */
export function lockAccount(account: Param): Sql {
  return sql`SELECT 1 FROM counter WHERE account_id = ${account}::bigint FOR UPDATE`
}

/**
 * The CTE `locked` of a statement that appends no event: it takes the lock and reads no numbers. Every write
 * locks the account's counter first, which prevents deadlocks, and holds the lock until its commit. So `seq`
 * is in the order of commits.
 */
export function lockOnly(account: Param): Sql {
  return sql`locked AS MATERIALIZED (${lockAccount(account)})`
}

/** The row that `locked` and `counted` are, from SQL of the moment and of more columns. */
export function counterRow(at: Sql, more: Sql): Sql {
  return sql`${at} AS at, ${jsonInstant(at)} AS moment, ${more}`
}

/** Runs a statement that writes to the account, which is $1. `underLock`: it sees all that was committed. */
export function writeStatement(db: Transaction, account: Param, statement: Sql, underLock = false): Rows {
  const lock = underLock ? [lockStatement(account.value!)] : []
  return db.write(account.value!, [...lock, compile(statement, account)])
}

type Rows = ReturnType<Transaction['write']>

/** The statement that takes the lock of an account, for a transaction. */
export function lockStatement(account: string): Statement {
  return { text: lockText, values: [account] }
}

const lockText = compile(lockAccount(param(null))).text

/**
 * Takes the account's lock for the rest of a transaction: the catalog stays as it is, and records stay as
 * they are found. Throws `busy_record` if the caller's catalog is outdated.
 */
export async function lockLatest(db: Transaction, { catalog }: Caller): Promise<void> {
  const account = String(catalog.account.id)
  const latest = sql`SELECT catalog_version::text AS version FROM account WHERE account_id = ${account}::bigint`
  const [, [row]] = await Promise.all([ask(db, lockStatement(account)), ask(db, latest)])
  if (row?.version === catalog.version) return
  throw busy('The configuration was changed meanwhile; try again.')
}

/**
 * From the commit of this statement on, nothing is saved that an older configuration validated. A statement
 * after it sees everything that was saved before. So a record that then follows the configuration keeps
 * following it.
 */
export function endOlder(db: Transaction, account: number, version: string): Rows {
  const [own, latest] = [param(String(account)), param(version)]
  const statement = sql`
    UPDATE counter SET oldest_version = ${latest}::bigint
    WHERE account_id = ${own}::bigint AND oldest_version < ${latest}::bigint`
  return writeStatement(db, own, statement)
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
  const statement = sql`
    UPDATE counter SET ${last} = ${last} + ${many}::bigint WHERE account_id = ${own}::bigint
    RETURNING (${last} - ${many}::bigint + 1)::text AS first`
  const [row] = await writeStatement(db, own, statement)
  return Number(row!.first)
}
