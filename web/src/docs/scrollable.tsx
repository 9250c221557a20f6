/** A box that scrolls sideways where its content is wider; only then the keyboard stops at it. */
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { classes } from '../ui/classes.ts'

export function Scrollable({ className, children }: { className?: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  const [isWide, setWide] = useState(false)
  useEffect(() => {
    const { current } = box
    if (!current) return
    const observer = new ResizeObserver(() => setWide(current.scrollWidth > current.clientWidth))
    observer.observe(current)
    // The content grows without the box when its font has come.
    if (current.firstElementChild) observer.observe(current.firstElementChild)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={box} tabIndex={isWide ? 0 : undefined} className={classes('overflow-x-auto', className)}>
      {children}
    </div>
  )
}

export function CodeBlock({ className, children }: { className?: string; children: string }) {
  return (
    <Scrollable className={classes('rounded-md border border-line bg-sunken px-4 py-3 leading-5', className)}>
      <pre className="w-max min-w-full">
        <code>{children}</code>
      </pre>
    </Scrollable>
  )
}
