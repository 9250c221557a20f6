/**
 * The administrators of an account (D62, D121), and the access that a user's deletion revokes. Conditions and
 * rows in SQL; no whole statement.
 */
import { Refusal } from '../errors.ts'
import type { Step, WriteParams } from '../fields/caller-params.ts'
import type { ActorRules, Invariant } from '../fields/resource.ts'
import { type Param, param, type Sql, sql } from '../sql.ts'

/** The refusal to remove the last administrator. */
const lastAdministrator =
  'Nobody else administers the account: give another active user a role with the scope admin first.'

/** Condition that the row `t` of `token` is valid now. */
export const isValid = sql`t.deleted_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())`

/** Condition that the row `s` of `session` was used within the last fourteen days. */
export const isSignedIn = sql`s.last_used_at > now() - interval '14 days'`

/** Condition that the row `u` of `"user"` is an active user, neither deleted nor deactivated. */
export const isInUse = sql`u.deleted_at IS NULL AND u.is_active = 1`

/** Condition that the row `u` of `"user"` is an administrator; `role` narrows their role, `o`. */
export function administers(account: Param, role: Sql = sql`true`): Sql {
  return sql`${isInUse} AND EXISTS (
    SELECT 1 FROM role o
    WHERE o.account_id = ${account}::bigint AND o.id = u.role AND o.scopes ? 'admin' AND ${role})`
}

/** Condition that the account has an administrator for whom `condition`, on the rows `u` and `o`, is true. */
function hasAdministrator(account: Param, condition: { user?: Sql; role?: Sql }): Sql {
  return sql`EXISTS (
    SELECT 1 FROM "user" u
    WHERE u.account_id = ${account}::bigint AND ${condition.user ?? sql`true`}
      AND ${administers(account, condition.role)})`
}

/**
 * Invariant of a user's new role or deactivation: the account still has an administrator, or this user was
 * none. `role` is their new role; null: they are deactivated.
 */
export function withoutUser(user: number, role: number | null): Invariant {
  const [id, next] = [param(String(user)), param(role === null ? null : String(role))]
  return invariant(
    account => sql`(
    NOT ${hasAdministrator(account, { user: sql`u.id = ${id}::bigint` })}
    OR ${hasAdministrator(account, { user: sql`u.id <> ${id}::bigint` })}
    OR EXISTS (
      SELECT 1 FROM role o
      WHERE o.account_id = ${account}::bigint AND o.id = ${next}::bigint AND o.scopes ? 'admin'))`,
  )
}

/** Like `withoutUser`, for a role that loses the scope admin. */
export function withoutRole(role: number): Invariant {
  const id = param(String(role))
  return invariant(
    account => sql`(
    NOT ${hasAdministrator(account, { role: sql`o.id = ${id}::bigint` })}
    OR ${hasAdministrator(account, { role: sql`o.id <> ${id}::bigint` })})`,
  )
}

function invariant(condition: Invariant['condition']): Invariant {
  return { condition, refusal: () => new Refusal('last_administrator', lastAdministrator) }
}

/** Condition of a token: its user is active. A process may have a user cached who was just deleted. */
export function ofUserInUse(user: number): Invariant {
  const id = param(String(user))
  return {
    condition: account => sql`EXISTS (
      SELECT 1 FROM "user" u WHERE u.account_id = ${account}::bigint AND u.id = ${id}::bigint AND ${isInUse})`,
    refusal: () => new Refusal('unauthenticated', 'The user of the token is out of use.'),
  }
}

/**
 * SQL of the error that forbids deleting the user, or of null; `isAdmin`: true if the actor has the scope
 * admin. Checked under the account's lock: of two users who delete each other, the later one is already
 * deleted.
 */
function refusedDeletion({ account, actor }: WriteParams, user: Param, isAdmin: boolean): Sql {
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

/** A CTE that revokes the sessions of the user `r`, all but `except`. */
export function endedSessions({ account }: WriteParams, except: number | null = null): Step {
  return {
    name: 'ended_sessions',
    change: sql`
  DELETE FROM session x USING r, counted
  WHERE x.account_id = ${account}::bigint AND x."user" = r.id
    AND x.id IS DISTINCT FROM ${except === null ? null : String(except)}::bigint
`,
  }
}

/** A CTE that revokes the links of the user `r`, except for `used`, which this statement uses. */
export function endedLinks({ account }: WriteParams, used: string | null = null): Step {
  return {
    name: 'ended_links',
    change: sql`
  UPDATE sign_in_link x SET used_at = counted.at FROM r, counted
  WHERE x.account_id = ${account}::bigint AND x."user" = r.id AND x.used_at IS NULL
    AND x.hash IS DISTINCT FROM ${used}::text
`,
  }
}

/** The rules of a user's deletion, and the revocation of their access. */
export const actorRules: ActorRules = {
  refusedDeletion,
  refusals: {
    last_administrator: lastAdministrator,
    forbidden: 'This user administers the account: to delete them, ask with the scope admin.',
    unauthenticated: 'Your user was deleted.',
  },
  // Their tokens are records, which the resource's `revokes` names.
  endedAccess: params => [endedSessions(params), endedLinks(params)],
}
