/**
 * The columns of exported records, for CSV and workbooks (D81): one for each field, in the order of the form,
 * and one for each part of an amount. Knows no format.
 */
import type { Field, Part } from '../../fields/field.ts'
import { kinds } from '../../fields/kinds.ts'
import type { Cell } from '../../files/write-csv.ts'
import { isNumber, isObject, type Json, type JsonObject } from '../../json.ts'
import type { Naming } from './source.ts'

export type Column = {
  /** the field's internal name, and that of the part: `deal_value.currency` */
  readonly name: string
  /** the format of its texts in JSON Schema: `date` or `date-time`; null: any text */
  readonly format: string | null
  cell(record: JsonObject, naming: Naming): Cell
}

/** `areNamed`: true if ids are replaced by names. */
export function columnsOf(shown: readonly Field[], areNamed: boolean): Column[] {
  return shown.flatMap(field => {
    const { internal_name: name, type } = field
    const { parts, schema, searched } = kinds[type]
    if (parts) return parts.map(part => partColumn(name, part, areNamed))
    const { format } = schema(field).output
    const texts = areNamed && searched ? searched.texts : null
    return [
      {
        name,
        format: typeof format === 'string' ? format : null,
        cell: (record, naming) => cellOf(record[name] ?? null, item => naming(field, item), texts),
      },
    ]
  })
}

function partColumn(name: string, { member, named = member }: Part, isNamed: boolean): Column {
  const from = isNamed ? named : member
  return {
    name: `${name}.${member}`,
    format: null,
    cell: record => {
      const value = record[name]
      return isObject(value) ? scalarCell(value[from] ?? null) : null
    },
  }
}

/**
 * A value as a cell: several values are joined, and an object is JSON. `texts`: the readable texts of values
 * that are objects, such as the addresses of e-mails; null: these are JSON, too, and lose nothing.
 */
function cellOf(
  value: Json,
  named: (item: Json) => Json,
  texts: ((value: Json) => readonly string[]) | null,
): Cell {
  if (!Array.isArray(value)) return isObject(value) ? JSON.stringify(value) : scalarCell(named(value))
  if (!value.some(item => isObject(item) || Array.isArray(item))) return joined(value.map(named))
  // An import divides telephone numbers at a slash, too.
  return texts ? joined(texts(value), /\s\/\s/) : JSON.stringify(value)
}

function scalarCell(value: Json): Cell {
  if (value === null || typeof value === 'string' || isNumber(value)) return value
  return JSON.stringify(value)
}

/** Several values in one cell. One that an import would divide or read otherwise is a JSON string. */
function joined(items: readonly Json[], isDivided?: RegExp): Cell {
  if (items.length === 0) return null
  return items
    .map(item => {
      const text = typeof item === 'string' ? item : JSON.stringify(item)
      return /[;,"\r\n]|:::|^\[|^\s|\s$|^$/.test(text) || isDivided?.test(text) ? JSON.stringify(text) : text
    })
    .join('; ')
}
