/** The contact: a person whom deals are made with (D12, D37). Fields as data; no rules of its own. */
import { authorFields, defineFields, field, idField, recordFields, shortText } from '../fields/define.ts'
import type { Resource } from '../fields/resource.ts'

export const contact: Resource = {
  name: 'contact',
  source: { id: 3, name: 'Contact' },
  shownAs: ['first_name', 'last_name'],
  isBusinessData: true,
  namedBy: ['emails'],
  isPerson: true,
  searched: ['emails', 'phones'],
  customType: 'CONTACT',
  parts: ['activity'],
  ownership: { owner: 'created_by', territory: 'territory' },
  fields: defineFields('contact', {
    'Basic information': [
      idField(301),
      field(302, 'first_name', 'First name', 'SINGLE_STRING', { config: shortText }),
      field(303, 'last_name', 'Last name', 'SINGLE_STRING', { is_required: true, config: shortText }),
      field(304, 'job_title', 'Job title', 'SINGLE_STRING', { config: shortText }),
      field(305, 'company', 'Company', 'COMPANY_ONBOARD', { related: 'company' }),
      field(306, 'emails', 'E-mails', 'EMAIL', { config: { max_limit: 20 } }),
      field(307, 'phones', 'Phones', 'PHONE', { config: { max_limit: 20 } }),
      field(315, 'territory', 'Territory', 'TERRITORY', { related: 'territory', is_offered: true }),
    ],
    Record: [...authorFields(308), ...recordFields(312, 316)],
  }),
}
