/** The deals that changed in one way: what each was and became, the largest first, and more on request. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callApi, errorMessage } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Button } from '../../ui/button.tsx'
import { Panel } from '../../ui/page.tsx'
import {
  type ChangedDeal,
  type Changes,
  changeOf,
  type DealState,
  type Measure,
  type Step,
  wordsOf,
} from './changes.ts'
import { sectionOf } from './changes-waterfall.tsx'
import { useBase } from './use-base.ts'
import { useMeasured } from './use-measured.ts'

type Props = { step: Step; query: { readonly [name: string]: string }; measure: Measure }

export function ChangesOfKind({ step, query, measure }: Props) {
  const { kind, count, deal_value } = step
  const base = useBase()
  const { signed } = useMeasured(measure)
  const [isMore, setMore] = useState(false)
  const first = step.deals ?? []
  const more = useInfiniteQuery({
    queryKey: ['sums', 'deal', 'changes', query, kind, first.at(-1)?.id],
    queryFn: async ({ pageParam, signal }) => {
      const page = { kind, after: String(pageParam), pageSize: '50' }
      const { steps } = await callApi<Changes>('GET', '/deal/changes', {
        query: { ...query, ...page },
        signal,
      })
      return steps[0]
    },
    initialPageParam: first.at(-1)?.id ?? 0,
    getNextPageParam: page => (page?.hasMore ? page.deals?.at(-1)?.id : undefined),
    enabled: isMore,
  })
  const deals = [...first, ...(more.data?.pages ?? []).flatMap(page => page?.deals ?? [])]
  const hasMore = more.data ? more.hasNextPage : step.hasMore
  const change = changeOf(step, measure)
  const { name, about } = wordsOf[kind]
  const detail = [
    about,
    deal_value !== undefined && `Worth ${base.full(deal_value)}`,
    measure !== 'count' && (change === 0 ? 'the forecast stays' : `${signed(change)} in the forecast`),
  ].filter(Boolean)
  return (
    <div id={sectionOf(kind)} tabIndex={-1} className="scroll-mt-4 rounded-md">
      <Panel
        className="p-4"
        title={`${name}: ${base.deals(count)}`}
        detail={`${detail[0]} ${detail.slice(1).join('; ')}${detail.length > 1 ? '.' : ''}`}
      >
        <ul className="-my-2">
          {deals.map(deal => (
            <li
              key={deal.id}
              className="flex flex-wrap items-baseline gap-x-3 border-t border-line py-1.5 first:border-t-0"
            >
              <Link
                to="/$table/$id"
                params={{ table: 'deals', id: String(deal.id) }}
                className="linked max-w-full basis-full truncate sm:basis-auto"
              >
                <bdi>{deal.title}</bdi>
              </Link>
              <span className="text-sm text-ink-soft" dir="auto">
                {(deal.after ?? deal.before)?.sales_owner?.name}
              </span>
              <span className="tabular ml-auto text-right">
                <Change deal={deal} kind={kind} />
              </span>
            </li>
          ))}
        </ul>
        {more.error && <p role="alert">{errorMessage(more.error)}</p>}
        {hasMore && (
          <Button
            isSmall
            className="mt-3"
            isPending={more.isFetching}
            onPress={() => (isMore ? void more.fetchNextPage() : setMore(true))}
          >
            Show more {name.toLowerCase()}
          </Button>
        )}
      </Panel>
    </div>
  )
}

/** Before and after, in what the kind is about: the value, the stage or the date. */
function Change({ deal: { before, after }, kind }: { deal: ChangedDeal; kind: Step['kind'] }) {
  const format = useFormat()
  const base = useBase()
  const value = (state: DealState | null) =>
    typeof state?.value === 'number' ? base.full(state.value) : null
  const date = (state: DealState | null) =>
    state?.expected_close_date ? format.date(state.expected_close_date) : 'no date'
  const stage = (state: DealState | null) => state?.pipeline_stage?.name ?? null
  const shown = {
    ...{ grown: value, shrunk: value, rates: value, slipped: date, pulled_in: date },
    ...{ moved_forward: stage, moved_back: stage, other: stage },
  }[kind as 'grown']
  if (!shown) return value(after ?? before)
  return (
    <>
      <span className="text-ink-soft">{shown(before)}</span>
      <span aria-hidden> → </span>
      <span className="unseen"> to </span>
      {shown(after)}
    </>
  )
}
