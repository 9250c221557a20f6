/** What somebody has typed and not saved is not lost by a link, a reload or a closed tab. */
import { useBlocker } from '@tanstack/react-router'

export function useUnsavedGuard(isDirty: boolean): void {
  useBlocker({
    shouldBlockFn: () => isDirty && !confirm('You have changes that are not saved. Leave without them?'),
    enableBeforeUnload: () => isDirty,
    disabled: !isDirty,
  })
}
