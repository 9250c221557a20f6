/** Announces a new page and focuses its heading, as a browser does after a page load. */
import { useLocation, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { announce } from '../ui/toast.tsx'

const newest = () => [...document.querySelectorAll<HTMLElement>('#content h1:not([data-waiting])')].at(-1)

/**
 * The heading may come long after the address has changed, and a page may render it twice. Waits for it until
 * the user presses something: their focus is not taken away.
 */
export function usePageFocus(): void {
  const router = useRouter()
  useEffect(() => {
    let end = () => {}
    const unsubscribe = router.subscribe('onBeforeLoad', ({ fromLocation, pathChanged, hrefChanged }) => {
      // The same address again: a page that had failed may load.
      if (!fromLocation || (hrefChanged && !pathChanged)) return
      end()
      end = awaitHeading(newest())
    })
    return () => {
      unsubscribe()
      end()
    }
  }, [router])
}

function awaitHeading(former: HTMLElement | undefined): () => void {
  let known = former
  let announced: string | null = null
  const look = () => {
    const heading = newest()
    if (!heading || heading === known) return
    known = heading
    if (heading.textContent !== announced) announce(heading.textContent)
    announced = heading.textContent
    const { activeElement } = document
    const isTaken =
      activeElement?.closest('[role="dialog"]') || heading.closest('main')?.contains(activeElement)
    if (isTaken) return
    heading.tabIndex = -1
    heading.focus({ preventScroll: true })
  }
  const observer = new MutationObserver(look)
  const over = new AbortController()
  const end = () => {
    observer.disconnect()
    over.abort()
  }
  observer.observe(document.getElementById('content')!, { childList: true, subtree: true })
  for (const type of ['keydown', 'pointerdown'] as const)
    addEventListener(type, end, { capture: true, signal: over.signal })
  return end
}

/** Calls `act` as another page is first rendered. */
export function useNewPage(act: () => void): void {
  const { pathname } = useLocation()
  const [shown, setShown] = useState(pathname)
  if (shown === pathname) return
  setShown(pathname)
  act()
}
