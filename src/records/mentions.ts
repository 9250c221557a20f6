/**
 * Mentions of people in the text of a record (D156): `@{12}` or `@{12 Priya Sharma}` is user 12; the name is
 * for readers of the plain text. Only who sees the record can be mentioned. Knows no particular resource.
 */
import type { Problem } from '../errors.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Values } from '../fields/field.ts'
import { type Sight, seesAll } from '../rights/onlookers.ts'
import { mayRead } from '../rights/rights.ts'
import { type Caller, callerParamsOf, visible } from '../rights/visibility.ts'
import { ask, type Param, type Sql, sql } from '../sql.ts'
import type { Reader } from './store.ts'

/** A mention as a regular expression, of PostgreSQL and of JavaScript alike. */
export const mentionPattern = '@[{]([0-9]{1,15})( [^{}]*)?[}]'
/** Maximum of people that one text mentions. */
const mentionsMax = 50
/** Maximum of people in an answer. */
const peopleMax = 20

/** A user in use who may be mentioned, unless they don't see the record. */
export type Person = { readonly id: number; readonly name: string; readonly sees: boolean }

/**
 * The people whose name contains `search`, those who see the record first. `record`: its values, as it would
 * be saved.
 */
export async function peopleFor(
  db: Reader,
  caller: Caller,
  schema: ResourceSchema,
  record: Values,
  search: string,
): Promise<Person[]> {
  const isWanted = sql`u.is_active = 1 AND strpos(fold(u.name), fold(${search}::text)) > 0`
  return askPeople(db, caller, schema, record, isWanted, peopleMax)
}

/** The problems of the people whom the record at `at` of a body mentions, and did not mention before. */
export async function mentionProblems(
  db: Reader,
  caller: Caller,
  schema: ResourceSchema,
  { before, after, at }: { before: Values | null; after: Values; at: string },
): Promise<Problem[]> {
  const field = schema.resource.mentionsIn
  if (!field) return []
  const former = mentionsOf(before?.[field])
  const added = mentionsOf(after[field]).filter(id => !former.includes(id))
  if (added.length === 0) return []
  const path = `${at}/${field}`
  if (added.length > mentionsMax)
    return [{ field, path, code: 'too_many', message: `/${field} mentions more than ${mentionsMax} people.` }]
  const isWanted = sql`u.id = ANY(${`{${added.join()}}`}::bigint[]) AND u.is_active = 1`
  const people = await askPeople(db, caller, schema, after, isWanted, mentionsMax)
  return added.flatMap(id => {
    const found = people.find(person => person.id === id)
    if (!found) {
      const message = `/${field} mentions the user ${id}, but there is no such user in use.`
      return [{ field, path, code: 'reference_not_found', message }]
    }
    if (found.sees) return []
    const who = mayRead(caller, 'user') ? found.name : `the user ${id}`
    const message = `/${field} mentions ${who}, who may not see this ${schema.resource.name}.`
    return [{ field, path, code: 'not_visible_to', message, hint: unseenHint, user: id }]
  })
}

const unseenHint = 'Nothing was sent to them. Take the mention out, or let them see what it is about.'

/** The ids of the users that a text mentions, each once. */
function mentionsOf(text: unknown): number[] {
  if (typeof text !== 'string') return []
  return [...new Set([...text.matchAll(new RegExp(mentionPattern, 'g'))].map(([, id]) => Number(id)))]
}

async function askPeople(
  db: Reader,
  caller: Caller,
  schema: ResourceSchema,
  record: Values,
  isWanted: Sql,
  max: number,
): Promise<Person[]> {
  const { catalog } = caller
  const params = callerParamsOf(caller)
  const { sights, joins } = sightsOf(schema, caller)
  const rows = await ask(
    db,
    sql`SELECT u.id::text AS id, u.name, (${seesAll(catalog, params.account, sights)})::text AS sees
FROM (SELECT ${valuesOf(schema, params.account, record)}) r${joins}
  JOIN "user" u ON u.account_id = ${params.account}::bigint AND u.deleted_at IS NULL AND ${isWanted}
ORDER BY 3 DESC, fold(u.name) COLLATE "C", u.id LIMIT ${sql.integer(max)}`,
  )
  return rows.map(({ id, name, sees }) => ({ id: Number(id), name: name!, sees: sees === 'true' }))
}

/** The columns by which a record is visible. */
function valuesOf({ resource: { ownership, partOf = [] } }: ResourceSchema, account: Param, record: Values) {
  const { owner, creator, territory } = ownership!
  const names = new Set([owner, creator ?? owner, territory ?? owner, ...partOf])
  const idOf = (name: string) => {
    const value = record[name] ?? null
    return sql`${typeof value === 'number' ? String(value) : null}::bigint AS ${sql.id(name)}`
  }
  return sql`${account}::bigint AS account_id, ${sql.join([...names].map(idOf))}`
}

/** The record `r` and what it may be a part of, as far as the caller sees that, with the joins of these. */
function sightsOf({ whole, resource }: ResourceSchema, caller: Caller): { sights: Sight[]; joins: Sql } {
  const params = callerParamsOf(caller)
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
