/**
 * Cursors (D27). A cursor is the point of a list where the next page begins, as opaque text that callers send
 * back. It contains the sort values of the last record of a page. So the next page begins right after that
 * record, whatever was inserted or deleted meanwhile. Knows no HTTP and no SQL.
 */
import { hash } from 'node:crypto'
import { decimal, plain } from '../fields/decimal.ts'
import { isoDate, isoInstant } from '../fields/iso8601.ts'
import { isObject, type Json, parseJson } from '../json.ts'
import type { Position } from './key-ranges.ts'
import type { PlannedSort } from './resolve.ts'

export type Cursor = {
  readonly position: Position
  /** the moment of the first page: values that depend on the clock are sorted as of it on every page */
  readonly asOf: string
}

/** Identifies a list: one resource with one filter and one sort. A cursor belongs to one list. */
export function listIdentity(parts: readonly (string | null)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 12)
}

/** `values` is the JSON array of the last record's sort keys. */
export function cursorText(identity: string, values: string, asOf: string): string {
  return Buffer.from(`{"list":"${identity}","at":"${asOf}","after":${values}}`).toString('base64url')
}

/** Reads a cursor. Null if `text` is none, 'other' if it belongs to another list. */
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

/** A sort key's value in PostgreSQL's format for its type. Undefined if the type can't hold it. */
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
