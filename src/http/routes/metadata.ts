/** The field list (D34) and the dropdown values (D33), answered from the catalog. */
import type { AuthenticatedCaller } from '../../accounts/callers.ts'
import { formOf, formVersion } from '../../configuration/form.ts'
import { isDefault } from '../../configuration/option.ts'
import type { Database } from '../../db/open.ts'
import { Refusal } from '../../errors.ts'
import {
  type Catalog,
  type ResourceSchema,
  type Section,
  shownField,
  shownFields,
  shownMembers,
} from '../../fields/catalog.ts'
import type { Field, Option } from '../../fields/field.ts'
import { kinds } from '../../fields/kinds.ts'
import { suggestion } from '../../fields/nearest.ts'
import { type Operator, operators } from '../../fields/term.ts'
import { measuredOf } from '../../lists/aggregate-query.ts'
import { choicesOf } from '../../records/choices.ts'
import { hasOptions, isExpandable } from '../../records/expand.ts'
import { defaultOf } from '../../records/fill.ts'
import { etagOf } from '../../records/precondition.ts'
import { isHiddenByRole } from '../../records/rendered-record.ts'
import type { Reader } from '../../records/store.ts'
import { type Answer, okAnswer } from '../answer.ts'
import { invalidParameter, readParameters } from '../parameters.ts'
import type { ApiRequest } from '../request.ts'
import { inTurn } from './record-reads.ts'

/** GET /field/list?source=&include_deleted= */
export async function fieldList({ caller, query }: ApiRequest): Promise<Answer> {
  const asked = readParameters(query, ['source', 'include_deleted'], ['source'])
  const schema = sourceFields(asked.source!, caller.catalog)
  const withDeleted = isTrue(asked, 'include_deleted')
  const shown = schema.fields.filter(field => !field.is_hidden && (withDeleted || !field.deleted_at))
  // Each inner array is a section of the form.
  const titles = [...new Set(shown.map(field => field.section))]
  const sections = titles.map(title =>
    shown.filter(field => field.section === title).map(field => descriptor(field, caller.catalog)),
  )
  const { id, name, config } = schema.resource.source
  return okAnswer(
    JSON.stringify({
      source: { is_enabled: true, name, id, ...(config ? { config } : {}) },
      fields: sections,
    }),
  )
}

/** GET /field/form?source= */
export async function form({ caller, query }: ApiRequest): Promise<Answer> {
  const { source } = readParameters(query, ['source'], ['source'])
  return formAnswer(formOf(sourceFields(source!, caller.catalog)))
}

export function formAnswer(sections: readonly Section[]): Answer {
  return okAnswer(JSON.stringify(sections), null, 200, { etag: etagOf(formVersion(sections)) })
}

export function sourceFields(source: string, catalog: Catalog): ResourceSchema {
  const schema = catalog.resources.get(source)
  if (!schema) throw unknownSource(source, catalog)
  return schema
}

/** A field as the interface's field descriptor describes it, with D34's additions. */
export function descriptor(field: Field, { resources }: Catalog): object {
  const idOf = (resource: string) => resources.get(resource)!.resource.source.id
  const { members, subFields: subFieldsOf } = kinds[field.type]
  const subFields = subFieldsOf?.(field)
  const own = taken(field, '')
  const taking = members
    .map(name => ({ name, ...taken(field, name) }))
    .filter(({ operators }) => operators.length > 0)
  return {
    internal_name: field.internal_name,
    field_name: field.field_name,
    id: field.id,
    source_id: idOf(field.resource),
    is_active: field.is_active,
    type: field.type,
    config: field.config,
    ...(hasOptions(field)
      ? { options: field.options.filter(option => option.is_active).map(({ id, name }) => ({ name, id })) }
      : {}),
    ...(subFields
      ? {
          sub_fields: subFields.map((sub, index) => ({
            ...sub,
            id: field.id * 100 + index + 1,
            type: sub.input_type,
          })),
        }
      : {}),
    ...(field.related ? { related_field: { id: idOf(field.related), source: field.related } } : {}),
    is_required: field.is_required,
    is_read_only: field.is_read_only,
    is_custom: field.is_custom,
    is_unique: field.is_unique,
    is_filterable: own.operators.length > 0,
    ...own,
    is_expandable: field.is_active && isExpandable(field),
    is_measurable: field.is_active && measuredOf(field) !== undefined,
    ...(taking.length ? { members: taking } : {}),
    default_value: defaultOf(field),
    section: field.section,
    rules: field.rules,
    version: field.version,
    ...(field.is_custom ? { is_indexed: field.is_indexed } : {}),
    ...(field.deleted_at ? { deleted_at: field.deleted_at } : {}),
  }
}

/** The filters and sorts that lists accept for a field, or for its member. None if the field is inactive. */
function taken(field: Field, member: string): { is_sortable: boolean; operators: Operator[] } {
  const term = field.is_active ? kinds[field.type].term(field, member) : null
  return {
    is_sortable: (term?.order ?? null) !== null,
    operators: operators.filter(operator => term?.operators.includes(operator)),
  }
}

type Choices = {
  source: string
  field_id: number | null
  values: object[]
  hasMore?: boolean
  /** true of stages whose pipeline the role shows */
  isOfStages?: boolean
}

