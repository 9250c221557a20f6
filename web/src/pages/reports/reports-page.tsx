/** Reports: forecast, changes, funnel, reasons and owners. The address contains the parameters. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { defaultPipeline, fieldsQuery, pipelinesQuery, usersQuery } from '../../api/queries.ts'
import { useFormat } from '../../format/use-format.tsx'
import { may, useMe } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/elements.tsx'
import { Select } from '../../ui/inputs.tsx'
import { keepFocus } from '../../ui/keys.ts'
import { PageHead } from '../../ui/page.tsx'
import { ChangesReport } from './changes-report.tsx'
import { ForecastReport } from './forecast-report.tsx'
import { FunnelReport } from './funnel-report.tsx'
import { OwnersReport } from './owners-report.tsx'
import { type Period, periodLengths, periodOf, type Search } from './periods-and-sums.ts'
import { ReasonsReport } from './reasons-report.tsx'

export type ReportProps = {
  search: Search
  period: Period
  isTable: boolean
  /** False if the role hides amounts (D64): deals are counted only */
  isInAmounts: boolean
  /** False if the role hides the owners of deals (D64) */
  hasOwners: boolean
}

type Report = {
  readonly id: string
  readonly title: string
  /** begins `back` months before this one */
  readonly defaultPeriod: { readonly back: number; readonly months: number }
  readonly Report: ComponentType<ReportProps>
}

const reports: readonly Report[] = [
  { id: 'forecast', title: 'Forecast', defaultPeriod: { back: 0, months: 6 }, Report: ForecastReport },
  { id: 'changes', title: 'Changes', defaultPeriod: { back: 0, months: 6 }, Report: ChangesReport },
  { id: 'funnel', title: 'Funnel', defaultPeriod: { back: 11, months: 12 }, Report: FunnelReport },
  { id: 'reasons', title: 'Reasons', defaultPeriod: { back: 11, months: 12 }, Report: ReasonsReport },
  { id: 'owners', title: 'By owner', defaultPeriod: { back: 11, months: 12 }, Report: OwnersReport },
]

export function Reports() {
  const search = useSearch({ strict: false }) as Search
  const format = useFormat()
  const change = useChange()
  const isTable = search.view === 'table'
  const report = reports.find(({ id }) => id === search.report) ?? reports[0]!
  const { data: fields, isPending } = useQuery(fieldsQuery('deal'))
  const shows = (name: string) => !fields || fields.flat().some(({ internal_name }) => internal_name === name)
  const period = periodOf(search, format.today(), report.defaultPeriod)
  return (
    <main className="flex min-h-0 grow flex-col overflow-auto">
      <PageHead title={report.title}>
        <fieldset className="flex gap-1">
          <legend className="unseen">Shown as</legend>
          {[false, true].map(table => (
            <Button
              key={String(table)}
              isSmall
              variant={isTable === table ? 'plain' : 'quiet'}
              aria-pressed={isTable === table}
              onPress={() => change({ view: table ? 'table' : undefined })}
            >
              {table ? 'Table' : 'Chart'}
            </Button>
          ))}
        </fieldset>
      </PageHead>
      <nav aria-label="Reports" className="flex flex-wrap gap-1 px-4">
        {reports.map(({ id, title }) => (
          <Link
            key={id}
            to="/forecast"
            activeOptions={{ exact: true }}
            search={{ ...keptIn(search), ...(id === 'forecast' ? {} : { report: id }) }}
            aria-current={id === report.id ? 'page' : undefined}
            className="min-h-8 rounded-sm px-3 py-1.5 text-ink-soft hover:bg-hover
              aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent-strong"
          >
            {title}
          </Link>
        ))}
      </nav>
      <Controls search={search} period={period} isOfOne={report.id === 'funnel'} />
      <div className="page-column flex flex-col gap-5 px-4 pb-12">
        {isPending ? (
          <Skeleton className="h-56" />
        ) : (
          <report.Report
            {...{ search, period, isTable }}
            isInAmounts={shows('deal_value_in_base_currency')}
            hasOwners={shows('sales_owner')}
          />
        )}
      </div>
    </main>
  )
}

