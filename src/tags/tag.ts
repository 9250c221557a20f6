/** The tag that deals are grouped by (D37). Its name is unique in an account. */
import { authorFields, defineFields, idField, type Resource, recordFields } from '../records/resource.ts'

export const tag: Resource = {
  name: 'tag',
  source: { id: 7, name: 'Tag' },
  shownAs: ['name'],
  unique: { tag_name: 'name' },
  fields: defineFields('tag', {
    'Basic information': [
      idField(701),
      {
        id: 702,
        name: 'name',
        label: 'Name',
        type: 'SINGLE_STRING',
        required: true,
        config: { min_length: 1, max_length: 255 },
      },
    ],
    Record: [...authorFields(703), ...recordFields(707)],
  }),
  applyRules: () => {},
}
