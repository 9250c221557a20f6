/** A database whose writes are plain queries: for data made beside the service, such as an account. */
import type { Transaction } from '../../src/records/store.ts'

export function byQueries({ query }: Pick<Transaction, 'query'>): Transaction {
  return { hasOnlyTransactions: false, query, write: (_account, text, params) => query(text, params) }
}
