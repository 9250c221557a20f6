/** The scopes that a role or a token may have (D65). Pure; knows no resource. */
import { suggestion } from '../fields/nearest.ts'
import type { Draft } from '../fields/resource.ts'

/** Allows everything. */
export const adminScope = 'admin'

/** Allows following the events of the account (D71). */
export const followScope = 'event:read'

/** Allows importing files (D80). */
export const importScope = 'import:write'

/** Allows agents to write without a first step (D147). No other scope includes it: who gives it says so. */
export const directScope = 'mcp:write'

/** Allows reading the feed of a calendar (D160): that of activities, and so given by their scope. */
export const calendarScope = 'calendar:read'
const givesCalendar = 'activity:read'

/** All scopes, for resources of these names. */
export function scopesOf(resources: Iterable<string>): string[] {
  const own = [...resources, 'field', 'job'].flatMap(name => [`${name}:read`, `${name}:write`])
  return [...own, importScope, followScope, directScope, calendarScope, adminScope]
}

export function allows(scopes: ReadonlySet<string>, scope: string): boolean {
  return scopes.has(adminScope) || scopes.has(scope) || (scope === calendarScope && scopes.has(givesCalendar))
}

/** True for the scopes of a calendar's secret, which nothing else takes (D160). */
export function isOfCalendar(scopes: ReadonlySet<string>): boolean {
  return scopes.size === 1 && scopes.has(calendarScope)
}

/** True if an agent with these scopes writes without a first step. */
export function writesAtOnce(scopes: ReadonlySet<string>): boolean {
  return scopes.has(directScope)
}

/** The scopes of a role, narrowed by those of a token. */
export function narrowed(role: ReadonlySet<string>, token: ReadonlySet<string>): ReadonlySet<string> {
  const both = token.has(adminScope) ? role : role.has(adminScope) ? token : role.intersection(token)
  const given = onlyNamed.filter(scope => token.has(scope) && allows(role, scope))
  if (onlyNamed.every(scope => given.includes(scope) === both.has(scope))) return both
  return new Set([...both.difference(new Set(onlyNamed)), ...given])
}

/** A token has these only if it names them. */
const onlyNamed: readonly string[] = [directScope, calendarScope]

/** Reports the unknown scopes of a draft, each with the nearest known one. */
export function checkScopes(scopes: readonly string[], { catalog, problem }: Draft): void {
  const known = scopesOf(catalog.resources.keys())
  for (const [index, scope] of scopes.entries()) {
    if (known.includes(scope)) continue
    const hint = () => suggestion(scope, known, `The scopes: ${known.join(', ')}.`)
    problem('scopes', 'unknown_scope', `is ${JSON.stringify(scope)}, but there is no such scope`, {
      at: `/${index}`,
      hint,
    })
  }
}
