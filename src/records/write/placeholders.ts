/**
 * SQL in the place of placeholders (fields/moment.ts) and temporary ids. It reads the moment and the ids from
 * `locked` or `counted` (protocol.ts).
 */
import type { ResourceSchema } from '../../fields/catalog.ts'
import type { Values } from '../../fields/field.ts'
import { idPlaceholder, momentInColumns, momentInJson } from '../../fields/moment.ts'
import type { Json } from '../../json.ts'
import { type Part, type Sql, type SqlType, sql } from '../../sql.ts'

/** The row of the counter that SQL reads: before the counter is raised, or after it. */
export const [locked, counted] = [sql`locked`, sql`counted`]

/** SQL of the id of the nth new record of the write. */
export function idOf(row: Sql, nth: Part): Sql {
  return sql`${row}.id_before + ${nth}::bigint`
}

/** SQL of JSON text with the moment in the place of its placeholder. */
export function withMoment(json: Part, row: Sql): Sql {
  return sql`replace(${json}::text, ${momentInJson}, ${row}.moment)`
}

/** SQL of JSON text with the moment and new ids in the place of their placeholders. */
export function withPlaceholdersReplaced(json: Part, row: Sql, temporaryIds: number): Sql {
  const texts = Array.from({ length: temporaryIds }, (_, index) => JSON.stringify(idPlaceholder(index + 1)))
  return texts.reduce(
    (text, id, index) => {
      if (typeof json === 'string' && !json.includes(id)) return text
      return sql`replace(${text}, ${id}::text, (${idOf(row, String(index + 1))})::text)`
    },
    withMoment(json, row),
  )
}

/** The value of a column as SQL, with the moment and new ids in the place of their placeholders. */
export function cellOf(value: Part, type: SqlType, row: Sql, hasTemporaryIds: boolean): Part {
  const isTime = type === 'timestamptz'
  if (isTime && value === momentInColumns) return sql`${row}.at`
  if (isTime && value && typeof value !== 'string')
    return sql`CASE WHEN ${value} = ${momentText} THEN ${row}.at ELSE ${value}::timestamptz END`
  if (!hasTemporaryIds || typeof value !== 'string' || !value.includes('-')) return value
  const ids = value.match(/-?\d+/g)!
  const parts = ids.map(id => (id.startsWith('-') ? idOf(row, id.slice(1)) : sql`${id}::bigint`))
  return type === 'bigint[]' ? sql`ARRAY[${sql.join(parts)}]` : parts[0]!
}

const momentText = sql.text(momentInColumns)

/** The values with ids in the place of temporary ones, numbers below zero in fields that point to records. */
export function withRealIds({ byName }: ResourceSchema, values: Values, idOf: (nth: number) => Json): Values {
  const real = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(real)
    return typeof value === 'number' && value < 0 ? idOf(-value) : value
  }
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, byName.get(name)?.related ? real(value) : value]),
  )
}
