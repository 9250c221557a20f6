/** The forecast then and now, and the steps between, as a waterfall or as a table. */
import { useFormat } from '../../format/use-format.tsx'
import { Bars } from '../../ui/chart.tsx'
import { type Bar, Legend, type Look, type Series } from '../../ui/chart-parts.tsx'
import {
  type Changes,
  type Fall,
  forecastOf,
  type Kind,
  type Measure,
  waterfallOf,
  wordsOf,
} from './changes.ts'
import { Figure, NumberTable, useOpen } from './parts.tsx'
import { dealsPath } from './periods-and-sums.ts'
import { useMeasured } from './use-measured.ts'

type Props = {
  changes: Changes
  measure: Measure
  /** words of the two moments: "on Nov 23", "now" */
  then: string
  now: string
  /** finds the open deals of now */
  filter: string
  isTable: boolean
}

const series: readonly Series[] = [
  { name: 'Forecast', look: 'solid' },
  { name: 'Adds', look: 'hatched' },
  { name: 'Takes away', look: 'lost' },
  { name: 'Won', look: 'won' },
]

const lookOf = (kind: Kind, change: number): Look =>
  kind === 'won' ? 'won' : change > 0 ? 'hatched' : 'lost'

/** The id of the section with the deals of a kind. */
export const sectionOf = (kind: Kind) => `changes-${kind}`

export function ChangesWaterfall(props: Props) {
  const { changes, measure, then, now, isTable } = props
  const { full, signed } = useMeasured(measure)
  const [was, is] = [forecastOf(changes.before, measure), forecastOf(changes.after, measure)]
  const falls = waterfallOf(changes, measure)
  const won = changes.steps.find(({ kind }) => kind === 'won')
  return (
    <div className="flex flex-col gap-4">
      <dl className="flex flex-wrap gap-x-8 gap-y-2">
        <Figure name={`Forecast ${then}`} text={full(was)} />
        <Figure name={`Forecast ${now}`} text={full(is)} />
        <Figure name="Change" text={signed(is - was)} />
        {won && (
          <Figure name="Won since" text={measure === 'count' ? full(won.count) : full(won.deal_value ?? 0)} />
        )}
      </dl>
      {isTable ? <WaterfallTable {...props} falls={falls} /> : <WaterfallChart {...props} falls={falls} />}
    </div>
  )
}

type ViewProps = Props & { falls: readonly Fall[] }

function WaterfallTable({ changes, measure, then, now, filter, falls }: ViewProps) {
  const format = useFormat()
  const { full, signed } = useMeasured(measure)
  const ends = (id: 'before' | 'after', name: string, more: { filter?: string } = {}) => ({
    id,
    name,
    cells: [
      { text: format.number(changes[id].count), ...more },
      { text: full(forecastOf(changes[id], measure)), ...more },
    ],
  })
  return (
    <NumberTable
      label="Changes of the forecast"
      columns={['Step', 'Deals', 'Forecast']}
      without={measure === 'count' ? ['Deals'] : []}
      rows={[
        ends('before', `Forecast ${then}`),
        ...falls.map(({ step: { kind, count }, change }) => ({
          id: kind,
          name: (
            <a className="linked" href={`#${sectionOf(kind)}`} onClick={() => showSection(kind)}>
              {wordsOf[kind].name}
            </a>
          ),
          cells: [{ text: format.number(count) }, { text: signed(change) }],
        })),
      ]}
      total={ends('after', `Forecast ${now}`, now === 'now' ? { filter } : {})}
    />
  )
}

function WaterfallChart({ changes, measure, then, now, filter, falls }: ViewProps) {
  const { full, short, signed, signedShort, deals } = useMeasured(measure)
  const onOpen = useOpen()
  const total = (id: 'before' | 'after', name: string, href?: string): Bar => {
    const value = forecastOf(changes[id], measure)
    const label = `${name}: ${full(value)}`
    const mark = { value, look: 'solid', name: label, ...(href ? { href } : {}) } as const
    return { id, name, text: short(value), detail: deals(changes[id].count), marks: [mark] }
  }
  const steps = falls.map(({ step: { kind, count }, start, change }): Bar => {
    const { name } = wordsOf[kind]
    const label = `${name}: ${signed(change)}, ${deals(count)}`
    const look = lookOf(kind, change)
    const mark = { value: Math.abs(change), look, name: label, href: `#${sectionOf(kind)}` }
    return { id: kind, name, text: signedShort(change), detail: deals(count), start, marks: [mark] }
  })
  const shown = new Set(falls.map(({ step, change }) => lookOf(step.kind, change)).concat('solid'))
  return (
    <div className="flex flex-col gap-4">
      <Legend series={series.filter(({ look }) => shown.has(look))} />
      <Bars
        label="Changes of the forecast"
        onOpen={href => {
          const kind = falls.find(({ step }) => href === `#${sectionOf(step.kind)}`)?.step.kind
          if (kind) showSection(kind)
          else onOpen(href)
        }}
        bars={[
          total('before', `Forecast ${then}`),
          ...steps,
          total('after', `Forecast ${now}`, now === 'now' ? dealsPath(filter) : undefined),
        ]}
      />
    </div>
  )
}

/** Shows the deals of a kind, and moves the focus to them. */
function showSection(kind: Kind): void {
  const section = document.getElementById(sectionOf(kind))
  section?.focus({ preventScroll: true })
  section?.scrollIntoView({ block: 'start' })
}
