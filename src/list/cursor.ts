/**
 * Cursors (D27): a place in one list, as text that callers hand back unread. It holds the values by which the
 * last record of a page was sorted, so that the next page begins right after them whatever was inserted or
 * deleted meanwhile. Knows no HTTP and no SQL.
 */
import { createHash } from 'node:crypto'
import { decimal, plain } from '../fields/decimal.ts'
import { isoDate, isoInstant } from '../fields/iso8601.ts'
import { isObject, type Json, parseJson } from '../json.ts'
import type { Position } from './branches.ts'
import type { PlannedSort } from './resolve.ts'

export type Cursor = {
  readonly position: Position
  /** the moment of the first page: what follows the clock keeps its order while a list is read */
  readonly asOf: string
}

/** What a cursor belongs to: the same filter and sort of the same resource. */
export function listIdentity(parts: readonly (string | null)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12)
}

/** `values` is the JSON array of the last record's sort keys. */
export function cursorText(identity: string, values: string, asOf: string): string {
  return Buffer.from(`{"list":"${identity}","at":"${asOf}","after":${values}}`).toString('base64url')
}

/** The cursor that `text` is; 'other' when it belongs to another list, null when it is none. */
export function readCursor(
  text: string,
  identity: string,
  keys: readonly PlannedSort[],
): Cursor | 'other' | null {
  const cursor = parsed(text)
  if (!isObject(cursor) || typeof cursor.list !== 'string') return null
  if (cursor.list !== identity) return 'other'
  const { at, after } = cursor
  const asOf = typeof at === 'string' ? isoInstant(at, true) : null
  if (!Array.isArray(after) || after.length !== keys.length || asOf === null) return null
  const position = after.map((value, index) =>
    value === null && keys[index]!.nullable ? null : keyText(value, keys[index]!),
  )
  return position.includes(undefined) ? null : { position: position as Position, asOf }
}

function parsed(text: string): Json | null {
  try {
    return parseJson(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return null
  }
}

/**
 * A key's value in the form that PostgreSQL takes for its type, however it was sent; undefined for what the
 * type can't be.
 */
function keyText(value: Json, { order }: PlannedSort): string | undefined {
  const text = typeof value === 'string' ? value : undefined
  switch (order.type) {
    case 'numeric':
    case 'bigint': {
      const number = text === undefined ? decimal(value) : null
      const digits = number ? plain(number) : ''
      return (order.type === 'bigint' ? /^-?\d{1,18}$/ : /./).test(digits) ? digits : undefined
    }
    case 'date':
      return isoDate(text ?? '') ?? undefined
    case 'timestamptz':
      return isoInstant(text ?? '', true) ?? undefined
    default:
      return text?.isWellFormed() && !text.includes('\0') ? text : undefined
  }
}
