/** The column in which a page of the documentation is read, and the anchor that its address names. */
import { useLocation } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'

export function DocPage({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Dealwright`
  }, [title])
  useAnchor()
  return (
    <main
      className="mx-auto max-w-[880px] px-4 pt-6 pb-24 text-lg leading-6 md:px-8 md:pt-8
        [&_[id]]:scroll-mt-4
        [&_code]:font-mono [&_code]:text-[0.9em]
        [&_[data-anchored]:not(details)]:bg-warn-soft [&_[data-anchored]]:outline-none"
    >
      {children}
    </main>
  )
}

/** Opens, marks and focuses the anchor of the address: the browser looked for it before it was there. */
function useAnchor(): void {
  const { hash, state } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link to the same place leads there again
  useEffect(() => {
    const target = hash ? document.getElementById(hash) : null
    if (!target) return
    if (target instanceof HTMLDetailsElement) target.open = true
    const focused = target instanceof HTMLDetailsElement ? target.querySelector('summary')! : target
    if (focused === target) target.tabIndex = -1
    focused.focus({ preventScroll: true })
    target.scrollIntoView()
    target.dataset.anchored = ''
    return () => {
      delete target.dataset.anchored
    }
  }, [hash, state])
}
