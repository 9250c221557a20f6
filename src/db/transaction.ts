/**
 * A transaction with the query functions of the database. Owns the savepoint around each write, and that only
 * an explicit result commits. Knows no statement and no schema.
 */
import { statementsOf } from '../mergeable-write.ts'
import { type Ask, OneRefused } from './ask.ts'
import { type Driver, withProgress } from './driver.ts'
import type { Database } from './open.ts'
import type { Pool, PoolTransaction } from './postgres/pool.ts'
import { isOutdated } from './postgres/response-queue.ts'

/** The queries of a transaction. `dryRun` runs `act`, and rolls back what it has written. */
export type Queries = Pick<Database, 'hasOnlyTransactions' | 'isDistributed' | 'query' | 'write'> & {
  dryRun<T>(act: () => Promise<T>): Promise<T>
}

/** Commit or rollback of a transaction, and its result. */
export type Outcome<T> = { readonly commits: boolean; readonly result: T }

type TransactionDependencies = {
  readonly sql: Pick<Pool, 'begin'>
  readonly guard: Driver['guard']
  readonly hasOnlyTransactions: boolean
  readonly isDistributed: boolean
  shouldPrepare(text: string): boolean
}

/** Runs `act` in a transaction; retries once if a table was altered under a prepared statement. */
export async function transact<T>(
  dependencies: TransactionDependencies,
  act: (tx: Queries) => Promise<Outcome<T>>,
): Promise<T> {
  const once = () => commitOrRollBack(dependencies.sql, tx => act(queriesOf(tx, dependencies)))
  return once().catch(error => {
    if (!isOutdated(error)) throw error
    return once()
  })
}

async function commitOrRollBack<T>(
  sql: Pick<Pool, 'begin'>,
  act: (tx: PoolTransaction) => Promise<Outcome<T>>,
): Promise<T> {
  const rolledBack = new Error('Nothing of the transaction is kept')
  let outcome: Outcome<T> | undefined
  await sql
    .begin(async tx => {
      outcome = await act(tx)
      if (!outcome.commits) throw rolledBack
    })
    .catch(error => {
      if (error !== rolledBack) throw error
    })
  return outcome!.result
}

function queriesOf(tx: PoolTransaction, dependencies: TransactionDependencies): Queries {
  const { guard, hasOnlyTransactions, isDistributed, shouldPrepare } = dependencies
  const asked = (text: string, params: readonly (string | null)[], replan = false): Parameters<Ask> => [
    text,
    params,
    { prepare: !replan && shouldPrepare(text) },
  ]
  return {
    hasOnlyTransactions,
    isDistributed,
    query: (text, params = [], replan) =>
      guard(progress => tx.query(...withProgress(asked(text, params, replan), progress))),
    write: (_account, content) => {
      const statements = statementsOf(content).map(({ text, values }) => asked(text, values))
      return guard(progress => tx.batch(statements.map(statement => withProgress(statement, progress)))).then(
        answers => answers.at(-1)!,
        error => {
          throw error instanceof OneRefused ? error.cause : error
        },
      )
    },
    async dryRun(act) {
      await tx.query('SAVEPOINT dry_run', [])
      const result = await act()
      await tx.query('ROLLBACK TO SAVEPOINT dry_run', [])
      return result
    },
  }
}
