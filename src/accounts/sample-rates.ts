/** What the sample's currencies are worth. */
import names from './sample-names.json' with { type: 'json' }

/** What one unit is worth in US dollars. */
export const rates: readonly (readonly [code: string, rate: string])[] = Object.entries(names.rates)

/** What one unit of others is worth in dollars: none is used, but one may be the base currency. */
const otherRates: { readonly [code: string]: number } = names.other_rates

/**
 * What the sample's currencies are worth in a base currency, to six digits. Empty where that is not known: no
 * rate is ever assumed.
 */
export function ratesIn(base: string): (readonly [code: string, rate: number])[] {
  const all = { ...otherRates, ...Object.fromEntries(rates.map(([code, rate]) => [code, Number(rate)])) }
  const unit = all[base]
  if (!unit) return []
  const others = ['USD', ...rates.map(([code]) => code)].filter(code => code !== base)
  return others.map(code => [code, Number((all[code]! / unit).toPrecision(6))])
}
