/**
 * Executes a write (D164): as one statement of CTEs, the quickest way to write one record, or as the
 * statements of a transaction, the quickest way to write many. Both write the same rows or none, and return
 * those of the answer. Owns the account's lock, its counter and its events.
 */
import type { Step, WriteParams } from '../../fields/caller-params.ts'
import { later } from '../../fields/moment.ts'
import { compile, type Sql, type Statement, sql } from '../../sql.ts'
import { referencesExist } from '../references.ts'
import type { Transaction } from '../store.ts'
import { counterRow, type Event, lockStatement, type Write } from './protocol.ts'

/**
 * Returns the rows of the answer; none if nothing was written. `after`: steps that read the answer.
 * `isLocked`: several records, in a transaction `db` with the account's lock, that were validated since.
 */
export async function execute(
  db: Transaction,
  params: WriteParams,
  write: Write,
  { after = [], isLocked = false }: { readonly after?: readonly Step[]; readonly isLocked?: boolean } = {},
): ReturnType<Transaction['write']> {
  const print = () =>
    isLocked || db.hasOnlyTransactions
      ? asTransaction(params, write, after, isLocked)
      : asStatement(params, write, after)
  const { mergeable } = write
  const content = mergeable && after.length === 0 ? { ...mergeable, alone: print } : print()
  try {
    return await db.write(params.account.value!, content)
  } catch (error) {
    if (isUnmet(error)) return []
    throw error
  }
}

/** One statement. If it writes nothing, it returns no row. */
function asStatement(params: WriteParams, write: Write, after: readonly Step[]): Statement[] {
  const { locksFirst = false, updates = [], referencedRows = [], steps = [], events, answer } = write
  const cte = ({ name, change, returning, rows }: Step) => {
    const returned = returning ? sql`RETURNING ${returning}\n` : sql.none
    return sql`${sql.id(name)} AS (${change ?? rows!()}${returned})`
  }
  const parts = [
    ...lockedCtes(params, write),
    ...updates.map(cte),
    sql`counted AS (${countedUnderLock(params, write)})`,
    ...referencedRows.map(cte),
    ...steps.map(cte),
    ...events.map((_, index) => sql`${sql.id(`event${index}`)} AS (${appended(params, events, index)})`),
    ...newVersion(params, write).map(cte),
    sql`answer AS (${answer})`,
    ...after.map(cte),
  ]
  const { account } = params
  const statement = compile(sql`WITH ${sql.join(parts, sql`,\n`)}\nSELECT * FROM answer`, account)
  return locksFirst ? [lockStatement(account.value!), statement] : [statement]
}

/**
 * The statements of a transaction; its last one returns the rows. One that must write nothing fails, so that
 * those behind it are not carried out (`isUnmet`). `isLocked`: the transaction has the account's lock, and
 * what it writes was validated since.
 */
export function asTransaction(
  params: WriteParams,
  write: Write,
  after: readonly Step[] = [],
  isLocked = false,
): Statement[] {
  const { updates = [], referencedRows = [], steps = [], events, answer } = write
  const { account } = params
  // PostgreSQL checks foreign keys at the end of each statement.
  const all = [...referencedRows, ...updates, ...steps]
  const print = printer(params, [...all, { name: 'answer', rows: () => answer }], write)
  const written = all.flatMap(({ change }) => change ?? [])
  return [
    ...(isLocked ? [] : [lockStatement(account.value!)]),
    ...required(params, write, isLocked).map(condition => print(condition)),
    print(raised(params, write)),
    ...written.map(change => print(change)),
    ...events.map((_, index) => print(appended(params, events, index))),
    ...newVersion(params, write).map(({ change }) => print(change!)),
    ...after.map(({ change }) => print(change!)),
    print(answer, sql`AS`),
  ]
}

/**
 * A function that prints a statement of a transaction. If the statement names a step, it gets a CTE of that
 * name: a SELECT of the rows that the step has written. `locked` and `counted` are both the counter's row,
 * once it is raised. The CTEs of a change are MATERIALIZED, so that their values are computed before it: a
 * distributed PostgreSQL sets no column by a stable function of another row (D173).
 *
 * The CTEs of an INSERT are within its query and not materialized. So a distributed PostgreSQL sends the
 * whole INSERT to the account's node, if its query takes the account from a row. Else it reads the rows,
 * copies them back and commits in two phases (D173).
 *
 * A name is found as a word of the SQL, so an alias such as `r` counts as one. That does no harm: PostgreSQL
 * carries out no SELECT that nothing reads, and within its own query an alias goes before a CTE.
 */
