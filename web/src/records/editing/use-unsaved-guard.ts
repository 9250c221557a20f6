/** Asks before a link, a reload or a closed tab loses unsaved changes. */
import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

const general = 'You have changes that are not saved. Leave without them?'

/** `keptOn` is the path of a page that keeps the changes while only its search changes, such as its tab. */
export function useUnsavedGuard(isDirty: boolean, keptOn?: string): void {
  useGuard(isDirty, ({ current, next }) => current.pathname === keptOn && next.pathname === keptOn)
}

/** As above, where a link saves by taking the focus: going back or reloading saves nothing. */
export function useBackGuard(isDirty: boolean): void {
  useGuard(isDirty, ({ action }) => action === 'PUSH' || action === 'REPLACE')
}

const never = () => false

/** As above, of a dialog. */
export function UnsavedGuard({ isUnsaved, question }: { isUnsaved: boolean; question: string }): null {
  useGuard(isUnsaved, never, { question, delayMs: drawnMs })
  return null
}

/** `isSafe`: true for a navigation that loses nothing. */
function useGuard(
  isDirty: boolean,
  isSafe: (...navigation: Parameters<ShouldBlockFn>) => boolean,
  { question = general, delayMs = 0 } = {},
): void {
  const isDirtyNow = useRef(isDirty)
  useEffect(() => {
    isDirtyNow.current = isDirty
    return () => {
      isDirtyNow.current = false
    }
  }, [isDirty])
  useBlocker({
    shouldBlockFn: async navigation => {
      if (!isDirty || isSafe(navigation)) return false
      // A save may lead elsewhere before the page is drawn without its form.
      if (delayMs) await new Promise(resolve => setTimeout(resolve, delayMs))
      return isDirtyNow.current && !confirm(question)
    },
    enableBeforeUnload: () => isDirtyNow.current,
    disabled: !isDirty,
  })
}

/** longer than the page needs to be drawn after an answer */
const drawnMs = 100
