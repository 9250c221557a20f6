/** The board: a column for each stage. The address contains the pipeline, filter, order and card. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { pipelinesQuery } from '../api/queries.ts'
import { isId } from '../records/record/use-record.ts'
import { LoadError, Part } from '../shell/load-error.tsx'
import { useReadOnlyReason } from '../shell/me.ts'
import { openNew } from '../shell/new-record.tsx'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { EmptyState, Skeleton } from '../ui/elements.tsx'
import { Select } from '../ui/inputs.tsx'
import { PageHead } from '../ui/page.tsx'
import { type BoardRequest, boardQuery, defaultSort } from './board-query.ts'
import { Columns } from './columns.tsx'
import type { BoardData } from './model.ts'

const RecordPanel = lazy(() =>
  import('../records/record/record-page.tsx').then(module => ({ default: module.RecordPanel })),
)
const GettingStarted = lazy(() =>
  import('../start/getting-started.tsx').then(module => ({ default: module.GettingStarted })),
)
const BoardBar = lazy(() => import('./board-bar.tsx').then(module => ({ default: module.BoardBar })))
const route = getRouteApi('/shell/board')

export function Board() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const { data: pipelines = [] } = useQuery(pipelinesQuery)
  const { pipeline, filter, sort, closed, deal } = search
  const request = useMemo(() => ({ pipeline, filter, sort, closed }), [pipeline, filter, sort, closed])
  const {
    data: board,
    error,
    isPlaceholderData,
    refetch,
  } = useQuery({
    ...boardQuery(request),
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
  const opened = deal && isId(deal) ? Number(deal) : null
  const openDeal = useCallback((id: number) => show({ deal: String(id) }), [show])
  return (
    <main className="flex min-h-0 grow flex-col overflow-y-auto">
      <PageHead title={board?.pipeline?.name ?? 'Board'}>
        {pipelines.length > 1 && (
          <Select
            label="Pipeline"
            isLabelHidden
            value={board?.pipeline?.id ?? null}
            onChange={id => show({ pipeline: id ?? undefined })}
            choices={pipelines}
          />
        )}
        <Button variant="primary" reason={reason} onPress={() => add()} className="max-sm:hidden">
          <Plus size={15} aria-hidden /> New deal
        </Button>
      </PageHead>
      <div className="min-h-10 shrink-0 px-4 pb-2 max-sm:-mt-1 max-sm:overflow-x-auto max-sm:pt-1 max-sm:[scrollbar-width:none]">
        <Part>{isDrawn && <BoardBar search={search} error={error} onChange={show} />}</Part>
      </div>
      <LoadError error={error} isOld={board !== undefined} onRetry={() => void refetch()} />
      {board ? (
        <Content
          {...{ board, request, reason, filter, opened }}
          isOld={isPlaceholderData}
          {...{ add, openDeal, show }}
        />
      ) : (
        !error && <BoardSkeleton />
      )}
      <Suspense fallback={null}>
        {opened !== null && (
          <RecordPanel resource="deal" id={opened} onClose={() => show({ deal: undefined })} />
        )}
      </Suspense>
    </main>
  )
}

/** True after the browser has painted, so that further loading doesn't delay it. */
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
  request: BoardRequest
  opened: number | null
  filter: string | undefined
  reason: string | undefined
  isOld: boolean
  add: (stage?: number) => void
  openDeal: (id: number) => void
  show: (changes: Partial<BoardRequest>) => void
}

function Content(props: ContentProps) {
  const { board, request, opened, filter, reason, isOld, add, openDeal, show } = props
  const count = board.columns.reduce((sum, column) => sum + column.count, 0)
  if (board.columns.length === 0)
    return (
      <EmptyState title="There is no pipeline with stages yet.">
        <a className="linked" href="/settings/pipelines">
          Make one in the settings
        </a>
      </EmptyState>
    )
  return (
    <>
      {count === 0 && (
        <EmptyState title={filter ? 'No deal matches the filter.' : 'No deals yet.'}>
          {filter ? (
            <Button onPress={() => show({ filter: undefined, sort: request.sort ?? defaultSort })}>
              Clear the filter
            </Button>
          ) : (
            <Button variant="primary" reason={reason} onPress={() => add()}>
              New deal
            </Button>
          )}
        </EmptyState>
      )}
      {count === 0 && !filter && (
        <Part>
          <GettingStarted />
        </Part>
      )}
      <div
        aria-busy={isOld}
        className={classes('relative flex min-h-60 grow flex-col', isOld && 'opacity-70')}
      >
        <Columns
          {...{ board, request, opened }}
          mayNot={reason}
          onAdd={add}
          onOpen={openDeal}
          onShow={show}
        />
      </div>
    </>
  )
}

/** Placeholders for the columns while the board is loading. */
function BoardSkeleton() {
  const [columns] = useState(() => Array.from({ length: 6 }, (_, index) => index))
  return (
    <div className="flex min-h-0 grow gap-2 overflow-hidden px-4 pb-4" aria-hidden>
      {columns.map(column => (
        <div key={column} className="min-w-48 max-w-70 grow rounded-lg bg-sunken p-3">
          <Skeleton className="h-4 w-2/3" />
          <Skeleton className="mt-2 h-3 w-1/2" />
        </div>
      ))}
    </div>
  )
}
