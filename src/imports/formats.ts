/** How a file writes dates and numbers, guessed from the cells of a sample (D80). Knows no field. */
import type { Formats } from './cell-values.ts'
import type { Cell } from './read.ts'
import type { Form } from './targets.ts'
import { dateOf, dayOf, numberOf } from './texts.ts'

/** `unclear`: what the texts leave open; then those that may be two dates or numbers are refused. */
export type GuessedFormats = Formats & { readonly unclear: readonly ('date' | 'decimal')[] }

type Counts = { dmy: number; mdy: number; unclear: number; comma: number; point: number; either: number }

/** How many cells are looked at, and how long they may be. */
const [cellsMax, lengthMax] = [10_000, 40]
const dates: ReadonlySet<Form> = new Set(['date', 'moment'])
const amounts: ReadonlySet<Form> = new Set(['number', 'money', 'prices'])

/**
 * How dates and numbers are written in the rows of a sample. `formOf`: what a column is mapped to. A comma in
 * a note says nothing of amounts: columns that become something else are left out, and so are those that
 * become nothing, unless most of their cells are dates or numbers. `isOurs`: an export of ours has points.
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
  // With evidence both ways nothing is known of the cells that may be two.
  const date = only({ dmy: counts.dmy, mdy: counts.mdy })
  const decimal = only({ ',': counts.comma, '.': counts.point + (isOurs ? 1 : 0) })
  const unclear = [
    ...(counts.unclear && date === undefined ? (['date'] as const) : []),
    ...(counts.either && decimal === undefined ? (['decimal'] as const) : []),
  ]
  return { ...(date ? { date } : {}), ...(decimal ? { decimal } : {}), unclear }
}

/** The only one of two ways that was counted. */
function only<Way extends string>(counts: { readonly [way in Way]: number }): Way | undefined {
  const [way, ...others] = (Object.keys(counts) as Way[]).filter(one => counts[one] > 0)
  return others.length ? undefined : way
}

/** Numbers of JSON and of sheets have no mark. */
function textOf(cell: Cell | undefined): string[] {
  return typeof cell === 'string' && cell.trim() !== '' ? [cell.trim()] : []
}

/** Whether four of five are dates or numbers. */
function areMostly(texts: readonly string[]): boolean {
  const fitting = texts.filter(text => {
    return text.length <= lengthMax && (dayOf(text, undefined) !== null || numberOf(text, undefined) !== null)
  })
  return fitting.length >= texts.length * 0.8
}

function count(text: string, form: Form | undefined, counts: Counts): void {
  if (text.length > lengthMax) return
  const date = writtenDate(text)
  if (date) {
    if (form === undefined || dates.has(form)) counts[orderOf(date)]++
  } else if (form === undefined || amounts.has(form)) {
    const mark = markOf(text)
    if (mark) counts[mark]++
  }
}

function writtenDate(text: string): string | undefined {
  return /^\d{1,2}([-/.])\d{1,2}\1\d{2,4}/.exec(text)?.[0]
}

function orderOf(date: string): 'dmy' | 'mdy' | 'unclear' {
  if (date.includes('.')) return 'dmy'
  const [first, second] = date.split(/\D/).map(Number)
  if (dateOf(date, undefined) === null || first! <= 12 === second! <= 12) return 'unclear'
  return first! > 12 ? 'dmy' : 'mdy'
}

/** The mark that a number must have been written with; undefined where it is none, or has no mark. */
function markOf(text: string): 'comma' | 'point' | 'either' | undefined {
  const found = numberOf(text, undefined)
  if (found === 'unclear') return 'either'
  if (found === null) return undefined
  return numberOf(text, '.') === null ? 'comma' : numberOf(text, ',') === null ? 'point' : undefined
}
