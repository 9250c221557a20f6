/** Parts of charts: series and their patterns, marks that are links, and arrow keys between them. */
import { type KeyboardEvent, type MouseEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react'

export type Look = 'won' | 'lost' | 'solid' | 'hatched'

export type Series = { readonly name: string; readonly look: Look }

export type Mark = {
  readonly value: number
  readonly look: Look
  /** label of the mark, for screen readers and on hover */
  readonly name: string
  /** absent: the mark leads nowhere, and takes no focus */
  readonly href?: string
}

export type Bar = {
  readonly id: string
  readonly name: string
  /** text at the end of the bar */
  readonly text: string
  /** below the name, in `Bars` */
  readonly detail?: ReactNode
  /** where the bar begins, as in a waterfall; without it, at zero */
  readonly start?: number
  readonly marks: readonly Mark[]
}

export type Open = (href: string) => void

export const fillOf = (look: Look, id: string) => (look === 'solid' ? 'var(--accent)' : `url(#${id}-${look})`)

/** The patterns of a drawing: won has dots, lost has strokes the other way, uncertain amounts are hatched. */
export function Patterns({ id }: { id: string }) {
  const size = { width: 6, height: 6, patternUnits: 'userSpaceOnUse' } as const
  return (
    <defs>
      <pattern id={`${id}-hatched`} {...size}>
        <rect width={6} height={6} fill="var(--accent-soft)" />
        <path d="M-1 1 1-1M0 6 6 0M5 7 7 5" stroke="var(--accent)" strokeWidth={1.4} />
      </pattern>
      <pattern id={`${id}-won`} {...size}>
        <rect width={6} height={6} fill="var(--won)" />
        <circle cx={3} cy={3} r={0.9} fill="var(--surface)" />
      </pattern>
      <pattern id={`${id}-lost`} {...size}>
        <rect width={6} height={6} fill="var(--lost)" />
        <path d="M0 0 6 6" stroke="var(--surface)" strokeWidth={0.8} />
      </pattern>
    </defs>
  )
}

export function Legend({ series }: { series: readonly Series[] }) {
  const id = useId()
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm text-ink-soft" aria-label="Legend">
      {series.map(({ name, look }) => (
        <li key={name} className="flex items-center gap-1.5">
          <svg width={14} height={14} aria-hidden="true">
            <Patterns id={id} />
            <rect width={14} height={14} rx={3} fill={fillOf(look, id)} stroke="var(--line-strong)" />
          </svg>
          {name}
        </li>
      ))}
    </ul>
  )
}

/** Moves the focus among the marks of a chart; the last focused one is the chart's Tab stop. */
export function useMarks(onOpen: Open) {
  const root = useRef<HTMLFieldSetElement>(null)
  // The mark that was the stop may be gone with a filter, or be the first no more.
  useLayoutEffect(() => {
    const marks = [...(root.current?.querySelectorAll<SVGAElement>('a[data-mark]') ?? [])]
    const stops = marks.filter(mark => mark.getAttribute('tabindex') === '0')
    const stop = stops.find(mark => mark === document.activeElement) ?? stops[0] ?? marks[0]
    for (const mark of marks) mark.setAttribute('tabindex', mark === stop ? '0' : '-1')
  })
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: { [key: string]: number } = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }
    const marks = [...(root.current?.querySelectorAll<SVGAElement>('a[data-mark]') ?? [])]
    const at = marks.indexOf(document.activeElement as unknown as SVGAElement)
    const ends: { [key: string]: number } = { Home: 0, End: marks.length - 1 }
    const next = ends[event.key] ?? (steps[event.key] === undefined ? undefined : at + steps[event.key]!)
    const mark = next === undefined ? undefined : marks[next]
    if (at < 0 || !mark) return
    event.preventDefault()
    for (const other of marks) other.setAttribute('tabindex', other === mark ? '0' : '-1')
    mark.focus()
  }
  const onClick = (event: MouseEvent<Element>) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    const href = event.currentTarget.getAttribute('href')
    if (!href) return
    event.preventDefault()
    onOpen(href)
  }
  return { root, onKeyDown, onClick }
}

type MarkProps = {
  mark: Mark
  isFirst: boolean
  onClick: (event: MouseEvent<Element>) => void
  children: ReactNode
}

export function MarkLink({ mark, isFirst, onClick, children }: MarkProps) {
  if (mark.href === undefined)
    return (
      <g>
        <title>{mark.name}</title>
        {children}
      </g>
    )
  return (
    <a
      data-mark
      href={mark.href}
      aria-label={mark.name}
      tabIndex={isFirst ? 0 : -1}
      onClick={onClick}
      className="outline-none [&:focus-visible>rect]:[stroke-width:3px]
        [&:focus-visible>rect]:[paint-order:normal] [&:focus-visible>rect]:[stroke:var(--ink)]
        [&:hover>rect]:brightness-110"
    >
      <title>{mark.name}</title>
      {children}
    </a>
  )
}
