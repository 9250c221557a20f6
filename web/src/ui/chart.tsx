/**
 * Charts in SVG: stacked bars side by side, and bars below each other, also as a funnel. A mark is a link
 * with a name; a chart is one Tab stop, and the arrow keys move from mark to mark. Beside its colour each
 * series has a pattern of its own. Knows neither the numbers' meaning nor the links' targets.
 */
import { useId } from 'react'
import { niceTop } from './chart-axis.ts'
import { type Bar, fillOf, MarkLink, type Open, Patterns, useMarks } from './chart-parts.tsx'

const drawn = 190
const head = 18

/** Minimum length of a mark, which is otherwise proportional to its value. */
const thinnest = 1
/** Gap between neighbours. Painted first, it doesn't cover the mark itself. */
const edge = { stroke: 'var(--surface)', paintOrder: 'stroke' } as const

/** Stacked bars side by side, the first mark at the foot. `axis` formats an amount shortly. */
export function StackedBars(props: {
  label: string
  bars: readonly Bar[]
  axis: (value: number) => string
  onOpen: Open
}) {
  const { label, bars, axis, onOpen } = props
  const id = useId()
  const { root, onKeyDown, onClick } = useMarks(onOpen)
  const totals = bars.map(({ marks }) => marks.reduce((sum, { value }) => sum + value, 0))
  const most = niceTop(Math.max(...totals, 0))
  const each = 100 / Math.max(bars.length, 1)
  const y = (value: number) => head + drawn * (1 - value / most)
  const first = bars.findIndex(({ marks }) => marks.some(({ value }) => value > 0))
  return (
    <fieldset ref={root} className="flex min-w-0" aria-label={label} onKeyDown={onKeyDown}>
      <div aria-hidden className="relative w-14 shrink-0 text-xs text-ink-faint">
        {[0, 0.5, 1].map(part => (
          <span
            key={part}
            className="tabular absolute right-2 -translate-y-1/2"
            style={{ top: y(most * part) }}
          >
            {axis(most * part)}
          </span>
        ))}
      </div>
      <div className="min-w-0 grow overflow-x-auto pb-1">
        <svg
          role="presentation"
          width="100%"
          height={head + drawn + 24}
          style={{ minWidth: bars.length * 66 }}
          className="block"
        >
          <Patterns id={id} />
          {[0, 0.5, 1].map(part => (
            <line key={part} x1="0" x2="100%" y1={y(most * part)} y2={y(most * part)} stroke="var(--line)" />
          ))}
          {bars.map((bar, index) => {
            let below = 0
            const middle = `${(index + 0.5) * each}%`
            const shown = bar.marks.filter(({ value }) => value > 0)
            return (
              <g key={bar.id}>
                {shown.map((mark, at) => {
                  below += mark.value
                  return (
                    <MarkLink
                      key={mark.look}
                      mark={mark}
                      isFirst={index === first && at === 0}
                      onClick={onClick}
                    >
                      <rect
                        x={`${(index + 0.18) * each}%`}
                        width={`${each * 0.64}%`}
                        y={y(below)}
                        height={Math.max((drawn * mark.value) / most, thinnest)}
                        fill={fillOf(mark.look, id)}
                        {...edge}
                      />
                    </MarkLink>
                  )
                })}
                <text x={middle} y={y(below) - 5} textAnchor="middle" className="tabular fill-ink text-xs">
                  {shown.length > 0 && bar.text}
                </text>
                <text x={middle} y={head + drawn + 17} textAnchor="middle" className="fill-ink-soft text-xs">
                  {bar.name}
                </text>
              </g>
            )
          })}
        </svg>
      </div>
    </fieldset>
  )
}

/**
 * Bars below each other; a funnel centres them, and in a waterfall each begins where the last one ended. All
 * share the columns of one grid, and so one scale: the text at the end of one bar takes room from every bar
 * alike.
 */
export function Bars(props: { label: string; bars: readonly Bar[]; isFunnel?: boolean; onOpen: Open }) {
  const { label, bars, isFunnel = false, onOpen } = props
  const id = useId()
  const { root, onKeyDown, onClick } = useMarks(onOpen)
  const totals = bars.map(({ marks }) => marks.reduce((sum, { value }) => sum + value, 0))
  const most = Math.max(...bars.map(({ start = 0 }, index) => start + totals[index]!), 0) || 1
  const first = bars.findIndex(({ marks }) => marks.some(({ value, href }) => value > 0 && href))
  return (
    <fieldset
      ref={root}
      aria-label={label}
      onKeyDown={onKeyDown}
      className="grid min-w-0 gap-x-3 gap-y-2 sm:grid-cols-[minmax(0,160px)_1fr_minmax(72px,max-content)]"
    >
      {bars.map((bar, index) => {
        const total = totals[index] ?? 0
        let before = isFunnel ? (100 - (100 * total) / most) / 2 : (100 * (bar.start ?? 0)) / most
        const shown = bar.marks.filter(({ value }) => value > 0)
        return (
          <div key={bar.id} className="grid min-w-0 items-center sm:col-span-3 sm:grid-cols-subgrid">
            <div className="min-w-0">
              <p className="truncate" dir="auto" title={bar.name}>
                {bar.name}
              </p>
              {bar.detail && <p className="text-sm text-ink-faint">{bar.detail}</p>}
            </div>
            <svg role="presentation" width="100%" height={26} className="block">
              <Patterns id={`${id}${index}`} />
              {shown.map((mark, at) => {
                const [x, width] = [before, (100 * mark.value) / most]
                before += width
                return (
                  <MarkLink
                    key={mark.look}
                    mark={mark}
                    isFirst={index === first && at === 0}
                    onClick={onClick}
                  >
                    <rect
                      x={`${x}%`}
                      style={{ width: `max(${width}%, ${thinnest}px)` }}
                      y={1}
                      height="24"
                      rx={2}
                      fill={fillOf(mark.look, `${id}${index}`)}
                      {...edge}
                    />
                  </MarkLink>
                )
              })}
            </svg>
            <p className="tabular whitespace-nowrap text-ink-soft sm:text-right">{bar.text}</p>
          </div>
        )
      })}
    </fieldset>
  )
}
