/**
 * The user: owns deals and sends requests (D37, D58, D61), with the rights of their role (D62). Passwords,
 * sessions and tokens are not part of the record; they end when the user is deleted or deactivated. Fields as
 * data; pure.
 */
import {
  authorFields,
  defineFields,
  field,
  idField,
  nameField,
  recordFields,
  shortText,
} from '../fields/define.ts'
import { isLocale, isTimeZone, rejectLocale, rejectTimeZone } from '../fields/locale.ts'
import type { Resource } from '../fields/resource.ts'
import { forbiddenUserChange } from '../rights/grants.ts'
import { actorRules, withoutUser } from './user-access.ts'

/** The option of `is_active` for an active user. */
const yes = 1

/** Invisible characters would make two e-mails look alike; < and > are around an address, not in it. */
const emailForm = /^[^\s\p{C}<>@]+@[^\s\p{C}<>@]+$/u

export const user: Resource = {
  name: 'user',
  source: { id: 5, name: 'User' },
  shownAs: ['name'],
  namedBy: ['email', 'name'],
  isPerson: true,
  inUse: 'is_active',
  customType: 'OWNER',
  unique: { user_email: 'email' },
  actor: actorRules,
  revokes: ['token'],
  whyForbidden: forbiddenUserChange,
  invariant: (before, after) =>
    !before || (before.role === after.role && before.is_active === after.is_active)
      ? null
      : withoutUser(before.id as number, after.is_active === yes ? (after.role as number) : null),
  fields: defineFields('user', {
    'Basic information': [
      idField(501),
      nameField(502),
      field(503, 'email', 'E-mail', 'SINGLE_STRING', {
        is_required: true,
        is_email: true,
        is_unique: true,
        config: { min_length: 3, max_length: 320 },
      }),
      field(511, 'role', 'Role', 'DROPDOWN', { related: 'role', is_filled: true }),
      field(512, 'territories', 'Territories', 'TERRITORIES', { related: 'territory' }),
      field(513, 'is_active', 'In use', 'DROPDOWN', { options: ['Yes', 'No'], is_filled: true }),
      field(514, 'time_zone', 'Time zone', 'SINGLE_STRING', { config: shortText }),
      field(515, 'locale', 'Language', 'SINGLE_STRING', { config: shortText }),
    ],
    Record: [...authorFields(504), ...recordFields(508, 516)],
  }),
  applyRules: ({ before, after, catalog, problem }) => {
    if (!before) {
      after.role ??= [...catalog.roles.values()].find(role => role.built_in === 'member')?.id ?? null
      after.is_active ??= yes
    }
    for (const name of ['role', 'is_active'])
      if (after[name] === null) problem(name, 'required', 'must not be empty')
    const { email, time_zone, locale } = after
    if (typeof email === 'string' && !emailForm.test(email))
      problem('email', 'invalid_email', 'must be a valid e-mail address', {
        hint: 'For example "jo@example.com".',
      })
    if (typeof time_zone === 'string' && !isTimeZone(time_zone)) rejectTimeZone(problem)
    if (typeof locale === 'string' && !isLocale(locale)) rejectLocale(problem)
  },
}
