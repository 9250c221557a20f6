/**
 * The records that a caller sees and may change (D63): one condition, made from the caller, in every
 * statement that reads or writes records. Pure; knows no resource.
 */
import type { CallerParams } from '../fields/caller-params.ts'
import { type Catalog, type ResourceSchema, type Visibility, visibilities } from '../fields/catalog.ts'
import type { Ownership } from '../fields/resource.ts'
import { param, type Sql, sql } from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'

export function isWider(one: Visibility, other: Visibility): boolean {
  return visibilities.indexOf(one) > visibilities.indexOf(other)
}

/** True if roles say which of the records they see (D63). */
export function isByRole(reach: Ownership | undefined): reach is Ownership {
  return reach !== undefined && !reach.isPrivate && !reach.sharedBy
}

/** The caller for whom a statement reads or writes. */
export type Caller = {
  /** the account's, as the viewer's role sees it */
  readonly catalog: Catalog
  /** a user's id */
  readonly actor: number
  /** territories of the user */
  readonly territories?: readonly number[]
}

export function callerParamsOf(caller: Caller): CallerParams {
  const [account, actor, territories] = callerParamValues(caller)
  return {
    resources: caller.catalog.resources,
    account: param(account),
    actor: param(actor),
    territories: param(territories),
  }
}

/** The sight of all records of the account: for checks that don't depend on what the caller sees. */
export function unlimited<S extends CallerParams>(params: S): S {
  return { ...params, resources: wholeResources(params.resources) }
}

const wholeResources = memoize(
  (resources: Catalog['resources']): Catalog['resources'] =>
    new Map([...resources].map(([name, { whole }]) => [name, whole])),
)

/** The values of a sight's parameters: account, actor, territories. */
export function callerParamValues({
  catalog,
  actor,
  territories = [],
}: Caller): readonly [string, string, string] {
  return [String(catalog.account.id), String(actor), `{${territories.join(',')}}`]
}

/** True if the visible records depend on the viewer, not on their role alone. */
export function isLimited({ visibility }: ResourceSchema): boolean {
  return visibility !== 'all'
}

/** Cache key of a viewer; '' if everybody with the role sees the same records. */
export function visibilityKey(schema: ResourceSchema, caller: Caller): string {
  return isLimited(schema) ? callerKey(caller) : ''
}

/** Cache key of a caller, for results that no other caller may share. */
export function callerKey({ actor, territories = [] }: Caller): string {
  return [actor, ...territories].join()
}

/** The condition that the row `alias` of a resource belongs to the account and is visible to the viewer. */
export function visible(resource: string, params: CallerParams, alias: Sql): Sql {
  const ofAccount = sql`${alias}.account_id = ${params.account}::bigint`
  const schema = params.resources.get(resource)!
  const within = limitedTo(schema.visibility, schema, params, alias)
  if (!within) return ofAccount
  const { sharedBy } = schema.resource.reach!
  return sharedBy
    ? sql`${ofAccount} AND (${within} OR ${alias}.${sql.id(sharedBy)} = 1)`
    : sql`${ofAccount} AND ${within}`
}

/**
 * The condition that the viewer may change the row `alias`, which they see: true or false, never NULL, also
 * of a record without an owner or a territory.
 */
export function changeable(resource: string, params: CallerParams, alias: Sql): Sql {
  const schema = params.resources.get(resource)!
  const within = limitedTo(schema.mayChange, schema, params, alias)
  return within ? sql`(${within} IS TRUE)` : sql`true`
}

/** The column `is_changeable` of a statement that reads the row `alias`, for `isChangeable`. */
export function changeableColumn(resource: string, params: CallerParams, alias: Sql): Sql {
  return sql`(${changeable(resource, params, alias)})::text AS is_changeable`
}

/** True only if the database says that the viewer may change the row. */
export function isChangeable(row: { readonly [column: string]: string | null }): boolean {
  return row.is_changeable === 'true'
}

function limitedTo(
  to: Visibility,
  { resource: { reach } }: ResourceSchema,
  { account, actor, territories }: CallerParams,
  alias: Sql,
): Sql | null {
  if (to === 'all' || !reach) return null
  const { owner, creator, territory, through = [] } = reach
  const of = (column: string) => sql`${alias}.${sql.id(column)}`
  const isOwn = sql`${creator ? sql`coalesce(${of(owner)}, ${of(creator)})` : of(owner)} = ${actor}::bigint`
  if (to === 'own') return isOwn
  const isTheirs = (column: Sql) => sql`${column} = ANY(${territories}::bigint[])`
  const ways = [
    isOwn,
    ...(territory ? [isTheirs(of(territory))] : []),
    ...through.map(
      name => sql`EXISTS (
      SELECT 1 FROM ${sql.id(name)} reached
      WHERE reached.account_id = ${account}::bigint AND reached.id = ${of(name)}
        AND ${isTheirs(sql`reached.territory`)})`,
    ),
  ]
  return ways.length > 1 ? sql`(${sql.join(ways, sql` OR `)})` : isOwn
}
