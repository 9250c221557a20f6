/**
 * The records that a field may point to, offered like the options of a dropdown (D33). Knows no HTTP and no
 * particular resource.
 */
import type { Field } from '../fields/field.ts'
import { shownName } from '../fields/kinds/reference.ts'
import { type Caller, callerParamsOf, visible } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import type { Reader } from './store.ts'

export type Choice = { readonly id: number; readonly name: string; readonly is_active: boolean }

/** Maximum number of choices: beyond that, people search a list. */
const most = 1000

/**
 * The records that the field may point to, at most a thousand, by name; with `inactive`, inactive ones, too.
 * `hasMore` is true if there are others.
 */
export async function choicesOf(
  db: Reader,
  caller: Caller,
  field: Field,
  inactive: boolean,
): Promise<{ choices: Choice[]; hasMore: boolean }> {
  const { inUse } = caller.catalog.resources.get(field.related!)!.resource
  const isActive = inUse ? sql`x.${sql.id(inUse)} = 1` : sql`true`
  const name = shownName(field, sql`x.`)
  const statement = sql`SELECT x.id::text AS id, ${name} AS name, (${isActive})::text AS is_active
      FROM ${sql.id(field.related!)} x
      WHERE ${visible(field.related!, callerParamsOf(caller), sql`x`)} AND x.deleted_at IS NULL${inactive ? sql.none : sql` AND ${isActive}`}
      ORDER BY fold(${name}) COLLATE "C", x.id LIMIT ${sql.integer(most + 1)}`
  const rows = await ask(db, statement)
  const choices = rows
    .slice(0, most)
    .map(row => ({ id: Number(row.id), name: row.name!, is_active: row.is_active === 'true' }))
  return { choices, hasMore: rows.length > most }
}
