/**
 * The currencies of ISO 4217 that are money of a country or union, with their numeric codes (which are their
 * ids, D44) and minor units, from currencies.json.
 */
import type { Currency } from '../fields/catalog.ts'
import { inCapitals } from '../fields/in-capitals.ts'
import currencies from './currencies.json' with { type: 'json' }

export type IsoCurrency = Omit<Currency, 'rate' | 'is_active'>

export const isoCurrencies: readonly IsoCurrency[] = currencies

/** The code of a currency in upper case; null if there is no such currency. */
export function currencyCode(text: string): string | null {
  return isoCurrencies.find(({ code }) => code === inCapitals(text))?.code ?? null
}
