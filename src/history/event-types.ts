/**
 * The types of events (D69): `deal.won`. A webhook may also subscribe to `deal.*`, all of a resource, and
 * `*`, all (D72). Pure.
 */
import type { Catalog } from '../fields/catalog.ts'
import { isHiddenByRole } from '../records/rendered-record.ts'

/** Events of any record. */
const verbs = ['created', 'updated', 'deleted', 'restored', 'purged']
/** Further events of some resources. */
const others: { readonly [resource: string]: readonly string[] } = {
  user: ['link_created', 'password_changed'],
  webhook: ['tested', 'replayed'],
}
/** Aliases of a resource's events, and the field that each reveals. */
const derived: { readonly [resource: string]: { readonly [verb: string]: string } } = {
  deal: {
    stage_changed: 'pipeline_stage',
    won: 'status',
    lost: 'status',
    reopened: 'status',
    owner_changed: 'sales_owner',
  },
}
/** Configuration that has events, but no records. */
const configuration = ['field', 'form', 'account']

export const everything = '*'

/** The types and aliases of events, for resources of these names. */
export function typesOf(resources: Iterable<string>): string[] {
  return [...resources, ...configuration].flatMap(resource =>
    [...verbs, ...Object.keys(derived[resource] ?? {}), ...(others[resource] ?? [])].map(
      verb => `${resource}.${verb}`,
    ),
  )
}

/** The types that reveal no field that the role hides (D64). */
export function shownTypes(types: readonly string[], { resources }: Catalog): string[] {
  return types.filter(type => {
    const [resource = '', verb = ''] = type.split('.')
    const field = derived[resource]?.[verb]
    return field === undefined || !isHiddenByRole(resources.get(resource)!, field)
  })
}

/** All values of a webhook's `events`. */
export function knownTypes(resources: Iterable<string>): string[] {
  const names = [...resources]
  return [everything, ...[...names, ...configuration].map(name => `${name}.*`), ...typesOf(names)]
}

/** The resource of a type; null for `*`. */
export function resourceOf(type: string): string | null {
  return type === everything ? null : type.slice(0, type.indexOf('.'))
}

/** The scope needed to see the events of a resource. */
export function scopeOf(resource: string): string {
  return `${configuration.includes(resource) ? 'field' : resource}:read`
}

/** True if the type of an event, or an alias, is among the requested ones. */
export function isAskedFor(
  asked: readonly string[],
  { type, also }: { readonly type: string; readonly also: readonly string[] },
): boolean {
  return [type, ...also].some(
    is => asked.includes(is) || asked.includes(`${resourceOf(is)}.*`) || asked.includes(everything),
  )
}
