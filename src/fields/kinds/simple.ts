/** Creates a kind with one column and one term, like most kinds. Knows no type. */
import type { Json } from '../../json.ts'
import { type SqlType, sql } from '../../sql.ts'
import type { Catalog } from '../catalog.ts'
import { containedAt, type Expression, scalar } from '../columns.ts'
import type { Config, Field, Kind } from '../field.ts'
import type { OperandProblem, Operator, Order, Term } from '../term.ts'

/** `order` returns null: no sort; absent: the value itself. */
export function simpleKind(kind: {
  column: SqlType
  parse: Kind['parse']
  schema: Kind['schema']
  write?: (value: Json) => string | null
  type: Term['type']
  operators: readonly Operator[]
  operand(text: string, field: Field, catalog: Catalog): string | readonly string[] | OperandProblem
  order?: (value: Expression, field: Field) => Order | null
  limits?: readonly (keyof Config)[]
  /** set if the stored text sorts like the value: custom values are then compared as an indexable text */
  isText?: boolean
}): Kind {
  return {
    members: [],
    columns: field => [{ name: field.internal_name, type: kind.column }],
    parse: kind.parse,
    schema: kind.schema,
    ...(kind.limits ? { limits: kind.limits } : {}),
    write: value => [value === null ? null : kind.write ? kind.write(value) : String(value)],
    term: (field, member) => {
      if (member) return null
      const type = kind.isText && field.is_custom ? 'text' : kind.type
      const value = scalar(field, '', type)
      const ordered: Expression =
        kind.isText && field.is_custom ? row => sql`${value(row)} COLLATE "C"` : value
      const bare = { sql: ordered, type, isFilled: field.is_filled }
      return {
        type,
        sql: value,
        multi: false,
        operators: kind.operators,
        operand: (text, catalog) => kind.operand(text, field, catalog),
        order: kind.order ? kind.order(value, field) : bare,
        ...containedAt(field, type),
      }
    },
  }
}
