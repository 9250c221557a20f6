/** The scopes that a role or a token may have (D65). Pure; knows no resource. */
import { suggestion } from '../fields/nearest.ts'
import type { Draft } from '../fields/resource.ts'

/** Allows everything. */
export const adminScope = 'admin'

/** Allows following the events of the account (D71). */
export const followScope = 'event:read'

/** Allows importing files (D80). */
export const importScope = 'import:write'

/** All scopes, for resources of these names. */
export function scopesOf(resources: Iterable<string>): string[] {
  const own = [...resources, 'field', 'job'].flatMap(name => [`${name}:read`, `${name}:write`])
  return [...own, importScope, followScope, adminScope]
}

/** True if these scopes allow what `scope` allows. */
export function allows(scopes: ReadonlySet<string>, scope: string): boolean {
  return scopes.has(adminScope) || scopes.has(scope)
}

/** The scopes of a role, narrowed by those of a token. */
export function narrowed(role: ReadonlySet<string>, token: ReadonlySet<string>): ReadonlySet<string> {
  if (token.has(adminScope)) return role
  if (role.has(adminScope)) return token
  return role.intersection(token)
}

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
