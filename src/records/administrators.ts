/**
 * Who administers an account: live users with a valid token of the scope admin (D38, D121). Conditions in
 * SQL, and what they mean for the deletion of a user. Knows no whole statement.
 */

/** That the row of `token` under this name is valid now. */
export function isValid(token: string): string {
  return `${token}.revoked_at IS NULL AND (${token}.expires_at IS NULL OR ${token}.expires_at > now())`
}

/** That the row of `"user"` under this name is one who administers its account. */
export function administers(user: string): string {
  return (
    `${user}.deleted_at IS NULL AND EXISTS (SELECT FROM token t WHERE t.account_id = ${user}.account_id ` +
    `AND t.user_id = ${user}.id AND 'admin' = ANY (t.scopes) AND ${isValid('t')})`
  )
}

/**
 * $1 account, $2 actor, $5 user, $7 whether the actor's token has the scope admin → the error for which the
 * user is not to be deleted, or null. Under the account's lock: of two who delete each other, one is there no
 * more.
 */
export const refusedDeletion = `CASE
  WHEN ${isUser('$5', administers('u'))} AND NOT ${isUser('$5', administers('u'), '<>')} THEN 'last_administrator'
  WHEN NOT $7::boolean AND ${isUser('$5', administers('u'))} THEN 'forbidden'
  WHEN NOT ${isUser('$2', 'u.deleted_at IS NULL')} THEN 'unauthenticated' END`

/** That there is a user with this id, or one with another, of whom the condition is true. */
function isUser(id: string, condition: string, equals: '=' | '<>' = '='): string {
  return `EXISTS (SELECT FROM "user" u WHERE u.account_id = $1::bigint AND u.id ${equals} ${id}::bigint AND ${condition})`
}
