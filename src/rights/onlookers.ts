/**
 * Which users see a record (D156): the condition of visibility (D63) about users in the rows of a statement,
 * each by their role. Pure; knows no resource.
 */
import type { Catalog, ResourceSchema, Role } from '../fields/catalog.ts'
import { type Param, type Sql, sql } from '../sql.ts'
import { catalogAs } from './as-role.ts'
import { Rights } from './rights.ts'
import { allows } from './scopes.ts'
import { visible } from './visibility.ts'

/**
 * A row `alias` of a resource that is to be seen, with a field of it. `absent`: the condition that there is
 * no such row to see.
 */
export type Sight = {
  readonly resource: string
  readonly alias: Sql
  readonly absent: Sql
  readonly field?: string
}

/** The condition that the row `u` of `"user"` sees all of these: true or false, never NULL. */
export function seesAll(catalog: Catalog, account: Param, sights: readonly Sight[]): Sql {
  const ways = [...catalog.roles.values()].map(role => {
    const seen = sights.map(sight => seenAs(role, catalog, account, sight))
    return sql`u.role = ${sql.integer(role.id)} AND ${sql.join(seen, sql` AND `)}`
  })
  return ways.length ? sql`((${sql.join(ways, sql` OR `)}) IS TRUE)` : sql`false`
}

function seenAs(role: Role, catalog: Catalog, account: Param, sight: Sight): Sql {
  const { resource, alias, absent, field } = sight
  const rights = new Rights(new Set(role.scopes), role)
  const { resources } = catalogAs(catalog, rights)
  if (!allows(rights.scopes, `${resource}:read`) || isHidden(resources.get(resource)!, field)) return absent
  const onlooker = { resources, account, actor: sql`u.id`, territories: sql`u.territories` }
  return sql`(${absent} OR (${visible(resource, onlooker, alias)}))`
}

function isHidden({ byName }: ResourceSchema, field: string | undefined): boolean {
  return field !== undefined && byName.get(field)!.is_hidden
}
