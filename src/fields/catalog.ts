/**
 * An account's configuration as one value, at one version. A request sees one catalog from beginning to end.
 * This file builds it from rows, which accounts/callers.ts loads.
 */
import { sql } from '../sql.ts'
import { type Field, type Option, plainField } from './field.ts'
import { isoInstant } from './iso8601.ts'
import type { Resource } from './resource.ts'

export type Currency = {
  readonly id: number
  readonly code: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  /** decimal text: the value of one unit in the account's base currency */
  readonly rate: string | null
  readonly is_active: boolean
}

export type Pipeline = {
  readonly id: number
  readonly name: string
  readonly position: number
  readonly is_default: boolean
}

export type Stage = {
  readonly id: number
  readonly pipeline: number
  readonly name: string
  readonly position: number
  /** the meaning of the stage, which the name never decides (D19) */
  readonly kind: 'open' | 'won' | 'lost'
  /** percent */
  readonly probability: number
  readonly rotting_days: number | null
}

export type Account = {
  readonly id: number
  readonly name: string
  readonly time_zone: string
  /** the format of dates and numbers for people who chose none; null: their browser's */
  readonly locale: string | null
  readonly base_currency: number
}

/** A role: the permissions of its users, and what they see (D62 to D64). */
export type Role = {
  readonly id: number
  readonly name: string
  /** the identifier of a role that comes with an account; null for others */
  readonly built_in: string | null
  readonly scopes: readonly string[]
  /** resource → its visible records; absent = all */
  readonly visibility: { readonly [resource: string]: Visibility }
  readonly may_change: { readonly [resource: string]: Visibility }
  /** `deal.deal_value` */
  readonly hidden_fields: readonly string[]
  readonly locked_fields: readonly string[]
}

/**
 * One resource as configured by one account, and as a role sees it. `fields` are in the order of the form,
 * including hidden and inactive ones.
 */
export type ResourceSchema = {
  readonly resource: Resource
  readonly fields: readonly Field[]
  readonly byName: ReadonlyMap<string, Field>
  /** the records that the role sees and may change (D63) */
  readonly visibility: Visibility
  readonly mayChange: Visibility
  /** the resource without a role's limits: nothing is hidden or locked; records are stored by it */
  readonly whole: ResourceSchema
}

/** True if the caller whose catalog it is sees the field. */
export function isShown({ is_active, is_hidden }: Pick<Field, 'is_active' | 'is_hidden'>): boolean {
  return is_active && !is_hidden
}

/** The fields that the caller sees, in the order of the form. */
export function shownFields({ fields }: Pick<ResourceSchema, 'fields'>): Field[] {
  return fields.filter(isShown)
}

/** The field of that name, if there is one and the caller sees it. */
export function shownField({ byName }: Pick<ResourceSchema, 'byName'>, name: string): Field | null {
  const field = byName.get(name)
  return field && isShown(field) ? field : null
}

/** The members of a stage or a currency, which are called as its fields are, that the role shows (D64). */
export function shownMembers<T extends object>(members: T, schema: ResourceSchema): Partial<T> {
  const seen = Object.entries(members).filter(([name]) => shownField(schema, name))
  return Object.fromEntries(seen) as Partial<T>
}

export type Catalog = {
  readonly account: Account
  readonly version: string
  /** time of the last change of a stage or a rate: values of records may have changed since (D56) */
  readonly followedAt: string
  readonly resources: ReadonlyMap<string, ResourceSchema>
  readonly currencies: ReadonlyMap<number, Currency>
  readonly currencyByCode: ReadonlyMap<string, Currency>
  /** the currencies in the order of their codes */
  readonly currencyList: readonly Currency[]
  readonly pipelines: ReadonlyMap<number, Pipeline>
  readonly stages: ReadonlyMap<number, Stage>
  readonly roles: ReadonlyMap<number, Role>
  readonly whole?: Catalog // of a catalog as a role sees it: the account's
}

/** A section of a form: its title and the internal names of its fields. */
export type Section = { readonly section: string; readonly fields: readonly string[] }

/**
 * The part of a field that the account configures: everything of its own fields, and what may be changed in
 * the service's fields.
 */
export type FieldRow = Pick<
  Field,
  | 'id'
  | 'resource'
  | 'internal_name'
  | 'field_name'
  | 'type'
  | 'config'
  | 'default_value'
  | 'is_required'
  | 'is_active'
  | 'is_indexed'
  | 'is_unique'
  | 'deleted_at'
  | 'version'
>

/** The rows of the catalog statement, as JSON. */
export type CatalogRows = {
  account: Account & { catalog_version: string }
  followed_at: string
  fields: FieldRow[]
  options: (Option & { resource: string; field: string })[]
  forms: { resource: string; sections: Section[] }[]
  currencies: Currency[]
  pipelines: Pipeline[]
  stages: Stage[]
  roles: Role[]
}

