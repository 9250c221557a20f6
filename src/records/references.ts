/**
 * What records point to. The statement that writes a record asks whether it is there; a question of its own
 * says what is missing, and what a record copies from it. What points to a record is asked before that one
 * goes.
 */
import type { Problem } from '../errors.ts'
import type { Catalog } from '../fields/catalog.ts'
import { kinds } from '../fields/kinds.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { ask, type Param, param, type Sql, sql } from '../sql.ts'
import type { Reference } from './parse.ts'
import type { Draft } from './resource.ts'
import type { Queryable } from './store.ts'
import type { Author } from './write.ts'

/** What the database says of the references of a request; nothing where there are none. */
export async function askReferences(
  db: Queryable,
  catalog: Catalog,
  references: readonly Reference[],
): Promise<Record<string, string | null>> {
  if (references.length === 0) return {}
  const account = param(String(catalog.account.id))
  const columns = existenceColumns(account, references, catalog)
  const [row] = await ask(db, sql`SELECT ${sql.join(columns, sql`,\n  `)}`)
  return row!
}

/**
 * One column a resource, `live_<resource>`: the ids that exist and are not deleted; `copied_<resource>` where
 * they may be copied from.
 */
function existenceColumns(
  account: Param,
  references: readonly Reference[],
  { resources }: Pick<Catalog, 'resources'>,
): Sql[] {
  return idsByResource(references).flatMap(({ resource, ids }) => {
    const all = param(ids)
    const of = sql`FROM ${sql.id(resource)}
    WHERE account_id = ${account}::bigint AND id = ANY(${all}::bigint[]) AND deleted_at IS NULL`
    const live = sql`(SELECT string_agg(id::text, ',') ${of}) AS ${sql.id(`live_${resource}`)}`
    const copied = resources.get(resource)?.resource.snapshot
    if (!copied) return [live]
    const members = ['id', ...copied].map(name => sql`${sql.text(name)}, ${sql.id(name)}`)
    const texts = sql`json_agg(json_build_object(${sql.join(members)}))::text`
    return [live, sql`(SELECT ${texts} ${of}) AS ${sql.id(`copied_${resource}`)}`]
  })
}

/** What the related records say of themselves, from the row that answers the question. */
export function relatedOf(row: Record<string, string | null> | undefined): Draft['related'] {
  const read = new Map<string, Map<number, JsonObject>>()
  return (resource, id) => {
    let records = read.get(resource)
    if (!records) {
      const rows = parseJson(row?.[`copied_${resource}`] ?? '[]') as JsonObject[]
      records = new Map(rows.map(record => [Number(record.id), record]))
      read.set(resource, records)
    }
    return records.get(id) ?? null
  }
}

/** Unknown, deleted and other accounts' ids: one and the same problem (D11). */
export function missingReferences(
  references: readonly Reference[],
  row: Record<string, string | null>,
): Problem[] {
  const live = new Map<string, Set<string>>()
  return references.flatMap(({ resource, id, field, path }) => {
    if (!live.has(resource)) live.set(resource, new Set(row[`live_${resource}`]?.split(',')))
    if (live.get(resource)!.has(String(id))) return []
    return [{ field, path, code: 'reference_not_found', message: `${field}: there is no ${resource} ${id}.` }]
  })
}

/**
 * Conditions of a write: that what the record newly points to is still there. FOR SHARE reads a row as it is
 * after waiting for whoever deletes it now (the weaker KEY SHARE of a foreign key does not); it comes after
 * the account's lock, so that no two can wait for each other.
 */
export function stillThere({ account }: Author, references: readonly Reference[]): Sql[] {
  return idsByResource(references).map(({ resource, ids }) => {
    const all = param(ids)
    return sql`(
    SELECT count(*) FROM (
      SELECT x.id FROM locked, ${sql.id(resource)} x
      WHERE x.account_id = ${account}::bigint AND x.id = ANY(${all}::bigint[]) AND x.deleted_at IS NULL
      FOR SHARE OF x) y) = cardinality(${all}::bigint[])`
  })
}

/**
 * Which records `x` point to the record of a resource with an id, which is SQL: what they own, not who made
 * and changed them.
 */
export function pointersTo(name: string, catalog: Catalog, id: Sql): { resource: string; condition: Sql }[] {
  return [...catalog.resources.values()].flatMap(({ resource, fields }) => {
    const pointing = fields.filter(field => field.related === name && !field.is_read_only)
    const conditions = pointing.map(field => {
      const named = sql.text(field.internal_name)
      if (field.is_custom) return sql`x.custom @> jsonb_build_object(${named}, ${id})`
      const column = sql.id(field.internal_name)
      const isSeveral = kinds[field.type].term(field, '')!.multi
      return isSeveral ? sql`x.${column} @> ARRAY[${id}]` : sql`x.${column} = ${id}`
    })
    return conditions.length
      ? [{ resource: resource.name, condition: sql`(${sql.join(conditions, sql` OR `)})` }]
      : []
  })
}

/** The ids of each resource once, as an array literal. */
function idsByResource(references: readonly Reference[]): { resource: string; ids: string }[] {
  const resources = [...new Set(references.map(reference => reference.resource))].sort()
  return resources.map(resource => {
    const ids = references.filter(reference => reference.resource === resource).map(({ id }) => id)
    return { resource, ids: `{${[...new Set(ids)].join(',')}}` }
  })
}
