/** Nobody grants more than they have (D62, D66): limits on changes of users, roles and tokens. Pure. */
import type { Role } from '../fields/catalog.ts'
import type { Values } from '../fields/field.ts'
import type { CallerRights, RightsChange } from '../fields/resource.ts'
import { isSameJson } from '../json.ts'
import { adminScope, allows, narrowed } from './scopes.ts'
import { isWider } from './visibility.ts'

/** Why a user may not be changed so; null if allowed. */
export function forbiddenUserChange({ before, after, catalog, rights, actor }: RightsChange): string | null {
  if (rights.isAdmin) return null
  const [role, next] = [before, after].map(user => catalog.roles.get(user?.role as number))
  if (role?.scopes.includes(adminScope))
    return 'This user administers the account: to change them, ask with the scope admin.'
  if (next && next !== role && exceeds(next, rights))
    return `The role "${next.name}" may do more than you: nobody gives more than they have.`
  if (after && !isSameJson(before?.territories ?? [], after.territories ?? []))
    return 'Only administrators say which territories a user has: ask with the scope admin.'
  // An e-mail lets its owner sign in (D61), and then see that user's private records.
  if (role && after && before!.email !== after.email && (before!.id !== actor || exceeds(role, rights)))
    return 'Whoever has the e-mail may sign in as this user: to change it, ask with the scope admin.'
  return null
}

/** Why a role may not be changed so; null if allowed. */
export function forbiddenRoleChange({ before, after, rights }: RightsChange): string | null {
  if (rights.isAdmin) return null
  const roles = [before, after].filter(role => role !== null) as unknown as Role[]
  return roles.some(role => exceeds(role, rights))
    ? 'The role may do more than you: nobody gives more than they have.'
    : null
}

/** Why a token may not be created or changed so; null if allowed. */
export function forbiddenTokenChange({ before, after, rights }: RightsChange): string | null {
  if (rights.isAdmin || !after) return null
  const added = (after.scopes as string[]).filter(
    scope => !((before?.scopes ?? []) as string[]).includes(scope),
  )
  const notHeld = added.filter(scope => !allows(rights.scopes, scope))
  if (notHeld.length)
    return `A token has no more scopes than whoever makes it; you lack ${notHeld.join(', ')}.`
  if (before && mayMore(before.scopes as string[], rights))
    return 'This token may do more than the one you ask with: ask with one that may do as much.'
  if (rights.endsAt !== null && endOf(after) > rights.endsAt) {
    const last = new Date(rights.endsAt).toISOString()
    return `A token ends no later than the one you ask with: its expires_at must be ${last} at the latest.`
  }
  return after.user === after[before ? 'user' : 'created_by']
    ? null
    : 'Only administrators make tokens for others: ask with the scope admin.'
}

function endOf({ expires_at }: Values): number {
  return typeof expires_at === 'string' ? Date.parse(expires_at) : Number.POSITIVE_INFINITY
}

/** True if a token of the caller, narrowed by their role, allows more than they may do now. */
function mayMore(scopes: readonly string[], rights: CallerRights): boolean {
  const own = narrowed(new Set(rights.role.scopes), new Set(scopes))
  return ![...own].every(scope => allows(rights.scopes, scope))
}

/**
 * True if a role allows more than a caller, whose token's scopes narrow their role. Not called for
 * administrators: they may do all.
 */
function exceeds(one: Role, { scopes, role: other }: CallerRights): boolean {
  const resources = Object.keys({ ...other.visibility, ...other.may_change })
  const sees = (role: Role, name: string) => role.visibility[name] ?? 'all'
  const changes = (role: Role, name: string) => role.may_change[name] ?? sees(role, name)
  return (
    !one.scopes.every(scope => allows(scopes, scope)) ||
    resources.some(name => isWider(sees(one, name), sees(other, name))) ||
    resources.some(name => isWider(changes(one, name), changes(other, name))) ||
    !other.hidden_fields.every(field => one.hidden_fields.includes(field)) ||
    ![...other.locked_fields].every(field => [...one.locked_fields, ...one.hidden_fields].includes(field))
  )
}
