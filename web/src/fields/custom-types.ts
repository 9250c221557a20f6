/**
 * The types of custom fields (D35, D36), in plain words: their values, the limits that can be set, and their
 * options. No page asks a field for its type; it asks here.
 */
import type { Field, FieldType, Schemas } from '../api/api.ts'

type LimitName = 'min_length' | 'max_length' | 'min' | 'max' | 'max_digits' | 'max_decimals' | 'max_limit'

export const limitNames: { readonly [name in LimitName]: string } = {
  min_length: 'Minimum length',
  max_length: 'Maximum length',
  min: 'Minimum',
  max: 'Maximum',
  max_digits: 'Maximum digits',
  max_decimals: 'Maximum decimals',
  max_limit: 'Maximum entries',
}

type TypeInfo = {
  readonly name: string
  readonly about: string
  readonly limits?: readonly LimitName[]
  readonly isUniqueable?: boolean
  /** True if its unique values may be case-sensitive */
  readonly isText?: boolean
  readonly hasOptions?: boolean
  /** True if a value is any number of its options */
  readonly isSeveral?: boolean
  /** True if its values have two ends, which are two columns of a file */
  readonly isRange?: boolean
  /** the resource that its values name */
  readonly related?: string
}

const texts = ['min_length', 'max_length'] as const
const numbers = ['min', 'max', 'max_digits', 'max_decimals'] as const
const entries = ['max_limit'] as const

const abouts = {
  SINGLE_STRING: {
    name: 'Text',
    about: 'One line, such as an order number.',
    limits: texts,
    isUniqueable: true,
    isText: true,
  },
  TEXT: {
    name: 'Long text',
    about: 'Several lines, such as meeting notes.',
    limits: texts,
    isUniqueable: true,
    isText: true,
  },
  SINGLE_NUMBER: { name: 'Number', about: 'With or without decimals.', limits: numbers, isUniqueable: true },
  MONETARY: { name: 'Amount', about: 'A value in a currency.', limits: ['min', 'max'] },
  DROPDOWN: { name: 'Dropdown', about: 'One of some options.', hasOptions: true },
  MULTISELECT: {
    name: 'Multiple choice',
    about: 'Any of some options.',
    limits: entries,
    hasOptions: true,
    isSeveral: true,
  },
  DATE: { name: 'Date', about: 'A day.', isUniqueable: true },
  TIME: { name: 'Time of day', about: 'Hours and minutes.' },
  DATE_RANGE: { name: 'Date range', about: 'A first and a last day.', isRange: true },
  TIME_RANGE: { name: 'Time range', about: 'Such as opening hours.', isRange: true },
  DATE_TIME_RANGE: { name: 'Date and time range', about: 'Such as a workshop.', isRange: true },
  EMAIL: { name: 'E-mail addresses', about: 'One or several.', limits: entries, isUniqueable: true },
  PHONE: { name: 'Phone numbers', about: 'One or several.', limits: entries },
  ADDRESS: { name: 'Address', about: 'Street, city, country.' },
  OWNER: { name: 'User', about: 'A user of the account.', related: 'user' },
  CONTACT: { name: 'Contact', about: 'A person you know.', related: 'contact' },
  COMPANY: { name: 'Company', about: 'A company you know.', related: 'company' },
} satisfies Record<Schemas['field_new']['type'], TypeInfo>

export type CustomType = keyof typeof abouts

/** The names of the types that only built-in fields have. */
const others: { readonly [type in FieldType]?: TypeInfo } = {
  PRODUCT: { name: 'Number of products', about: '' },
  TERRITORY: { name: 'Territory', about: '' },
  DEAL: { name: 'Deal', about: '' },
  CONTACT_ONBOARD: { name: 'Contact (existing or new)', about: '' },
  COMPANY_ONBOARD: { name: 'Company (existing or new)', about: '' },
  CONTACTS_ONBOARD: { name: 'Contacts (existing or new)', about: '', limits: entries },
  TAGS: { name: 'Tags', about: '', limits: entries },
  TERRITORIES: { name: 'Territories', about: '' },
  STRING_LIST: { name: 'List of texts', about: '', limits: entries },
  DEAL_VALUE: { name: 'Amount with products', about: '', limits: ['min', 'max'] },
  PRICE_TAGS: { name: 'Prices', about: '', limits: ['min', 'max'] },
  DATE_TIME: { name: 'Date and time', about: '' },
  JSON: { name: 'JSON', about: '' },
}

export const customTypes = (Object.keys(abouts) as CustomType[]).map(type => ({ type, ...typeInfoOf(type) }))

function typeInfoOf(type: FieldType): TypeInfo {
  return (
    (abouts as { readonly [type in FieldType]?: TypeInfo })[type] ?? others[type] ?? { name: type, about: '' }
  )
}

/** The name and the settings of a field's type. */
export const typeInfo = ({ type }: Pick<Field, 'type'>): TypeInfo => typeInfoOf(type)

/** Limit of a field's active options (D36). */
export const optionsMax = 100

/** True if the options of a field are the account's to change. */
export function hasOwnOptions(field: Field): boolean {
  return typeInfo(field).hasOptions === true && !field.related_field && !field.is_read_only
}

/** A field that does not exist yet, as its input and cell would show it. */
export function draftField(type: CustomType, label: string, options: readonly string[]): Field {
  const { related, hasOptions } = typeInfoOf(type)
  return {
    internal_name: 'cf_preview',
    field_name: label || 'Your field',
    id: 0,
    source_id: 0,
    is_active: true,
    type,
    config: {},
    is_required: false,
    is_read_only: false,
    is_custom: true,
    is_unique: false,
    is_filterable: true,
    is_sortable: true,
    operators: [],
    is_expandable: related !== undefined,
    is_measurable: false,
    default_value: null,
    section: '',
    rules: [],
    version: 1,
    ...(hasOptions ? { options: options.map((name, index) => ({ id: index + 1, name })) } : {}),
    ...(related ? { related_field: { id: 0, source: related } } : {}),
  }
}
