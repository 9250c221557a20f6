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
import { longReads, type Reader } from './store.ts'

const wordsMax = 8
/** Maximum number of matching records of each way that are ranked. */
const comparedMax = 1000
/** Number of the newest records whose whole names are compared. */
const newestMax = 3000

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
 * most similar first: one statement, in the account's turn.
 */
export async function likeNames(
  db: Reader,
  caller: Caller,
  resource: string,
  text: string,
): Promise<{ readonly id: number; readonly name: string }[]> {
  const schema = caller.catalog.resources.get(resource)!
  const name = fold(comparedName(text))
  const words = wordsOf(name).filter(word => word.length > 1)
  const isSeen = schema.resource.shownAs.every(one => shownField(schema, one))
  if (words.length === 0 || words.length > wordsMax || !isSeen) return []
  const ways = waysTo(schema, callerParamsOf(caller), words)
  const all = ways.map(way => sql`(SELECT * FROM ${way.name} LIMIT ${sql.integer(comparedMax)})`)
  const statement = sql`WITH ${sql.join(ways.map(way => sql`${way.name} AS MATERIALIZED (${way.found})`))}
SELECT y.id::text AS id, y.name FROM (${sql.join(all, sql` UNION `)}) y
ORDER BY word_similarity(${name}::text, fold(y.name)) + similarity(${name}::text, fold(y.name)) DESC, y.id
LIMIT ${sql.integer(candidatesMax)}`
  const rows = await ask(longReads(db, caller), statement, true)
  return rows.map(({ id, name }) => ({ id: Number(id), name: name! }))
}

/**
 * SELECTs of the id and name of records whose names have one of the words: by the trigram index of the last
 * part of the name, which resources have that are searched, and by what it does not find among the newest
 * records. So they end early in an account of any size. As CTEs, they are planned as if all rows were read,
 * which makes the planner take the index.
 */
function waysTo(schema: ResourceSchema, params: CallerParams, words: readonly string[]) {
  const { name: resource, shownAs, inUse, searched } = schema.resource
  const isUsed = inUse ? sql` AND x.${sql.id(inUse)} = 1` : sql.none
  const live = sql`FROM ${sql.id(resource)} x
    WHERE ${visible(resource, params, sql`x`)} AND x.deleted_at IS NULL${isUsed}`
  const names = sql.join(shownAs.map(one => sql`x.${sql.id(one)}`))
  const newest = sql`FROM (
    SELECT x.id, ${names} ${live} ORDER BY x.id DESC LIMIT ${sql.integer(newestMax)}) x WHERE true`
  const conditions = shownAs.flatMap((field, index) => {
    const hasIndex = searched !== undefined && index === shownAs.length - 1
    return words.flatMap(word => comparisons(sql`fold(x.${sql.id(field)})`, word, hasIndex))
  })
  const shown = shownName({ related_name: shownAs }, sql`x.`)
  return [
    { name: sql`indexed`, from: live, byIndex: true },
    { name: sql`newest`, from: newest, byIndex: false },
  ].flatMap(({ name, from, byIndex }) => {
    const some = conditions.filter(one => one.byIndex === byIndex).map(({ is }) => is)
    const found = sql`SELECT x.id, ${shown} AS name ${from} AND (${sql.join(some, sql` OR `)})`
    return some.length ? [{ name, found }] : []
  })
}

/** The ways in which a text may have a word; `byIndex`: those that the text's trigram index finds. */
function comparisons(text: Sql, word: string, hasIndex: boolean) {
  const contains = sql`${text} LIKE ${`%${likeText(word)}%`}::text`
  const isAlike = sql`${text} % ${word}::text OR ${text} %> ${word}::text`
  return [
    { is: contains, byIndex: hasIndex && /[\p{L}\p{N}]{3}/u.test(word) },
    { is: isAlike, byIndex: hasIndex },
  ]
}
