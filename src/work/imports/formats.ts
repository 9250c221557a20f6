/** Formats of dates and numbers in a file, guessed from the cells of a sample (D80). Knows no field. */
import type { Cell } from '../../files/read.ts'
import { dateOf, dayOf, numberOf } from '../../files/texts.ts'
import type { Formats } from './cell-values.ts'
import type { Form } from './targets.ts'

/** `unclear`: the formats that the texts leave open; then ambiguous dates or numbers are refused. */
export type GuessedFormats = Formats & { readonly unclear: readonly ('date' | 'decimal')[] }

type Counts = { dmy: number; mdy: number; unclear: number; comma: number; point: number; either: number }

/** Bounds of the sample: number of cells, and their length. */
const [cellsMax, lengthMax] = [10_000, 40]
const dates: ReadonlySet<Form> = new Set(['date', 'moment'])
const amounts: ReadonlySet<Form> = new Set(['number', 'money', 'prices'])

/**
 * Guesses the formats of dates and numbers from the rows of a sample. `formOf`: the form that a column is
 * mapped to. Columns with other forms are skipped, since a comma in a note says nothing of amounts; so are
 * unmapped columns, unless most of their cells are dates or numbers. `isOurs`: our exports use points.
 */
export function guessFormats(
  samples: readonly (readonly Cell[])[],
  formOf: (column: number) => Form | undefined = () => undefined,
  isOurs = false,
): GuessedFormats {
  const counts: Counts = { dmy: 0, mdy: 0, unclear: 0, comma: 0, point: 0, either: 0 }
  const width = samples.reduce((most, cells) => Math.max(most, cells.length), 1)
  const rows = samples.slice(0, Math.ceil(cellsMax / width))
  for (let column = 0; column < width; column++) {
    const form = formOf(column)
    const texts = rows.flatMap(cells => textOf(cells[column]))
    if (form === undefined && !areMostly(texts)) continue
    for (const text of texts) count(text, form, counts)
  }
  // With evidence both ways, ambiguous cells stay unclear.
  const date = only({ dmy: counts.dmy, mdy: counts.mdy })
  const decimal = only({ ',': counts.comma, '.': counts.point + (isOurs ? 1 : 0) })
  const unclear = [
    ...(counts.unclear && date === undefined ? (['date'] as const) : []),
    ...(counts.either && decimal === undefined ? (['decimal'] as const) : []),
  ]
  return { ...(date ? { date } : {}), ...(decimal ? { decimal } : {}), unclear }
}

/** The way that was counted, if it is the only one. */
function only<Way extends string>(counts: { readonly [way in Way]: number }): Way | undefined {
  const [way, ...others] = (Object.keys(counts) as Way[]).filter(one => counts[one] > 0)
  return others.length ? undefined : way
}

/** Numbers of JSON and of sheets have no decimal mark. */
function textOf(cell: Cell | undefined): string[] {
  return typeof cell === 'string' && cell.trim() !== '' ? [cell.trim()] : []
}

/** True if four of five are dates or numbers. */
function areMostly(texts: readonly string[]): boolean {
  const fitting = texts.filter(text => {
    return text.length <= lengthMax && (dayOf(text, undefined) !== null || numberOf(text, undefined) !== null)
  })
  return fitting.length >= texts.length * 0.8
}

function count(text: string, form: Form | undefined, counts: Counts): void {
  if (text.length > lengthMax) return
  const date = /^\d{1,2}([-/.])\d{1,2}\1\d{2,4}/.exec(text)?.[0]
  if (date) {
    if (form === undefined || dates.has(form)) counts[orderOf(date)]++
  } else if (form === undefined || amounts.has(form)) {
    const mark = markOf(text)
    if (mark) counts[mark]++
  }
}

function orderOf(date: string): 'dmy' | 'mdy' | 'unclear' {
  if (date.includes('.')) return 'dmy'
  const [first, second] = date.split(/\D/).map(Number)
  if (dateOf(date, undefined) === null || first! <= 12 === second! <= 12) return 'unclear'
  return first! > 12 ? 'dmy' : 'mdy'
}

/** The decimal mark that a number must have; undefined if it is no number, or has no mark. */
function markOf(text: string): 'comma' | 'point' | 'either' | undefined {
  const found = numberOf(text, undefined)
  if (found === 'unclear') return 'either'
  if (found === null) return undefined
  return numberOf(text, '.') === null ? 'comma' : numberOf(text, ',') === null ? 'point' : undefined
}
