/** The contact: a person whom deals are made with (D12, D37). Fields as data; no rules of its own. */
import { authorFields, defineFields, idField, recordFields } from '../fields/define.ts'
import type { Resource } from '../fields/resource.ts'

const name = { min_length: 1, max_length: 255 }

export const contact: Resource = {
  name: 'contact',
  source: { id: 3, name: 'Contact' },
  shownAs: ['first_name', 'last_name'],
  namedBy: ['emails'],
  isPerson: true,
  searched: ['emails', 'phones'],
  customType: 'CONTACT',
  parts: ['activity'],
  ownership: { owner: 'created_by', territory: 'territory' },
  fields: defineFields('contact', {
    'Basic information': [
      idField(301),
      { id: 302, name: 'first_name', label: 'First name', type: 'SINGLE_STRING', config: name },
      { id: 303, name: 'last_name', label: 'Last name', type: 'SINGLE_STRING', required: true, config: name },
      { id: 304, name: 'job_title', label: 'Job title', type: 'SINGLE_STRING', config: name },
      { id: 305, name: 'company', label: 'Company', type: 'COMPANY_ONBOARD', related: 'company' },
      { id: 306, name: 'emails', label: 'E-mails', type: 'EMAIL', config: { max_limit: 20 } },
      { id: 307, name: 'phones', label: 'Phones', type: 'PHONE', config: { max_limit: 20 } },
      {
        id: 315,
        name: 'territory',
        label: 'Territory',
        type: 'TERRITORY',
        related: 'territory',
        offered: true,
      },
    ],
    Record: [...authorFields(308), ...recordFields(312, 316)],
  }),
  applyRules: () => {},
}
