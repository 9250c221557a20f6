/**
 * Reads all rows of a statement by a cursor, in batches that fit in memory, within a transaction. Backups and
 * exports use it (D81). Knows no table.
 */
import type { PoolTransaction } from './open.ts'

/** A statement that returns the text columns `place` and `line`, and its parameters. */
export type Lines = { readonly text: string; readonly values: readonly (string | null)[] }

/**
 * Number of rows in a batch, and the size in bytes from which a row is fetched alone. So memory holds two
 * batches of shorter rows, or one long row.
 */
const [rowsAtOnce, longRow] = [500, 32 * 1024]
const openParenthesis = 0x28

/**
 * The lines of the rows, as the bytes that PostgreSQL sent; nothing is decoded here. `place` identifies a row
 * and begins with a parenthesis, as no line does; `fetchLong` reads the line of a row by it. The next batch
 * is prefetched while one is processed.
 */
export async function* fetchLines(
  tx: PoolTransaction,
  { text, values }: Lines,
  fetchLong: (place: string) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array[]> {
  await tx.query(
    `DECLARE lines NO SCROLL CURSOR FOR
    SELECT CASE WHEN octet_length(line) > ${longRow} THEN place::text ELSE line END
    FROM (${text} OFFSET 0) r`,
    values,
  )
  const fetch = () => {
    const fetched = tx.query<[Uint8Array][]>(`FETCH ${rowsAtOnce} FROM lines`, [], { raw: true })
    // The consumer may stop before the end and never await this batch.
    fetched.catch(() => {})
    return fetched
  }
  for (let next: ReturnType<typeof fetch> | null = fetch(); next; ) {
    const fetched: [Uint8Array][] = await next
    next = fetched.length < rowsAtOnce ? null : fetch()
    let rows: Uint8Array[] = []
    for (const [row] of fetched) {
      if (row[0] !== openParenthesis) {
        rows.push(row)
        continue
      }
      if (rows.length > 0) yield rows
      rows = []
      yield [await fetchLong(String(row))]
    }
    if (rows.length > 0) yield rows
  }
  await tx.query('CLOSE lines')
}
