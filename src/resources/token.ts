/**
 * The token: a name for a secret with which a program acts as a user (D38, D66). It allows what its scopes
 * and the user's role both allow. The secrets are in accounts/. Fields as data; pure.
 */
import { authorFields, defineFields, field, idField, nameField, recordFields } from '../fields/define.ts'
import type { Resource } from '../fields/resource.ts'
import { forbiddenTokenChange } from '../rights/grants.ts'
import { calendarScope, checkScopes } from '../rights/scopes.ts'
import { ofUserInUse } from './user-access.ts'

/** Set when a token is used, without an event. */
const byCallers = { is_read_only: true, is_volatile: true, is_of_store: true } as const

export const token: Resource = {
  name: 'token',
  source: { id: 12, name: 'Token' },
  shownAs: ['name'],
  ownership: { owner: 'user', isPrivate: true },
  fields: defineFields('token', {
    'Basic information': [
      idField(621),
      nameField(622),
      field(623, 'user', 'User', 'OWNER', { related: 'user', is_filled: true }),
      field(624, 'scopes', 'Scopes', 'STRING_LIST', { config: { max_limit: 500 } }),
      field(625, 'prefix', 'Begins with', 'SINGLE_STRING', { is_read_only: true }),
      field(626, 'expires_at', 'Expires at', 'DATE_TIME'),
      field(627, 'last_used_at', 'Last used at', 'DATE_TIME', { ...byCallers }),
    ],
    Agent: [
      field(636, 'agent', 'Agent', 'SINGLE_STRING', { ...byCallers }),
      field(638, 'agent_host', 'Agent of', 'SINGLE_STRING', { ...byCallers }),
      field(637, 'agent_used_at', 'Agent last used at', 'DATE_TIME', { ...byCallers }),
    ],
    Record: [...authorFields(628), ...recordFields(632)],
  }),
  whyForbidden: forbiddenTokenChange,
  invariant: (_before, after) => ofUserInUse(after.user as number),
  applyRules: draft => {
    const { before, after, clock, problem, warn } = draft
    const scopes = after.scopes as string[]
    checkScopes(scopes, draft)
    if (scopes.includes(calendarScope) && scopes.length > 1)
      problem('scopes', 'contradiction', `has ${calendarScope} and others`, {
        hint: 'The secret of a calendar is in an address, so it does nothing else: make another token.',
      })
    if (!before && scopes.length === 0)
      warn({
        field: 'scopes',
        code: 'no_scopes',
        message: 'Without scopes a token reads and changes no records: give it those that it needs.',
      })
    // A past expiry is a way to revoke a token; a new secret of an expired one is a mistake.
    const { prefix, expires_at } = after
    const isOver = typeof expires_at === 'string' && Date.parse(expires_at) <= clock.getTime()
    if (isOver && prefix !== before?.prefix)
      problem('expires_at', 'out_of_range', 'must be ahead: such a secret could never be used')
    if (!before) after.user ??= after.created_by!
    else if (before.user !== after.user)
      problem('user', 'immutable', "can't be changed: a token keeps its user", {
        hint: 'Make a token for the other user.',
      })
  },
}
