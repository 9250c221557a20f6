/** A database whose writes are plain queries: for data made beside the service, such as an account. */
import { statementsOf } from '../../src/mergeable-write.ts'
import type { Transaction } from '../../src/records/store.ts'
import type { Statement } from '../../src/sql.ts'

export function byQueries({ query }: Pick<Transaction, 'query'>): Transaction {
  const write: Transaction['write'] = async (_account, content) => {
    const [{ text, values }] = statementsOf(content).slice(-1) as [Statement]
    return query(text, values)
  }
  return { hasOnlyTransactions: false, query, write }
}
