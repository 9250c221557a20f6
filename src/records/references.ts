/**
 * References between records. The write of a record checks that the referenced records exist. A separate
 * SELECT says which are missing, and reads the values to copy. Another finds the records that point to a
 * record before it is deleted.
 */
import { type Problem, type ProblemCode, sentence } from '../errors.ts'
import type { CallerParams, WriteParams } from '../fields/caller-params.ts'
import type { Catalog } from '../fields/catalog.ts'
import { ofFilled } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import { whereRecordsAre } from '../fields/kinds/how-to-write.ts'
import { kinds } from '../fields/kinds.ts'
import type { Draft } from '../fields/resource.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { mayRead } from '../rights/rights.ts'
import { type Caller, callerParamsOf, unlimited, visible } from '../rights/visibility.ts'
import { ask, param, type Sql, sql } from '../sql.ts'
import type { Reference } from './parse.ts'
import { isHiddenByRole } from './rendered-record.ts'
import type { Reader } from './store.ts'

/** Records that a transaction found or created under the account's lock, where they stay so (D165). */
export class FoundRecords {
  readonly #states = new Map<string, 'live' | 'inactive'>()

  add(resource: string, id: number, state: 'live' | 'inactive' = 'live'): void {
    this.#states.set(`${resource} ${id}`, state)
  }

  of(resource: string, id: number): 'live' | 'inactive' | undefined {
    return this.#states.get(`${resource} ${id}`)
  }
}

/**
 * Looks up references: whether the records are there, and the values to copy from them. `isLocked`: under the
 * account's lock, where the catalog's own records are those that parsing accepted, and `found` ones stay.
 */
export async function lookUpReferences(
  db: Reader,
  caller: Caller & { readonly found?: FoundRecords },
  references: readonly Reference[],
  isLocked: boolean,
): Promise<{ readonly referenceState: ReferenceStates; readonly related: Draft['related'] }> {
  const { catalog, found } = caller
  const known: ReferenceStates = (resource, id) => {
    const { options, snapshot } = catalog.resources.get(resource)!.resource
    if (!isLocked || snapshot) return null
    return options ? 'live' : (found?.of(resource, id) ?? null)
  }
  const asked = references.filter(({ resource, id }) => known(resource, id) === null)
  const row = await readReferences(db, callerParamsOf(caller), asked)
  const referenceState = referenceStatesIn(row)
  return {
    referenceState: (resource, id) => known(resource, id) ?? referenceState(resource, id),
    related: relatedOf(row, caller),
  }
}

/** The row of `existenceColumns`; {} if there are no references. */
export async function readReferences(
  db: Reader,
  params: CallerParams,
  references: readonly Reference[],
): Promise<Record<string, string | null>> {
  if (references.length === 0) return {}
  const columns = existenceColumns(params, references)
  const [row] = await ask(db, sql`SELECT ${sql.join(columns, sql`,\n  `)}`)
  return row!
}

/**
 * Columns of the result. `live_<resource>` has the ids that exist and are not deleted,
 * `inactive_<resource>` those of them that are inactive. `copied_<resource>` has the values to copy, for
 * resources that have a `snapshot`, without fields that the caller's role hides (D64).
 */
function existenceColumns(params: CallerParams, references: readonly Reference[]): Sql[] {
  return idsByResource(references).flatMap(({ resource, ids }) => {
    const all = param(ids)
    const of = sql`FROM ${sql.id(resource)} x
    WHERE ${visible(resource, params, sql`x`)} AND id = ANY(${all}::bigint[]) AND deleted_at IS NULL`
    const idsOf = (where: Sql, name: string) =>
      sql`(SELECT string_agg(id::text, ',') ${of}${where}) AS ${sql.id(`${name}_${resource}`)}`
    const { resource: asked, byName } = params.resources.get(resource)!
    const { snapshot, inUse } = asked
    const live = [
      idsOf(sql.none, 'live'),
      ...(inUse ? [idsOf(sql` AND ${sql.id(inUse)} <> 1`, 'inactive')] : []),
    ]
    if (!snapshot) return live
    const copied = snapshot.filter(name => !byName.get(name)!.is_hidden)
    const members = ['id', ...copied].map(name => sql`${sql.text(name)}, ${sql.id(name)}`)
    const texts = sql`json_agg(json_build_object(${sql.join(members)}))::text`
    return [...live, sql`(SELECT ${texts} ${of}) AS ${sql.id(`copied_${resource}`)}`]
  })
}

