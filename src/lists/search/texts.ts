/**
 * The texts of a resource's records that a search covers (D86): the name, the fields that the resource
 * declares, and the account's indexed texts. Inactive fields, and those that the caller doesn't see, are left
 * out (D64). Knows no resource.
 */
import type { ResourceSchema } from '../../fields/catalog.ts'
import { type Row, recordRow, scalar } from '../../fields/columns.ts'
import type { Field, TextSearch } from '../../fields/field.ts'
import { kinds } from '../../fields/kinds.ts'
import type { Order } from '../../fields/operators.ts'
import { type Sql, sql } from '../../sql.ts'
import { memoize } from '../../waiting/memoize.ts'

export type SearchedText = {
  readonly field: Field
  readonly searched: TextSearch
  /** True if it is a part of the record's name */
  readonly isName: boolean
  /** SQL of the value as JSON, over the row `r` */
  readonly value: Sql
}

export type SearchedTexts = {
  readonly texts: readonly SearchedText[]
  /** SQL of all texts of the resource, which its index holds: a superset of those that the caller sees */
  readonly indexed: Sql
  /** SQL of the texts that the caller sees; null if that is all of them */
  readonly seen: Sql | null
  /** the orders whose indexes find texts by their beginning: of the name, of custom fields */
  readonly orders: readonly Order[]
}

/** The searched texts of a resource, for a caller with this catalog. */
export const searchedTexts = memoize((schema: ResourceSchema): SearchedTexts => {
  const { resource, byName } = schema
  const isSeen = ({ is_active, is_hidden }: Field) => is_active && !is_hidden
  const all = [...resource.shownAs, ...(resource.searched ?? [])].map(name => byName.get(name)!)
  const seen = all.filter(isSeen)
  const custom = schema.fields.filter(field => isSeen(field) && isIndexedText(field))
  const text = (field: Field): SearchedText => ({
    field,
    searched: kinds[field.type].searched!,
    isName: resource.shownAs.includes(field.internal_name),
    value: field.is_custom ? scalar(field, '', 'text')(recordRow) : column(field),
  })
  const last = byName.get(resource.shownAs.at(-1)!)!
  return {
    texts: [...seen, ...custom].map(text),
    indexed: joined(all),
    seen: seen.length === all.length ? null : joined(seen),
    orders: [last, ...custom].map(field => kinds[field.type].term(field, '')!.order!),
  }
})

/** SQL of an order's value, over a row. */
export function orderedBy({ sql: value }: Order, row: Row = recordRow): Sql {
  return value(row, () => sql.none)
}

/** True if a custom text has an index of its own, which finds texts by their beginning. */
function isIndexedText(field: Field): boolean {
  return field.is_indexed && field.deleted_at === null && kinds[field.type].searched !== undefined
}

/** The folded texts, one per line, so that no word spans two of them. */
function joined(fields: readonly Field[]): Sql {
  const lines = fields.map(field => {
    const text = kinds[field.type].searched!.sql(column(field))
    return field.is_filled ? text : sql`coalesce(${text}, '')`
  })
  return lines.length === 1 ? lines[0]! : sql`(${sql.join(lines, sql` || E'\\n' || `)})`
}

function column({ internal_name }: Field): Sql {
  return sql`r.${sql.id(internal_name)}`
}
