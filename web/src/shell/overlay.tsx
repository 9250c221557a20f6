/** Loads an overlay of a page. If that fails, a message says so and the page stays. */
import { CatchBoundary } from '@tanstack/react-router'
import { type ReactNode, Suspense, useEffect } from 'react'
import { DialogLoading } from '../ui/elements.tsx'
import { toastError } from '../ui/toast.tsx'
import { pageErrorMessage, useResetFailedQueries } from './failed.tsx'

type Props = { label: string; onClose: () => void; children: ReactNode }

export function Overlay({ label, onClose, children }: Props) {
  return (
    <CatchBoundary
      getResetKey={() => label}
      errorComponent={({ error }) => <OverlayFailed error={error} onClose={onClose} />}
    >
      <Suspense fallback={<DialogLoading label={label} />}>{children}</Suspense>
    </CatchBoundary>
  )
}

function OverlayFailed({ error, onClose }: { error: unknown; onClose: () => void }) {
  useResetFailedQueries()
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each error
  useEffect(() => {
    toastError(pageErrorMessage(error))
    onClose()
  }, [error])
  return null
}