/**
 * The values to copy from related records, out of the row of `readReferences`. The response shows the copies,
 * so there are none of records that the caller may not read (D65).
 */
function relatedOf(row: Record<string, string | null>, caller: Caller): Draft['related'] {
  const read = new Map<string, Map<number, JsonObject>>()
  return (resource, id) => {
    if (!mayRead(caller, resource)) return null
    let records = read.get(resource)
    if (!records) {
      const rows = parseJson(row[`copied_${resource}`] ?? '[]') as JsonObject[]
      records = new Map(rows.map(record => [Number(record.id), record]))
      read.set(resource, records)
    }
    return records.get(id) ?? null
  }
}

/** The resources among these whose records' values are copied (D23). */
export function copiedFrom(references: readonly Reference[], { resources }: Catalog): string[] {
  return references.flatMap(({ resource }) => (resources.get(resource)!.resource.snapshot ? [resource] : []))
}

/** Finds the state of a record in the row of `readReferences`; null if it is missing. */
export type ReferenceStates = (resource: string, id: number) => 'live' | 'inactive' | null

export function referenceStatesIn(row: Record<string, string | null>): ReferenceStates {
  const ids = new Map(Object.entries(row).map(([column, text]) => [column, new Set(text?.split(','))]))
  const has = (column: string, id: number) => ids.get(column)?.has(String(id))
  return (resource, id) => {
    if (!has(`live_${resource}`, id)) return null
    return has(`inactive_${resource}`, id) ? 'inactive' : 'live'
  }
}

/**
 * The problems of references to missing or inactive records. Unknown ids, deleted records, records that the
 * caller does not see (D63) and ids of other accounts give the same problem (D11). A reference that the
 * record had before may be inactive (D10), and so may those in `allowedInactive`. References of defaults are
 * checked earlier.
 */
export function missingReferences(
  references: readonly Reference[],
  referenceState: ReferenceStates,
  allowedInactive?: ReadonlyMap<number, string>,
): Problem[] {
  return references.flatMap(({ resource, id, field, path, by }) => {
    const found = referenceState(resource, id)
    if (found === 'live' || by === 'default') return []
    if (found === 'inactive' && (by === 'before' || allowedInactive?.has(id))) return []
    const member = path.slice(path.lastIndexOf(`/${field}`))
    const [code, why]: readonly [ProblemCode, string] =
      found === 'inactive'
        ? ['inactive_option', `a ${resource} that is no longer in use`]
        : ['reference_not_found', `but there is no such ${resource}`]
    const message = sentence(member, `is ${id}, ${why}`)
    return [{ field, path, code, message, hint: whereRecordsAre(resource) }]
  })
}

/**
 * Conditions of a write: all referenced records still exist, and newly referenced ones are active, except for
 * the author's `allowedInactive`. References of the request must be visible to the author (D63).
 *
 * `after`: the CTE that takes the account's lock, if the conditions stand in the same statement; else null. A
 * statement that waits for the lock doesn't see a deletion that was committed meanwhile. So, after the wait,
 * it reads each row again FOR SHARE, which does see it. The weaker KEY SHARE of a foreign key doesn't: a
 * deletion changes no key.
 */
export function referencesExist(
  params: WriteParams,
  references: readonly Reference[],
  after: Sql | null,
): Sql[] {
  const groups = [...Map.groupBy(references, reference => reference.by)]
  return groups.flatMap(([how, of]) => idsByResource(of).map(ids => existCondition(params, ids, how, after)))
}

function existCondition(
  params: WriteParams,
  { resource, ids }: Ids,
  how: Reference['by'],
  after: Sql | null,
): Sql {
  const all = param(ids)
  const readParams = how ? unlimited(params) : params
  const { inUse } = params.resources.get(resource)!.resource
  const orAllowedInactive = params.allowedInactive
    ? sql` OR x.id = ANY(${params.allowedInactive}::bigint[])`
    : sql.none
  const isInUse =
    inUse && how !== 'before' ? sql` AND (x.${sql.id(inUse)} = 1${orAllowedInactive})` : sql.none
  const first = after ? sql`${after}, ` : sql.none
  return sql`(
    SELECT count(*) FROM (
      SELECT x.id FROM ${first}${sql.id(resource)} x
      WHERE ${visible(resource, readParams, sql`x`)} AND x.id = ANY(${all}::bigint[]) AND x.deleted_at IS NULL${isInUse}
      ${after ? sql`FOR SHARE OF x` : sql.none}) y) = cardinality(${all}::bigint[])`
}

