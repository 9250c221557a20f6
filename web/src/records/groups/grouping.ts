/**
 * The groups of a table (D171): their order, which of them are collapsed, and which row of the table is which
 * record of which group. Pure.
 */
import type { Field, Named } from '../../api/api.ts'
import type { ListRequest } from '../../api/queries.ts'
import type { Formats } from '../../format/format.ts'
import type { Sums } from '../table/sums.ts'

/** A field, and the text by which sums are grouped by it. */
export type Grouping = { readonly field: Field; readonly by: string; readonly isMonth: boolean }

/** Default: all groups are open. `keys` are collapsed, or with `isAll` those that are open. */
export type Collapsed = { readonly isAll: boolean; readonly keys: ReadonlySet<string> }

export type Group = {
  /** the id or the first day, as text; `none` for records without a value */
  readonly key: string
  readonly label: string
  readonly sums: Sums
  /** finds the records of the group */
  readonly request: ListRequest
}

/** A group in a table: `start` is the row of its header. */
export type Section = Group & { readonly isCollapsed: boolean; readonly start: number }

/** The service answers at most this many groups, the largest (D85). */
export const groupsMax = 1000
const none = 'none'

export const keyOf = ({ group }: Sums): string => (group === null ? none : String(group))

/** The condition that finds the records of a group. */
export function conditionOf({ field, isMonth }: Grouping, group: Sums['group']): string {
  const name = field.internal_name
  if (group === null) return `${name}:isnull(true)`
  if (!isMonth) return `${name}:eq(${group})`
  const [year, month] = String(group).split('-').map(Number) as [number, number]
  const last = new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
  return `${name}:between(${group},${last})`
}

/**
 * The groups in the order of their field: options and stages in their own, months by time, others by name;
 * without a value last. `choices` are the options.
 */
export function groupsOf(
  grouping: Grouping,
  found: readonly Sums[],
  request: ListRequest,
  choices: readonly Named[],
  format: Formats,
): readonly Group[] {
  const { field, isMonth } = grouping
  const places = new Map(choices.map(({ id }, index) => [String(id), index]))
  const nameOf = ({ group, name }: Sums): string => {
    if (group === null) return `No ${field.field_name.toLowerCase()}`
    if (isMonth) return format.month(String(group))
    return choices[places.get(String(group)) ?? -1]?.name ?? name ?? `No. ${group}`
  }
  const groups = found.map(sums => ({
    key: keyOf(sums),
    label: nameOf(sums),
    sums,
    request: {
      ...request,
      filter: [request.filter, conditionOf(grouping, sums.group)].filter(Boolean).join(),
      // The sums have the number already.
      count: 'none' as const,
    },
  }))
  const sign = isDescending(request.sort, field.internal_name) ? -1 : 1
  return groups.sort((one, other) => {
    if (one.key === none || other.key === none) return one.key === none ? 1 : -1
    if (isMonth) return sign * (one.key < other.key ? -1 : 1)
    const [first, second] = [one, other].map(({ key }) => places.get(key) ?? choices.length) as [
      number,
      number,
    ]
    return sign * (first - second || one.label.localeCompare(other.label))
  })
}

/** True if the list is sorted by the field, the last first. */
const isDescending = (sort: string | undefined, name: string) => sort?.split(',')[0] === `${name}:desc`

/** The groups with their rows: a header, and unless they are collapsed their records. */
export function sectionsOf(
  groups: readonly Group[],
  collapsed: Collapsed,
): { readonly sections: readonly Section[]; readonly rows: number } {
  let rows = 0
  const sections = groups.map(group => {
    const isCollapsed = collapsed.keys.has(group.key) !== collapsed.isAll
    const start = rows
    rows += 1 + (isCollapsed ? 0 : group.sums.count)
    return { ...group, isCollapsed, start }
  })
  return { sections, rows }
}

/** The section of a row, and which of its records that is; -1 for its header. Null: there is no such row. */
export function placeIn(
  sections: readonly Section[],
  row: number,
): { readonly section: Section; readonly index: number } | null {
  let [from, to] = [0, sections.length]
  while (to - from > 1) {
    const middle = (from + to) >> 1
    if (sections[middle]!.start <= row) from = middle
    else to = middle
  }
  const section = sections[from]
  if (!section) return null
  const index = row - section.start - 1
  return index < (section.isCollapsed ? 0 : section.sums.count) ? { section, index } : null
}

/** `all:` and the open groups, or the collapsed ones. */
export function parseCollapsed(text: string | undefined): Collapsed {
  const isAll = text?.startsWith('all:') ?? false
  const keys = (isAll ? text!.slice(4) : (text ?? '')).split(',').filter(Boolean)
  return { isAll, keys: new Set(keys) }
}

/** The text of an address; undefined: nothing is collapsed. */
export function printCollapsed({ isAll, keys }: Collapsed): string | undefined {
  return `${isAll ? 'all:' : ''}${[...keys].join()}` || undefined
}

export function toggled({ isAll, keys }: Collapsed, key: string): Collapsed {
  const next = new Set(keys)
  if (!next.delete(key)) next.add(key)
  return { isAll, keys: next }
}
