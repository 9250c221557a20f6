/**
 * Batches as transactions of their own. What several statements write that are sent together is one
 * transaction for PostgreSQL, but not for Citus: there it is, and keeps its locks, only between BEGIN and
 * COMMIT (D173).
 */
import { type Ask, OneRefused } from '../ask.ts'
import type { Connection } from './connection.ts'
import type { Pool } from './pool.ts'

const begin: Parameters<Ask> = ['BEGIN', []]
const commit: Parameters<Ask> = ['COMMIT', []]

/** The same pool, whose batches of several statements have a BEGIN and a COMMIT. */
export function withExplicitBatches(pool: Pool): Pool {
  return {
    query: pool.query,
    withConnection: use => pool.withConnection(use),
    begin: (act, mode) => pool.begin(act, mode),
    end: () => pool.end(),
    batch: statements =>
      statements.length === 1
        ? pool.batch(statements)
        : pool.withConnection(connection => asTransaction(connection, statements)),
  }
}

/** The connection is in exclusive use: after a refusal nothing else may come before the ROLLBACK. */
async function asTransaction(
  connection: Connection,
  statements: readonly Parameters<Ask>[],
): ReturnType<Pool['batch']> {
  try {
    return (await connection.askBatch([begin, ...statements, commit])).slice(1, -1)
  } catch (error) {
    if (!(error instanceof OneRefused)) throw error
    await connection.ask('ROLLBACK', [])
    // A refused COMMIT counts for the last statement.
    throw new OneRefused(Math.min(Math.max(error.which - 1, 0), statements.length - 1), error.cause as Error)
  }
}
