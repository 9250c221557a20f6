/** The scopes of roles and tokens (D65), as a table of resources with read and write. Pure. */

export const everything = 'admin'
/** Scope of the feed (D71). */
export const follow = 'event:read'
/** Scope of a calendar's secret, which the calendar makes (D160): nobody chooses it. */
export const calendarFeed = 'calendar:read'

/** The names of the resources, in display order. */
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
  job: 'Jobs',
  import: 'Imports',
  mcp: 'Agents at once, without asking',
  calendar: 'a calendar feed',
}

/** An older or newer service has others; those of its own roles are shown, too. */
const sure = Object.keys(names).filter(name => !['view', 'job', 'import', 'calendar'].includes(name))
/** An import is a job, and read as one (D80). */
const writtenOnly = ['import', 'mcp']

/** Without these, most pages show nothing. */
const neededByPages = ['field', 'user', 'pipeline', 'pipeline_stage', 'currency'].map(name => `${name}:read`)

type ScopeRow = {
  readonly resource: string
  readonly name: string
  readonly read: string | null
  readonly write: string
}

/** The rows of the table: every resource that is known, or in the scopes of a role. */
export function scopeRows(granted: readonly string[]): ScopeRow[] {
  const named = granted
    .filter(scope => scope.includes(':') && scope !== follow && scope !== calendarFeed)
    .map(scope => scope.slice(0, scope.indexOf(':')))
  const known = new Set([...sure, ...named])
  const order = [...Object.keys(names), ...known]
  return [...new Set(order)]
    .filter(resource => known.has(resource))
    .map(resource => ({
      resource,
      name: nameOf(resource),
      read: writtenOnly.includes(resource) ? null : `${resource}:read`,
      write: `${resource}:write`,
    }))
}

const nameOf = (resource: string) => names[resource] ?? resource

/** The scopes that the pages need and a role lacks. */
export function missingForPages(scopes: readonly string[]): string[] {
  return scopes.includes(everything) ? [] : neededByPages.filter(scope => !scopes.includes(scope))
}

/** Scopes with one added or removed. */
export function withScope(scopes: readonly string[], scope: string, isOn: boolean): string[] {
  const others = scopes.filter(other => other !== scope)
  return isOn ? [...others, scope] : others
}

/** Up to this number they are named; more are counted. */
const few = 3

/** A short summary of scopes, for a list: "everything", "reads Deals, Tags", "reads 11, writes Deals". */
export function scopesSummary(scopes: readonly string[]): string {
  if (scopes.includes(everything)) return 'everything'
  const parts = (['read', 'write'] as const).flatMap(verb => {
    const of = resourcesOf(scopes, verb)
    return of.length === 0 ? [] : `${verb}s ${of.length > few ? of.length : of.map(nameOf).join(', ')}`
  })
  return parts.join(', ') || 'nothing'
}

/** The resource names of scopes, in a sentence. */
export const resourceNames = (scopes: readonly string[]): string =>
  scopes.map(scope => nameOf(scope.slice(0, scope.indexOf(':')))).join(', ')

function resourcesOf(scopes: readonly string[], verb: 'read' | 'write'): string[] {
  return scopes
    .filter(scope => scope.endsWith(`:${verb}`) && scope !== follow)
    .map(scope => scope.slice(0, scope.indexOf(':')))
}
