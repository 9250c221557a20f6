/** What opens over a page. Where it can't be read a message says so, and the page stays. */
import { CatchBoundary } from '@tanstack/react-router'
import { type ReactNode, Suspense, useEffect } from 'react'
import { Opening } from '../ui/bits.tsx'
import { toastError } from '../ui/toast.tsx'
import { said, useAskedAnew } from './failed.tsx'

type Props = { label: string; onClose: () => void; children: ReactNode }

export function Opened({ label, onClose, children }: Props) {
  return (
    <CatchBoundary
      getResetKey={() => label}
      errorComponent={({ error }) => <OpeningFailed error={error} onClose={onClose} />}
    >
      <Suspense fallback={<Opening label={label} />}>{children}</Suspense>
    </CatchBoundary>
  )
}

function OpeningFailed({ error, onClose }: { error: unknown; onClose: () => void }) {
  useAskedAnew()
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is told once
  useEffect(() => {
    toastError(said(error))
    onClose()
  }, [error])
  return null
}
