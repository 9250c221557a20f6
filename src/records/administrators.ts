/**
 * Who administers an account: live users with a valid token of the scope admin (D38, D121). Conditions in
 * SQL, and what they mean for the deletion of a user. Knows no whole statement.
 */
import { type Param, param, type Sql, sql } from '../sql.ts'
import type { Author } from './write.ts'

/** That the row `t` of `token` is valid now. */
export const isValid = sql`t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())`

/** That the row `u` of `"user"` is one who administers the account. */
export function administers(account: Param): Sql {
  return sql`u.deleted_at IS NULL AND EXISTS (
    SELECT 1 FROM token t
    WHERE t.account_id = ${account}::bigint AND t.user_id = u.id AND 'admin' = ANY (t.scopes) AND ${isValid})`
}

/**
 * The error for which the user is not to be deleted, or null; `isAdmin`: whether the actor's token has the
 * scope admin. Under the account's lock: of two who delete each other, one is there no more.
 */
export function refusedDeletion({ account, actor }: Author, user: Param, isAdmin: boolean): Sql {
  const isUser = (id: Param, condition: Sql, equals = sql`=`) => sql`EXISTS (
    SELECT 1 FROM "user" u
    WHERE u.account_id = ${account}::bigint AND u.id ${equals} ${id}::bigint AND ${condition})`
  const isAdministrator = isUser(user, administers(account))
  const hasOthers = isUser(user, administers(account), sql`<>`)
  return sql`CASE
    WHEN ${isAdministrator} AND NOT ${hasOthers} THEN 'last_administrator'
    WHEN NOT ${param(String(isAdmin))}::boolean AND ${isAdministrator} THEN 'forbidden'
    WHEN NOT ${isUser(actor, sql`u.deleted_at IS NULL`)} THEN 'unauthenticated' END`
}
