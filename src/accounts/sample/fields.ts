/**
 * A custom field of each of the interface's seventeen kinds, under the interface's names, so that its
 * examples work unchanged (D40). Data only.
 */
import type { FieldType } from '../../fields/kinds.ts'

export type SampleField = {
  readonly name: string
  readonly label: string
  readonly type: FieldType
  readonly options?: readonly string[]
}

export const sampleFields: readonly SampleField[] = [
  { name: 'cf_custom_text_field', label: 'Custom text field', type: 'SINGLE_STRING' },
  { name: 'cf_custom_large_txt_field', label: 'Custom large text field', type: 'TEXT' },
  { name: 'cf_custom_number_field', label: 'Custom number field', type: 'SINGLE_NUMBER' },
  {
    name: 'cf_custom_dropdown_field',
    label: 'Custom dropdown field',
    type: 'DROPDOWN',
    options: ['Bronze', 'Silver', 'Gold', 'Platinum'],
  },
  {
    name: 'cf_custom_multiselect_field',
    label: 'Custom multiselect field',
    type: 'MULTISELECT',
    options: ['Installation', 'Training', 'Support', 'Hosting'],
  },
  { name: 'cf_custom_address_field', label: 'Custom address field', type: 'ADDRESS' },
  { name: 'cf_custom_owner_field', label: 'Custom owner field', type: 'OWNER' },
  { name: 'cf_custom_company_field', label: 'Custom company field', type: 'COMPANY' },
  { name: 'cf_custom_contact_field', label: 'Custom contact field', type: 'CONTACT' },
  { name: 'cf_custom_monetory_field', label: 'Custom monetary field', type: 'MONETARY' },
  { name: 'cf_custom_phone_field', label: 'Custom phone field', type: 'PHONE' },
  { name: 'cf_custom_email_field', label: 'Custom e-mail field', type: 'EMAIL' },
  { name: 'cf_custom_time_field', label: 'Custom time field', type: 'TIME' },
  { name: 'cf_custom_date_field', label: 'Custom date field', type: 'DATE' },
  { name: 'cf_custom_time_range_field', label: 'Custom time range field', type: 'TIME_RANGE' },
  { name: 'cf_custom_date_range_field', label: 'Custom date range field', type: 'DATE_RANGE' },
  { name: 'cf_custom_date_time_range_field', label: 'Custom date-time range field', type: 'DATE_TIME_RANGE' },
]