/** GET /field/dropdown?name=&source=&pipeline=&include_inactive= */
export function dropdownValues(db: Database): (request: ApiRequest) => Promise<Answer> {
  return async request => {
    const { caller, query } = request
    const { catalog } = caller
    const asked = readParameters(query, ['name', 'source', 'pipeline', 'include_inactive'], ['name'])
    const inactive = isTrue(asked, 'include_inactive')
    if (asked.pipeline && !/^\d{1,15}$/.test(asked.pipeline)) {
      throw invalidParameter('pipeline', 'pipeline must be the id of a pipeline.')
    }
    const { name } = asked
    if (asked.source && !catalog.resources.has(asked.source)) throw unknownSource(asked.source, catalog)
    const choices =
      name === 'currency'
        ? currencies(catalog, inactive)
        : (optionChoices(name!, asked.source, catalog, inactive) ??
          (await recordChoices(inTurn(db, request), name!, asked.source, caller, inactive)))
    if (!choices) throw noDropdown(name!, asked.source, catalog)
    const { source, field_id, hasMore = false, isOfStages = false } = choices
    if (asked.pipeline && !isOfStages)
      throw invalidParameter('pipeline', `pipeline is for stages, and what ${name} offers is of none.`)
    const isOfPipeline = (value: object) => 'pipeline' in value && value.pipeline === Number(asked.pipeline)
    const values = asked.pipeline ? choices.values.filter(isOfPipeline) : choices.values
    return okAnswer(JSON.stringify(values), { name, source, field_id, hasMore })
  }
}

function currencies(catalog: Catalog, inactive: boolean): Choices {
  const shown = catalog.currencyList.filter(currency => inactive || currency.is_active)
  const values = shown.map(({ id, name, code, symbol, decimals, is_active }, index) => ({
    id,
    name,
    position: index + 1,
    is_active,
    is_default: id === catalog.account.base_currency,
    ...shownMembers({ code, symbol, decimals }, catalog.resources.get('currency')!),
  }))
  return { source: 'currency', field_id: null, values }
}

function optionChoices(
  name: string,
  source: string | undefined,
  catalog: Catalog,
  inactive: boolean,
): Choices | null {
  const field = dropdownField(name, source, catalog)
  if (!field) return null
  const shown = field.options.filter(option => inactive || option.is_active)
  const values = shown.map(option => ({
    ...plainOption(option, field),
    ...stageMembers(field, option, catalog),
  }))
  const isOfStages =
    field.related === 'pipeline_stage' &&
    shownField(catalog.resources.get('pipeline_stage')!, 'pipeline') !== null
  return { source: field.resource, field_id: field.id, values, isOfStages }
}

/** Without a source, a dynamic dropdown of that name wins; static ones need a source (D33). */
function dropdownField(name: string, source: string | undefined, catalog: Catalog): Field | null {
  const candidates = schemasOf(catalog, source)
    .flatMap(schema => fieldUnlessHidden(schema, name) ?? [])
    .filter(field => field.is_active && hasOptions(field))
  return candidates.find(field => !field.has_static_options) ?? candidates[0] ?? null
}

/** The schema of the source that is asked for, or all. */
function schemasOf({ resources }: Catalog, source: string | undefined): ResourceSchema[] {
  return source ? [resources.get(source)!] : [...resources.values()]
}

/** The field of that name; undefined if the caller's role hides it, as if it did not exist (D64). */
function fieldUnlessHidden(schema: ResourceSchema, name: string): Field | undefined {
  return isHiddenByRole(schema, name) ? undefined : schema.byName.get(name)
}

/** An option as dropdown values and the changes of options answer it. */
export function plainOption(option: Option, field: Field) {
  const { id, name, position, is_active } = option
  return { id, name, position, is_active, is_default: isDefault(option, field) }
}

function stageMembers(field: Field, option: Option, catalog: Catalog): object {
  const stage = field.related === 'pipeline_stage' ? catalog.stages.get(option.id) : undefined
  if (!stage) return {}
  const { pipeline, kind, probability } = stage
  return shownMembers({ pipeline, kind, probability }, catalog.resources.get('pipeline_stage')!)
}

async function recordChoices(
  db: Reader,
  name: string,
  source: string | undefined,
  caller: AuthenticatedCaller,
  inactive: boolean,
): Promise<Choices | null> {
  const { catalog, rights } = caller
  const field = schemasOf(catalog, source)
    .map(schema => fieldUnlessHidden(schema, name))
    .find(found => found?.is_active && found.is_offered)
  if (!field) return null
  rights.need(`${field.related}:read`)
  const { choices, hasMore } = await choicesOf(db, caller, field, inactive)
  const values = choices.map((choice, index) =>
    plainOption({ ...choice, position: index + 1, is_default: false }, field),
  )
  return { source: field.resource, field_id: field.id, values, hasMore }
}

function noDropdown(name: string, source: string | undefined, catalog: Catalog): Refusal {
  const resources = [...catalog.resources.values()].filter(
    schema => !source || schema.resource.name === source,
  )
  const field = resources.map(schema => shownField(schema, name)).find(found => found !== null)
  if (field)
    return new Refusal('not_a_dropdown', `${name} is of type ${field.type}; it has no list of values.`)
  const known = resources.flatMap(schema => shownFields(schema).filter(hasOptions))
  const names = known.map(other => other.internal_name)
  const message = `There is no field "${name}". ${suggestion(name, names, '')}`.trimEnd()
  return new Refusal('field_not_found', message)
}

function unknownSource(source: string, catalog: Catalog): Refusal {
  const message = `There is no source "${source}". Sources: ${[...catalog.resources.keys()].join(', ')}.`
  return new Refusal('field_not_found', message)
}

function isTrue(asked: { [name: string]: string | undefined }, name: string): boolean {
  const value = asked[name]
  // An empty parameter is absent (D27).
  if (!value || value === 'true' || value === 'false') return value === 'true'
  throw invalidParameter(name, `${name} must be true or false.`)
}
