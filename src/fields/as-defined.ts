/**
 * A resource as it comes with the service, for what must be possible whatever an account has decided on its
 * fields: the operator's way in (D67, D68, D120), and what everybody does for themselves (D134). Pure.
 */
import { byName, type Catalog, wholeFields } from './catalog.ts'
import type { Field } from './field.ts'

/**
 * The catalog with the fields of these resources as they are defined: none of them narrower or out of use,
 * and none required that the service does not require. Custom fields and defaults stay.
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
    resources.set(name, wholeFields(resource, fields))
  }
  return { ...catalog, resources }
}
