/** The tag that deals are grouped by (D37). Its name is unique in an account. */
import { authorFields, defineFields, idField, nameField, recordFields } from '../fields/define.ts'
import type { Resource } from '../fields/resource.ts'

export const tag: Resource = {
  name: 'tag',
  source: { id: 7, name: 'Tag' },
  shownAs: ['name'],
  namedBy: ['name'],
  unique: { tag_name: 'name' },
  fields: defineFields('tag', {
    'Basic information': [idField(701), nameField(702, { is_unique: true })],
    Record: [...authorFields(703), ...recordFields(707)],
  }),
}
