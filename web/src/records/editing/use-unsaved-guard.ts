/** Asks before a link, a reload or a closed tab loses unsaved changes. */
import { useBlocker } from '@tanstack/react-router'

const question = 'You have changes that are not saved. Leave without them?'

/** `keptOn` is the path of a page that keeps the changes while only its search changes, such as its tab. */
export function useUnsavedGuard(isDirty: boolean, keptOn?: string): void {
  useBlocker({
    shouldBlockFn: ({ current, next }) => {
      if (!isDirty || (current.pathname === keptOn && next.pathname === keptOn)) return false
      return !confirm(question)
    },
    enableBeforeUnload: () => isDirty,
    disabled: !isDirty,
  })
}

/** As above, where a link saves by taking the focus: going back or reloading saves nothing. */
export function useBackGuard(isDirty: boolean): void {
  useBlocker({
    shouldBlockFn: ({ action }) => isDirty && action !== 'PUSH' && action !== 'REPLACE' && !confirm(question),
    enableBeforeUnload: () => isDirty,
    disabled: !isDirty,
  })
}
