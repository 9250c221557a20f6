/** Saves the plan of an import in this browser: the next file with the same columns starts with it. */
import type { Answer, Import, Plan, Sent } from './import.ts'

/** `who`: account and user */
type Last = Pick<Import, 'resource' | 'format'> & {
  readonly who: string
  readonly columns: readonly string[]
  readonly plan: Omit<Plan, 'mapping'> & { readonly mapping: readonly Answer[] }
}
type Made = Pick<Import, 'resource' | 'format' | 'columns' | 'targets' | 'formats'>

const key = 'dealwright imports'
const most = 20
/** The additional columns of the file of rejected rows. */
const reasons = ['line', 'problems']

function read(): readonly Last[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(kept) ? kept : []
  } catch {
    return []
  }
}

const namesOf = ({ columns }: Pick<Import, 'columns'>) => columns.map(({ name }) => name)

/** Notes the plan of an import that begins. */
export function savePlan(who: string, job: Import): void {
  const { resource, format, mapping, values, defaults, formats, duplicates } = job
  const columns = namesOf(job)
  const fields = new Map(mapping.map(({ column, field }) => [column, field]))
  // Columns that were left out are left out again without asking.
  const answers = columns.map((_, column) => ({ column, field: fields.get(column) ?? null }))
  const plan = { mapping: answers, values, defaults, formats, duplicates }
  const isSame = (one: Last) =>
    one.who === who && one.resource === resource && String(one.columns) === String(columns)
  const all = [{ who, resource, format, columns, plan }, ...read().filter(one => !isSame(one))]
  try {
    localStorage.setItem(key, JSON.stringify(all.slice(0, most)))
  } catch {
    // The browser's storage is full or disabled: the next file is guessed.
  }
}

/** The saved plan for these columns, as far as it fits this file. */
export function savedPlan(who: string, job: Made): Sent | null {
  const names = namesOf(job)
  const last = read().find(
    one => one.who === who && one.resource === job.resource && isOf(names, one.columns),
  )
  if (!last) return null
  const targets = new Set(job.targets.map(({ field }) => field))
  const known = <V>(of: { readonly [field: string]: V }) =>
    Object.fromEntries(Object.entries(of).filter(([field]) => targets.has(field)))
  const { mapping, values, defaults, formats, duplicates } = last.plan
  const isKnown = ({ field }: Answer) => field === null || targets.has(field)
  return {
    ...{ mapping: mapping.filter(isKnown), values: known(values), duplicates },
    defaults: known(defaults),
    // Numbers of a sheet have another format in the CSV of its refused rows.
    ...(last.format === job.format ? { formats: { ...job.formats, ...formats } } : {}),
  }
}

type RowsValues = Partial<Pick<Plan, 'values' | 'defaults'>>

/** A change from one plan to another: it resets members that only the first has, as a change merges. */
export function instead<P extends RowsValues>(plan: P, other: RowsValues): P {
  return {
    ...plan,
    values: { ...each(other.values, {}), ...plan.values },
    defaults: { ...each(other.defaults, null), ...plan.defaults },
  }
}

function each<V>(of: object = {}, value: V): { [name: string]: V } {
  return Object.fromEntries(Object.keys(of).map(name => [name, value]))
}

/** True if a file has these columns, or is the file of their rejected rows. */
function isOf(names: readonly string[], columns: readonly string[]): boolean {
  const more = names.slice(columns.length)
  return (
    columns.every((name, index) => name === names[index]) &&
    (more.length === 0 || String(more) === String(reasons))
  )
}
