/** A table of small records: a column for each field, and the actions of each row. */
import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { CSSProperties, ReactNode } from 'react'
import type { AnyRecord, Field } from '../api/api.ts'
import { fieldsQuery, meQuery, queryClient, readAll } from '../api/queries.ts'
import { kindOf } from '../fields/kinds.ts'
import { Loading } from '../shell/load-error.tsx'
import { may } from '../shell/me.ts'
import { classes } from '../ui/classes.ts'
import { EmptyState } from '../ui/elements.tsx'

/**
 * All records of a small resource, with the names behind the ids of some fields: `named` maps a field to its
 * resource. Names need the scope to read their records (D65).
 */
export function recordsQuery(resource: string, sort = 'name:asc', named: { [field: string]: string } = {}) {
  const me = queryClient.getQueryData(meQuery.queryKey)
  const expand = Object.keys(named)
    .filter(field => me && may(me, `${named[field]}:read`))
    .join()
  return queryOptions({
    queryKey: ['all', resource, sort, 'expanded', expand],
    queryFn: () => readAll<AnyRecord>(resource, { sort, ...(expand ? { expand } : {}) }),
  })
}

type Props = {
  source: string
  label: string
  read: Pick<UseQueryResult<readonly AnyRecord[]>, 'data' | 'error' | 'refetch'>
  /** the name field, then others; on phones only the first and those of `always` are shown */
  columns: readonly string[]
  always?: readonly string[]
  /** replaces the kind's cell */
  cells?: { readonly [field: string]: (record: AnyRecord) => ReactNode }
  /** of columns, such as 30%; the others share the rest */
  widths?: { readonly [field: string]: string }
  /** the class of the width of the last column */
  actionsWidth?: string
  empty: string
  emptyAction?: ReactNode
  actions: (record: AnyRecord) => ReactNode
}

export function RecordTable(props: Props) {
  const {
    source,
    label,
    read,
    columns,
    always = [],
    cells = {},
    widths = {},
    actionsWidth = 'w-28',
    empty,
    emptyAction,
    actions,
  } = props
  const listed = useQuery(fieldsQuery(source))
  const [records, sections] = [read.data, listed.data]
  if (!records || !sections) return <Loading of={[read, listed]} className="m-4 h-32" />
  if (records.length === 0) return <EmptyState title={empty}>{emptyAction}</EmptyState>
  const fields = columns.flatMap(
    name => sections.flat().find(({ internal_name }) => internal_name === name) ?? [],
  )
  const hidden = (index: number, name: string) => index > 0 && !always.includes(name) && 'max-sm:hidden'
  return (
    <table className="w-full table-fixed" aria-label={label}>
      <thead>
        <tr className="text-left text-sm text-ink-soft">
          {fields.map((field, index) => (
            <th
              key={field.internal_name}
              scope="col"
              style={{ '--width': widths[field.internal_name] } as CSSProperties}
              className={classes(
                'px-3 py-1.5 font-medium first:pl-4 sm:w-(--width)',
                hidden(index, field.internal_name),
              )}
            >
              {field.field_name}
            </th>
          ))}
          <th scope="col" className={classes('px-3 py-1.5', actionsWidth)}>
            <span className="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {records.map(record => (
          <tr key={record.id} className="h-(--row) border-t border-line">
            {fields.map((field, index) => (
              <td
                key={field.internal_name}
                className={classes(
                  'px-3 py-1 first:pl-4',
                  index === 0 && 'font-medium',
                  hidden(index, field.internal_name),
                )}
                dir="auto"
              >
                <div className="min-w-0 truncate">
                  {cells[field.internal_name]?.(record) ?? <Value field={field} record={record} />}
                </div>
              </td>
            ))}
            <td className="px-2 py-1">
              <div className="flex justify-end">{actions(record)}</div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Value({ field, record }: { field: Field; record: AnyRecord }) {
  const value = record[field.internal_name]
  if (value === null || value === undefined) return <span className="text-ink-faint">—</span>
  const { Cell } = kindOf(field)
  return <Cell value={value} field={field} names={record._expanded?.[field.internal_name]} />
}
