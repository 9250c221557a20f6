/** Exchange rates of the sample's currencies. */
import names from './names.json' with { type: 'json' }

/** Value of one unit in US dollars. */
export const rates: readonly (readonly [code: string, rate: string])[] = Object.entries(names.rates)

/**
 * Value of one unit of other currencies in US dollars: the sample doesn't use them, but one may be the base
 * currency.
 */
const otherRates: { readonly [code: string]: number } = names.other_rates

/**
 * The sample's exchange rates in a base currency, to six digits. Empty if the base's rate is unknown: no rate
 * is ever assumed.
 */
export function ratesIn(base: string): (readonly [code: string, rate: number])[] {
  const all = { ...otherRates, ...Object.fromEntries(rates.map(([code, rate]) => [code, Number(rate)])) }
  const unit = all[base]
  if (!unit) return []
  const others = ['USD', ...rates.map(([code]) => code)].filter(code => code !== base)
  return others.map(code => [code, Number((all[code]! / unit).toPrecision(6))])
}
