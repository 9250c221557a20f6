/**
 * Mentions of people in the text of a record (D156): `@{12}` or `@{12 Priya Sharma}` is user 12; the name is
 * for readers of the plain text. Only who sees the record can be mentioned. Knows no particular resource.
 */
import type { Problem } from '../errors.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Values } from '../fields/field.ts'
import { type Sight, seesAll } from '../rights/onlookers.ts'
import { mayRead } from '../rights/rights.ts'
import { callerParamsOf, visible } from '../rights/visibility.ts'
import { ask, type Sql, sql } from '../sql.ts'
import type { ReadWork } from './work.ts'

/** A mention as a regular expression, of PostgreSQL and of JavaScript alike. */
export const mentionPattern = '@[{]([0-9]{1,15})( [^{}]*)?[}]'
const mentionsMax = 50
const peopleMax = 20

/** A user in use who may be mentioned, unless they don't see the record. */
export type Person = { readonly id: number; readonly name: string; readonly sees: boolean }

/**
 * The people whose name contains `search`, those who see the record first. `record`: its values, as it would
 * be saved.
 */
export async function peopleFor(work: ReadWork, record: Values, search: string): Promise<Person[]> {
  const isWanted = sql`u.is_active = 1 AND strpos(fold(u.name), fold(${search}::text)) > 0`
  const [found = []] = await askPeople(work, [{ record, mentioned: [] }], isWanted, peopleMax)
  return found
}

/** A record before a write and as it is to be saved; `at`: its place in a body. */
type Written = { readonly before: Values | null; readonly after: Values; readonly at: string }

/**
 * For each of the records the problems of the people whom it mentions, and did not mention before. One
 * statement looks up all of them.
 */
export async function mentionProblems(work: ReadWork, records: readonly Written[]): Promise<Problem[][]> {
  const field = work.schema.resource.mentionsIn
  if (!field) return records.map(() => [])
  const asked = records.map(({ before, after, at }) => {
    const former = mentionsOf(before?.[field])
    const added = mentionsOf(after[field]).filter(id => !former.includes(id))
    const isTooMany = added.length > mentionsMax
    return { record: after, at, mentioned: isTooMany ? [] : added, isTooMany }
  })
  const isWanted = sql`u.id = ANY(r.mentioned) AND u.is_active = 1`
  const isAny = asked.some(({ mentioned }) => mentioned.length > 0)
  const people = isAny ? await askPeople(work, asked, isWanted, asked.length * mentionsMax) : []
  return asked.map((one, index) => {
    const path = `${one.at}/${field}`
    const message = `/${field} mentions more than ${mentionsMax} people.`
    if (one.isTooMany) return [{ field, path, code: 'too_many', message }]
    return one.mentioned.flatMap(id => {
      const found = people[index]!.find(person => person.id === id)
      return found?.sees ? [] : [problemOf(work, id, found, { field, path })]
    })
  })
}

/** The problem of a mention of a user who is not in use, or may not see the record. */
function problemOf(
  { schema, context }: ReadWork,
  id: number,
  found: Person | undefined,
  place: { readonly field: string; readonly path: string },
): Problem {
  const mentions = `/${place.field} mentions`
  if (!found) {
    const message = `${mentions} the user ${id}, but there is no such user in use.`
    return { ...place, code: 'reference_not_found', message }
  }
  const who = mayRead(context, 'user') ? found.name : `the user ${id}`
  const message = `${mentions} ${who}, who may not see this ${schema.resource.name}.`
  return { ...place, code: 'not_visible_to', message, hint: unseenHint, user: id }
}

const unseenHint = 'Nothing was sent to them. Take the mention out, or let them see what it is about.'

function mentionsOf(text: unknown): number[] {
  if (typeof text !== 'string') return []
  return [...new Set([...text.matchAll(new RegExp(mentionPattern, 'g'))].map(([, id]) => Number(id)))]
}

/** For each of the records the people who are wanted for the row `r` of its values. */
async function askPeople(
  work: ReadWork,
  records: readonly { readonly record: Values; readonly mentioned: readonly number[] }[],
  isWanted: Sql,
  max: number,
): Promise<Person[][]> {
  const { db, schema, context } = work
  const params = callerParamsOf(context)
  const { sights, joins } = sightsOf(work)
  const names = columnsOf(schema)
  const idOf = (value: unknown) => (typeof value === 'number' ? value : null)
  const given = records.map(({ record, mentioned }, place) => {
    return { place, mentioned, ...Object.fromEntries(names.map(name => [name, idOf(record[name])])) }
  })
  const columns = names.map(name => sql`${sql.id(name)} bigint`)
  const statement = sql`SELECT r.place::text AS place, u.id::text AS id, u.name,
  (${seesAll(context.catalog, params.account, sights)})::text AS sees
FROM (SELECT ${params.account}::bigint AS account_id, x.* FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) x
    (place int, mentioned bigint[], ${sql.join(columns)})) r${joins}
  JOIN "user" u ON u.account_id = ${params.account}::bigint AND u.deleted_at IS NULL AND ${isWanted}
ORDER BY 4 DESC, fold(u.name) COLLATE "C", u.id LIMIT ${String(max)}::bigint`
  const rows = await ask(db, statement)
  const people: Person[][] = records.map(() => [])
  for (const { place, id, name, sees } of rows)
    people[Number(place)]!.push({ id: Number(id), name: name!, sees: sees === 'true' })
  return people
}

/** The fields by which a record is visible. */
function columnsOf({ resource: { ownership, partOf = [] } }: ResourceSchema): string[] {
  const { owner, creator, territory } = ownership!
  return [...new Set([owner, creator ?? owner, territory ?? owner, ...partOf])]
}

/** The record `r` and what it may be a part of, as far as the caller sees that, with the joins of these. */
function sightsOf({ schema: { whole, resource }, context }: ReadWork): { sights: Sight[]; joins: Sql } {
  const params = callerParamsOf(context)
  const own = { resource: resource.name, alias: sql`r`, absent: sql`false`, field: resource.mentionsIn! }
  const parts = (resource.partOf ?? []).map(name => ({
    resource: whole.byName.get(name)!.related!,
    alias: sql.id(`about_${name}`),
    absent: sql`r.${sql.id(name)} IS NULL`,
    joined: sql`r.${sql.id(name)}`,
  }))
  const joins = parts.map(
    ({ resource: name, alias, joined }) => sql`
  LEFT JOIN ${sql.id(name)} ${alias} ON ${visible(name, params, alias)} AND ${alias}.id = ${joined}`,
  )
  return { sights: [own, ...parts], joins: sql.join(joins, sql.none) }
}
