/** The sum of a field's values: a number, or an amount in one currency or several. */
import type { Money } from '../../format/format.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Fitting } from '../../ui/fitting.tsx'
import type { Sums } from './sums.ts'

type Amounts = {
  readonly by_currency: readonly Money[]
  readonly in_base_currency: Money | null
  readonly without_rate: number
}

/** Several currencies are added up in the base currency; the title has each. Nothing for an unknown sum. */
export function Sum({ sums, name }: { sums: Sums; name: string }) {
  const format = useFormat()
  const sum = sums[`sum:${name}`] as number | Amounts | null | undefined
  if (sum === undefined || sum === null) return null
  if (typeof sum === 'number')
    return <Fitting whole={format.number(sum)} short={format.compactMoney({ value: sum })} />
  const { by_currency: amounts, in_base_currency: inBase, without_rate: without } = sum
  const each = amounts.map(format.codedMoney).join(' · ')
  const [first] = amounts
  if (!first) return null
  if (amounts.length === 1)
    return <Fitting whole={format.money(first)} short={format.compactMoney(first)} title={each} />
  if (!inBase)
    return <Fitting whole={each} short={format.counted(amounts.length, 'currency', 'currencies')} />
  const title = [each, without > 0 && `${format.counted(without, 'has', 'have')} no rate`]
    .filter(Boolean)
    .join('. ')
  return <Fitting whole={format.money(inBase)} short={format.compactMoney(inBase)} title={title} />
}
