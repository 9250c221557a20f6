/** Stores the rows of a file, and guesses its columns (D80). */
import { problemAt, Refusal } from '../../errors.ts'
import type { Catalog, ResourceSchema } from '../../fields/catalog.ts'
import { type Cell, type Row, readTable, type Source } from '../../files/read.ts'
import { copied, isWritten, shownNumber } from '../../files/texts.ts'
import type { Transaction } from '../../records/store.ts'
import type { Share } from '../../waiting/quota.ts'
import type { JobKey, NewJob } from '../jobs/store.ts'
import { ColumnTexts } from './column-texts.ts'
import { currenciesNamed } from './defaults.ts'
import { guessFormats } from './formats.ts'
import { guessColumns } from './guess.ts'
import type { ImportPlan } from './plan.ts'
import { keepRows } from './rows.ts'
import { placesOf } from './targets.ts'

/** Rows and cells that are examined to guess columns, which is slow; and values of each that are shown. */
const [lookedAt, cellsLookedAt, shown] = [1000, 20_000, 5]
/** Shown characters of a value: each answer about the import contains them. */
const shownLength = 200
/** Characters that are examined of a text, and of all rows together: a row may have two million. */
const [textLookedAt, charactersLookedAt] = [1000, 1_000_000]

/** The plan of an import before its file is read. */
export function emptyPlan(format: string): ImportPlan {
  return { format, mapping: [], values: {}, formats: {}, duplicates: { by: null, action: 'create' } }
}

/** `share` as of `readTable`. */
export type ImportFile = {
  readonly bytes: AsyncIterable<Uint8Array>
  readonly source: Source
  readonly share: Share | null
}

/**
 * Stores the rows of the file for the job, and returns the guess. Throws `malformed_request` for a file that
 * can't be read, `validation_failed` for one without rows.
 */
export async function takeRows(
  db: Transaction,
  key: JobKey,
  schema: ResourceSchema,
  catalog: Catalog,
  { bytes, source, share }: ImportFile,
): Promise<Pick<NewJob, 'plan' | 'columns' | 'total'>> {
  const table = await readTable(bytes, source, share)
  const looked: Row[] = []
  const texts = new ColumnTexts()
  const total = await keepRows(db, key, seen(table.rows, looked, texts))
  if (total === 0) {
    const message = 'The file has no rows beside the names of its columns.'
    throw new Refusal('validation_failed', 'The file has no rows.', [problemAt('', 'required', message)])
  }
  const names = table.columns()
  const count = Math.ceil(cellsLookedAt / Math.max(1, names.length))
  const samples = looked.slice(0, count).map(({ cells }) => cells.slice(0, names.length))
  const isEmpty = (column: number) => texts.isEmpty(column)
  const guess = await guessColumns(catalog, schema, names, samples, isEmpty)
  const { mapping } = guess
  const places = placesOf(catalog, schema)
  const forms = new Map(mapping.map(({ column, field }) => [column, places.get(field)?.form]))
  const formats = guessFormats(samples, column => forms.get(column), isOurs(names, schema))
  const defaults = currenciesNamed(mapping, names, places, catalog)
  const { format, ...found } = table.source
  const plan: ImportPlan = { ...emptyPlan(format), source: found, ...guess, guess, defaults, formats }
  const columns = names.map((name, column) => {
    return { name, samples: samplesOf(samples, column), texts: texts.of(column) }
  })
  return { plan: plan as never, columns: columns as never, total }
}

/** True if a file is an export of ours: all columns have our names, some of them read-only. */
function isOurs(names: readonly string[], { byName }: ResourceSchema): boolean {
  const own = names.map(name => byName.get(name.split('.')[0]!))
  return own.every(field => field !== undefined) && own.some(field => field?.is_read_only)
}

/** The rows; also puts the beginnings of the first into `looked`, and the texts of all into `texts`. */
async function* seen(rows: AsyncIterable<Row>, looked: Row[], texts: ColumnTexts): AsyncGenerator<Row> {
  let characters = 0
  for await (const row of rows) {
    if (looked.length < lookedAt && characters < charactersLookedAt) {
      const cells = row.cells.map(begunOf)
      characters += cells.reduce<number>((sum, cell) => sum + lengthOf(cell), 0)
      looked.push({ ...row, cells })
    }
    texts.add(row.cells)
    yield row
  }
}

function begunOf(cell: Cell): Cell {
  return typeof cell === 'string' ? copied(cell.slice(0, textLookedAt)) : cell
}

function lengthOf(cell: Cell): number {
  return typeof cell === 'string' ? cell.length : JSON.stringify(cell).length
}

function samplesOf(rows: readonly (readonly Cell[])[], column: number): Cell[] {
  const all = rows.map(cells => cells[column] ?? '').filter(cell => cell !== '' && cell !== null)
  return [...new Set(all.map(sampleOf))].slice(0, shown)
}

/** A cell as shown: a long one is cut, and a number that the database can't store becomes a text. */
function sampleOf(cell: Cell): Cell {
  if (isWritten(cell)) return shownNumber(cell)
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell)
  if (text.length > shownLength) return `${text.slice(0, shownLength).toWellFormed()}…`
  return typeof cell !== 'string' && exponent.test(text) ? text : cell
}

const exponent = /\de[+-]?\d{4}/i
