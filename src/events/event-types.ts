/**
 * The types of events (D69): `deal.won`. A webhook may also ask for `deal.*`, all of a resource, and `*`, all
 * (D72). Pure.
 */
import type { Catalog } from '../fields/catalog.ts'
import { isHiddenByRole } from '../records/rendered-record.ts'

/** What may happen to any record. */
const verbs = ['created', 'updated', 'deleted', 'restored', 'purged']
/** What else may happen to those of a resource. */
const others: { readonly [resource: string]: readonly string[] } = {
  user: ['link_created', 'password_changed'],
  webhook: ['tested', 'replayed'],
}
/** What the events of a resource may also be, and the field of which that tells. */
const derived: { readonly [resource: string]: { readonly [verb: string]: string } } = {
  deal: {
    stage_changed: 'pipeline_stage',
    won: 'status',
    lost: 'status',
    reopened: 'status',
    owner_changed: 'sales_owner',
  },
}
/** What is configured and is no record. */
const configuration = ['field', 'form', 'account']

export const everything = '*'

/** The types that an event can be or also be, for resources of these names. */
export function typesOf(resources: Iterable<string>): string[] {
  return [...resources, ...configuration].flatMap(resource =>
    [...verbs, ...Object.keys(derived[resource] ?? {}), ...(others[resource] ?? [])].map(
      verb => `${resource}.${verb}`,
    ),
  )
}

/** Those of some types that tell of no field which the role hides (D64). */
export function shownTypes(types: readonly string[], { resources }: Catalog): string[] {
  return types.filter(type => {
    const [resource = '', verb = ''] = type.split('.')
    const field = derived[resource]?.[verb]
    return field === undefined || !isHiddenByRole(resources.get(resource)!, field)
  })
}

/** All that the `events` of a webhook takes. */
export function knownTypes(resources: Iterable<string>): string[] {
  const names = [...resources]
  return [everything, ...[...names, ...configuration].map(name => `${name}.*`), ...typesOf(names)]
}

/** The resource that a type is of; null for `*`. */
export function resourceOf(type: string): string | null {
  return type === everything ? null : type.slice(0, type.indexOf('.'))
}

/** The scope that it takes to be told of the events of a resource. */
export function scopeOf(resource: string): string {
  return `${configuration.includes(resource) ? 'field' : resource}:read`
}

/** Whether an event is one of those that are asked for. */
export function isAskedFor(
  asked: readonly string[],
  { type, also }: { readonly type: string; readonly also: readonly string[] },
): boolean {
  return [type, ...also].some(
    is => asked.includes(is) || asked.includes(`${resourceOf(is)}.*`) || asked.includes(everything),
  )
}
