/** The sessions of users (D61): creation, list and end. Only hashes of their secrets are stored. */
import type { Step, WriteParams } from '../../fields/caller-params.ts'
import { instantText } from '../../fields/moment.ts'
import type { Transaction } from '../../records/store.ts'
import { execute } from '../../records/write/execute.ts'
import { lockOnly, writeParamsOf, writeStatement } from '../../records/write/protocol.ts'
import { isInUse, isSignedIn } from '../../resources/user-access.ts'
import type { Caller } from '../../rights/visibility.ts'
import { ask, type Param, param, type Sql, sql } from '../../sql.ts'
import { hashToken, newSecret } from '../token.ts'

/** The origin of a sign-in, as the list of sessions shows it. */
export type SignInOrigin = { readonly address: string; readonly userAgent: string | null }

export type NewSession = { readonly secret: string; readonly origin: SignInOrigin }

/** A new session of an account, not saved yet. */
export function newSession(account: number, origin: SignInOrigin): NewSession {
  return { secret: newSecret('session', account), origin }
}

/** Maximum of sessions per user; a new one ends the least recently used. */
const sessionsMax = 100

/** A CTE that saves a session of the user `r` with the id that the write has reserved. */
export function sessionRow({ secret, origin }: NewSession): Step {
  return {
    name: 'session_row',
    change: sql`
  INSERT INTO session (account_id, id, hash, "user", created_at, last_used_at, address, user_agent)
  SELECT counted.account, counted.last_id, ${hashToken(secret)}::text, r.id, counted.at, now(),
    ${origin.address}::text, ${origin.userAgent}::text
  FROM r, counted
`,
  }
}

/** A CTE that deletes sessions of the user `r` that are expired or too many. */
function oldSessions({ account }: WriteParams): Step {
  return {
    name: 'old_sessions',
    change: sql`
  DELETE FROM session x USING r, counted
  WHERE x.account_id = ${account}::bigint AND x."user" = r.id AND x.id NOT IN (
    SELECT s.id FROM session s, r
    WHERE s.account_id = ${account}::bigint AND s."user" = r.id AND ${isSignedIn}
    ORDER BY s.last_used_at DESC LIMIT ${sql.integer(sessionsMax - 1)})
`,
  }
}

/**
 * The user `user` as the step `r` of a write, and its condition: they are in use, and `condition`, on the row
 * `u`, holds.
 */
export function signingIn({ account }: WriteParams, user: Param, condition: Sql | null = null) {
  const isUser = sql`u.account_id = ${account}::bigint AND u.id = ${user}::bigint`
  const and = condition ? sql` AND ${condition}` : sql.none
  return {
    condition: sql`EXISTS (
      SELECT 1 FROM "user" u JOIN account a ON a.account_id = u.account_id AND a.deleted_at IS NULL
      WHERE ${isUser} AND ${isInUse}${and})`,
    r: { name: 'r', rows: () => sql`SELECT u.id, u.version FROM "user" u, locked WHERE ${isUser}` },
  }
}

/** A condition: the password hash of the row `u` is still this one; null: there is none. */
export function hasPassword({ account }: WriteParams, hash: string | null): Sql {
  return sql`(
    SELECT p.hash FROM password p
    WHERE p.account_id = ${account}::bigint AND p."user" = u.id) IS NOT DISTINCT FROM ${hash}::text`
}

/**
 * Saves a session of the user. With `judged`: only if `hash` is still the password's hash, which `newHash`
 * then replaces. False if nothing was saved.
 */
export async function saveSession(
  db: Transaction,
  caller: Caller,
  session: NewSession,
  judged: { hash: string; newHash: string | null } | null,
): Promise<boolean> {
  const params = writeParamsOf(caller)
  const isJudged = judged && hasPassword(params, judged.hash)
  const { condition, r } = signingIn(params, params.actor, isJudged)
  const renewed = {
    name: 'renewed',
    change: sql`
  UPDATE password x SET hash = ${judged?.newHash ?? null}::text FROM r, counted
  WHERE x.account_id = ${params.account}::bigint AND x."user" = r.id
`,
  }
  const write = {
    conditions: [condition],
    ids: 1,
    locksFirst: true,
    steps: [r, oldSessions(params), sessionRow(session), ...(judged?.newHash ? [renewed] : [])],
    events: [],
    answer: sql`SELECT counted.last_id::text AS id FROM counted`,
  }
  return (await execute(db, params, write)).length > 0
}

/**
 * The caller's sessions, the most recently used first, as JSON text. `current`: the session of this request.
 */
export async function listSessions(
  db: Transaction,
  { catalog, actor }: Caller,
  current: number | null,
): Promise<string> {
  const statement = sql`SELECT coalesce(json_agg(json_build_object(
      'id', s.id, 'created_at', ${instantText(sql`s.created_at`)},
      'last_used_at', ${instantText(sql`s.last_used_at`)}, 'address', s.address, 'user_agent', s.user_agent,
      'is_current', s.id IS NOT DISTINCT FROM ${current === null ? null : String(current)}::bigint)
      ORDER BY s.last_used_at DESC, s.id DESC), '[]')::text AS sessions
    FROM session s
    WHERE s.account_id = ${String(catalog.account.id)}::bigint AND s."user" = ${String(actor)}::bigint
      AND ${isSignedIn}`
  const [row] = await ask(db, statement)
  return row!.sessions!
}

/** Ends a session of the caller; false if there is none with that id. */
export function endSession(db: Transaction, { catalog, actor }: Caller, id: number): Promise<boolean> {
  const isIt = sql`s."user" = ${String(actor)}::bigint AND s.id = ${String(id)}::bigint`
  return end(db, catalog.account.id, isIt)
}

/** Ends the session of a secret, if there is one: a new sign-in replaces the browser's earlier session. */
export function endSessionOf(db: Transaction, account: number, secret: string): Promise<boolean> {
  return end(db, account, sql`s.hash = ${hashToken(secret)}::text`)
}

async function end(db: Transaction, account: number, isIt: Sql): Promise<boolean> {
  const own = param(String(account))
  const statement = sql`WITH ${lockOnly(own)}
DELETE FROM session s USING locked WHERE s.account_id = ${own}::bigint AND ${isIt} RETURNING s.id::text AS id`
  return (await writeStatement(db, own, statement)).length > 0
}
