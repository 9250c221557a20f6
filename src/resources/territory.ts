/** The territory that a deal belongs to (D37). Its name is unique in an account. */
import { authorFields, defineFields, idField, nameField, recordFields } from '../fields/define.ts'
import type { Resource } from '../fields/resource.ts'

export const territory: Resource = {
  name: 'territory',
  source: { id: 6, name: 'Territory' },
  shownAs: ['name'],
  namedBy: ['name'],
  unique: { territory_name: 'name' },
  fields: defineFields('territory', {
    'Basic information': [idField(601), nameField(602, { is_unique: true })],
    Record: [...authorFields(603), ...recordFields(607)],
  }),
}
