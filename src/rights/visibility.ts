/**
 * The records that a caller sees and may change (D63): one condition, made from the caller, in every
 * statement that reads or writes records. Pure; knows no resource.
 */
import type { CallerParams, VisibilityParams } from '../fields/caller-params.ts'
import { type Catalog, type ResourceSchema, type Visibility, visibilities } from '../fields/catalog.ts'
import type { Ownership } from '../fields/resource.ts'
import { param, type Sql, sql } from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'
import type { Rights } from './rights.ts'

export function isWider(one: Visibility, other: Visibility): boolean {
  return visibilities.indexOf(one) > visibilities.indexOf(other)
}

/** True if roles say which of the records they see (D63). */
export function isByRole(ownership: Ownership | undefined): ownership is Ownership {
  return ownership !== undefined && !ownership.isPrivate && !ownership.sharedBy
}

/** The caller for whom a statement reads or writes. */
export type Caller = {
  /** the account's, as the caller's role sees it */
  readonly catalog: Catalog
  /** a user's id */
  readonly actor: number
  /** territories of the user */
  readonly territories?: readonly number[]
  /** absent for the service itself, which may do everything */
  readonly rights?: Rights
}

/** The actor of what the service itself and its operators do (D67). */
export const serviceActor = 0

/** A user, with the rights of their role. */
export type AuthorizedCaller = Caller & { readonly rights: Rights }

export function callerParamsOf(caller: Caller): CallerParams {
  const [account, actor, territories] = callerParamValues(caller)
  return {
    resources: caller.catalog.resources,
    account: param(account),
    actor: param(actor),
    territories: param(territories),
  }
}

/** The parameters for all records of the account: for checks that don't depend on what the caller sees. */
export function unlimited<S extends CallerParams>(params: S): S {
  return { ...params, resources: unlimitedResources(params.resources) }
}

const unlimitedResources = memoize(
  (resources: Catalog['resources']): Catalog['resources'] =>
    new Map([...resources].map(([name, { whole }]) => [name, whole])),
)

/** The values of these parameters: account, actor, territories. */
export function callerParamValues({
  catalog,
  actor,
  territories = [],
}: Caller): readonly [string, string, string] {
  return [String(catalog.account.id), String(actor), `{${territories.join(',')}}`]
}

/** True if the visible records depend on the caller, not on their role alone. */
export function isLimited({ visibility }: ResourceSchema): boolean {
  return visibility !== 'all'
}

/** Cache key of a caller; '' if everybody with the role sees the same records. */
export function visibilityKey(schema: ResourceSchema, caller: Caller): string {
  return isLimited(schema) ? callerCacheKey(caller) : ''
}

/** Cache key of a caller, for results that no other caller may share. */
export function callerCacheKey({ actor, territories = [] }: Caller): string {
  return [actor, ...territories].join()
}

/** The condition that the row `alias` of a resource belongs to the account and is visible to the caller. */
export function visible(resource: string, params: VisibilityParams, alias: Sql): Sql {
  const ofAccount = sql`${alias}.account_id = ${params.account}::bigint`
  const schema = params.resources.get(resource)!
  const limit = limitedTo(schema.visibility, schema, params, alias)
  if (!limit) return ofAccount
  const { sharedBy } = schema.resource.ownership!
  return sharedBy
    ? sql`${ofAccount} AND (${limit} OR ${alias}.${sql.id(sharedBy)} = 1)`
    : sql`${ofAccount} AND ${limit}`
}

/**
 * The condition that the caller may change the row `alias`, which they see: true or false, never NULL, also
 * of a record without an owner or a territory.
 */
export function changeable(resource: string, params: CallerParams, alias: Sql): Sql {
  const schema = params.resources.get(resource)!
  const limit = limitedTo(schema.mayChange, schema, params, alias)
  return limit ? sql`(${limit} IS TRUE)` : sql`true`
}

/** The column `is_changeable` of a statement that reads the row `alias`, for `isChangeable`. */
export function changeableColumn(resource: string, params: CallerParams, alias: Sql): Sql {
  return sql`(${changeable(resource, params, alias)})::text AS is_changeable`
}

/** True only if the database says that the caller may change the row. */
export function isChangeable(row: { readonly [column: string]: string | null }): boolean {
  return row.is_changeable === 'true'
}

function limitedTo(
  to: Visibility,
  { resource: { ownership } }: ResourceSchema,
  { account, actor, territories }: VisibilityParams,
  alias: Sql,
): Sql | null {
  if (to === 'all' || !ownership) return null
  const { owner, creator, territory, through = [] } = ownership
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
