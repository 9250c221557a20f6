/** Formats of a measure of the forecast: amounts in the base currency, or numbers of deals. */
import { useFormat } from '../../format/use-format.tsx'
import type { Measure } from './changes.ts'
import { useBase } from './use-base.ts'

export function useMeasured(measure: Measure) {
  const format = useFormat()
  const base = useBase()
  const isCount = measure === 'count'
  const rounded = (value: number) => Number(value.toFixed(4))
  const full = (value: number) => (isCount ? format.number(value) : base.full(rounded(value)))
  const short = (value: number) => (isCount ? format.number(value) : base.short(rounded(value)))
  const sign = (value: number) => (value > 0 ? '+' : '')
  return {
    full,
    short,
    /** +$1,200.50 */
    signed: (value: number) => `${sign(value)}${full(value)}`,
    signedShort: (value: number) => `${sign(value)}${short(value)}`,
    deals: base.deals,
  }
}
