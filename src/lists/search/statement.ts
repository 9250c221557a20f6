/**
 * The statement of a search, and the texts of records that it covers (D86). It finds candidates by index
 * plans that end early (D124); words.ts orders them. `sample` says if the words are common. `among`: if not,
 * records with the words that the trigram index knows, at most `foundMax`. `newest`: if there are more, or
 * the index knows no word, or the words are common, a scan of the newest records. In any case, also records
 * whose name or indexed custom text begins with the text.
 */
import type { CallerParams } from '../../fields/caller-params.ts'
import { isShown, type ResourceSchema, shownFields } from '../../fields/catalog.ts'
import { scalar, storedRow } from '../../fields/columns.ts'
import type { Field, TextSearch } from '../../fields/field.ts'
import { kinds } from '../../fields/kinds.ts'
import { spellings } from '../../fields/name.ts'
import type { Order } from '../../fields/term.ts'
import { visible } from '../../rights/visibility.ts'
import { likeText, type Sql, sql } from '../../sql.ts'
import { memoize } from '../../waiting/memoize.ts'
import { isIndexed, type SearchWord } from './words.ts'

/** Maximum number of records with the words that are gathered. */
export const foundMax = 1000
/** Number of the newest records that are scanned instead. */
export const newestMax = 3000
/** Words that so many of the newest records have are common: no index is used for them. */
const [sample, commonFrom] = [300, 10]
/** Maximum number of candidates of each way: the newest, or the first by name. */
export const candidatesMax = 100

/** The candidates of several resources: `resource`, `id`, and the `texts` as a JSON array. */
export function searchSql(sought: readonly ResourceSchema[], params: CallerParams, wanted: SearchWord): Sql {
  return sql.join(
    sought.map(schema => sql`(${candidatesSql(schema, params, wanted)})`),
    sql`\nUNION ALL\n`,
  )
}

const isCommon = sql`((SELECT found FROM sample) >= ${sql.integer(commonFrom)})`

function candidatesSql(schema: ResourceSchema, params: CallerParams, wanted: SearchWord): Sql {
  const { name } = schema.resource
  const [table, known] = [sql.id(name), searchedTexts(schema)]
  const live = sql`${visible(name, params, sql`r`)} AND r.deleted_at IS NULL`
  const ways = waysOf(wanted).map((way, index) => ({
    ...way,
    all: sql.id(`all${index}`),
    name: sql.id(`among${index}`),
  }))
  const [most, candidates] = [sql.integer(foundMax), sql.integer(candidatesMax)]
  // Planned as if all rows were read, which makes the planner take the index; the next CTE ends the read
  // early.
  const among = ways.map(
    ({ name, all, indexed, others }) => sql`${all} AS MATERIALIZED (
    SELECT r.id, ${matching(known, others)} AS fits FROM ${table} r
    WHERE ${live} AND ${matching(known, indexed)} AND NOT ${isCommon}
  ), ${name} AS MATERIALIZED (SELECT * FROM ${all} LIMIT ${sql.integer(foundMax + 1)}), `,
  )
  const withText = sql`SELECT r.id, ${known.seen ?? known.indexed} AS text FROM ${table} r WHERE ${live}`
  const has = inText(sql`r.text`, wanted.words)
  const tooMany = ways.map(way => sql`(SELECT count(*) FROM ${way.name}) > ${most}`)
  const found = ways.map(
    (way, index) => sql`
    UNION (SELECT id FROM ${way.name}
      WHERE fits AND (NOT ${tooMany[index]!} OR (SELECT count(*) FROM newest) < ${candidates})
      ORDER BY id DESC LIMIT ${candidates})`,
  )
  // By the digits of the whole, not all records with the words are found.
  const whenScanned = wanted.words.some(isKnown)
    ? sql` AND (${sql.join([isCommon, ...tooMany], sql` OR `)})`
    : sql.none
  return sql`WITH sample AS MATERIALIZED (
    SELECT count(*) AS found FROM (${withText} ORDER BY r.id DESC LIMIT ${sql.integer(sample)}) r WHERE ${has}
  ), ${sql.join(among, sql.none)}newest AS MATERIALIZED (
    SELECT r.id FROM (
      ${withText}${whenScanned}
      ORDER BY r.id DESC LIMIT ${sql.integer(newestMax)}) r
    WHERE ${has} ORDER BY r.id DESC LIMIT ${candidates}
  )
  SELECT ${sql.text(name)} AS resource, r.id::text AS id,
    json_build_array(${sql.join(known.texts.map(({ value }) => value))})::text AS texts
  FROM (
    SELECT id FROM newest${sql.join(found, sql.none)}
    UNION ${sql.join(begunSql(known, table, live, wanted), sql` UNION `)}) x
  JOIN ${table} r ON r.account_id = ${params.account}::bigint AND r.id = x.id`
}

