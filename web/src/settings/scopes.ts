/** What roles and tokens may do (D65), as a table of resources with read and write. Pure. */

export const everything = 'admin'
/** The feed is followed with it (D71). */
export const follow = 'event:read'

/** What people call the resources, in the order in which they are shown. */
const names: { readonly [resource: string]: string } = {
  deal: 'Deals',
  contact: 'Contacts',
  company: 'Companies',
  product: 'Products',
  activity: 'Activities',
  view: 'Saved views',
  tag: 'Tags',
  territory: 'Territories',
  pipeline: 'Pipelines',
  pipeline_stage: 'Stages',
  currency: 'Currencies',
  field: 'Fields and forms',
  user: 'Users',
  role: 'Roles',
  token: 'Tokens',
  webhook: 'Webhooks',
}

/** A service that is older or newer has others; what its own roles name is shown, too. */
const sure = Object.keys(names).filter(name => name !== 'view')

export type ScopeRow = { readonly resource: string; readonly name: string }

/** The rows of the table: every resource that is known, or named by the scopes of a role. */
export function scopeRows(granted: readonly string[]): ScopeRow[] {
  const named = granted
    .filter(scope => scope.includes(':') && scope !== follow)
    .map(scope => scope.slice(0, scope.indexOf(':')))
  const known = new Set([...sure, ...named])
  const order = [...Object.keys(names), ...known]
  return [...new Set(order)]
    .filter(resource => known.has(resource))
    .map(resource => ({ resource, name: names[resource] ?? resource }))
}

/** Scopes with one added or taken away. */
export function withScope(scopes: readonly string[], scope: string, isOn: boolean): string[] {
  const others = scopes.filter(other => other !== scope)
  return isOn ? [...others, scope] : others
}

/** The scopes in a sentence: "everything", "11 rights"; for a list. */
export function sayScopes(scopes: readonly string[]): string {
  if (scopes.includes(everything)) return 'everything'
  const written = scopes.filter(scope => scope.endsWith(':write')).length
  const read = scopes.filter(scope => scope.endsWith(':read')).length
  return `reads ${read}, writes ${written}`
}
