/** Last step of a row, after all its cells: currencies of amounts, and prices. Pure. */
import type { Catalog } from '../../fields/catalog.ts'
import { kinds } from '../../fields/kinds.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { asObject } from './cell-values.ts'
import type { Place } from './targets.ts'

/** The currency of the row's currency columns, if they agree. It applies to all its amounts. */
export function currencyOfRow(body: JsonObject, targets: readonly Place[]): Json | undefined {
  const all = targets.flatMap(place => {
    const isOfRow = place.form === 'currency' && !place.isNested
    return isOfRow ? [asObject(body[place.of.internal_name]).currency ?? null] : []
  })
  const codes = [...new Set(all.filter(one => one !== null))]
  return codes.length === 1 ? codes[0] : undefined
}

/** `prices`: from columns in a currency of their own, by field. */
type Finish = (body: JsonObject, currency: Json | undefined, prices: Prices) => void
export type Prices = ReadonlyMap<string, readonly JsonObject[]>

/**
 * Functions that finish a record of a row, whose targets these are, after all its cells: they set currencies
 * and make prices a list.
 */
export function finishersOf(targets: readonly Place[], catalog: Catalog): Finish[] {
  const base = catalog.currencies.get(catalog.account.base_currency)?.code
  const fields = new Set(targets.map(({ of }) => of))
  return [...fields].flatMap((of): Finish[] => {
    const { internal_name: name, default_value } = of
    const { members } = kinds[of.type]
    if (members.includes('price'))
      return [(body, currency, prices) => finishPrices(body, name, currency ?? base, prices.get(name) ?? [])]
    const own = asObject(default_value).currency === undefined ? base : undefined
    const isMoney = members.includes('value') && members.includes('currency')
    return isMoney ? [(body, currency) => finishMoney(body, name, currency ?? own)] : []
  })
}

/** Drops a currency without an amount. An amount without a currency gets its row's, or the account's. */
function finishMoney(body: JsonObject, name: string, base: Json | undefined): void {
  const money = body[name]
  if (!isObject(money)) return
  if (money.value === undefined && money.products === undefined) delete body[name]
  else if (money.currency === undefined && base !== undefined) body[name] = { currency: base, ...money }
}

/** Price, tax and discount belong to one entry; several prices share the same tax and discount. */
function finishPrices(
  body: JsonObject,
  name: string,
  base: Json | undefined,
  more: readonly JsonObject[],
): void {
  const entry = body[name]
  if (Array.isArray(entry)) body[name] = [...entry, ...more]
  if (!isObject(entry) && (Array.isArray(entry) || more.length === 0)) return
  const { price, currency = base ?? null, ...others } = asObject(entry)
  const isPriced = price !== undefined || others.unit_price !== undefined
  const isOne = isPriced || (more.length === 0 && Object.keys(others).length > 0)
  const one = { currency, ...(price === undefined ? {} : { unit_price: price }), ...others }
  const all = [...(isOne ? [one] : []), ...more.map(other => ({ ...others, ...other }))]
  if (all.length) body[name] = all
  else delete body[name]
}
