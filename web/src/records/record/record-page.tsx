/** The page of a record, and the same in a panel over another page. */
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { errorMessage } from '../../api/api.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import { Failed, NotFound } from '../../shell/failed.tsx'
import { PageSkeleton } from '../../shell/page-waiting.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState, Skeleton } from '../../ui/elements.tsx'
import { PageHead } from '../../ui/page.tsx'
import { recordPath, type TableName, tables } from '../tables.ts'
import { Headline } from './headline.tsx'
import { Neighbours } from './neighbours.tsx'
import { RecordActions } from './record-actions.tsx'
import { RecordContent } from './record-content.tsx'
import { isId, isMissing, useRecord } from './use-record.ts'

export function RecordPage() {
  const { table = '', id = '' } = useParams({ strict: false })
  const isKnown = Object.hasOwn(tables, table) && isId(id)
  if (!isKnown) return <NotFound />
  return (
    <Suspense fallback={<PageSkeleton />}>
      <Page key={`${table}/${id}`} table={table as TableName} id={Number(id)} />
    </Suspense>
  )
}

function Page({ table, id }: { table: TableName; id: number }) {
  const { resource, title, one } = tables[table]
  const { shown, error, retry } = useRecord(resource, id)
  const { tab, ...search } = useSearch({ strict: false })
  const navigate = useNavigate()
  const list = { to: '/$table', params: { table }, search } as const
  if (error) return <Missing error={error} onRetry={retry} table={table} one={one} />
  if (!shown) return <PageSkeleton />
  return (
    <main className="flex min-h-0 grow flex-col overflow-y-auto">
      <nav aria-label="Breadcrumb" className="px-4 pt-2 text-sm text-ink-faint">
        <Link {...list} className="inline-block min-h-6 leading-6 hover:underline">
          {title}
        </Link>
      </nav>
      <PageHead title={nameOf(shown.record)} isLong>
        <Neighbours resource={resource} id={id} />
        <RecordActions
          shown={shown}
          onDeleted={() => void navigate({ ...list, search: list.search as never })}
        />
      </PageHead>
      <RecordContent
        shown={shown}
        tab={tab}
        onTab={next =>
          void navigate({
            to: '/$table/$id',
            params: { table, id: String(id) },
            search: { ...search, tab: next } as never,
            replace: true,
          })
        }
      />
    </main>
  )
}

function Missing(props: { error: unknown; onRetry: () => void; table: TableName; one: string }) {
  const { error, onRetry, table, one } = props
  if (!isMissing(error)) return <Failed error={error} onRetry={onRetry} />
  return (
    <main className="p-6">
      <PageHead title={`No such ${one}`} />
      <p className="px-4 text-ink-soft">
        It doesn’t exist, was deleted for good, or your role can’t see it.{' '}
        <Link to="/$table" params={{ table }} className="linked">
          Go to {tables[table].title.toLowerCase()}
        </Link>
      </p>
    </main>
  )
}

/** A record in a panel over another page, as on its own page. */
export function RecordPanel(props: { resource: string; id: number; onClose: () => void }) {
  const { resource, id, onClose } = props
  return (
    <Suspense fallback={null}>
      <Panel key={`${resource}/${id}`} resource={resource} id={id} onClose={onClose} />
    </Suspense>
  )
}

function Panel({ resource, id, onClose }: { resource: string; id: number; onClose: () => void }) {
  const { shown, error, retry } = useRecord(resource, id)
  const [tab, setTab] = useState<string>()
  const failure = isMissing(error) ? 'Not found' : 'Something went wrong'
  const title = shown ? nameOf(shown.record) : error ? failure : 'Loading…'
  return (
    <Dialog title={title} isOpen onClose={onClose} place="side" width="wide">
      {shown ? (
        <>
          <div className="mb-3 flex flex-wrap items-center gap-2">
            <Headline shown={shown} />
            <span className="grow" />
            <Link to={recordPath(resource, id)} className="linked inline-flex min-h-8 items-center px-2">
              Open page
            </Link>
            <RecordActions shown={shown} onDeleted={onClose} />
          </div>
          <RecordContent shown={shown} tab={tab} onTab={setTab} isPanel />
        </>
      ) : error && !isMissing(error) ? (
        <EmptyState title={errorMessage(error)}>
          <Button onPress={retry}>Try again</Button>
        </EmptyState>
      ) : error ? (
        <p className="text-ink-soft">It doesn’t exist, was deleted for good, or your role can’t see it.</p>
      ) : (
        <Skeleton className="h-96" />
      )}
    </Dialog>
  )
}
