/**
 * The targets of a file's columns: the fields of a resource, the parts of amounts and addresses, the members
 * of contacts and companies to find or create, and times that an import preserves. The conversion of a cell
 * follows from the schema of its field, so a new kind needs nothing here.
 */
import { type Catalog, isShown, type ResourceSchema } from '../../fields/catalog.ts'
import type { Field, Schema } from '../../fields/field.ts'
import { kinds } from '../../fields/kinds.ts'
import { allows } from '../../rights/scopes.ts'
import type { AuthorizedCaller } from '../../rights/visibility.ts'
import { memoize } from '../../waiting/memoize.ts'
import { isInUse } from './amounts.ts'

/** The form into which a cell is converted. */
export type Form =
  | 'text'
  | 'number'
  | 'date'
  | 'moment'
  | 'time'
  | 'option'
  | 'reference'
  | 'word'
  | 'money'
  | 'currency'
  | 'prices'
  | 'emails'
  | 'phones'
  | 'address'
  | 'json'
  | 'range'
  | 'name'
  | 'status'

export type Target = {
  /** `title`, `deal_value.value`, `company.name`, `emails.home` */
  readonly field: string
  readonly label: string
  /** the type of the field that it is, or is a part of */
  readonly type: string
  readonly isRequired: boolean
  readonly options?: readonly { readonly id: number; readonly name: string }[]
}

/** A target with everything that the conversion of its cells needs. */
export type Place = Target & {
  readonly form: Form
  /** true if a cell may have several values */
  readonly isSeveral: boolean
  /** the field of the imported record */
  readonly own: Field
  /** the field whose value or part it is: `own`, or one of the record that `own` points to */
  readonly of: Field
  /** the member of the value of `of`, null: all of it; of a whole name, the field of the first name */
  readonly member: string | null
  /** for one of several prices: the code of its currency */
  readonly currency: string | null
  /** true if it belongs to a record that `own` points to */
  readonly isNested: boolean
  /** true if each value of a cell belongs to another such record */
  readonly isListed: boolean
  /** true if the import sets it beside the record */
  readonly isKept: boolean
}

/**
 * The catalog for imports to `resource`: without the resources whose records the caller may not name (D65).
 * The fields that point to them still take ids.
 */
export function nameable({ catalog, rights }: AuthorizedCaller, resource: string): Catalog {
  const kept = [...catalog.resources].filter(
    ([name]) => name === resource || allows(rights.scopes, `${name}:read`),
  )
  return kept.length < catalog.resources.size ? { ...catalog, resources: new Map(kept) } : catalog
}

/** Read-only fields that an import may set: times and authors that a moved record keeps (D80). */
export const keptFields = ['created_at', 'created_by', 'won_time', 'lost_time', 'deal_stage_updated_at']

const emailTypes = ['work', 'personal', 'home', 'other']
const phoneTypes = ['work', 'mobile', 'personal', 'other']

/** All targets of a resource, by their names in a mapping. */
export function placesOf(catalog: Catalog, schema: ResourceSchema): ReadonlyMap<string, Place> {
  return placesIn(catalog)(schema)
}

const placesIn = memoize((catalog: Catalog) =>
  memoize((schema: ResourceSchema): ReadonlyMap<string, Place> => {
    const all = [
      ...nameOf(schema, null),
      ...schema.fields
        .filter(isTaken)
        .flatMap(field => [
          ...partsOf(field, null, ''),
          ...pricesOf(field, catalog),
          ...(takesRecords(field) ? nestedOf(field, catalog) : []),
        ]),
    ]
    return new Map([...all, ...statusOf(schema)].map(place => [place.field, place]))
  }),
)

function isTaken(field: Field): boolean {
  if (!isShown(field) || field.is_of_store) return false
  return !field.is_read_only || keptFields.includes(field.internal_name)
}

/** The status, which follows from the stage: an import may set it, and the stage follows (closing.ts). */
function statusOf({ byName }: ResourceSchema): Place[] {
  const [status, stage] = [byName.get('status'), byName.get('pipeline_stage')]
  if (!status?.is_active || !stage?.is_active || status.is_hidden || stage.is_read_only) return []
  return [{ ...placeOf(status, null, 'status', status.field_name, 'status', null), isKept: false }]
}

/** True if the field takes an object in place of an id: a record to find or create (D11, D75). */
function takesRecords(field: Field): boolean {
  return field.related !== null && JSON.stringify(kinds[field.type].schema(field).input).includes('"$ref"')
}

