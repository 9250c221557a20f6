/** Takes the rows of a file, and guesses what its columns are (D80). */
import { problemAt, Refusal } from '../errors.ts'
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import type { JobKey, NewJob } from '../jobs/store.ts'
import type { Reader } from '../records/store.ts'
import { ColumnTexts } from './column-texts.ts'
import { currenciesNamed } from './defaults.ts'
import { guessFormats } from './formats.ts'
import { guessColumns } from './guess.ts'
import type { ImportPlan } from './plan.ts'
import { type Cell, type Row, readTable, type Source } from './read.ts'
import { keepRows } from './rows.ts'
import { placesOf } from './targets.ts'
import { isWritten, shownNumber } from './texts.ts'

/**
 * How many rows and cells are looked at to guess what columns are, and how many values of each are shown.
 * Looking takes long.
 */
const [lookedAt, cellsLookedAt, shown] = [1000, 20_000, 5]
/** How many characters of a value are shown: each answer about the import has them. */
const shownLength = 200

/** The plan of an import of which nothing is known yet. */
export function emptyPlan(format: string): ImportPlan {
  return { format, mapping: [], values: {}, formats: {}, duplicates: { by: null, action: 'create' } }
}

/**
 * Keeps the rows of the bytes for the job, and answers what was found. Throws `malformed_request` for a file
 * that can't be read, `validation_failed` for one without rows.
 */
export async function takeRows(
  db: Reader,
  key: JobKey,
  fields: ResourceFields,
  catalog: Catalog,
  bytes: AsyncIterable<Uint8Array>,
  source: Source,
): Promise<Pick<NewJob, 'plan' | 'columns' | 'total'>> {
  const table = await readTable(bytes, source)
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
  const guess = await guessColumns(catalog, fields, names, samples, isEmpty)
  const { mapping } = guess
  const places = placesOf(catalog, fields)
  const forms = new Map(mapping.map(({ column, field }) => [column, places.get(field)?.form]))
  const formats = guessFormats(samples, column => forms.get(column), isOurs(names, fields))
  const defaults = currenciesNamed(mapping, names, places, catalog)
  const { format, ...found } = table.source
  const plan: ImportPlan = { ...emptyPlan(format), source: found, ...guess, guess, defaults, formats }
  const columns = names.map((name, column) => {
    return { name, samples: samplesOf(samples, column), texts: texts.of(column) }
  })
  return { plan: plan as never, columns: columns as never, total }
}

/** Whether a file is an export of ours: its columns are called as ours, also some that nobody could write. */
function isOurs(names: readonly string[], { byName }: ResourceFields): boolean {
  const own = names.map(name => byName.get(name.split('.')[0]!))
  return own.every(field => field !== undefined) && own.some(field => field?.is_read_only)
}

/** The rows, of which the first are also put into `looked`, and the texts of all into `texts`. */
async function* seen(rows: AsyncIterable<Row>, looked: Row[], texts: ColumnTexts): AsyncGenerator<Row> {
  for await (const row of rows) {
    if (looked.length < lookedAt) looked.push(row)
    texts.add(row.cells)
    yield row
  }
}

function samplesOf(rows: readonly (readonly Cell[])[], column: number): Cell[] {
  const all = rows.map(cells => cells[column] ?? '').filter(cell => cell !== '' && cell !== null)
  return [...new Set(all.map(sampleOf))].slice(0, shown)
}

/** A cell as it is shown: a long one is cut, and so is a number that the database could not keep. */
function sampleOf(cell: Cell): Cell {
  if (isWritten(cell)) return shownNumber(cell)
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell)
  if (text.length > shownLength) return `${text.slice(0, shownLength).toWellFormed()}…`
  return typeof cell !== 'string' && exponent.test(text) ? text : cell
}

const exponent = /\de[+-]?\d{4}/i
