/** Open and won deals as the marks of a bar: in amounts, or as counts if the role hides amounts. Pure. */
import type { Series } from '../../ui/chart-parts.tsx'
import { dealsPath, type OwnerRow } from './reports.ts'
import type { BaseFormat } from './use-base.ts'

const amountSeries: readonly Series[] = [
  { name: 'Won', look: 'won' },
  { name: 'Weighted', look: 'solid' },
  { name: 'Best case', look: 'hatched' },
]
const dealSeries: readonly Series[] = [
  { name: 'Won', look: 'won' },
  { name: 'Open', look: 'solid' },
]

export const seriesOf = (isInAmounts: boolean) => (isInAmounts ? amountSeries : dealSeries)

type Row = Omit<OwnerRow, 'owner' | 'name'> & {
  readonly id: string
  readonly name: string
  readonly openFilter: string
  readonly wonFilter: string
}

export function barOf(row: Row, isInAmounts: boolean, { full, short, number, deals }: BaseFormat) {
  const { id, name, openFilter, wonFilter, count, best, weighted, won, wonCount } = row
  const [openPath, wonPath] = [dealsPath(openFilter), dealsPath(wonFilter)]
  if (!isInAmounts)
    return {
      id,
      name,
      text: number(count + wonCount),
      marks: [
        { value: wonCount, look: 'won', name: `${name}, won: ${deals(wonCount)}`, href: wonPath },
        { value: count, look: 'solid', name: `${name}, open: ${deals(count)}`, href: openPath },
      ],
    } as const
  const label = (series: string, value: number, count: number) =>
    `${name}, ${series}: ${full(value)}, ${deals(count)}`
  return {
    id,
    name,
    text: short(best + won),
    marks: [
      { value: won, look: 'won', name: label('won', won, wonCount), href: wonPath },
      { value: weighted, look: 'solid', name: label('weighted', weighted, count), href: openPath },
      { value: best - weighted, look: 'hatched', name: label('best case', best, count), href: openPath },
    ],
  } as const
}
