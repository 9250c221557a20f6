/** The head of a page: its heading, what it shows, and what can be done. */
import { type ReactNode, useEffect } from 'react'

export function PageHead(props: { title: string; detail?: ReactNode; children?: ReactNode }) {
  const { title, detail, children } = props
  useEffect(() => {
    document.title = `${title} · Dealwright`
  }, [title])
  return (
    <header className="flex min-h-[52px] shrink-0 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
      <h1 dir="auto" className="truncate text-lg font-semibold">
        {title}
      </h1>
      {detail && <div className="min-w-0 text-ink-soft">{detail}</div>}
      <span className="grow" />
      {children}
    </header>
  )
}
