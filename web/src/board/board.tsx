/** The board: a column for each stage. The address says which pipeline, filter, order and card. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { pipelinesQuery } from '../api/queries.ts'
import { useReadOnlyReason } from '../shell/me.ts'
import { openNew } from '../shell/new-record.tsx'
import { Part, ReadingFailed } from '../shell/reading-failed.tsx'
import { Empty, Waiting } from '../ui/bits.tsx'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Select } from '../ui/inputs.tsx'
import { PageHead } from '../ui/page.tsx'
import { type BoardAsked, boardQuery } from './board-query.ts'
import { Columns } from './columns.tsx'
import type { BoardData } from './model.ts'

const RecordPanel = lazy(() =>
  import('../records/record/record-page.tsx').then(module => ({ default: module.RecordPanel })),
)
const BoardBar = lazy(() => import('./board-bar.tsx').then(module => ({ default: module.BoardBar })))
const route = getRouteApi('/shell/board')

export function Board() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const { data: pipelines = [] } = useQuery(pipelinesQuery)
  const { pipeline, filter, sort, closed, deal } = search
  const asked = useMemo(() => ({ pipeline, filter, sort, closed }), [pipeline, filter, sort, closed])
  const {
    data: board,
    error,
    isPlaceholderData,
    refetch,
  } = useQuery({
    ...boardQuery(asked),
    placeholderData: before => before,
  })
  const reason = useReadOnlyReason('deal')
  const isDrawn = useDrawn(board !== undefined || error !== null)
  const show = useCallback(
    (changes: Partial<typeof search>) =>
      void navigate({
        to: '/board',
        search: before => ({ ...before, ...changes }),
        replace: !('deal' in changes),
      }),
    [navigate],
  )
  const add = useCallback(
    (stage?: number) =>
      openNew('deal', { pipeline: board?.pipeline?.id, ...(stage ? { pipeline_stage: stage } : {}) }),
    [board?.pipeline?.id],
  )
  const openDeal = useCallback((id: number) => show({ deal: String(id) }), [show])
  return (
    <main className="flex min-h-0 grow flex-col">
      <PageHead title={board?.pipeline?.name ?? 'Board'}>
        {pipelines.length > 1 && (
          <Select
            label="Pipeline"
            isBare
            value={board?.pipeline?.id ?? null}
            onChange={id => show({ pipeline: id ?? undefined })}
            choices={pipelines}
          />
        )}
        <Button look="primary" reason={reason} onPress={() => add()} className="max-sm:hidden">
          <Plus size={15} aria-hidden /> New deal
        </Button>
      </PageHead>
      <div className="flex min-h-10 flex-wrap items-center gap-2 px-4 pb-2">
        <Part>{isDrawn && <BoardBar search={search} error={error} onChange={show} />}</Part>
      </div>
      <ReadingFailed error={error} isOld={board !== undefined} onRetry={() => void refetch()} />
      {board ? (
        <Content
          {...{ board, asked, reason, filter }}
          opened={deal ? Number(deal) : null}
          isOld={isPlaceholderData}
          {...{ add, openDeal, show }}
        />
      ) : (
        !error && <Skeleton />
      )}
      <Suspense fallback={null}>
        {deal && <RecordPanel resource="deal" id={Number(deal)} onClose={() => show({ deal: undefined })} />}
      </Suspense>
    </main>
  )
}

/** Whether the browser has drawn what is there: what is loaded next doesn't hold it up. */
function useDrawn(isThere: boolean): boolean {
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    if (!isThere) return
    const timer = setTimeout(() => setDrawn(true), 50)
    return () => clearTimeout(timer)
  }, [isThere])
  return isDrawn
}

type ContentProps = {
  board: BoardData
  asked: BoardAsked
  opened: number | null
  filter: string | undefined
  reason: string | undefined
  isOld: boolean
  add: (stage?: number) => void
  openDeal: (id: number) => void
  show: (changes: Partial<BoardAsked>) => void
}

function Content(props: ContentProps) {
  const { board, asked, opened, filter, reason, isOld, add, openDeal, show } = props
  const count = board.columns.reduce((sum, column) => sum + column.count, 0)
  if (board.columns.length === 0)
    return (
      <Empty title="There is no pipeline with stages yet.">
        <a className="linked" href="/settings/pipelines">
          Make one in the settings
        </a>
      </Empty>
    )
  return (
    <>
      {count === 0 && (
        <Empty title={filter ? 'No deal matches the filter.' : 'No deals yet.'}>
          {filter ? (
            <Button onPress={() => show({ filter: undefined })}>Clear the filter</Button>
          ) : (
            <Button look="primary" reason={reason} onPress={() => add()}>
              New deal
            </Button>
          )}
        </Empty>
      )}
      <div aria-busy={isOld} className={classes('flex min-h-0 grow flex-col', isOld && 'opacity-70')}>
        <Columns {...{ board, asked, opened, reason }} onAdd={add} onOpen={openDeal} onShow={show} />
      </div>
    </>
  )
}

/** The columns before anything is known of them, where they will be. */
function Skeleton() {
  const [columns] = useState(() => Array.from({ length: 6 }, (_, index) => index))
  return (
    <div className="flex min-h-0 grow gap-3 overflow-hidden px-4 pb-4" aria-hidden>
      {columns.map(column => (
        <div key={column} className="w-[280px] shrink-0 rounded-lg bg-sunken p-3">
          <Waiting className="h-4 w-2/3" />
          <Waiting className="mt-2 h-3 w-1/2" />
        </div>
      ))}
    </div>
  )
}
