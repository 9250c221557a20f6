/** The code of the account's currency, in which amounts are compared. */
import { useCurrencies } from './currencies.ts'

export function BaseCode() {
  return useCurrencies().base?.code ?? null
}
