/** A database that notes its statements and the way of each: for tests of what waits for whom. */
import type { Database } from '../../src/db/open.ts'

type Way = 'at once' | 'in turn' | 'in a transaction'

export type Noted = {
  readonly db: Database
  /** the texts of the statements so far by their way; writes of records are left out */
  readonly texts: { readonly [way in Way]: string[] }
}

export function notedDatabase(database: Database): Noted {
  const texts: Noted['texts'] = { 'at once': [], 'in turn': [], 'in a transaction': [] }
  const noting =
    <More extends readonly unknown[], Rows>(
      way: Way,
      query: (text: string, ...more: More) => Promise<Rows>,
    ) =>
    (text: string, ...more: More) => {
      texts[way].push(text)
      return query(text, ...more)
    }
  const reads = (way: Way, { query, queryBytes }: Pick<Database, 'query' | 'queryBytes'>) => ({
    query: noting(way, query),
    queryBytes: noting(way, queryBytes),
  })
  const db: Database = {
    ...database,
    ...reads('at once', database),
    inTurn(options) {
      const reader = database.inTurn(options)
      return { ...reader, ...reads('in turn', reader) }
    },
    transaction: (options, act) =>
      database.transaction(options, tx => act({ ...tx, query: noting('in a transaction', tx.query) })),
  }
  return { db, texts }
}
