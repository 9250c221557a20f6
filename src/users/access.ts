/**
 * Who administers an account (D62, D121), and what ends with a user's access. Conditions and rows in SQL; no
 * whole statement.
 */
import { Refusal } from '../errors.ts'
import type { ActorRules, Keeps } from '../records/resource.ts'
import type { Author } from '../records/write.ts'
import { type Param, param, type Sql, sql } from '../sql.ts'

/** Why the last one may not go. */
const lastAdministrator =
  'Nobody else administers the account: give another active user a role with the scope admin first.'

/** That the row `t` of `token` is valid now. */
export const isValid = sql`t.deleted_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())`

/** That the row `s` of `session` was used within the last fourteen days. */
export const isSignedIn = sql`s.last_used_at > now() - interval '14 days'`

/** That the row `u` of `"user"` is one who asks: neither deleted nor out of use. */
export const isInUse = sql`u.deleted_at IS NULL AND u.is_active = 1`

/** That the row `u` of `"user"` is one who administers the account; `role` narrows their role, `o`. */
export function administers(account: Param, role: Sql = sql`true`): Sql {
  return sql`${isInUse} AND EXISTS (
    SELECT 1 FROM role o
    WHERE o.account_id = ${account}::bigint AND o.id = u.role AND o.scopes ? 'admin' AND ${role})`
}

/** That somebody administers the account of whom `condition`, on the rows `u` and `o`, is true. */
function hasAdministrator(account: Param, condition: { user?: Sql; role?: Sql }): Sql {
  return sql`EXISTS (
    SELECT 1 FROM "user" u
    WHERE u.account_id = ${account}::bigint AND ${condition.user ?? sql`true`}
      AND ${administers(account, condition.role)})`
}

/**
 * What a user's new role, or their end of use, asks for: that somebody administers the account afterwards, or
 * that this user did not. `role` is the role they have then; null: they are out of use.
 */
export function withoutUser(user: number, role: number | null): Keeps {
  const [id, next] = [param(String(user)), param(role === null ? null : String(role))]
  return kept(
    account => sql`(
    NOT ${hasAdministrator(account, { user: sql`u.id = ${id}::bigint` })}
    OR ${hasAdministrator(account, { user: sql`u.id <> ${id}::bigint` })}
    OR EXISTS (
      SELECT 1 FROM role o
      WHERE o.account_id = ${account}::bigint AND o.id = ${next}::bigint AND o.scopes ? 'admin'))`,
  )
}

/** The same of a role that loses the scope admin. */
export function withoutRole(role: number): Keeps {
  const id = param(String(role))
  return kept(
    account => sql`(
    NOT ${hasAdministrator(account, { role: sql`o.id = ${id}::bigint` })}
    OR ${hasAdministrator(account, { role: sql`o.id <> ${id}::bigint` })})`,
  )
}

function kept(condition: Keeps['condition']): Keeps {
  return { condition, refusal: () => new Refusal('last_administrator', lastAdministrator) }
}

/**
 * The error for which the user is not to be deleted, or null; `isAdmin`: whether the actor has the scope
 * admin. Under the account's lock: of two who delete each other, one is there no more.
 */
function refusedDeletion({ account, actor }: Author, user: Param, isAdmin: boolean): Sql {
  const isAdministrator = hasAdministrator(account, { user: sql`u.id = ${user}::bigint` })
  const hasOthers = hasAdministrator(account, { user: sql`u.id <> ${user}::bigint` })
  return sql`CASE
    WHEN ${isAdministrator} AND NOT ${hasOthers} THEN 'last_administrator'
    WHEN NOT ${param(String(isAdmin))}::boolean AND ${isAdministrator} THEN 'forbidden'
    WHEN NOT EXISTS (
      SELECT 1 FROM "user" u
      WHERE u.account_id = ${account}::bigint AND u.id = ${actor}::bigint AND ${isInUse})
      THEN 'unauthenticated' END`
}

/** A CTE that ends the sessions of the user `r`: all but the one that is named. */
export function endedSessions({ account }: Author, except: number | null = null): Sql {
  return sql`ended_sessions AS (
  DELETE FROM session x USING r, counted
  WHERE x.account_id = ${account}::bigint AND x."user" = r.id
    AND x.id IS DISTINCT FROM ${except === null ? null : String(except)}::bigint
)`
}

/** A CTE that ends the links of the user `r`, but for the one that is used in this statement. */
export function endedLinks({ account }: Author, used: string | null = null): Sql {
  return sql`ended_links AS (
  UPDATE sign_in_link x SET used_at = counted.at FROM r, counted
  WHERE x.account_id = ${account}::bigint AND x."user" = r.id AND x.used_at IS NULL
    AND x.hash IS DISTINCT FROM ${used}::text
)`
}

/** What a user's deletion asks for, and what ends with their access. */
export const actorRules: ActorRules = {
  refusedDeletion,
  refusals: {
    last_administrator: lastAdministrator,
    forbidden: 'This user administers the account: to delete them, ask with the scope admin.',
    unauthenticated: 'Your user was deleted.',
  },
  // Their tokens are records, and end as such.
  endedAccess: by => [endedSessions(by), endedLinks(by)],
}
