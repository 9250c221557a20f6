/** How the page of a record is laid out: headline facts, people and money, the rest (D159). Pure. */
import type { Field } from '../../api/api.ts'

type Design = {
  /** the facts under the title */
  readonly headline: readonly string[]
  /** the fact that weighs most */
  readonly weighty?: string
  /** facts whose values don't say what they are; the others have no label on a phone */
  readonly labelled?: readonly string[]
  /** the fields of sections that come first, under their titles */
  readonly first?: { readonly [title: string]: readonly string[] }
}

const designs: { readonly [resource: string]: Design } = {
  deal: {
    headline: ['deal_value', 'expected_close_date', 'primary_contact', 'company', 'sales_owner'],
    weighty: 'deal_value',
    labelled: ['expected_close_date'],
    first: {
      People: ['primary_contact', 'related_contacts', 'company', 'sales_owner'],
      Money: [
        ...['deal_value', 'expected_close_date', 'forecast_category', 'weighted_value'],
        ...['expected_deal_value', 'deal_value_in_base_currency', 'product_amount', 'product_quantity'],
      ],
    },
  },
  contact: { headline: ['job_title', 'company', 'phones', 'emails'] },
  company: { headline: ['website', 'phones', 'address'] },
  product: {
    headline: ['unit_price', 'product_code', 'category', 'active', 'quantity_in_stock'],
    weighty: 'unit_price',
    labelled: ['product_code', 'active', 'quantity_in_stock'],
    first: { Money: ['unit_price', 'base_currency_amount', 'taxable'] },
  },
  activity: {
    headline: ['kind', 'due_at', 'done_at', 'outcome', 'deal', 'contact', 'company', 'owner'],
    labelled: ['due_at', 'done_at'],
  },
}

type Sections = readonly (readonly Field[])[]

const named = (fields: readonly Field[], names: readonly string[]): Field[] =>
  names.flatMap(name => fields.find(field => field.internal_name === name && field.is_active) ?? [])

export const headlineOf = (resource: string, fields: readonly Field[]): Field[] =>
  named(fields, designs[resource]?.headline ?? [])

export const isWeighty = (resource: string, field: Field): boolean =>
  designs[resource]?.weighty === field.internal_name

export const isLabelled = (resource: string, field: Field): boolean =>
  designs[resource]?.labelled?.includes(field.internal_name) ?? false

/** The sections of a form, after those that come first. One that an account calls the same joins it. */
export function designedSections(resource: string, sections: Sections): Field[][] {
  const all = sections.flat()
  const first = Object.entries(designs[resource]?.first ?? {}).map(([section, names]) =>
    named(all, names).map(field => ({ ...field, section })),
  )
  const taken = new Set(first.flat().map(field => field.internal_name))
  const rest = all.filter(field => !taken.has(field.internal_name))
  return [...Map.groupBy([...first.flat(), ...rest], field => field.section).values()]
}
