/**
 * Values of records as agents read them: short, with names in the place of ids and the currency beside an
 * amount. Goes by the shape of a value, as its JSON says all of it. Pure.
 */
import { asText, isNumber, isObject, type Json, type JsonObject } from '../json.ts'

/** A value; `names` is what `expand` answered for it, if it is an id or several. */
export function shownValue(value: Json, names?: Json): Json {
  if (value === null) return null
  if (Array.isArray(value)) return shownList(value, names)
  if (isNumber(value) && names !== undefined) return nameOf(names) ?? value
  if (typeof value === 'string') return moment.test(value) ? value.replace(/:\d\d\.\d{3}Z$/, 'Z') : value
  return isObject(value) ? shownObject(value) : value
}

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The name behind an id; null if the caller may not read it. */
function nameOf(named: Json): Json {
  return isObject(named) ? named.name! : null
}

function shownList(values: readonly Json[], names: Json | undefined): Json {
  const all = values.map((value, index) =>
    shownValue(value, Array.isArray(names) ? (names[index] ?? null) : undefined),
  )
  if (all.length === 0) return null
  return all.length === 1 ? all[0]! : all
}

function shownObject(value: JsonObject): Json {
  const { currency_code: code, email_value: email, phone_number: phone, range } = value
  if (email !== undefined) return email
  if (phone !== undefined) return phone
  if (isObject(range)) return `${asText(shownValue(range.from!))} to ${asText(shownValue(range.to!))}`
  const amount = value.value ?? value.price
  if (typeof code === 'string' && amount !== undefined) return `${code} ${asText(amount)}`
  if (Object.keys(value).some(name => name.startsWith('address_'))) return shownAddress(value)
  return Object.keys(value).length ? value : null
}

function shownAddress({ address_line1, address_line2, city, state, zipcode, country }: JsonObject): Json {
  const parts = [address_line1, address_line2, city, state, zipcode, country]
  return parts
    .filter(part => part !== null && part !== undefined)
    .map(asText)
    .join(', ')
}

/** Texts of a value that are longer than `max` characters, cut. */
export function cut(value: Json, max: number): Json {
  if (Array.isArray(value)) return value.map(item => cut(item, max))
  if (typeof value !== 'string' || value.length <= max) {
    const json = isObject(value) ? JSON.stringify(value) : ''
    return json.length > max ? cut(json, max) : value
  }
  const end = value.charCodeAt(max - 1) >= 0xd800 && value.charCodeAt(max - 1) < 0xdc00 ? max - 1 : max
  return `${value.slice(0, end)}… (${value.length - end} more characters)`
}
