/** The statements that look up a caller: the user of a token or session, and the state of their account. */
import { isInUse, isSignedIn, isValid } from '../resources/user-access.ts'
import { prepared, sql } from '../sql.ts'

/** The state of the account, over its rows `a` and `c`. */
const stateColumns = sql`a.catalog_version::text AS catalog_version, a.settled_version::text AS settled_version,
  c.last_seq::text AS last_seq`

/** The user of a valid token. Runs at most once a second per token. */
export const tokenStatement = prepared(
  (account, hash) => sql`
SELECT t.id::text AS id, t.name, t.scopes::text AS scopes, u.id::text AS actor, u.role::text AS role,
  array_to_json(u.territories)::text AS territories, ${stateColumns},
  floor(extract(epoch FROM t.expires_at) * 1000)::text AS ends_at,
  (t.last_used_at IS NULL OR t.last_used_at < now() - interval '1 minute')::text AS is_use_due
FROM token_secret s
  JOIN token t ON t.account_id = s.account_id AND t.id = s.token
  JOIN "user" u ON u.account_id = s.account_id AND u.id = t."user"
  JOIN account a ON a.account_id = s.account_id
  JOIN counter c ON c.account_id = s.account_id
WHERE s.account_id = ${account}::bigint AND s.hash = ${hash}::text
  AND (s.valid_until IS NULL OR s.valid_until > now())
  AND ${isValid} AND ${isInUse} AND a.deleted_at IS NULL`,
)

/** The user of a session that has not ended. */
export const sessionStatement = prepared(
  (account, hash) => sql`
SELECT s.id::text AS id, u.id::text AS actor, u.role::text AS role,
  array_to_json(u.territories)::text AS territories, ${stateColumns},
  (s.last_used_at < now() - interval '1 minute')::text AS is_use_due
FROM session s
  JOIN "user" u ON u.account_id = s.account_id AND u.id = s."user"
  JOIN account a ON a.account_id = s.account_id
  JOIN counter c ON c.account_id = s.account_id
WHERE s.account_id = ${account}::bigint AND s.hash = ${hash}::text
  AND ${isSignedIn} AND ${isInUse} AND a.deleted_at IS NULL`,
)

/** A user who is in use. */
export const userStatement = prepared(
  (account, user) => sql`
SELECT u.id::text AS actor, u.role::text AS role, array_to_json(u.territories)::text AS territories,
  a.catalog_version::text AS catalog_version
FROM "user" u JOIN account a ON a.account_id = u.account_id
WHERE u.account_id = ${account}::bigint AND u.id = ${user}::bigint AND ${isInUse} AND a.deleted_at IS NULL`,
)
