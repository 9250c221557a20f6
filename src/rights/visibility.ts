/**
 * Which records a caller sees and may change (D63): one condition, made here from the caller, which every
 * statement takes that reads or writes records. Pure; knows no resource.
 */
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { type Param, param, type Sql, sql } from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'

/** From the narrowest to the widest. */
export const visibilities = ['own', 'territory', 'all'] as const
/**
 * `own`: what one owns; of what has no owner, what one created. `territory`: that and one's territories'.
 */
export type Visibility = (typeof visibilities)[number]

export function isWider(one: Visibility, other: Visibility): boolean {
  return visibilities.indexOf(one) > visibilities.indexOf(other)
}

/** The columns of a resource that say whose a record is. */
export type Reach = {
  readonly owner: string
  /** whose it is that has no owner */
  readonly creator?: string
  readonly territory?: string
  /** the references to records whose `territory` is also its own */
  readonly through?: readonly string[]
  /** whether nobody but administrators sees another's, whatever a role says */
  readonly isPrivate?: true
  /**
   * the column that is 1 where everybody sees a record, and administrators change it, too; nobody else ever
   * sees another's
   */
  readonly sharedBy?: string
}

/** Whether roles say which of the records they see (D63). */
export function isByRole(reach: Reach | undefined): reach is Reach {
  return reach !== undefined && !reach.isPrivate && !reach.sharedBy
}

/** For whom a statement reads or writes. */
export type Viewer = {
  /** the account's, as the viewer's role sees it */
  readonly catalog: Catalog
  /** a user's id */
  readonly actor: number
  /** those of the user */
  readonly territories?: readonly number[]
}

/** A viewer as a statement names them: each parameter is one, however often it stands there. */
export type Sight = {
  readonly resources: Catalog['resources']
  readonly account: Param
  readonly actor: Param
  /** an array literal */
  readonly territories: Param
}

export function sightOf(viewer: Viewer): Sight {
  const [account, actor, territories] = sightValues(viewer)
  return {
    resources: viewer.catalog.resources,
    account: param(account),
    actor: param(actor),
    territories: param(territories),
  }
}

/** The sight of all records of the account: for what must be there, whether the caller sees it or not. */
export function unlimited<S extends Sight>(sight: S): S {
  return { ...sight, resources: wholeResources(sight.resources) }
}

const wholeResources = memoize(
  (resources: Catalog['resources']): Catalog['resources'] =>
    new Map([...resources].map(([name, { whole }]) => [name, whole])),
)

/** The values of a sight's parameters: account, actor, territories. */
export function sightValues({ catalog, actor, territories = [] }: Viewer): readonly [string, string, string] {
  return [String(catalog.account.id), String(actor), `{${territories.join(',')}}`]
}

/** Whether what the viewer sees depends on who they are, not on their role alone. */
export function isLimited({ visibility }: ResourceFields): boolean {
  return visibility !== 'all'
}

/** By what is remembered what was found for a viewer: '' where all who have the role see the same. */
export function viewerKey(fields: ResourceFields, viewer: Viewer): string {
  return isLimited(fields) ? callerKey(viewer) : ''
}

/** The same of what nobody else may see in the same way. */
export function callerKey({ actor, territories = [] }: Viewer): string {
  return [actor, ...territories].join()
}

/**
 * The condition that the row `alias` of a resource belongs to the account and is one that the viewer sees.
 */
export function visible(resource: string, sight: Sight, alias: Sql): Sql {
  const ofAccount = sql`${alias}.account_id = ${sight.account}::bigint`
  const fields = sight.resources.get(resource)!
  const within = limitedTo(fields.visibility, fields, sight, alias)
  if (!within) return ofAccount
  const { sharedBy } = fields.resource.reach!
  return sharedBy
    ? sql`${ofAccount} AND (${within} OR ${alias}.${sql.id(sharedBy)} = 1)`
    : sql`${ofAccount} AND ${within}`
}

/**
 * The condition that the row `alias`, which the viewer sees, is one that the viewer may change: true or
 * false, never NULL, also of a record without an owner or a territory.
 */
export function changeable(resource: string, sight: Sight, alias: Sql): Sql {
  const fields = sight.resources.get(resource)!
  const within = limitedTo(fields.mayChange, fields, sight, alias)
  return within ? sql`(${within} IS TRUE)` : sql`true`
}

/** The column `is_changeable` of a statement that reads the row `alias`, for `isChangeable`. */
export function changeableColumn(resource: string, sight: Sight, alias: Sql): Sql {
  return sql`(${changeable(resource, sight, alias)})::text AS is_changeable`
}

/** Whether a row that was read is one that the viewer may change: only where the database says so. */
export function isChangeable(row: { readonly [column: string]: string | null }): boolean {
  return row.is_changeable === 'true'
}

function limitedTo(
  to: Visibility,
  { resource: { reach } }: ResourceFields,
  { account, actor, territories }: Sight,
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