/** Rows → catalog. Resources have the service's fields, rows the account's `cf_` fields. */
export function buildCatalog(resources: readonly Resource[], rows: CatalogRows): Catalog {
  const { catalog_version, ...account } = rows.account
  const options = Map.groupBy(rows.options, option => `${option.resource} ${option.field}`)
  return {
    account,
    version: String(catalog_version),
    followedAt: rows.followed_at,
    resources: new Map(
      resources.map(resource => [resource.name, schemaFrom(resource, resources, rows, options)]),
    ),
    currencies: new Map(rows.currencies.map(currency => [currency.id, currency])),
    currencyByCode: new Map(rows.currencies.map(currency => [currency.code, currency])),
    currencyList: rows.currencies,
    pipelines: new Map(rows.pipelines.map(pipeline => [pipeline.id, pipeline])),
    stages: new Map(rows.stages.map(stage => [stage.id, stage])),
    roles: new Map(rows.roles.map(role => [role.id, role])),
  }
}

/** The options of each field, by its resource and name. */
type OptionsByField = ReadonlyMap<string, readonly Option[]>

function schemaFrom(
  resource: Resource,
  resources: readonly Resource[],
  rows: CatalogRows,
  options: OptionsByField,
): ResourceSchema {
  const own = rows.fields.filter(row => row.resource === resource.name)
  const changed = new Map(own.map(row => [row.id, row]))
  const system = resource.fields.map(field => systemField(field, changed.get(field.id)))
  const custom = own.filter(row => row.internal_name.startsWith('cf_')).map(customField)
  const all = [...system, ...custom].map(field => {
    const target = targetOf(field, resources)
    return { ...field, ...pointingTo(target), options: fieldOptions(field, target, rows, options) }
  })
  const fields = arranged(all, rows.forms.find(form => form.resource === resource.name)?.sections ?? [])
  return wholeSchema(resource, fields)
}

/** A resource without a role's limits. */
export function wholeSchema(resource: Resource, fields: readonly Field[]): ResourceSchema {
  const complete = { resource, fields, byName: byName(fields), visibility: 'all', mayChange: 'all' } as const
  const whole: Omit<ResourceSchema, 'whole'> & { whole?: ResourceSchema } = complete
  whole.whole = whole as ResourceSchema
  return whole.whole
}

export function byName(fields: readonly Field[]): ReadonlyMap<string, Field> {
  return new Map(fields.map(field => [field.internal_name, field]))
}

/**
 * The field that a row describes, without its options: a field of the service with the account's changes, or
 * a field of the account.
 */
export function fieldOf(row: FieldRow, { resource }: ResourceSchema, catalog: Catalog): Field {
  const definition = resource.fields.find(field => field.id === row.id)
  const field = definition ? systemField(definition, row) : customField(row)
  const resources = [...catalog.resources.values()].map(schema => schema.resource)
  return { ...field, ...pointingTo(targetOf(field, resources)) }
}

/** The resource that a field points to: the one it names, else that of its type. */
function targetOf({ related, is_custom, type }: Field, resources: readonly Resource[]): Resource | undefined {
  return resources.find(({ name, customType }) => (is_custom ? customType === type : name === related))
}

function pointingTo(target: Resource | undefined): Pick<Field, 'related' | 'related_name' | 'is_named'> {
  return {
    related: target?.name ?? null,
    related_name: target?.shownAs ?? [],
    is_named: target?.namedBy !== undefined,
  }
}

/** A field of the service with the account's changes (D36). */
function systemField(field: Field, row: FieldRow | undefined): Field {
  if (!row) return field
  const { field_name, config, default_value, is_required, is_active, is_unique, version } = row
  return {
    ...field,
    field_name,
    config: { ...field.config, ...config },
    default_value,
    is_required,
    is_active,
    is_unique: field.is_unique || is_unique,
    version,
  }
}

/**
 * The fields in the order and the sections of the account's form. A field that the form does not contain
 * comes last, in its default section.
 */
function arranged(fields: readonly Field[], form: readonly Section[]): Field[] {
  if (form.length === 0) return [...fields]
  const left = new Map(fields.map(field => [field.internal_name, field]))
  const named = form.flatMap(({ section, fields: names }) =>
    names.flatMap(name => {
      const field = left.get(name)
      left.delete(name)
      return field ? [{ ...field, section }] : []
    }),
  )
  const all = [...named, ...left.values()]
  return [...Map.groupBy(all, field => field.section).values()].flat()
}

/** The section of a custom field that the form has not moved. */
export const customSection = 'Custom fields'

function customField(row: FieldRow): Field {
  // The name becomes part of SQL text (fields/columns.ts), so it must be a plain identifier.
  if (!row.internal_name.startsWith('cf_')) throw new Error(`not a custom field: ${row.internal_name}`)
  sql.id(row.internal_name)
  return {
    ...plainField,
    ...row,
    deleted_at: row.deleted_at && isoInstant(row.deleted_at, true),
    section: customSection,
    is_custom: true,
  }
}

function fieldOptions(
  field: Field,
  target: Resource | undefined,
  rows: CatalogRows,
  options: OptionsByField,
): readonly Option[] {
  if (target?.options) return target.options(rows)
  if (field.has_static_options) return field.options
  return options.get(`${field.resource} ${field.internal_name}`) ?? []
}

/** From the narrowest to the widest. */
export const visibilities = ['own', 'territory', 'all'] as const

/**
 * `own`: records that the user owns, or created if they have no owner. `territory`: those, and those of the
 * user's territories.
 */
export type Visibility = (typeof visibilities)[number]
