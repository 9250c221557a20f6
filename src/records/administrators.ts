/** Who administers an account, as conditions in SQL: live users with a valid token of scope admin. Knows no statement. */

/** That the row of `token` under this name is valid now (D38). */
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
