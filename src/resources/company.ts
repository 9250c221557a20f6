/** The company that deals are made with (D12, D37). Fields as data, and the rule of its website. */
import {
  authorFields,
  defineFields,
  field,
  idField,
  nameField,
  recordFields,
  shortText,
} from '../fields/define.ts'
import type { Draft, Resource } from '../fields/resource.ts'

export const company: Resource = {
  name: 'company',
  source: { id: 4, name: 'Company' },
  shownAs: ['name'],
  isBusinessData: true,
  namedBy: ['name'],
  searched: ['phones'],
  customType: 'COMPANY',
  parts: ['activity'],
  ownership: { owner: 'created_by', territory: 'territory' },
  fields: defineFields('company', {
    'Basic information': [
      idField(401),
      nameField(402),
      field(403, 'website', 'Website', 'SINGLE_STRING', { config: shortText }),
      field(404, 'phones', 'Phones', 'PHONE', { config: { max_limit: 20 } }),
      field(405, 'address', 'Address', 'ADDRESS'),
      field(413, 'territory', 'Territory', 'TERRITORY', { related: 'territory', is_offered: true }),
    ],
    Record: [...authorFields(406), ...recordFields(410, 414)],
  }),
  applyRules: checkWebsite,
}

/** A website is shown as a link, so it is the address of a page: with http, https, or without a scheme. */
function checkWebsite({ before, after: { website }, problem }: Draft): void {
  if (typeof website !== 'string' || website === before?.website) return
  const scheme = /^\s*([a-z][a-z\d+-]*):/i.exec(website)?.[1]?.toLowerCase()
  const isOther = scheme !== undefined && !['http', 'https', 'localhost'].includes(scheme)
  if (isOther || /\p{Cc}/u.test(website))
    problem('website', 'invalid_url', 'must be the address of a page', {
      hint: 'For example "https://example.com".',
    })
}
