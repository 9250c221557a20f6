/** Shared parts of the reports: figures, a table of numbers, and the query of sums. */
import { queryOptions } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { callApi } from '../../api/api.ts'
import { LoadError } from '../../shell/load-error.tsx'
import { classes } from '../../ui/classes.ts'
import { Skeleton } from '../../ui/elements.tsx'
import type { Group } from './periods-and-sums.ts'

/**
 * Sums of deals; without `measures` those of D55. The key of a query of sums begins with 'sums' and the
 * resource, so that changes of its records refetch it.
 */
export const sumsQuery = (query: { filter: string; group_by?: string; measures?: string }) =>
  queryOptions({
    queryKey: ['sums', 'deal', query],
    queryFn: ({ signal }) => callApi<Group[]>('GET', '/deal/aggregate', { query, signal }),
  })

export function useOpen(): (href: string) => void {
  const router = useRouter()
  return href => router.history.push(href)
}

/** A number with its name, at the head of a report. */
export function Figure({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt className="text-sm text-ink-soft">{name}</dt>
      <dd className="tabular text-xl font-semibold">{text}</dd>
    </div>
  )
}

type QueryState = {
  readonly data: unknown
  readonly error: unknown
  readonly refetch: () => unknown
}

/** Shows a skeleton until the queries are loaded. The error of one that failed stands above its last data. */
export function WhenLoaded({ of, children }: { of: readonly QueryState[]; children: () => ReactNode }) {
  const isLoaded = of.every(({ data }) => data !== undefined)
  const failed = of.filter(({ error }) => error)
  return (
    <>
      <LoadError
        error={failed[0]?.error}
        isOld={isLoaded}
        onRetry={() => {
          for (const one of failed) void one.refetch()
        }}
      />
      {isLoaded ? children() : failed.length === 0 && <Skeleton className="h-56" />}
    </>
  )
}

export type Cell = { readonly text: ReactNode; readonly filter?: string }
export type Row = { readonly id: string; readonly name: ReactNode; readonly cells: readonly Cell[] }

/** The numbers of a chart as a table; a number links to its deals. */
export function NumberTable(props: {
  label: string
  columns: readonly string[]
  rows: readonly Row[]
  total?: Row | undefined
  /** columns that are left out */
  without?: readonly string[]
}) {
  const { label, rows, total, without = [] } = props
  const isShown = props.columns.map(column => !without.includes(column))
  const columns = props.columns.filter((_, index) => isShown[index])
  const line = ({ id, name, cells }: Row, isTotal = false) => (
    <tr key={id} className={classes('border-t border-line', isTotal && 'font-semibold')}>
      <th scope="row" className="max-w-60 py-1.5 pr-3 text-left font-normal sm:whitespace-nowrap" dir="auto">
        {name}
      </th>
      {cells
        .filter((_, index) => isShown[index + 1])
        .map(({ text, filter }, index) => (
          <td key={columns[index + 1]} className="tabular py-1.5 pl-3 text-right whitespace-nowrap">
            {filter ? (
              <Link to="/$table" params={{ table: 'deals' }} search={{ filter }} className="linked">
                {text}
              </Link>
            ) : (
              text
            )}
          </td>
        ))}
    </tr>
  )
  return (
    <section
      className="overflow-x-auto"
      aria-label={`${label}, as a table`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
      tabIndex={0}
    >
      <table className="w-full" aria-label={label}>
        <thead>
          <tr className="text-sm text-ink-soft">
            {columns.map((column, index) => (
              <th
                key={column}
                scope="col"
                className={classes('pb-1 font-medium', index === 0 ? 'pr-3 text-left' : 'pl-3 text-right')}
              >
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => line(row))}
          {total && line(total, true)}
        </tbody>
      </table>
    </section>
  )
}
