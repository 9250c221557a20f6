/** COLUMN_LIST: the columns shown in a table, each a field with its width, in their order (D130). */
import { isObject, isPresent, type Json, type JsonObject } from '../../json.ts'
import type { Kind, ParseContext } from '../field.ts'
import { knownMembers } from './known-members.ts'
import { items } from './multiselect.ts'
import { arrayOf, closedObject, openObject, orNull } from './schemas.ts'
import { textsTerm } from './string-list.ts'

const columnsMax = 200
/** pixels */
const width = { min: 20, max: 2000 }
const name = /^[a-z][a-z0-9_]{0,63}$/

export const columnList: Kind = {
  members: [],
  empty: [],
  columns: field => [{ name: field.internal_name, type: 'jsonb' }],
  parse: (input, context) => {
    if (!Array.isArray(input)) {
      return context.problem('wrong_type', 'must be an array of columns', {
        hint: 'For example [{"field":"title","width":240}].',
      })
    }
    if (input.length > columnsMax)
      return context.problem('too_many', `must have at most ${columnsMax} entries`)
    const columns = input.map((item, index) => parseColumn(item, context, `/${index}`))
    return columns.includes(undefined) ? undefined : (columns as Json[])
  },
  schema: () => {
    const field = { type: 'string', pattern: name.source }
    const pixels = orNull({ type: 'integer', minimum: width.min, maximum: width.max })
    const sent = closedObject({ field, width: pixels, is_pinned: orNull({ type: 'boolean' }) }, ['field'])
    const read = openObject({
      field: { type: 'string' },
      width: orNull({ type: 'integer' }),
      is_pinned: { type: 'boolean' },
    })
    return { input: { type: 'array', items: sent, maxItems: columnsMax }, output: arrayOf(read) }
  },
  write: value => [JSON.stringify(items(value))],
  term: textsTerm('$[*].field'),
}

function parseColumn(input: Json, context: ParseContext, at: string): JsonObject | undefined {
  if (!isObject(input)) return context.problem('wrong_type', 'must be an object with a field', { at })
  const isKnown = knownMembers(input, ['field', 'width', 'is_pinned'], context, at)
  const { field, width: wide = null, is_pinned = null } = input
  const isField = typeof field === 'string' && name.test(field)
  if (!isPresent(field))
    context.problem('required', 'must be given', { at: `${at}/field`, hint: 'For example "title".' })
  else if (!isField) context.problem('wrong_type', 'must be the name of a field', { at: `${at}/field` })
  const isWidth = wide === null || (Number.isInteger(wide) && isWithin(wide as number))
  if (!isWidth) {
    const message = `must be a whole number from ${width.min} to ${width.max}`
    context.problem('out_of_range', message, { at: `${at}/width` })
  }
  const isPinned = is_pinned === null || typeof is_pinned === 'boolean'
  if (!isPinned) context.problem('wrong_type', 'must be true or false', { at: `${at}/is_pinned` })
  if (!isKnown || !isField || !isWidth || !isPinned) return undefined
  return { field, width: wide, is_pinned: is_pinned ?? false }
}

function isWithin(pixels: number): boolean {
  return pixels >= width.min && pixels <= width.max
}