function printer({ account }: WriteParams, steps: readonly Step[], { ids = 0 }: Write) {
  const numbers = sql`SELECT account_id AS account, ${counterRow(sql`last_at`, sql`last_id - ${String(ids)}::bigint AS id_before, last_id, last_seq`)}
    FROM counter WHERE account_id = ${account}::bigint`
  const named: Step[] = [
    { name: 'locked', rows: () => numbers },
    { name: 'counted', rows: () => numbers },
    ...steps.filter(({ rows }) => rows),
  ]
  return (statement: Sql, materialization: Sql = sql`AS MATERIALIZED`): Statement => {
    let text = compile(statement).text
    const isInsert = insertion.test(text)
    const as = isInsert ? sql`AS NOT MATERIALIZED` : materialization
    const ctes: Sql[] = []
    for (const { name, rows } of named.toReversed()) {
      if (!new RegExp(`\\b${name}\\b`).test(text)) continue
      const select = rows!()
      text += `\n${compile(select).text}`
      ctes.unshift(sql`${sql.id(name)} ${as} (${select})`)
    }
    const whole = compile(
      ctes.length ? sql`WITH ${sql.join(ctes, sql`,\n`)} ${statement}` : statement,
      account,
    )
    return isInsert ? { ...whole, text: withCtesInside(whole.text) } : whole
  }
}

const insertion = /^\s*INSERT INTO [^)]*\)/
const ctesBeforeIt = /^(WITH [\s\S]*?) (\s*INSERT INTO [^)]*\))/

/** Moves the CTEs before an INSERT to its query, which is behind its table and columns. */
function withCtesInside(text: string): string {
  return text.replace(ctesBeforeIt, (_all, ctes: string, insert: string) => `${insert} ${ctes} `)
}

/**
 * The CTE `locked`, with a row if everything is there that the write needs. The SELECT of the counter waits
 * for the lock; time, configuration and records are read after the wait. If the write has conditions, the
 * counter is read by a CTE of its own, `latch`, because a condition that reads a record again must have the
 * lock first (`referencesExist`).
 */
function lockedCtes(params: WriteParams, write: Write): Sql[] {
  const { account, version } = params
  const counter = sql`SELECT account_id, last_at, last_id, oldest_version FROM counter
  WHERE account_id = ${account}::bigint FOR UPDATE`
  const conditions = [
    ...referencesExist(params, write.references ?? [], sql`latch`),
    ...(write.conditions ?? []),
  ]
  const all = [sql`c.oldest_version <= ${version}::bigint`, ...conditions]
  return [
    ...(conditions.length ? [sql`latch AS MATERIALIZED (${counter})`] : []),
    sql`locked AS MATERIALIZED (
  SELECT t.account, ${counterRow(sql`t.at`, sql`t.last_id AS id_before`)} FROM (
    SELECT c.account_id AS account, ${momentOf(params, write, sql`clock_timestamp()`)} AS at, c.last_id
    FROM ${conditions.length ? sql`latch` : sql`(${counter})`} c
    WHERE ${sql.join(all, sql`\n      AND `)}) t
)`,
  ]
}

/** SQL of the moment of a write, over the row `c` of the counter. `now`: SQL of the time under the lock. */
function momentOf({ at }: WriteParams, { hasOwnMoment }: Write, now: Sql): Sql {
  const first = hasOwnMoment ? later(sql`c.last_at`, sql`interval '1 millisecond'`) : sql`c.last_at`
  const wanted = at.value === null ? now : sql`${at}::timestamptz`
  return sql`greatest(${first}, date_trunc('milliseconds', ${wanted}))`
}

/** The counter with the numbers that the write takes; no row if the updates are not as they must be. */
function countedUnderLock(params: WriteParams, write: Write): Sql {
  const { updates = [], events } = write
  const and = updates.length ? sql` AND EXISTS (SELECT 1 FROM r)` : sql.none
  return sql`
  UPDATE counter c SET ${counterChanges(params, write, numberOf(events, countOf))}, last_at = locked.at
  FROM locked
  WHERE c.account_id = ${params.account}::bigint${and}
  RETURNING c.account_id AS account, locked.at, locked.moment, locked.id_before, c.last_id, c.last_seq
`
}

/**
 * The same as a statement, before the updates. The lock is a statement before it, so it begins after the
 * wait. A distributed PostgreSQL sets no column by a volatile function such as clock_timestamp() (D173).
 */
