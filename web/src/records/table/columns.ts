/**
 * The columns of a table ⇄ the address parameter: `title,deal_value:140`, in order, with widths in pixels.
 */

export type Column = { readonly field: string; readonly width?: number | undefined }

const narrowest = 60
const widest = 800

export function parseColumns(text: string): Column[] {
  const seen = new Set<string>()
  return text.split(',').flatMap(part => {
    const [, field, width] = /^\s*([A-Za-z_]\w*)(?::(\d{1,4}))?\s*$/.exec(part) ?? []
    if (!field || seen.has(field)) return []
    seen.add(field)
    return [width ? { field, width: bounded(Number(width)) } : { field }]
  })
}

/** The columns that are fields; default: the first fields. */
export function columnsOf(
  text: string,
  fields: readonly { readonly internal_name: string }[],
): readonly Column[] {
  const names = fields.map(({ internal_name }) => internal_name)
  const known = parseColumns(text).filter(({ field }) => names.includes(field))
  return known.length ? known : names.slice(0, 6).map(field => ({ field }))
}

export const printColumns = (columns: readonly Column[]): string =>
  columns.map(({ field, width }) => (width ? `${field}:${width}` : field)).join(',')

/** The columns with one moved by `by` places. */
export function shifted(columns: readonly Column[], field: string, by: number): Column[] {
  const from = columns.findIndex(column => column.field === field)
  const to = Math.min(Math.max(from + by, 0), columns.length - 1)
  const rest = columns.toSpliced(from, 1)
  return from < 0 ? [...columns] : rest.toSpliced(to, 0, columns[from]!)
}

export function resized(columns: readonly Column[], field: string, width: number): Column[] {
  return columns.map(column => (column.field === field ? { ...column, width: bounded(width) } : column))
}

/** The columns with a field added at the end, or removed. The last one stays. */
export function toggled(columns: readonly Column[], field: string): Column[] {
  const rest = columns.filter(column => column.field !== field)
  if (rest.length === columns.length) return [...columns, { field }]
  return rest.length ? rest : [...columns]
}

function bounded(width: number): number {
  return Math.round(Math.min(Math.max(width, narrowest), widest))
}
