/**
 * The ways to write a full name, and the fuzzy matches of a name that no record has (D75). As SQL; names are
 * compared as everywhere (D127).
 */
import type { CallerParams } from '../fields/caller-params.ts'
import { type ResourceSchema, shownField } from '../fields/catalog.ts'
import { shownName } from '../fields/kinds/reference.ts'
import { comparedName } from '../fields/name.ts'
import { fold } from '../fold.ts'
import { type Caller, callerParamsOf, visible } from '../rights/visibility.ts'
import { ask, likeText, type Sql, sql } from '../sql.ts'
import { candidatesMax } from './name-lookup.ts'
import type { Reader } from './store.ts'

const wordsMax = 8
/** Maximum number of matching records that are ranked. */
const comparedMax = 1000

/** Spellings of a full name: "Haddad, Noor" and "Haddad Noor" are "noor haddad", too. */
export function fullNames(text: string): string[] {
  const name = comparedName(text)
  const words = wordsOf(name)
  if (words.length > wordsMax) return [name]
  const turned = words.map((_, index) => [...words.slice(index), ...words.slice(0, index)].join(' '))
  return [...new Set([name, ...turned])]
}

function wordsOf(name: string): string[] {
  return name.split(/[\s,]+/).filter(Boolean)
}

/** The condition that the full name of the row `alias` is `n.text`; its index is contact_full_name. */
export function isFullName({ resource: { shownAs } }: ResourceSchema, alias: Sql): Sql {
  const [first, last] = shownAs.map(name => sql`${alias}.${sql.id(name)}`)
  const full = last ? sql`coalesce(${first!} || ' ', '') || coalesce(${last}, '')` : first!
  return sql`compared_name(${full}) COLLATE "C" = n.text`
}

/** A full name, and the record that a field of the people with this name points to; null: none. */
export type Namesake = { readonly text: string; readonly own: number | null }

/**
 * The people that the caller sees, by their full names and what they have in the field `of`: `place` among
 * those that are asked for, `id` and `name`, at most so many of each.
 */
export function namesakesSql(
  schema: ResourceSchema,
  params: CallerParams,
  of: string,
  asked: readonly Namesake[],
  most: number,
): Sql {
  const { name: resource, shownAs } = schema.resource
  const all = asked.flatMap(({ text, own }, place) => fullNames(text).map(one => ({ place, text: one, own })))
  const shown = shownName({ related_name: shownAs }, sql`x.`)
  return sql`SELECT DISTINCT n.place::text AS place, x.id::text AS id, x.name
FROM jsonb_to_recordset(${JSON.stringify(all)}::jsonb) n (place int, text text, own bigint), LATERAL (
  SELECT y.id, y.name FROM (
    SELECT x.id, ${shown} AS name FROM ${sql.id(resource)} x
    WHERE ${visible(resource, params, sql`x`)} AND x.deleted_at IS NULL AND ${isFullName(schema, sql`x`)}
      AND x.${sql.id(of)} IS NOT DISTINCT FROM n.own OFFSET 0) y
  ORDER BY y.id LIMIT ${sql.integer(most)}) x`
}

/**
 * The records that the caller sees and whose names contain a word of `text` or a similar one (pg_trgm), the
 * most similar first: one statement.
 */
export async function likeNames(
  db: Reader,
  caller: Caller,
  resource: string,
  text: string,
): Promise<{ readonly id: number; readonly name: string }[]> {
  const schema = caller.catalog.resources.get(resource)!
  const { shownAs, inUse } = schema.resource
  const name = fold(comparedName(text))
  const words = wordsOf(name).filter(word => word.length > 1)
  if (words.length === 0 || words.length > wordsMax || !shownAs.every(one => shownField(schema, one)))
    return []
  const has = shownAs.flatMap(one => {
    const value = sql`fold(x.${sql.id(one)})`
    return words.flatMap(word => [
      sql`${value} LIKE ${`%${likeText(word)}%`}::text`,
      sql`${value} % ${word}::text`,
      sql`${value} %> ${word}::text`,
    ])
  })
  const shown = shownName({ related_name: shownAs }, sql`x.`)
  const isUsed = inUse ? sql` AND x.${sql.id(inUse)} = 1` : sql.none
  const statement = sql`SELECT y.id::text AS id, y.name FROM (
  SELECT x.id, ${shown} AS name FROM ${sql.id(resource)} x
  WHERE ${visible(resource, callerParamsOf(caller), sql`x`)} AND x.deleted_at IS NULL${isUsed}
    AND (${sql.join(has, sql` OR `)})
  LIMIT ${sql.integer(comparedMax)}) y
ORDER BY word_similarity(${name}::text, fold(y.name)) + similarity(${name}::text, fold(y.name)) DESC, y.id
LIMIT ${sql.integer(candidatesMax)}`
  return (await ask(db, statement, true)).map(({ id, name }) => ({ id: Number(id), name: name! }))
}
