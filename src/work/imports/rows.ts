/** The rows of an imported file, in the database: stored as read, found by their number. */
import type { Cell, Row } from '../../files/read.ts'
import { type Json, parseJson } from '../../json.ts'
import type { Reader, Transaction } from '../../records/store.ts'
import { writeStatement } from '../../records/write/protocol.ts'
import { ask, param, sql } from '../../sql.ts'
import type { JobKey } from '../jobs/store.ts'

/** A row with its number, from 1. */
export type StoredRow = Row & { readonly place: number }

/** Rows stored together, and the limit of their text: a read of one row reads all of them. */
export const rowsTogether = 200
const charactersTogether = 500_000
/** A read stops after so many bytes. */
const bytesAtOnce = 1_000_000

/** Stores rows while they are read; returns their number. Later columns are more cells in later rows. */
export async function keepRows(db: Transaction, key: JobKey, rows: AsyncIterable<Row>): Promise<number> {
  let kept = 0
  let texts: string[] = []
  let length = 0
  const keep = async () => {
    if (texts.length === 0) return
    const own = param(String(key.account))
    const statement = sql`INSERT INTO import_rows (account_id, job, first, rows)
VALUES (${own}::bigint, ${String(key.id)}::bigint, ${String(kept + 1)}::bigint, ${`[${texts.join()}]`}::text)`
    await writeStatement(db, own, statement)
    kept += texts.length
    texts = []
    length = 0
  }
  for await (const { line, cells, problem } of rows) {
    const text = JSON.stringify(problem === undefined ? [line, cells] : [line, cells, problem])
    texts.push(text)
    length += text.length
    if (texts.length === rowsTogether || length > charactersTogether) await keep()
  }
  await keep()
  return kept
}

/** Rows after a place, in order: `count`, or fewer if they are long; none only at the end. */
export async function readRows(
  db: Reader,
  { account, id }: JobKey,
  after: number,
  count: number,
): Promise<StoredRow[]> {
  const [own, job, last] = [param(String(account)), param(String(id)), param(String(after + count))]
  const next = String(after + 1)
  const statement = sql`SELECT r.first::text AS first, r.rows FROM (
  SELECT x.first, x.rows,
    sum(octet_length(x.rows)) OVER (ORDER BY x.first) - octet_length(x.rows) AS before
  FROM import_rows x WHERE x.account_id = ${own}::bigint AND x.job = ${job}::bigint
    AND x.first <= ${last}::bigint AND x.first >= (SELECT max(y.first) FROM import_rows y
      WHERE y.account_id = ${own}::bigint AND y.job = ${job}::bigint AND y.first <= ${next}::bigint)
) r WHERE r.before < ${sql.integer(bytesAtOnce)} ORDER BY r.first`
  const rows = await ask(db, statement)
  const all = rows.flatMap(({ first, rows }) =>
    (parseJson(rows!) as Json[][]).map(([line, cells, problem], index): StoredRow => {
      const place = Number(first) + index
      const row = { place, line: Number(line), cells: cells as readonly Cell[] }
      return problem === undefined ? row : { ...row, problem: String(problem) }
    }),
  )
  return all.filter(({ place }) => place > after && place <= after + count)
}
