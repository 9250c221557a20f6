/** The changes of the forecast between two days (D161): the waterfall, the deals of each kind, the owners. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { callApi } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { EmptyState } from '../../ui/elements.tsx'
import { Select, TextField } from '../../ui/inputs.tsx'
import { Panel } from '../../ui/page.tsx'
import { type Changes, daysOfChanges, kindsInOrder, type Measure, presets } from './changes.ts'
import { ChangesByOwner } from './changes-by-owner.tsx'
import { ChangesOfKind } from './changes-of-kind.tsx'
import { ChangesWaterfall } from './changes-waterfall.tsx'
import { WhenLoaded } from './parts.tsx'
import { all, chosen, daysOf, type Search } from './periods-and-sums.ts'
import type { ReportProps } from './reports-page.tsx'

export function ChangesReport({ search, period, isTable, isInAmounts, hasOwners }: ReportProps) {
  const format = useFormat()
  const { since, until } = daysOfChanges(search, format.today())
  const { first, last } = daysOf(period)
  const measure: Measure = !isInAmounts ? 'count' : search.measure === 'best' ? 'value' : 'weighted_value'
  const filter = all(...chosen(search))
  const query = {
    ...{ from: since, ...(until ? { to: until } : {}), ...(filter ? { filter } : {}) },
    ...{ expected_from: first, expected_to: last },
  }
  const changes = useQuery({
    queryKey: ['sums', 'deal', 'changes', query, hasOwners],
    queryFn: ({ signal }) =>
      callApi<Changes>('GET', '/deal/changes', {
        query: { ...query, ...(hasOwners ? { by: 'owner' } : {}), pageSize: '5' },
        signal,
      }),
  })
  const on = until ? `on ${format.date(until)}` : 'now'
  const detail = `From ${format.date(since)} until ${until ? format.date(until) : 'now'}: the open deals that are expected from ${format.date(first)} to ${format.date(last)}. What a step adds or takes away leads to its deals.`
  return (
    <>
      <ChangesControls search={search} isInAmounts={isInAmounts} />
      <Panel className="p-4" title="Forecast then and now" detail={detail}>
        <WhenLoaded of={[changes]}>
          {() => (
            <ChangesWaterfall
              changes={changes.data!}
              measure={measure}
              then={`on ${format.date(since)}`}
              now={on}
              filter={all(
                'status:eq(Open)',
                `expected_close_date:between(${first},${last})`,
                ...chosen(search),
              )}
              isTable={isTable}
            />
          )}
        </WhenLoaded>
      </Panel>
      {changes.data?.steps.length === 0 && <EmptyState title="Nothing changed in these days." />}
      {kindsInOrder.map(kind => {
        const step = changes.data?.steps.find(one => one.kind === kind)
        return step && <ChangesOfKind key={kind} step={step} query={query} measure={measure} />
      })}
      {changes.data && (changes.data.owners?.length ?? 0) > 0 && (
        <ChangesByOwner changes={changes.data} measure={measure} search={search} />
      )}
    </>
  )
}

function ChangesControls({ search, isInAmounts }: { search: Search; isInAmounts: boolean }) {
  const format = useFormat()
  const navigate = useNavigate()
  const today = format.today()
  const { since, until } = daysOfChanges(search, today)
  const change = (changed: { readonly [name in keyof Search]?: string | undefined }) =>
    void navigate({
      to: '/forecast',
      search: before => ({ ...before, ...changed }) as Search,
      replace: true,
    })
  const offered = presets(today)
  const isOffered = until === null && offered.some(({ id }) => id === since)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset can't be a grid in every browser
    <div role="group" aria-label="Changes" className="grid grid-cols-2 items-end gap-3 sm:flex sm:flex-wrap">
      <Select
        label="Changes"
        className="col-span-2 sm:w-60"
        value={isOffered ? since : null}
        none={isOffered ? undefined : 'Other days'}
        onChange={day => day && change({ since: day, until: undefined })}
        choices={offered}
      />
      <TextField
        label="Since"
        type="date"
        className="sm:w-40"
        max={today}
        value={since}
        onChange={day => day && change({ since: day })}
      />
      <TextField
        label="Until"
        type="date"
        className="sm:w-40"
        min={since}
        max={today}
        value={until ?? ''}
        onChange={day => change({ until: day || undefined })}
      />
      {isInAmounts && (
        <Select
          label="Amounts"
          className="sm:w-36"
          value={search.measure === 'best' ? 'best' : 'weighted'}
          onChange={measure => change({ measure: measure === 'best' ? 'best' : undefined })}
          choices={[
            { id: 'weighted', name: 'Weighted' },
            { id: 'best', name: 'Best case' },
          ]}
        />
      )}
    </div>
  )
}
