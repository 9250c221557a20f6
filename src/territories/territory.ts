/** The territory that a deal belongs to (D37). Its name is unique in an account. */
import { authorFields, defineFields, type Resource, recordFields } from '../records/resource.ts'

export const territory: Resource = {
  name: 'territory',
  source: { id: 6, name: 'Territory' },
  fields: defineFields('territory', {
    'Basic information': [
      { id: 601, name: 'id', label: 'ID', type: 'SINGLE_NUMBER', readOnly: true },
      {
        id: 602,
        name: 'name',
        label: 'Name',
        type: 'SINGLE_STRING',
        required: true,
        config: { min_length: 1, max_length: 255 },
      },
    ],
    Record: [...authorFields(603), ...recordFields(607)],
  }),
  settle: () => {},
}
