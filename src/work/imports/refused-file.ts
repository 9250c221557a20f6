/** The refused rows of an import as CSV, with the reasons: to be corrected and imported again (D80). */
import { ofRefused } from '../../files/read-header.ts'
import { isWritten, shownNumber } from '../../files/texts.ts'
import { lineOf } from '../../files/write-csv.ts'
import { isObject, type Json } from '../../json.ts'
import type { Reader } from '../../records/store.ts'
import type { Job, Phase, Refused } from '../jobs/job.ts'
import { problemsAfter } from '../jobs/store.ts'
import { readRows, rowsTogether, type StoredRow } from './rows.ts'

const atOnce = 500

/**
 * The columns of the file, then its line and the problems, and a line for each refused row. `told` redacts a
 * refusal for the reader.
 */
export async function* refusedFile(
  db: Reader,
  job: Job,
  phase: Phase,
  told: (refused: Refused) => Refused,
): AsyncGenerator<string> {
  const names = (job.columns ?? []).map(({ name }) => String(name))
  yield `\ufeff${lineOf([...names, ...ofRefused])}`
  // Rows that are stored together are read once.
  let rows: readonly StoredRow[] = []
  for (let place = 0, count = atOnce; count === atOnce; ) {
    const refused = await problemsAfter(db, job, phase, place, atOnce)
    for (const one of refused) {
      if ((rows.at(-1)?.place ?? 0) < one.place) rows = await readRows(db, job, one.place - 1, rowsTogether)
      yield lineFor(told(one), rows, names.length)
    }
    count = refused.length
    place = refused.at(-1)?.place ?? place
  }
}

function lineFor({ place, problems }: Refused, rows: readonly StoredRow[], columns: number): string {
  const row = rows.find(one => one.place === place)
  // A row with a problem keeps its own number of cells, too many or too few: otherwise it could not be
  // corrected, or would pass when sent again.
  const count = row?.cells.length ?? 0
  const length = row?.problem !== undefined && count > 1 ? count : Math.max(columns, count)
  const cells = Array.from({ length }, (_, index) => textOf(row?.cells[index] ?? ''))
  return lineOf([...cells, row?.line ?? place, problems.map(messageOf).join(' ')])
}

function textOf(cell: Json): string | number {
  if (typeof cell === 'string' || typeof cell === 'number') return cell
  if (isWritten(cell)) return shownNumber(cell)
  return cell === null ? '' : JSON.stringify(cell)
}

/** The message of a problem; for an ambiguous name, also the candidates with their ids. */
function messageOf(problem: Json): string {
  if (!isObject(problem)) return ''
  const { message, code, candidates, hint } = problem
  if (code !== 'ambiguous_reference' || !Array.isArray(candidates)) return String(message)
  const all = candidates.map(one => (isObject(one) ? `${one.id} ${one.name}` : ''))
  return `${message} There are: ${all.join(', ')}. ${hint ?? ''}`.trimEnd()
}
