/**
 * The webhook: a subscription to events (D72). It acts with the rights of a user. Its secrets, progress and
 * deliveries are stored beside it. Fields as data; pure.
 */
import type { Catalog } from '../fields/catalog.ts'
import type { Expression } from '../fields/columns.ts'
import {
  authorFields,
  defineFields,
  type FieldDefinition,
  field,
  idField,
  recordFields,
  shortText,
} from '../fields/define.ts'
import type { Schema } from '../fields/field.ts'
import { arrayOf, moment, openObject, orNull, text, whole } from '../fields/kinds/schemas.ts'
import { textsOf } from '../fields/kinds/string-list.ts'
import { suggestion } from '../fields/nearest.ts'
import type { Draft, Resource, RightsChange } from '../fields/resource.ts'
import { knownTypes, resourceOf, scopeOf } from '../history/event-types.ts'
import { isSameJson } from '../json.ts'
import { withOptionIds } from '../lists/stored-filter.ts'
import { adminScope, allows } from '../rights/scopes.ts'
import { type Sql, sql } from '../sql.ts'

/** The states of deliveries: `waiting` for the first attempt or a retry; `dead`: given up. */
export const deliveryStates = ['waiting', 'delivered', 'dead'] as const
export const deliveriesMax = 100

export const inUse = { yes: 1, no: 2 } as const

export const webhook: Resource = {
  name: 'webhook',
  source: { id: 14, name: 'Webhook' },
  shownAs: ['name'],
  ownership: { owner: 'user', isPrivate: true },
  quota: { count: 100, what: 'webhooks of an account' },
  fields: defineFields('webhook', {
    'Basic information': [
      idField(641),
      field(642, 'name', 'Name', 'SINGLE_STRING', { is_filled: true, config: shortText }),
      field(643, 'url', 'Address', 'SINGLE_STRING', {
        is_required: true,
        config: { min_length: 1, max_length: 2000 },
      }),
      field(644, 'events', 'Events', 'STRING_LIST', { is_required: true, config: { max_limit: 100 } }),
      field(645, 'filter', 'Filter', 'TEXT', { config: { max_length: 10_000 } }),
      field(646, 'is_active', 'In use', 'DROPDOWN', { options: ['Yes', 'No'], is_filled: true }),
      field(647, 'user', 'Acts with the rights of', 'OWNER', { related: 'user', is_filled: true }),
    ],
    'How it goes': [
      field(648, 'disabled_reason', 'Why it is out of use', 'TEXT', { is_read_only: true }),
      field(649, 'rotated_at', 'Secret rotated at', 'DATE_TIME', { is_read_only: true }),
      followed(field(650, 'last_seq', 'Last event looked at', 'SINGLE_NUMBER'), sql`seq`),
      ...[
        field(651, 'last_delivered_at', 'Last delivered at', 'DATE_TIME'),
        field(652, 'failing_since', 'Failing since', 'DATE_TIME'),
        field(653, 'last_error', 'Last error', 'TEXT'),
      ].map(field => followed(field, sql.id(field.internal_name))),
    ],
    Record: [...authorFields(654), ...recordFields(658)],
  }),
  whyForbidden: forbiddenChange,
  applyRules: draft => {
    const { before, after, problem } = draft
    if (!before) {
      after.is_active ??= inUse.yes
      after.user ??= after.created_by!
    }
    for (const name of ['is_active', 'user'])
      if (after[name] === null) problem(name, 'required', 'must not be empty')
    if (after.is_active === inUse.yes) after.disabled_reason = null
    checkEvents(draft)
    checkUrl(draft)
  },
}

/** A field whose value is stored beside the record, and changes without a new version. */
function followed(field: FieldDefinition, column: Sql): FieldDefinition {
  const computed: Expression = ({ alias, account }) => sql`(
    SELECT p.${column} FROM webhook_progress p
    WHERE p.account_id = ${account}::bigint AND p.webhook = ${alias}id)`
  return { ...field, is_read_only: true, is_volatile: true, computed }
}

