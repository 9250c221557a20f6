/** The parts of a page: its head with the actions, its body, and panels in it. */
import { type ReactNode, useEffect, useId } from 'react'
import { classes } from './classes.ts'

export function PageHead(props: {
  title: string
  detail?: ReactNode
  /** the title may need two lines beside the actions */
  isLong?: boolean
  children?: ReactNode
}) {
  const { title, detail, isLong = false, children } = props
  useEffect(() => {
    document.title = `${title} · Dealwright`
  }, [title])
  return (
    <header className="flex min-h-[52px] shrink-0 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
      <h1
        dir="auto"
        className={classes(
          'text-lg font-semibold',
          isLong ? 'line-clamp-2 min-w-0 flex-1 basis-40' : 'truncate',
        )}
      >
        {title}
      </h1>
      {detail && <div className="min-w-0 text-ink-soft">{detail}</div>}
      {!isLong && <span className="grow" />}
      {children}
    </header>
  )
}

/** The body of a page, in a readable width. */
export function PageBody({ children }: { children: ReactNode }) {
  return <div className="page-column flex flex-col gap-5 px-4 pb-12">{children}</div>
}

/** A part of a page, with a heading of its own. */
export function Panel(props: {
  title: string
  detail?: ReactNode
  actions?: ReactNode
  className?: string
  children: ReactNode
}) {
  const { title, detail, actions, className, children } = props
  const id = useId()
  return (
    <section aria-labelledby={id} className="min-w-0 rounded-md border border-line bg-surface">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2.5">
        <div className="min-w-0 grow">
          <h2 id={id} className="min-w-0 font-semibold" dir="auto">
            {title}
          </h2>
          {detail && <div className="text-sm text-ink-soft">{detail}</div>}
        </div>
        {actions}
      </header>
      <div className={classes('min-w-0', className)}>{children}</div>
    </section>
  )
}