/** The parameters that survive a switch to another report: each report has its own months. */
function keptIn({ from: _from, months: _months, report: _report, ...kept }: Search): Search {
  return kept
}

type Changes = { readonly [name in keyof Search]?: string | undefined }

function useChange() {
  const navigate = useNavigate()
  // Updates the current address: another choice may not be rendered yet.
  return (changes: Changes | ((before: Search) => Changes)) => {
    const changed = (before: Search) => (typeof changes === 'function' ? changes(before) : changes)
    const search = (before: Search) => ({ ...before, ...changed(before) }) as Search
    return void navigate({ to: '/forecast', search, replace: true })
  }
}

function Controls(props: { search: Search; period: Period; isOfOne: boolean }) {
  const { search, period, isOfOne } = props
  const me = useMe()
  const change = useChange()
  const { data: pipelines } = useQuery({ ...pipelinesQuery, enabled: may(me, 'pipeline:read') })
  const { data: users } = useQuery({ ...usersQuery, enabled: may(me, 'user:read') })
  return (
    <search ref={keepFocus} className="grid grid-cols-2 items-end gap-3 px-4 py-3 sm:flex sm:flex-wrap">
      <Select
        label="Pipeline"
        className="sm:w-44"
        value={search.pipeline ?? (isOfOne ? (defaultPipeline(pipelines ?? [])?.id ?? null) : null)}
        none={isOfOne ? undefined : 'All'}
        onChange={value => change({ pipeline: value ?? undefined })}
        choices={pipelines ?? []}
      />
      {(users || search.owner) && (
        <Select
          label="Owner"
          className="sm:w-44"
          value={search.owner ?? null}
          none="Everybody"
          onChange={value => change({ owner: value ?? undefined })}
          choices={users ?? []}
        />
      )}
      <FirstMonth
        from={period.from}
        onChange={part => change(({ from = period.from }) => ({ from: part(from) }))}
      />
      <Select
        label="Months"
        className="sm:w-24"
        value={period.months}
        onChange={value => change({ months: value ?? undefined })}
        choices={[...new Set([...periodLengths, period.months])]
          .sort((a, b) => a - b)
          .map(count => ({ id: count, name: String(count) }))}
      />
      {search.filter && (
        <p className="min-w-0 pb-1.5 text-ink-soft">
          Filter: <code className="break-all">{search.filter}</code>{' '}
          <Button isSmall variant="quiet" onPress={() => change({ filter: undefined })}>
            Remove the filter
          </Button>
        </p>
      )}
    </search>
  )
}

const monthNumbers = Array.from({ length: 12 }, (_, index) => String(index + 1).padStart(2, '0'))

/** Not an input of type `month`, which is a plain box of text in some browsers. */
function FirstMonth(props: { from: string; onChange: (part: (from: string) => string) => void }) {
  const { from, onChange } = props
  const format = useFormat()
  const [year = '', month = ''] = from.split('-')
  const thisYear = Number(format.today().slice(0, 4))
  const years = Array.from({ length: 16 }, (_, index) => String(thisYear - 10 + index))
  return (
    <>
      <Select
        label="From month"
        className="sm:w-36"
        value={month}
        onChange={value => value && onChange(from => `${from.slice(0, 4)}-${value}`)}
        choices={monthNumbers.map(id => ({ id, name: format.monthName(id) }))}
      />
      <Select
        label="From year"
        className="sm:w-24"
        value={year}
        onChange={value => value && onChange(from => `${value}-${from.slice(5)}`)}
        choices={[...new Set([...years, year])].sort().map(id => ({ id, name: id }))}
      />
    </>
  )
}
