/**
 * The statement of a search. It finds candidates by index plans that end early (D124); words.ts orders them.
 * `found`: records with all the words, by the index of trigrams; no more than `foundMax` are read. `newest`:
 * where there are more, or no word is in that index, the newest records are looked through. `begun`: records
 * whose name or indexed custom text begins with what is asked, however many have the words.
 */

import type { ResourceFields } from '../fields/catalog.ts'
import { spellings } from '../fields/name.ts'
import { type Sight, visible } from '../rights/visibility.ts'
import { type Sql, sql } from '../sql.ts'
import { orderedBy, type SearchedTexts, searchedTexts } from './texts.ts'
import { isIndexed, type Wanted } from './words.ts'

/** More records that have the words are not gathered. */
export const foundMax = 2000
/** How many of the newest records are looked through instead. */
export const newestMax = 5000
/** How many candidates each way gives: the newest, or the first by name. */
export const candidatesMax = 200

/** The candidates of several resources: `resource`, `id`, and the `texts` as a JSON array. */
export function searchSql(sought: readonly ResourceFields[], sight: Sight, wanted: Wanted): Sql {
  return sql.join(
    sought.map(fields => sql`(${candidatesSql(fields, sight, wanted)})`),
    sql`\nUNION ALL\n`,
  )
}

function candidatesSql(fields: ResourceFields, sight: Sight, wanted: Wanted): Sql {
  const { name } = fields.resource
  const table = sql.id(name)
  const known = searchedTexts(fields)
  const live = sql`${visible(name, sight, sql`r`)} AND r.deleted_at IS NULL`
  const matches = matching(known, wanted)
  const candidates = sql.integer(candidatesMax)
  const begun = known.orders.flatMap(order => {
    const value = orderedBy(order)
    return spellings(wanted.text).map(
      text => sql`(SELECT r.id FROM ${table} r WHERE ${live} AND ${value} LIKE ${pattern('', text)}
    ORDER BY ${value}, r.id LIMIT ${candidates})`,
    )
  })
  const isInIndex = wanted.words.some(ways => ways.every(isIndexed)) || wanted.digits !== null
  const found = sql`found AS MATERIALIZED (
    SELECT r.id FROM ${table} r WHERE ${live} AND ${matches} LIMIT ${sql.integer(foundMax + 1)}
  ), `
  const isTooMany = sql` AND (SELECT count(*) FROM found) > ${sql.integer(foundMax)}`
  const ofFound = sql`
    UNION (SELECT id FROM found
      WHERE (SELECT count(*) FROM found) <= ${sql.integer(foundMax)}
        OR (SELECT count(*) FROM newest) < ${candidates}
      ORDER BY id DESC LIMIT ${candidates})`
  return sql`WITH ${isInIndex ? found : sql.none}newest AS MATERIALIZED (
    SELECT r.id FROM (
      SELECT * FROM ${table} r WHERE ${live}${isInIndex ? isTooMany : sql.none}
      ORDER BY r.id DESC LIMIT ${sql.integer(newestMax)}) r
    WHERE ${matches} ORDER BY r.id DESC LIMIT ${candidates}
  )
  SELECT ${sql.text(name)} AS resource, r.id::text AS id,
    json_build_array(${sql.join(known.texts.map(({ value }) => value))})::text AS texts
  FROM (
    SELECT id FROM newest${isInIndex ? ofFound : sql.none}
    UNION ${sql.join(begun, sql` UNION `)}) x
  JOIN ${table} r ON r.account_id = ${sight.account}::bigint AND r.id = x.id`
}

/** That a record's texts have every word, or the digits of the whole. */
function matching({ indexed, seen }: SearchedTexts, { words, digits }: Wanted): Sql {
  const inText = (text: Sql) => {
    const has = (part: string) => sql`${text} LIKE ${pattern('%', part)}`
    const each = words.map(ways => sql`(${sql.join(ways.map(has), sql` OR `)})`)
    const all = sql`(${sql.join(each, sql` AND `)})`
    return digits === null ? all : sql`(${all} OR ${has(digits)})`
  }
  return seen ? sql`${inText(indexed)} AND ${inText(seen)}` : inText(indexed)
}

/** What `LIKE` takes for texts with a part, or for those that begin with it. `%` and `_` are ordinary. */
function pattern(before: '' | '%', part: string): Sql {
  return sql`fold(${`${before}${part.replace(/[\\%_]/g, '\\$&')}%`}::text)`
}
