/**
 * Quotas of an account's configuration (D110). A process loads the whole configuration of an account at once,
 * and PostgreSQL considers one account's index in every statement on its table. Pure.
 */
import type { Catalog } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { hasKeys } from '../records/unique.ts'
import { hasOwnOptions, type Shape } from './field.ts'
import type { Validation } from './validation.ts'

/** Custom fields: per resource, per account, and per account including deleted fields until their purge. */
const [ofResource, ofAccount, withDeleted] = [500, 1000, 2000]
/** Options, active or not: per field, and per account. */
const [optionsOfField, optionsOfAccount] = [500, 5000]
const indexesOfAccount = 20
/** D117: each write maintains a key for each of them. */
const uniqueOfAccount = 20
/** Maximum of indexes on a table, of all accounts together. */
const indexesOfTable = 100
const defaultLength = 4000

/**
 * Reports a changed field that exceeds its account's quotas. An existing excess may stay, and may be reduced.
 */
export function withinBounds({ row, options }: Shape, validation: Validation): void {
  const fields = [...validation.catalog.resources.values()].flatMap(resource => resource.fields)
  const before = fields.find(field => field.id === row.id)
  const others = fields.filter(field => field.is_custom && field.id !== row.id)
  if (!row.deleted_at && (!before || before.deleted_at)) hasRoom(others, row.resource, !before, validation)
  if (
    row.is_indexed &&
    !before?.is_indexed &&
    others.filter(field => field.is_indexed).length >= indexesOfAccount
  ) {
    validation.reject(
      '/is_indexed',
      'too_many',
      `can be true for at most ${indexesOfAccount} fields of an account`,
    )
  }
  if (row.is_unique && !before?.is_unique && fields.filter(hasKeys).length >= uniqueOfAccount) {
    const message = `can be true for at most ${uniqueOfAccount} fields of an account`
    validation.reject('/is_unique', 'too_many', message)
  }
  const added = options.length - (before ? before.options.length : 0)
  if (added > 0) hasRoomForOptions(options.length, added, validation)
  const isChanged = JSON.stringify(row.default_value) !== JSON.stringify(before?.default_value ?? null)
  if (isChanged && JSON.stringify(row.default_value).length > defaultLength) {
    validation.reject('/default_value', 'too_long', `must have at most ${defaultLength} characters as JSON`)
  }
}

/** True if a change requests a new index. */
export function wantsIndex({ row }: Shape, { resources }: Catalog): boolean {
  const before = resources.get(row.resource)?.fields.find(field => field.id === row.id)
  return row.is_indexed && !before?.is_indexed
}

/**
 * Reports an index beyond the quota of a table. `present`: number of custom fields with an index on it, in
 * all accounts.
 */
export function withinIndexes(present: number, { row }: Shape, validation: Validation): void {
  if (present < indexesOfTable) return
  const message = `can't be true for another field of ${row.resource}: the service has no room for more such indexes`
  validation.reject('/is_indexed', 'too_many', message)
}

function hasRoom(others: readonly Field[], resource: string, isNew: boolean, validation: Validation): void {
  const inUse = others.filter(field => !field.deleted_at)
  const tooMany = (message: string, hint = 'Delete one that is not needed.') =>
    validation.reject('', 'too_many', message, hint)
  if (inUse.filter(field => field.resource === resource).length >= ofResource) {
    tooMany(`An account may have ${ofResource} custom fields of ${resource}; this would be one more`)
  } else if (inUse.length >= ofAccount) {
    tooMany(`An account may have ${ofAccount} custom fields; this would be one more`)
  } else if (isNew && others.length >= withDeleted) {
    const message = `An account may have ${withDeleted} custom fields, including deleted ones; this would be one more`
    tooMany(message, 'Restore and change a deleted one, or wait for its purge.')
  }
}

function hasRoomForOptions(ofField: number, added: number, validation: Validation): void {
  const { resources } = validation.catalog
  const own = [...resources.values()].flatMap(({ fields }) => fields.filter(hasOwnOptions))
  const all = own.reduce((count, field) => count + field.options.length, added)
  const hint = 'Change the name of one that is out of use and use it again.'
  const tooMany = (message: string) => validation.reject('', 'too_many', message, hint)
  if (ofField > optionsOfField)
    tooMany(`A field may have ${optionsOfField} options, in use or not; this would be more`)
  if (all > optionsOfAccount) {
    tooMany(`An account may have ${optionsOfAccount} options in all its fields; this would be more`)
  }
}
