/** The error page: the cause, and possible actions. Never a white screen. */
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { DealwrightError, errorMessage } from '../api/api.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/elements.tsx'

export function NotFound() {
  return (
    <main className="p-6">
      <h1 className="unseen">Not found</h1>
      <EmptyState title="There is no page at this address.">
        <a className="linked" href="/board">
          Go to the board
        </a>
      </EmptyState>
    </main>
  )
}

/** `onRetry` refetches the page's own data; default: its route is reloaded. */
export function Failed({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const router = useRouter()
  useResetFailedQueries()
  const requestId = error instanceof DealwrightError ? error.requestId : null
  return (
    <main className="p-6">
      <h1 className="unseen">Something went wrong</h1>
      <EmptyState title={pageErrorMessage(error)}>
        <Button variant="primary" onPress={onRetry ?? (() => void router.invalidate())}>
          Try again
        </Button>
        <Button onPress={() => location.reload()}>Reload the page</Button>
      </EmptyState>
      {requestId && <p className="text-center text-sm text-ink-faint">Request {requestId}</p>}
    </main>
  )
}

/** Drops failed queries, so that a retry or the next visit requests them again. */
export function useResetFailedQueries(): void {
  const queries = useQueryClient()
  useEffect(
    () => queries.removeQueries({ type: 'inactive', predicate: ({ state }) => state.status === 'error' }),
    [queries],
  )
}

/** After an upgrade the service has other files than the page knows. */
export function pageErrorMessage(error: unknown): string {
  if (error instanceof Error && /dynamically imported module|module script/i.test(error.message))
    return navigator.onLine ? 'Dealwright has a new version. Reload the page to use it.' : 'You are offline.'
  if (error instanceof DealwrightError || error instanceof TypeError) return errorMessage(error)
  return error instanceof Error ? error.message : 'This page could not be shown.'
}
