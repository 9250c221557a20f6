/** Hints on how to write a value of a field: an example, its choices, or where its records are. Pure. */
import type { Json } from '../../json.ts'
import type { Field } from '../field.ts'
import type { FieldType } from '../kinds.ts'
import { pluralOf } from '../synonyms.ts'
import { optionHint } from './dropdown.ts'

/** The hint for a field without a value; empty if none is needed. */
export function howToWrite(field: Field): string {
  const example = examples[field.type]
  if (example) return `For example ${example}.`
  if (field.options.length > 0) return optionHint('', field.options)
  return field.related ? whereRecordsAre(field.related) : ''
}

/** The hint for a value with members, after a blank; empty for another field. */
export function formOf(field: Field): string {
  return /^[[{]/.test(examples[field.type] ?? '') ? ` ${howToWrite(field)}` : ''
}

/** The address of the list with the ids of a resource's records. */
export function whereRecordsAre(resource: string): string {
  return `The ${pluralOf(resource)} that you see are at GET …/${resource}/view/list.`
}

/** True for a text that may be meant as several values: "a,b" or "[20,21]". */
export function isLikeList(value: Json): value is string {
  return typeof value === 'string' && value.length <= 1000 && /[,;]/.test(value)
}

/** The array for several values that were sent as one text: "a,b" or "[20,21]". */
export function asList(text: string): string {
  const parts = text
    .replace(/^\[|\]$/g, '')
    .split(/[,;]/)
    .map(part => part.trim().replace(/^"|"$/g, ''))
  const list = parts.map(part => (/^\d{1,15}$/.test(part) ? Number(part) : part))
  return `For several send a list: ${JSON.stringify(list)}.`
}

const examples: { readonly [type in FieldType]?: string } = {
  DEAL_VALUE: '{"currency":"USD","value":1250}',
  MONETARY: '{"currency":"USD","value":1250}',
  PRICE_TAGS: '[{"currency":"USD","unit_price":"49.90"}]',
  EMAIL: '[{"email_type":"Work","email_value":"jo@example.com"}]',
  PHONE: '[{"phone_type":"Work","phone_number":"+1 555 0100"}]',
  DATE: '"2026-03-31"',
  DATE_TIME: '"2026-03-31T09:30:00Z"',
  TIME: '"09:30"',
  TIME_RANGE: '"09:00/17:30"',
  ADDRESS: '{"address_line1":"1 Main Street","city":"Dublin","country":"Ireland"}',
}
