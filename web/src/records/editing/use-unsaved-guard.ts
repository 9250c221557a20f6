/** Asks before a link, a reload or a closed tab loses unsaved changes. */
import { useBlocker } from '@tanstack/react-router'

/** `keptOn` is the path of a page that keeps the changes while only its search changes, such as its tab. */
export function useUnsavedGuard(isDirty: boolean, keptOn?: string): void {
  useBlocker({
    shouldBlockFn: ({ current, next }) => {
      if (!isDirty || (current.pathname === keptOn && next.pathname === keptOn)) return false
      return !confirm('You have changes that are not saved. Leave without them?')
    },
    enableBeforeUnload: () => isDirty,
    disabled: !isDirty,
  })
}
