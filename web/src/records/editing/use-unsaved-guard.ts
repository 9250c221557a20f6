/** Asks before a link, a reload or a closed tab loses unsaved changes. */
import { useBlocker } from '@tanstack/react-router'

export function useUnsavedGuard(isDirty: boolean): void {
  useBlocker({
    shouldBlockFn: () => isDirty && !confirm('You have changes that are not saved. Leave without them?'),
    enableBeforeUnload: () => isDirty,
    disabled: !isDirty,
  })
}
