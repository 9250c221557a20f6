/** Says that something could not be read, and reads it again. */
import { sayError } from '../api/api.ts'
import { Button } from '../ui/button.tsx'

/** `isOld`: what was read before is still shown. */
export function ReadingFailed(props: { error: unknown; isOld?: boolean; onRetry: () => void }) {
  const { error, isOld = false, onRetry } = props
  if (error === null || error === undefined) return null
  return (
    <p role="alert" className="mx-4 mb-2 flex items-center gap-3 rounded-md bg-lost-soft px-3 py-2 text-lost">
      <span className="min-w-0 grow">
        {isOld && 'This is what was read before. '}
        {sayError(error)}
      </span>
      <Button isSmall onPress={onRetry}>
        Try again
      </Button>
    </p>
  )
}
