/** Asks before a link, a reload or a closed tab loses unsaved changes. */
import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router'

/** `keptOn` is the path of a page that keeps the changes while only its search changes, such as its tab. */
export function useUnsavedGuard(isDirty: boolean, keptOn?: string): void {
  useGuard(isDirty, ({ current, next }) => current.pathname === keptOn && next.pathname === keptOn)
}

/** As above, where a link saves by taking the focus: going back or reloading saves nothing. */
export function useBackGuard(isDirty: boolean): void {
  useGuard(isDirty, ({ action }) => action === 'PUSH' || action === 'REPLACE')
}

/** `isSafe`: true for a navigation that loses nothing. */
function useGuard(isDirty: boolean, isSafe: (...navigation: Parameters<ShouldBlockFn>) => boolean): void {
  useBlocker({
    shouldBlockFn: navigation =>
      isDirty && !isSafe(navigation) && !confirm('You have changes that are not saved. Leave without them?'),
    enableBeforeUnload: () => isDirty,
    disabled: !isDirty,
  })
}
