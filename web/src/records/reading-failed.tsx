/** Says that something of a list could not be read, and reads it again. */
import { sayError } from '../api/api.ts'
import { Button } from '../ui/button.tsx'

export function ReadingFailed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (error === null || error === undefined) return null
  return (
    <p role="alert" className="mx-4 mb-2 flex items-center gap-3 rounded-md bg-lost-soft px-3 py-2 text-lost">
      <span className="grow">{sayError(error)}</span>
      <Button isSmall onPress={onRetry}>
        Try again
      </Button>
    </p>
  )
}
