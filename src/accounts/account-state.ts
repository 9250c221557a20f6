/** How far an account is: its last event and configuration. A replica may be less far (D172). */
import { prepared, type Statement, sql } from '../sql.ts'
import type { AuthenticatedCaller } from './callers.ts'

/** `seq`: the last event; `settled`: the configuration that all records follow. */
export type AccountState = { readonly seq: number; readonly settled: string }

/**
 * A statement that returns a row where the database is as far as the account was when the caller was looked
 * up, has the configuration by which they are judged, and the event `seq`; and where all records follow its
 * configuration, as the changes that bring them in line have no events.
 */
export function reachedStatement({ catalog, state }: AuthenticatedCaller, seq: number): Statement {
  const last = String(Math.max(state.seq, seq))
  return statement(String(catalog.account.id), last, catalog.version, state.settled)
}

const statement = prepared(
  (account, seq, version, settled) => sql`
SELECT 1 FROM counter c JOIN account a ON a.account_id = c.account_id
WHERE c.account_id = ${account}::bigint AND c.last_seq >= ${seq}::bigint
  AND a.catalog_version >= ${version}::bigint AND a.settled_version >= ${settled}::bigint
  AND a.derived_version = a.catalog_version`,
)
