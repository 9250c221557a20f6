/** ADDRESS: written as the object or as an array of one, returned as an array of one (D17). */
import { isObject, type Json } from '../../json.ts'
import { sql } from '../../sql.ts'
import { containedAt, type Expression, filledJsonDocument, jsonDocument, textOrder } from '../columns.ts'
import type { Kind, ParseContext, Schema } from '../field.ts'
import { presenceTerm, textual } from '../term.ts'
import { knownMembers } from './known-members.ts'
import { items } from './multiselect.ts'
import { closedObject, oneOrMore, openObject } from './schemas.ts'
import { checkedText, numberAsText } from './text.ts'

const limits: { readonly [member: string]: number } = {
  address_line1: 300,
  address_line2: 300,
  city: 125,
  state: 125,
  country: 125,
  zipcode: 25,
}
const members = Object.keys(limits)

export const address: Kind = {
  members,
  empty: [],
  columns: field => [{ name: field.internal_name, type: 'jsonb' }],
  parse: (input, context) => {
    if (!Array.isArray(input)) return parseAddress(input, context, '')
    if (input.length > 1) return context.problem('too_many', 'must hold one address')
    return input.length ? parseAddress(input[0]!, context, '/0') : null
  },
  schema: () => ({
    input: oneOrMore(closedObject(memberSchemas('null')), 1),
    output: { type: 'array', items: openObject(memberSchemas(), []), maxItems: 1 },
  }),
  write: value => [JSON.stringify(items(value))],
  term: (field, member) => {
    if (member === '') return presenceTerm(filledJsonDocument(field))
    if (!members.includes(member)) return null
    const path = sql.text(`{0,${member}}`)
    const value: Expression = row => sql`(${jsonDocument(field)(row)} #>> ${path})`
    return {
      type: 'text',
      sql: value,
      multi: false,
      operators: textual,
      operand: text => text,
      order: textOrder(value, true),
      // A country may be a number, which JSON distinguishes from the same digits as text.
      ...(member === 'country' ? {} : containedAt(field, 'text', ['[]', member])),
    }
  },
}

/** The members as read; `more`: additional types that may be sent. */
function memberSchemas(...more: string[]): { readonly [member: string]: Schema } {
  const typesOf = (member: string) => [
    'string',
    ...(member === 'country' || (member === 'zipcode' && more.length) ? ['number'] : []),
    ...more,
  ]
  return Object.fromEntries(
    members.map(member => [member, { type: typesOf(member), maxLength: limits[member]! }]),
  )
}

function parseAddress(input: Json, context: ParseContext, at: string): Json | undefined {
  if (!isObject(input)) {
    return context.problem('wrong_type', 'must be an object', {
      at,
      hint: `Its members: ${members.join(', ')}.`,
    })
  }
  let whole = knownMembers(input, members, context, at)
  const parsed: { [member: string]: Json } = {}
  for (const member of members) {
    const sent = input[member]
    if (sent === undefined || sent === null) continue
    // A country is an id or a name: a number stays. A zipcode becomes text to preserve leading zeros (D15).
    const value =
      member === 'country' && typeof sent === 'number'
        ? sent
        : checkedText(
            member === 'zipcode' ? numberAsText(sent) : sent,
            context,
            { max_length: limits[member]! },
            `${at}/${member}`,
          )
    if (value === undefined) whole = false
    else parsed[member] = value
  }
  if (!whole) return undefined
  return Object.keys(parsed).length ? [parsed] : null
}