/**
 * Conditions that find the records `x` that point to a record of the resource `name`: `condition` by any
 * field, `shown` by those that the catalog's role sees, `used` by those of them that are in use; `unused` are
 * the others. `id` is SQL. `created_by` and `updated_by` do not count, nor does a record that points to
 * itself.
 */
export function pointersTo(name: string, { resources }: Catalog, id: Sql) {
  return [...resources.values()].flatMap(schema => {
    const { resource, whole } = schema
    const pointing = whole.fields.filter(field => field.related === name && !field.is_read_only)
    const isBy = (field: Field) => {
      return hasAmong(field, id) ?? sql`x.${sql.id(field.internal_name)} = ${id}`
    }
    const isOther = resource.name === name ? sql` AND x.id <> ${id}` : sql.none
    const isByAny = (of: readonly Field[]) =>
      of.length ? sql`(${sql.join(of.map(isBy), sql` OR `)})${isOther}` : sql`false`
    if (pointing.length === 0) return []
    const shown = pointing.filter(field => !isHiddenByRole(schema, field.internal_name))
    const [used, unused] = [true, false].map(is => shown.filter(({ is_active }) => is_active === is))
    const by = { condition: isByAny(pointing), shown: isByAny(shown), used: isByAny(used!) }
    return { resource: resource.name, ...by, unused: unused! }
  })
}

/**
 * Conditions that nothing points to any of the records `ids` of the resource `name`, an array, but
 * themselves and records of the resources `parts`. Each id is looked up in an index. The range in index
 * order, and the count for fields of several values, keep the planner from a sequential scan when very many
 * records point to one.
 */
export function unpointed(name: string, params: CallerParams, ids: Sql, parts: readonly string[]): Sql[] {
  const own = sql`x.account_id = ${params.account}::bigint AND x.deleted_at IS NULL`
  const each = sql`unnest(${ids}) i`
  return [...params.resources.values()].flatMap(({ resource, whole }) => {
    if (parts.includes(resource.name)) return []
    const table = sql.id(resource.name)
    const pointing = whole.fields.filter(field => field.related === name && !field.is_read_only)
    return pointing.map(field => {
      const column = sql`x.${sql.id(field.internal_name)}`
      const points = hasAmong(field, sql`i`)
      const other = resource.name === name ? sql`${own} AND x.id <> i` : own
      if (!points)
        return sql`NOT EXISTS (SELECT 1 FROM ${each} CROSS JOIN LATERAL (
      SELECT 1 FROM ${table} x WHERE ${other} AND ${column} BETWEEN i AND i ORDER BY ${column} LIMIT 1) y)`
      return sql`(SELECT count(*) FROM ${each}, ${table} x WHERE ${other} AND ${points}) = 0`
    })
  })
}

/**
 * The condition that a field of `x` which is custom or has several ids contains this one; null for a field
 * that is a column of one id.
 */
function hasAmong(field: Field, id: Sql): Sql | null {
  const name = field.internal_name
  if (field.is_custom)
    return ofFilled(sql`x.custom`, sql`x.custom @> jsonb_build_object(${sql.text(name)}, ${id})`)
  const column = sql`x.${sql.id(name)}`
  const { multi } = kinds[field.type].term(field, '')!
  return multi ? ofFilled(column, sql`${column} @> ARRAY[${id}]`) : null
}

/** Ids of a resource, each once, as an array literal. */
type Ids = { readonly resource: string; readonly ids: string }

function idsByResource(references: readonly Reference[]): Ids[] {
  const resources = [...new Set(references.map(reference => reference.resource))].sort()
  return resources.map(resource => {
    const ids = references.filter(reference => reference.resource === resource).map(({ id }) => id)
    return { resource, ids: `{${[...new Set(ids)].join(',')}}` }
  })
}