function checkEvents({ before, after, catalog, problem }: Draft): void {
  const types = textsOf(after.events)
  const known = knownTypes(catalog.resources.keys())
  for (const [index, type] of types.entries()) {
    if (known.includes(type)) continue
    const hint = () => suggestion(type, known, 'For example "deal.won", "deal.*", or "*" for all.')
    problem('events', 'unknown_event', `has no type ${JSON.stringify(type)}`, { at: `/${index}`, hint })
  }
  if (after.filter === null) return
  const resource = filteredResource(types, catalog)
  const isNew = !before || ['filter', 'events'].some(name => !isSameJson(before[name]!, after[name]!))
  if (resource !== null && isNew)
    after.filter = withOptionIds(String(after.filter), catalog.resources.get(resource)!, catalog)
  if (resource === null)
    problem('filter', 'contradiction', 'is for the events of one resource', {
      because: 'events',
      hint: 'Make a webhook for each resource, or leave out the filter.',
    })
}

/** The single resource of all these types, if its records can be filtered; else null. */
export function filteredResource(types: readonly string[], { resources }: Catalog): string | null {
  const [resource = null, ...more] = new Set(types.map(resourceOf))
  return resource === null || more.length || !resources.has(resource) ? null : resource
}

const example = 'For example "https://crm.example.com/hooks/deals".'

/** The addresses of the host are checked when the service connects to it (outgoing.ts). */
function checkUrl({ after, problem }: Draft): void {
  if (typeof after.url !== 'string') return
  const url = URL.canParse(after.url) ? new URL(after.url) : null
  if (/[\s\p{Cc}]/u.test(after.url))
    problem('url', 'invalid_url', 'must have no blanks and no control characters', { hint: example })
  else if (!url || !['http:', 'https:'].includes(url.protocol))
    problem('url', 'invalid_url', 'must be an address that begins with https://', { hint: example })
  else if (url.username || url.password)
    problem('url', 'invalid_url', 'must not contain a user or a password', {
      hint: 'Deliveries are signed: the receiver knows by the signature who sends.',
    })
  after.name ??= url?.hostname.slice(0, 255) ?? null
}

/** A webhook must not deliver data that its author may not read, nor for longer than they may (D65, D72). */
function forbiddenChange({ before, after, rights }: RightsChange): string | null {
  if (rights.isAdmin || !after) return null
  if (after.user !== (before ? before.user : after.created_by))
    return 'Only administrators make webhooks that act with the rights of others: ask with the scope admin.'
  if (rights.endsAt !== null && after.is_active !== inUse.no) return endsBefore
  const own = rights.role.scopes
  const needed = textsOf(after.events).flatMap(type => {
    const resource = resourceOf(type)
    if (resource !== null) return [scopeOf(resource)]
    return own.filter(scope => scope.endsWith(':read') || scope === adminScope)
  })
  const missing = [...new Set(needed)].filter(scope => !allows(rights.scopes, scope))
  return missing.length ? `A webhook tells of what you may read; you lack ${missing.join(', ')}.` : null
}

const endsBefore =
  'A webhook in use goes on when the token that you ask with has ended: ask with one that does not end.'

/** A delivery with its attempts, as the API returns it. */
export const deliverySchema: Schema = openObject({
  id: { type: 'integer', description: 'The seq of the event.' },
  webhook_id: { type: 'string', description: 'The header webhook-id, the same however often it is sent.' },
  ...{ type: text, resource: text, record: whole, state: { enum: [...deliveryStates] } },
  ...{ created_at: moment, next_attempt_at: orNull(moment), attempts: whole, status: orNull(whole) },
  ...{ error: orNull(text), duration_ms: orNull(whole) },
  answer: { type: ['string', 'null'], description: 'The first kilobyte of the last answer.' },
  log: arrayOf(openObject({ at: moment, status: orNull(whole), error: orNull(text), duration_ms: whole })),
})
