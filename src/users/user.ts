/**
 * The user: who owns deals and asks the service (D37). What a user may do is in their tokens (D38), which end
 * when the user is deleted (D58).
 */
import { authorFields, defineFields, idField, type Resource, recordFields } from '../records/resource.ts'

export const user: Resource = {
  name: 'user',
  source: { id: 5, name: 'User' },
  shownAs: ['name'],
  customType: 'OWNER',
  unique: { user_email: 'email' },
  isActor: true,
  fields: defineFields('user', {
    'Basic information': [
      idField(501),
      {
        id: 502,
        name: 'name',
        label: 'Name',
        type: 'SINGLE_STRING',
        required: true,
        config: { min_length: 1, max_length: 255 },
      },
      {
        id: 503,
        name: 'email',
        label: 'E-mail',
        type: 'SINGLE_STRING',
        required: true,
        config: { min_length: 3, max_length: 320 },
      },
    ],
    Record: [...authorFields(504), ...recordFields(508)],
  }),
  settle: ({ after, problem }) => {
    if (typeof after.email === 'string' && !/^[^\s@]+@[^\s@]+$/.test(after.email)) {
      problem('email', 'invalid_email', 'must be a valid e-mail address', {
        hint: 'For example "jo@example.com".',
      })
    }
  },
}
