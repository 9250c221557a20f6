/** A database whose writes are plain queries: for data made beside the service, such as an account. */
import type { Queryable } from '../../src/records/store.ts'

export function byQueries({ query }: Pick<Queryable, 'query'>): Queryable {
  return { query, write: (_account, text, params) => query(text, params) }
}
