/**
 * Values of rows that an existing contact or company does not get, because an import links it without a
 * change (D80). They are counted, so that no loss goes unreported. Pure.
 */
import type { ResourceSchema } from '../../fields/catalog.ts'
import { findOption } from '../../fields/kinds/dropdown.ts'
import { comparedName } from '../../fields/name.ts'
import { plainText } from '../../files/texts.ts'
import { isNumber, isObject, type Json, type JsonObject } from '../../json.ts'

/** The members of a payload that differ from the record, except those that name it. */
export function notTaken(payload: JsonObject, record: JsonObject, schema: ResourceSchema): string[] {
  return extras(payload, schema).filter(name => {
    const held = [record[name] ?? null].flat() as Json[]
    const options = schema.byName.get(name)!.options
    const all = [payload[name]!].flat() as Json[]
    return !all.every(item => held.some(one => isHeld(optionOf(item, options), optionOf(one, options))))
  })
}

/** The members that don't name the record. A person's company is that of the row, so it is not among them. */
export function extras(payload: JsonObject, { resource, byName }: ResourceSchema): string[] {
  const naming = new Set<string>([...(resource.namedBy ?? []), ...resource.shownAs])
  return Object.keys(payload).filter(name => byName.get(name)?.related === null && !naming.has(name))
}

function optionOf(item: Json, options: Parameters<typeof findOption>[1]): Json {
  const known = typeof item === 'string' || typeof item === 'number' ? findOption(item, options) : undefined
  return known?.id ?? item
}

/**
 * True if the stored value includes a value: a phone number or an e-mail of any kind, the parts of an
 * address, or an amount, whose currency may be a code.
 */
function isHeld(value: Json, held: Json): boolean {
  if (!isObject(value)) return textOf(value) === textOf(held)
  if (!isObject(held)) return false
  const { phone_number, email_value } = value
  const sent = phone_number ? { phone_number } : email_value ? { email_value } : value
  return Object.entries(sent).every(([name, part]) => {
    const known = [held[name] ?? null, ...(name === 'currency' ? [held.currency_code ?? null] : [])]
    return known.some(one => textOf(one) === textOf(part))
  })
}

function textOf(value: Json): string {
  if (typeof value === 'string') return comparedName(value)
  return isNumber(value) ? plainText(value) : JSON.stringify(value)
}
