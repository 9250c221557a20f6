/** A page whose data or file is still to come. */
import { Waiting } from '../ui/bits.tsx'

/** Its heading is none of a page that one has come to: it gets no focus (page-focus.ts). */
export function PageWaiting() {
  return (
    <main className="grow p-4" aria-busy>
      <h1 data-waiting className="unseen">
        Loading
      </h1>
      <Waiting className="mb-4 h-7 w-64" />
      <Waiting className="mb-6 h-8 w-full" />
      <Waiting className="h-96" />
    </main>
  )
}