/** The words that an index finds, and those that are checked on the records found. */
type Way = { readonly indexed: Words; readonly others: Words }
type Words = SearchWord['words']

/**
 * The ways in which the index finds records: by the words that it knows, and by the digits of the whole. None
 * if it knows no word.
 */
function waysOf({ words, digits }: SearchWord): Way[] {
  const indexed = words.filter(isKnown)
  const byWords = indexed.length ? [{ indexed, others: words.filter(ways => !isKnown(ways)) }] : []
  const byDigits = digits.length && words.length > 1 ? [{ indexed: [digits], others: [] }] : []
  return [...byWords, ...byDigits]
}

/** True if an index knows each spelling of a word. */
function isKnown(spellings: readonly string[]): boolean {
  return spellings.every(isIndexed)
}

/**
 * SELECTs of the ids of records whose name or indexed text begins with the text, in the order of the texts.
 */
function begunSql({ orders }: SearchedTexts, table: Sql, live: Sql, wanted: SearchWord): Sql[] {
  return orders.flatMap(order => {
    const value = order.sql(storedRow(), () => sql.none)
    return spellings(wanted.text).map(
      text => sql`(SELECT r.id FROM ${table} r WHERE ${live} AND ${value} LIKE ${pattern('', text)}
    ORDER BY ${value}, r.id LIMIT ${sql.integer(candidatesMax)})`,
    )
  })
}

/** Condition that a record's texts have every word: the indexed ones, and those that the caller sees. */
function matching({ indexed, seen }: SearchedTexts, words: Words): Sql {
  return seen ? sql`${inText(indexed, words)} AND ${inText(seen, words)}` : inText(indexed, words)
}

function inText(text: Sql, words: Words): Sql {
  const each = words.map(ways => {
    const has = ways.map(part => sql`${text} LIKE ${pattern('%', part)}`)
    return sql`(${sql.join(has, sql` OR `)})`
  })
  return each.length ? sql.join(each, sql` AND `) : sql`true`
}

/** SQL of a `LIKE` pattern for texts that contain a part, or begin with it. `%` and `_` are ordinary. */
function pattern(before: '' | '%', part: string): Sql {
  return sql`fold(${`${before}${likeText(part)}%`}::text)`
}

export type SearchedText = {
  readonly field: Field
  readonly searched: TextSearch
  /** True if it is a part of the record's name */
  readonly isName: boolean
  /** SQL of the value as JSON, over the row `r` */
  readonly value: Sql
}

/** The texts of a resource that a search covers, without those that the caller doesn't see (D64). */
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
  const all = [...resource.shownAs, ...(resource.searched ?? [])].map(name => byName.get(name)!)
  const seen = all.filter(isShown)
  const custom = shownFields(schema).filter(isIndexedText)
  const text = (field: Field): SearchedText => ({
    field,
    searched: kinds[field.type].searched!,
    isName: resource.shownAs.includes(field.internal_name),
    value: field.is_custom ? scalar(field, '', 'text')(storedRow()) : column(field),
  })
  const last = byName.get(resource.shownAs.at(-1)!)!
  return {
    texts: [...seen, ...custom].map(text),
    indexed: joined(all),
    seen: seen.length === all.length ? null : joined(seen),
    orders: [last, ...custom].map(field => kinds[field.type].term(field, '')!.order!),
  }
})

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
