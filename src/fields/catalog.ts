/**
 * An account's configuration as one value: its fields, options, pipelines, stages and currencies, at one version. A request
 * sees one catalog from beginning to end. Builds it from rows; who loads the rows and when is in accounts/directory.ts.
 */
import type { Resource } from '../records/resource.ts'
import { type Field, type FieldType, identifier, type Option } from './field.ts'
import { relatedResource } from './kinds.ts'

export type Currency = {
  readonly id: number
  readonly code: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  /** decimal text: what one unit is worth in the account's base currency */
  readonly rate: string | null
  readonly is_active: boolean
}

export type Pipeline = { readonly id: number; readonly name: string; readonly position: number; readonly is_default: boolean }

export type Stage = {
  readonly id: number
  readonly pipeline: number
  readonly name: string
  readonly position: number
  /** the stage's meaning; never its name (D19) */
  readonly kind: 'open' | 'won' | 'lost'
  /** percent */
  readonly probability: number
  readonly rotting_days: number | null
}

export type Account = { readonly id: number; readonly name: string; readonly time_zone: string; readonly base_currency: number }

/** One resource as one account has it. `fields` are in the order of the form, hidden and inactive ones included. */
export type ResourceFields = {
  readonly resource: Resource
  readonly fields: readonly Field[]
  readonly byName: ReadonlyMap<string, Field>
}

export type Catalog = {
  readonly account: Account
  readonly version: string
  readonly resources: ReadonlyMap<string, ResourceFields>
  readonly currencies: ReadonlyMap<number, Currency>
  readonly currencyByCode: ReadonlyMap<string, Currency>
  readonly pipelines: ReadonlyMap<number, Pipeline>
  readonly stages: ReadonlyMap<number, Stage>
}

/** What the catalog statement answers: rows as JSON. */
export type CatalogRows = {
  account: Account & { catalog_version: string }
  fields: (Pick<
    Field,
    'id' | 'resource' | 'internal_name' | 'field_name' | 'config' | 'default_value' | 'is_required' | 'is_active'
  > & {
    type: FieldType
  })[]
  options: (Option & { resource: string; field: string })[]
  currencies: Currency[]
  pipelines: Pipeline[]
  stages: Stage[]
}

/** Rows → catalog. The service's own fields come with the resources, the account's `cf_` fields with the rows. */
export function buildCatalog(resources: readonly Resource[], rows: CatalogRows): Catalog {
  const { catalog_version, ...account } = rows.account
  return {
    account,
    version: String(catalog_version),
    resources: new Map(resources.map(resource => [resource.name, resourceFields(resource, rows)])),
    currencies: new Map(rows.currencies.map(currency => [currency.id, currency])),
    currencyByCode: new Map(rows.currencies.map(currency => [currency.code, currency])),
    pipelines: new Map(rows.pipelines.map(pipeline => [pipeline.id, pipeline])),
    stages: new Map(rows.stages.map(stage => [stage.id, stage])),
  }
}

function resourceFields(resource: Resource, rows: CatalogRows): ResourceFields {
  const custom = rows.fields.filter(row => row.resource === resource.name)
  const fields = [...resource.fields, ...custom.map(customField)].map(field => ({ ...field, options: fieldOptions(field, rows) }))
  return { resource, fields, byName: new Map(fields.map(field => [field.internal_name, field])) }
}

function customField(row: CatalogRows['fields'][number]): Field {
  // The name becomes part of SQL text (fields/field.ts): one that is no plain identifier must never get that far.
  if (!row.internal_name.startsWith('cf_')) throw new Error(`not a custom field: ${row.internal_name}`)
  identifier(row.internal_name)
  return {
    ...row,
    section: 'Custom fields',
    is_read_only: false,
    is_custom: true,
    is_hidden: false,
    accepts_number: false,
    options: [],
    related: relatedResource[row.type] ?? null,
    rules: [],
    computed: null,
    is_volatile: false,
  }
}

function fieldOptions(field: Field, rows: CatalogRows): readonly Option[] {
  if (field.internal_name === 'pipeline') return rows.pipelines.map(pipeline => ({ ...pipeline, is_active: true }))
  if (field.internal_name === 'pipeline_stage')
    return rows.stages.map(stage => ({ ...stage, is_active: true, is_default: false }))
  if (field.options.length) return field.options
  return rows.options.filter(option => option.resource === field.resource && option.field === field.internal_name)
}