function nestedOf(own: Field, catalog: Catalog): Place[] {
  const related = catalog.resources.get(own.related!)
  if (!related) return []
  const fields = related.fields.filter(
    field => isTaken(field) && !field.is_read_only && !field.is_of_store && field.related === null,
  )
  return [...nameOf(related, own), ...fields.flatMap(field => partsOf(field, own, `${own.internal_name}.`))]
}

/** The whole name of a record that is shown by two fields, such as a first and a last name. */
function nameOf({ resource, byName }: ResourceSchema, own: Field | null): Place[] {
  const [first, last] = resource.shownAs.map(name => byName.get(name))
  if (!first || !last || byName.has('name') || !isTaken(first) || !isTaken(last)) return []
  const place = placeOf(
    last,
    own,
    own ? `${own.internal_name}.name` : 'name',
    'Whole name',
    'name',
    first.internal_name,
  )
  return [{ ...place, isRequired: false }]
}

/** A field as one target, and its parts. */
function partsOf(field: Field, own: Field | null, prefix: string): Place[] {
  const { form, isSeveral } = formOf(field)
  const { internal_name: name, field_name: label } = field
  const whole = { ...placeOf(field, own, prefix + name, label, form, null), isSeveral }
  const part = (member: string, form: Form, text: string = member.replaceAll('_', ' ')): Place => ({
    ...placeOf(field, own, `${prefix}${name}.${member}`, `${label}: ${text}`, form, member),
    isRequired: false,
    isSeveral: form === 'emails' || form === 'phones',
  })
  switch (form) {
    case 'money':
      return [whole, part('value', 'number'), part('currency', 'currency')]
    case 'prices':
      return [
        ...[whole, part('price', 'number'), part('currency', 'currency')],
        ...[part('tax', 'number'), part('discount', 'number')],
      ]
    case 'address':
      return [whole, ...kinds[field.type].members.map(member => part(member, 'text'))]
    case 'emails':
      return [whole, ...emailTypes.map(type => part(type, form))]
    case 'phones':
      return [whole, ...phoneTypes.map(type => part(type, form))]
    default:
      return [whole]
  }
}

/** The target of a price in one currency of a field with a list of prices. */
export function priceTarget(field: string, code: string): string {
  return `${field}.price.${code}`
}

/** A price in each currency with a rate: a file may have several of one record. */
function pricesOf(field: Field, catalog: Catalog): Place[] {
  if (formOf(field).form !== 'prices') return []
  const { internal_name: name, field_name: label } = field
  return catalog.currencyList
    .filter(currency => isInUse(currency, catalog))
    .map(({ code }) => ({
      ...placeOf(field, null, priceTarget(name, code), `${label}: price in ${code}`, 'number', 'price'),
      ...{ isRequired: false, currency: code },
    }))
}

function placeOf(
  of: Field,
  own: Field | null,
  field: string,
  label: string,
  form: Form,
  member: string | null,
): Place {
  const options = of.options.filter(option => option.is_active).map(({ id, name }) => ({ id, name }))
  return {
    ...{ field, type: of.type, form, member, of, own: own ?? of, isNested: own !== null, currency: null },
    isListed: own !== null && formOf(own).isSeveral,
    label: own ? `${own.field_name}: ${label}` : label,
    isRequired: own === null && of.is_required && !of.is_read_only,
    isSeveral: false,
    isKept: own === null && keptFields.includes(of.internal_name),
    ...(options.length ? { options } : {}),
  }
}

/** The form of a field's cells, by its kind and its schemas. */
function formOf(field: Field): { form: Form; isSeveral: boolean } {
  const kind = kinds[field.type]
  const { output } = kind.schema(field)
  const isSeveral = output.type === 'array'
  const has = (...members: string[]) => members.every(member => kind.members.includes(member))
  if (has('value', 'currency')) return { form: 'money', isSeveral: false }
  if (has('price', 'currency')) return { form: 'prices', isSeveral: false }
  if (has('email_value')) return { form: 'emails', isSeveral }
  if (has('phone_number')) return { form: 'phones', isSeveral }
  if (has('city')) return { form: 'address', isSeveral: false }
  if (kind.hasOptions) return { form: 'option', isSeveral }
  if (field.related !== null) return { form: 'reference', isSeveral }
  if (has('from')) return { form: 'range', isSeveral }
  if (isSeveral) return { form: (output.items as Schema).type === 'string' ? 'word' : 'json', isSeveral }
  return { form: scalarForm(output), isSeveral: false }
}

function scalarForm({ type, format, pattern }: Schema): Form {
  if (type === 'object') return 'json'
  if (format === 'date') return 'date'
  if (format === 'date-time') return 'moment'
  if (type === 'number' || type === 'integer') return 'number'
  // Only a time of day is a text with a fixed form.
  return pattern === undefined ? 'text' : 'time'
}
