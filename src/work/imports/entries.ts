/**
 * Merges a row's entry into a list that the record already has: one price, one e-mail, one number. The other
 * entries stay. Keys: currency of prices, address of e-mails, digits of numbers or the kind in the target,
 * parts of addresses. Pure.
 */
import { isBlank } from '../../fields/blank.ts'
import type { Catalog } from '../../fields/catalog.ts'
import type { Values } from '../../fields/field.ts'
import { emailTypes, entriesMax, phoneTypes } from '../../fields/kinds/contact-points.ts'
import { findOption } from '../../fields/kinds/dropdown.ts'
import { kinds } from '../../fields/kinds.ts'
import { comparedName } from '../../fields/name.ts'
import { asText, isObject, type Json, type JsonObject } from '../../json.ts'
import { idOf } from './amounts.ts'
import { asObject } from './cell-values.ts'
import type { Form, Place } from './targets.ts'

/** Fields of which a row has entries, with their forms, and the kinds of numbers in the targets. */
export type EntryFields = ReadonlyMap<string, { readonly form: Form; readonly types: ReadonlySet<string> }>

/** The forms whose values are lists of entries. */
export const entryForms: ReadonlySet<Form> = new Set(['prices', 'emails', 'phones', 'address'])

/** The form of the field that a target is a part of. */
export function formOfWhole({ form, of, member }: Place): Form {
  const { members } = kinds[of.type]
  if (member === null || form === 'emails' || form === 'phones') return form
  return members.includes('price') ? 'prices' : members.includes('city') ? 'address' : form
}

/** The content of a row: its body, the fields with entries, and the derived fields. */
type RowContent = {
  readonly body: JsonObject
  readonly told: EntryFields
  readonly derived: readonly string[]
}

/** The body of an update: adds the record's other entries, drops derived fields that have a stored value. */
export function onto({ body, told, derived }: RowContent, before: Values, catalog: Catalog): JsonObject {
  const merged = [...told].flatMap(([name, { form, types }]): [string, Json][] => {
    const [own, kept] = [body[name], before[name]]
    if (own === undefined || !Array.isArray(kept) || kept.length === 0) return []
    const entries = kept.filter(isObject)
    if (form === 'address') return [[name, { ...entries[0], ...asObject(own) }]]
    const added = (Array.isArray(own) ? own : [own]).filter(isObject)
    // Far too many are refused as a whole.
    if (form !== 'prices' && added.length > 2 * entriesMax) return []
    // Nobody knows which is meant: they are refused, as in a new record.
    if (form === 'prices' && isTwice(added, catalog)) return []
    return [
      [name, added.reduce<JsonObject[]>((all, one) => withEntry(all, one, form, types, catalog), entries)],
    ]
  })
  const own = Object.entries(body).filter(
    ([name]) => !derived.includes(name) || isBlank(before[name] ?? null),
  )
  return Object.fromEntries([...own, ...merged])
}

/** True if two prices have one currency. */
function isTwice(prices: readonly JsonObject[], catalog: Catalog): boolean {
  const currencies = prices.map(({ currency = null }) => idOf(currency, catalog) ?? currency)
  return new Set(currencies).size < currencies.length
}

function withEntry(
  all: readonly JsonObject[],
  one: JsonObject,
  form: Form,
  types: ReadonlySet<string>,
  catalog: Catalog,
): JsonObject[] {
  const isSame = sameness(form, one, types, catalog)
  const at = all.findIndex(isSame)
  if (at < 0) return [...all, one]
  return all.with(at, form === 'prices' ? repriced(all[at]!, one) : retyped(all[at]!, one, types))
}

/** Test if another entry is about the same thing as `one`. */
function sameness(
  form: Form,
  one: JsonObject,
  types: ReadonlySet<string>,
  catalog: Catalog,
): (other: JsonObject) => boolean {
  if (form === 'prices') {
    const currency = idOf(one.currency ?? null, catalog)
    return other => currency !== undefined && idOf(other.currency ?? null, catalog) === currency
  }
  if (form === 'emails') {
    const address = comparedName(asText(one.email_value))
    return other => comparedName(asText(other.email_value)) === address
  }
  const digits = digitsOf(one)
  const kind = types.has(asText(one.phone_type)) ? typeOf(one) : undefined
  return other => digitsOf(other) === digits || (kind !== undefined && typeOf(other) === kind)
}

/** The digits of an entry's phone number, by which numbers are compared. */
export function digitsOf({ phone_number }: JsonObject): string {
  return asText(phone_number).replace(/\D/g, '')
}

function typeOf(one: JsonObject): number | undefined {
  const [type, all] = 'phone_type' in one ? [one.phone_type, phoneTypes] : [one.email_type, emailTypes]
  return findOption(asText(type), all)?.id
}

/** Replaces the price; tax and discount stay if the row doesn't have them. */
function repriced({ price, ...before }: JsonObject, one: JsonObject): JsonObject {
  return { ...before, ...one, unit_price: one.unit_price ?? price! }
}

/** Keeps the spelling of the stored entry, and its kind unless the target names one. */
function retyped(before: JsonObject, one: JsonObject, types: ReadonlySet<string>): JsonObject {
  const { email_type, phone_type, ...value } = one
  const isTyped = types.has(asText(email_type ?? phone_type))
  const isSame = 'phone_number' in one ? digitsOf(one) === digitsOf(before) : true
  return { ...before, ...(isSame ? {} : value), ...(isTyped ? typeMember(one) : {}) }
}

function typeMember({ email_type, phone_type }: JsonObject): JsonObject {
  return email_type === undefined ? { phone_type: phone_type! } : { email_type }
}
