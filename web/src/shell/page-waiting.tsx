/** A page whose data or chunk is still loading. */
import { Skeleton } from '../ui/elements.tsx'

/** Its heading gets no focus (page-focus.ts). */
export function PageSkeleton() {
  return (
    <main className="grow p-4" aria-busy>
      <h1 data-waiting className="unseen">
        Loading
      </h1>
      <Skeleton className="mb-4 h-7 w-64" />
      <Skeleton className="mb-6 h-8 w-full" />
      <Skeleton className="h-96" />
    </main>
  )
}
