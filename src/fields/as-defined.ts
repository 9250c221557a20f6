/**
 * A resource as defined by the service, for what must work whatever an account has configured: the operator's
 * access (D67, D68, D120), and what all users do for themselves (D134). Pure.
 */
import { byName, type Catalog, wholeSchema } from './catalog.ts'
import type { Field } from './field.ts'

/**
 * The catalog with the fields of these resources as defined: none of them narrower or inactive, and none
 * required that the service does not require. Custom fields and defaults stay.
 */
export function asDefined(catalog: Catalog, ...names: readonly string[]): Catalog {
  const resources = new Map(catalog.resources)
  for (const name of names) {
    const { resource, whole } = resources.get(name)!
    const defined = byName(resource.fields)
    const fields = whole.fields.map((field): Field => {
      const {
        is_required = false,
        is_active = field.is_active,
        config = field.config,
      } = defined.get(field.internal_name) ?? {}
      return { ...field, is_required, is_active, config }
    })
    resources.set(name, wholeSchema(resource, fields))
  }
  return { ...catalog, resources }
}
