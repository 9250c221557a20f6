/** Rows with a cell that could not be read: they are refused, with all their other problems (D80). */
import { type Problem, Refusal } from '../../errors.ts'
import { asText, isObject, type Json, type JsonObject } from '../../json.ts'
import type { NameLookup } from '../../records/name-lookup.ts'
import { resolveNames } from '../../records/names.ts'
import { parseRecord } from '../../records/parse.ts'
import type { Work } from '../../records/work.ts'
import type { Job, Refused } from '../jobs/job.ts'
import { refusedAt } from '../jobs/refused.ts'
import type { Mapping } from './guess.ts'
import { type ImportPlan, planOf } from './plan.ts'
import { priceTarget } from './targets.ts'

/** A row, its readable part, and the problems of its unreadable cells. */
export type Unread = {
  readonly place: number
  readonly line: number
  readonly body: JsonObject
  readonly unread: readonly Problem[]
}

/** Rows validated at a time, because a request limits the number of names. */
const rowsAtOnce = 50

/** The refusals of the rows. */
export async function refusedUnread(
  { db, schema, context, job }: Work & { readonly job: Job },
  rows: readonly Unread[],
): Promise<Refused[]> {
  const problemsByRow: (readonly Problem[])[] = []
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    const some = rows.slice(start, start + rowsAtOnce)
    const read = (names: NameLookup) =>
      some.map(({ body }) => parseRecord(body, schema, context.catalog, null, names).problems.listed)
    problemsByRow.push(...(await resolveNames(db, context, read).catch(noneOf(some))))
  }
  // The stored record may have a value that the row lacks.
  const plan = planOf(job)
  const mayLack = plan.duplicates.action === 'update'
  return rows.map(({ place, line, unread, body }, index) => {
    const unreadable = new Set(unread.map(fieldOf))
    const others = problemsByRow[index]!.filter(
      one => !unreadable.has(fieldOf(one)) && !(mayLack && one.code === 'required'),
    )
    const refusal = { slug: 'validation_failed', message: '', problems: [...unread, ...others] } as const
    return refusedAt(place, refusal, problem => {
      return { ...(problem.column === undefined ? columnOf(job, plan, problem, body) : {}), line }
    })
  })
}

/** If the lookup of names is refused, only the unreadable cells are reported. */
function noneOf(rows: readonly Unread[]): (error: unknown) => readonly Problem[][] {
  return error => {
    if (error instanceof Refusal) return rows.map(() => [])
    throw error
  }
}

/** The field of a record that a problem is about. */
function fieldOf({ field, path }: Problem): string {
  return path.split('/')[1] ?? String(field)
}

/** The column of the file that a problem is about. `body`: the body made of the row, if known. */
export function columnOf(
  job: Job,
  { mapping }: ImportPlan,
  { path, field }: Pick<Problem, 'path' | 'field'>,
  body: Json = null,
): { [name: string]: Json } {
  const steps = path.split('/').slice(1)
  const priced = pricedIn(mapping, steps, body)
  if (priced) return priced.column === null ? {} : { column: job.columns![priced.column]!.name! }
  // The nearest: the column of the part, or of the whole, or of the record it belongs to.
  const targets = steps.map((_, index) => steps.slice(0, steps.length - index).join('.'))
  const columns = [...targets, field].flatMap(target =>
    mapping.filter(one => one.field === target || one.field.startsWith(`${target}.`)),
  )
  const [mapped] = columns
  const column = mapped && job.columns?.[mapped.column]
  return column ? { column: column.name! } : {}
}

/** The column of one of several prices, by its currency; null: undetermined. */
function pricedIn(
  mapping: Mapping,
  [own = '', index]: readonly string[],
  body: Json,
): { readonly column: number | null } | undefined {
  const all = mapping.filter(({ field }) => field.startsWith(priceTarget(own, '')))
  if (all.length === 0 || index === undefined) return undefined
  const entries = isObject(body) ? body[own] : null
  const entry = Array.isArray(entries) ? entries[Number(index)] : null
  const code = isObject(entry ?? null) ? (entry as JsonObject).currency : null
  const targets = [priceTarget(own, asText(code)), ...(code ? [`${own}.price`] : [])]
  const column = targets.map(target => mapping.find(({ field }) => field === target)?.column)
  return { column: column.find(one => one !== undefined) ?? null }
}
