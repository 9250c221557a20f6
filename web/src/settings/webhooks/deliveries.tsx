/** The deliveries of a webhook: each with its attempts and the start of the last response, as plain text. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, base, callApi, type Schemas } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Loading } from '../../shell/load-error.tsx'
import { Button } from '../../ui/button.tsx'
import { Badge, EmptyState } from '../../ui/elements.tsx'
import { Select } from '../../ui/inputs.tsx'
import { Panel } from '../../ui/page.tsx'
import { saveWithToast } from '../saving.ts'

type Delivery = Schemas['delivery']
type Log = { data: Delivery[]; meta: { nextCursor: string | null } }

const looks = { delivered: 'won', waiting: 'warn', dead: 'lost' } as const
const states = [
  { id: 'delivered', name: 'Delivered' },
  { id: 'waiting', name: 'Waiting' },
  { id: 'dead', name: 'Given up' },
]

export function Deliveries(props: { webhook: number; reason: string | undefined; onReplay: () => void }) {
  const { webhook, reason, onReplay } = props
  const [state, setState] = useState<string | null>(null)
  const log = useInfiniteQuery({
    queryKey: ['all', 'delivery', webhook, state],
    queryFn: async ({ pageParam }) => {
      const query = { pageSize: 25, ...(state ? { state } : {}), ...(pageParam ? { cursor: pageParam } : {}) }
      const { body } = await api.request('GET', `${base}/webhook/${webhook}/deliveries`, { query })
      return body as Log
    },
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.nextCursor,
  })
  const all = log.data?.pages.flatMap(({ data }) => data)
  return (
    <Panel
      title="Deliveries"
      detail="Of the last thirty days, the newest first."
      actions={
        <div className="flex items-center gap-2">
          <Select label="State" isLabelHidden value={state} none="All" onChange={setState} choices={states} />
          <Button isSmall reason={reason} onPress={onReplay}>
            Send again after…
          </Button>
        </div>
      }
    >
      <Loading of={[log]} className="m-4 h-24" />
      {all?.length === 0 && <EmptyState title="Nothing was sent yet." />}
      <ul>
        {all?.map(delivery => (
          <li key={delivery.id} className="border-line not-first:border-t">
            <One delivery={delivery} webhook={webhook} reason={reason} />
          </li>
        ))}
      </ul>
      {log.hasNextPage && (
        <div className="border-t border-line p-2">
          <Button variant="quiet" isPending={log.isFetchingNextPage} onPress={() => void log.fetchNextPage()}>
            Show older
          </Button>
        </div>
      )}
    </Panel>
  )
}

function One(props: { delivery: Delivery; webhook: number; reason: string | undefined }) {
  const { delivery, webhook, reason } = props
  const format = useFormat()
  const { id, type, state, created_at, attempts, status, error, answer, next_attempt_at } = delivery
  const again = () =>
    saveWithToast(
      () => callApi('POST', `/webhook/${webhook}/deliveries/${id}/replay`),
      `Event ${id} is sent again`,
    )
  return (
    <details>
      <summary className="flex min-h-9 cursor-pointer flex-wrap items-center gap-x-3 px-4 py-1.5 hover:bg-hover">
        <span className="tabular text-ink-faint">{id}</span>
        <span className="font-medium">{type}</span>
        <Badge variant={looks[state]}>{states.find(one => one.id === state)?.name}</Badge>
        <span className="text-ink-soft">
          {format.counted(attempts, 'attempt', 'attempts')}
          {status !== null && `, last answered ${status}`}
        </span>
        <span className="grow" />
        <span className="text-sm text-ink-soft" title={format.fullMoment(created_at)}>
          {format.ago(created_at)}
        </span>
      </summary>
      <div className="flex flex-col gap-2 bg-canvas px-4 py-3">
        {error && <p className="text-lost">{error}</p>}
        {next_attempt_at && <p className="text-ink-soft">Next attempt: {format.moment(next_attempt_at)}</p>}
        <ol className="text-ink-soft">
          {delivery.log.map(({ at, ...tried }) => (
            <li key={at} className="tabular">
              {format.moment(at)}: {tried.error ?? `answered ${tried.status}`}, {tried.duration_ms} ms
            </li>
          ))}
        </ol>
        {answer && (
          <pre
            className="max-h-48 overflow-auto rounded-sm border border-line bg-surface p-2 font-mono text-sm
              break-all whitespace-pre-wrap"
          >
            {answer}
          </pre>
        )}
        <Button isSmall className="self-start" reason={reason} onPress={() => void again()}>
          Send again
        </Button>
      </div>
    </details>
  )
}
