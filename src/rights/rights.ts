/** The rights of a caller (D62, D65): the scopes of the role and of the token, and the role itself. Pure. */
import { Refusal } from '../errors.ts'
import type { Role } from '../fields/catalog.ts'
import { adminScope, allows } from './scopes.ts'

export class Rights {
  readonly scopes: ReadonlySet<string>
  readonly role: Role
  /** time when the caller's token ends, in milliseconds; null: it does not, or there is none */
  readonly endsAt: number | null
  constructor(scopes: ReadonlySet<string>, role: Role, endsAt: number | null = null) {
    this.scopes = scopes
    this.role = role
    this.endsAt = endsAt
  }

  get isAdmin(): boolean {
    return this.scopes.has(adminScope)
  }

  /** The scopes, if a token narrows those of the role; else null. */
  get narrowedTo(): readonly string[] | null {
    return this.role.scopes.every(scope => this.scopes.has(scope)) ? null : [...this.scopes]
  }

  /** Throws `forbidden`, naming the scope, if it is missing. */
  need(scope: string): void {
    if (allows(this.scopes, scope)) return
    const has = [...this.scopes].join(', ') || 'none'
    throw new Refusal('forbidden', `This needs the scope ${scope}; you have ${has}.`)
  }
}

/** True if the caller may read the records of a resource. The service itself has no rights, and may. */
export function mayRead({ rights }: { readonly rights?: Rights }, resource: string): boolean {
  return !rights || allows(rights.scopes, `${resource}:read`)
}

export function mayWrite({ rights }: { readonly rights?: Rights }, resource: string): boolean {
  return !rights || allows(rights.scopes, `${resource}:write`)
}
