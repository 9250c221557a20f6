/**
 * Reads all rows of a statement by a cursor, in batches that fit in memory, within a transaction: what a
 * backup writes and an export sends (D81). Knows no table.
 */
import type { Transaction } from './open.ts'

/** A statement that answers `place` and `line`, both of them texts, and its parameters. */
export type Lines = { readonly text: string; readonly values: readonly (string | null)[] }

/**
 * How many rows are fetched at once, and how many bytes make a row a long one, which is fetched by itself. So
 * memory holds two batches of these rows, or one long row.
 */
const [rowsAtOnce, longRow] = [500, 32 * 1024]
const openParenthesis = 0x28

/**
 * The lines of the rows, as the bytes that PostgreSQL sent; nothing is decoded here. `place` tells a row and
 * begins with a parenthesis, as no line does; `fetchLong` reads the line of a row by it. While a batch is
 * used, the next one is on its way.
 */
export async function* fetchLines(
  tx: Transaction,
  { text, values }: Lines,
  fetchLong: (place: string) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array[]> {
  await tx.unsafe(
    `DECLARE lines NO SCROLL CURSOR FOR
    SELECT CASE WHEN octet_length(line) > ${longRow} THEN place::text ELSE line END
    FROM (${text} OFFSET 0) r`,
    values,
  )
  const fetch = () => {
    const fetched = tx.unsafe<[Uint8Array][]>(`FETCH ${rowsAtOnce} FROM lines`, [], { raw: true })
    // Whoever leaves before the end asks for no more.
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
  await tx.unsafe('CLOSE lines')
}
