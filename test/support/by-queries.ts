/** A database whose writes are plain queries: for data made beside the service, such as an account. */
import { statementsOf } from '../../src/mergeable-write.ts'
import type { Transaction } from '../../src/records/store.ts'

export function byQueries({ query }: Pick<Transaction, 'query'>): Transaction {
  const write: Transaction['write'] = async (_account, content) => {
    let rows: Awaited<ReturnType<Transaction['write']>> = []
    for (const { text, values } of statementsOf(content)) rows = await query(text, values)
    return rows
  }
  return { hasOnlyTransactions: false, query, write }
}
