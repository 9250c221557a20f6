/** Shows a load error with a retry. */
import { CatchBoundary } from '@tanstack/react-router'
import { type ReactNode, Suspense } from 'react'
import { errorMessage } from '../api/api.ts'
import { Button } from '../ui/button.tsx'
import { Skeleton } from '../ui/elements.tsx'
import { useResetFailedQueries } from './failed.tsx'

/** `isOld`: earlier data is still shown. */
export function LoadError(props: { error: unknown; isOld?: boolean; onRetry: () => void }) {
  const { error, isOld = false, onRetry } = props
  if (error === null || error === undefined) return null
  return (
    <p role="alert" className="mx-4 mb-2 flex items-center gap-3 rounded-md bg-lost-soft px-3 py-2 text-lost">
      <span className="min-w-0 grow">
        {isOld && 'This is the last data that was loaded. '}
        {errorMessage(error)}
      </span>
      <Button isSmall onPress={onRetry}>
        Try again
      </Button>
    </p>
  )
}

type Read = { readonly data: unknown; readonly error: unknown; readonly refetch: () => unknown }

/** A skeleton until all reads have data, or the error of one that failed. */
export function Loading({ of, className }: { of: readonly Read[]; className?: string }) {
  const missing = of.filter(({ data }) => data === undefined)
  const failed = missing.find(({ error }) => error)
  if (failed) return <LoadError error={failed.error} onRetry={() => void failed.refetch()} />
  return missing.length > 0 && <Skeleton className={className} />
}

/** A lazily loaded part of a page. If it can't be loaded it says so, and the rest stays. */
export function Part({ children }: { children: ReactNode }) {
  return (
    <CatchBoundary getResetKey={() => 'part'} errorComponent={PartFailed}>
      <Suspense fallback={null}>{children}</Suspense>
    </CatchBoundary>
  )
}

function PartFailed({ error, reset }: { error: unknown; reset: () => void }) {
  useResetFailedQueries()
  return <LoadError error={error} onRetry={reset} />
}