function raised(params: WriteParams, write: Write): Sql {
  const seqs = numberOf(write.events, ({ countBefore }) => countBefore!)
  const at = momentOf(params, write, sql`statement_timestamp()`)
  return sql`UPDATE counter c SET ${counterChanges(params, write, seqs)}, last_at = ${at}
  WHERE c.account_id = ${params.account}::bigint`
}

function counterChanges({ version }: WriteParams, { ids = 0, endsOlder }: Write, seqs: Sql): Sql {
  const id = ids ? sql`last_id = c.last_id + ${String(ids)}::bigint, ` : sql.none
  const oldest = endsOlder ? sql`oldest_version = ${version}::bigint + 1, ` : sql.none
  return sql`${id}${oldest}last_seq = c.last_seq + ${seqs}`
}

/** A statement that fails unless everything is there that the write needs. */
function required(params: WriteParams, write: Write, isLocked: boolean): Sql[] {
  const { references = [], conditions = [], conditionsOfUpdates } = write
  const all = [
    ...(isLocked ? [] : [sql`c.oldest_version <= ${params.version}::bigint`]),
    ...referencesExist(params, references, null),
    ...conditions,
    ...(conditionsOfUpdates?.() ?? []),
  ]
  if (all.length === 0) return []
  return [
    sql`SELECT CASE WHEN ${sql.join(all, sql`\n  AND `)} THEN '1' ELSE ${sql.text(unmet)} END::int AS is_met
FROM counter c WHERE c.account_id = ${params.account}::bigint`,
  ]
}

/** The text whose cast fails. */
const unmet = 'a condition is not met'

/**
 * True if an error says that the transaction wrote nothing because a condition was not met. What stands
 * around the text is in the server's language.
 */
function isUnmet(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  return code === '22P02' && message?.includes(unmet) === true
}

/**
 * An INSERT of an event for each row of `of`. The last event of a write has `counted.last_seq`; each of the
 * others has that, less the number of those after it.
 */
function appended(params: WriteParams, events: readonly Event[], index: number): Sql {
  const { actor, origin } = params
  const event = events[index]!
  const { type, aliases = [], resource, of, count, countBefore, changes = sql`'{}'` } = event
  const { request = origin.request, trace = origin.trace } = event
  const later = events.slice(index + 1)
  const after = later.length ? sql` - ${numberOf(later, countOf)}` : sql.none
  const nth = countBefore ? sql` + 1 - row_number() OVER (ORDER BY e.id DESC)` : sql.none
  const behind = count === undefined ? nth : sql` - e.behind`
  return sql`
  INSERT INTO event (account_id, seq, type, also, resource, record_id, version, at, changes,
    actor, token, session, request_id, job, origin, client, traceparent)
  SELECT counted.account, counted.last_seq${after}${behind}, ${textOf(type)},
    ${Array.isArray(aliases) ? sql.text(`{${aliases.join()}}`) : (aliases as Sql)}::text[],
    ${textOf(resource)}, e.id, e.version, counted.at, ${changes}::jsonb, ${actor}::bigint,
    ${origin.token}::bigint, ${origin.session}::bigint, ${request}::text, ${origin.job}::bigint,
    ${origin.by}::text, ${origin.client}::text, ${trace}::text
  FROM counted, ${of} e
`
}

function textOf(text: string | Sql): Sql {
  return typeof text === 'string' ? sql.text(text) : text
}

/** SQL of the number of these events; `countOf`: that of one with any number of rows. */
function numberOf(events: readonly Event[], countOf: (event: Event) => Sql): Sql {
  const open = events.filter(({ countBefore }) => countBefore)
  const known = events.filter(one => !open.includes(one)).reduce((sum, { count = 1 }) => sum + count, 0)
  const all = open.map(one => sql` + ${countOf(one)}`)
  return sql`(${String(known)}::bigint${sql.join(all, sql.none)})`
}

function countOf({ of }: Event): Sql {
  return sql`(SELECT count(*) FROM ${of} e)`
}

/** A write to the configuration makes a new version of the catalog. */
function newVersion({ account }: WriteParams, { isConfiguration }: Write): Step[] {
  const change = sql`
  UPDATE account SET catalog_version = catalog_version + 1
  WHERE account_id = ${account}::bigint AND EXISTS (SELECT 1 FROM counted)
`
  return isConfiguration ? [{ name: 'versioned', change }] : []
}
