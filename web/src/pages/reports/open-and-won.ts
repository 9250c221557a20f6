/** Open and won deals as a bar or a row of a table: in amounts, or as counts if the role hides them. Pure. */
import type { Series } from '../../ui/chart-parts.tsx'
import type { Cell } from './parts.tsx'
import { dealsPath, type OwnerRow } from './periods-and-sums.ts'
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

export type OpenAndWon = Omit<OwnerRow, 'owner' | 'name'> & {
  readonly id: string
  readonly name: string
  readonly openFilter: string
  readonly wonFilter: string
}

/** The columns of a table after the one of the names, and those of them that are amounts. */
export const columns = ['Open deals', 'Best case', 'Weighted', 'Won deals', 'Won']
export const amountColumns = ['Best case', 'Weighted', 'Won']

/** The cells of these columns. */
export function cellsOf(row: OpenAndWon, { full, number }: BaseFormat): readonly Cell[] {
  const { openFilter, wonFilter, count, best, weighted, won, wonCount } = row
  return [
    { text: number(count), filter: openFilter },
    { text: full(best), filter: openFilter },
    { text: full(weighted), filter: openFilter },
    { text: number(wonCount), filter: wonFilter },
    { text: full(won), filter: wonFilter },
  ]
}

export function barOf(row: OpenAndWon, isInAmounts: boolean, { full, short, number, deals }: BaseFormat) {
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
