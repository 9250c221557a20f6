/**
 * Amounts in cells, and the currencies of the signs beside them. A sign means the base currency, or else the
 * only other currency in use that has it; otherwise it is ambiguous.
 */
import type { Catalog, Currency } from '../../fields/catalog.ts'
import { inCapitals } from '../../fields/in-capitals.ts'
import { asText, type Json, type RawNumber } from '../../json.ts'
import type { Place } from './targets.ts'

/** An amount as read from a cell. `unit`: the sign or code beside it, which only its row can resolve. */
export class Amount {
  readonly number: number | RawNumber
  readonly unit: string

  constructor(number: number | RawNumber, unit: string) {
    this.number = number
    this.unit = unit
  }
}

/** True if a target is an amount of money: all of it, or its number. */
export function isAmount({ form, member }: Place): boolean {
  return (
    form === 'money' || form === 'prices' || (form === 'number' && (member === 'value' || member === 'price'))
  )
}

/** True if a text beside an amount looks like a currency: a sign, or a code. The P of "P001" is none. */
export function isSaidCurrency(text: string, catalog: Catalog): boolean {
  return (/\p{Sc}/u.test(text) || /^\p{L}{3}$/u.test(text)) && isCurrency(text, catalog)
}

/** True if a text is the code or the sign of any currency. */
export function isCurrency(text: string, catalog: Catalog): boolean {
  return catalog.currencyByCode.has(codeOf(text, catalog)) || isSign(text, catalog)
}

function isSign(text: string, { currencyList }: Catalog): boolean {
  return currencyList.some(({ symbol }) => symbol === text)
}

/** The currency code that a text is or stands for. A sign of the account's currencies keeps its meaning. */
function codeOf(text: string, catalog: Catalog): string {
  const said = Object.hasOwn(countrySigns, text) && !isSign(text, catalog) ? countrySigns[text] : undefined
  return said ?? inCapitals(text)
}

/** Signs that include their country, for currencies that have a shorter sign in most accounts. */
const countrySigns: { readonly [sign: string]: string } = {
  ...{ US$: 'USD', A$: 'AUD', AU$: 'AUD', C$: 'CAD', CA$: 'CAD', NZ$: 'NZD', HK$: 'HKD', S$: 'SGD' },
  ...{ R$: 'BRL', NT$: 'TWD', MX$: 'MXN', 'CN¥': 'CNY', 'JP¥': 'JPY', SFr: 'CHF', Fr: 'CHF', zł: 'PLN' },
}

/** The currency of a code or a sign: the base currency, or the only one with a rate that has the sign. */
export function currencyOf(text: string, catalog: Catalog): Currency | undefined {
  if (text === '') return undefined
  const code = catalog.currencyByCode.get(codeOf(text, catalog))
  if (code) return code
  const alike = catalog.currencyList.filter(one => one.symbol === text && isInUse(one, catalog))
  const base = alike.find(({ id }) => id === catalog.account.base_currency)
  return base ?? (alike.length === 1 ? alike[0] : undefined)
}

/** True if the account has a rate for a currency, or it is the base currency. */
export function isInUse({ id, is_active, rate }: Currency, { account }: Catalog): boolean {
  return is_active && (rate !== null || id === account.base_currency)
}

/** True if the sign or code beside an amount may stand for the currency whose code or id was sent. */
export function isSignOf(unit: string, sentCurrency: Json, catalog: Catalog): boolean {
  const currency = catalog.currencies.get(idOf(sentCurrency, catalog) ?? 0)
  return currency !== undefined && (currency.symbol === unit || currency.code === codeOf(unit, catalog))
}

/** The id of a currency, from its id or its code. */
export function idOf(currency: Json, { currencies, currencyByCode }: Catalog): number | undefined {
  const text = asText(currency)
  const id = Number(text)
  return currencies.has(id) ? id : currencyByCode.get(inCapitals(text))?.id
}
