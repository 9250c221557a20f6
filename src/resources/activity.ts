/**
 * The activity: a call, meeting, task, e-mail or note, about a deal, a contact or a company (D73). Fields as
 * data, and the rules that span them. Fields of deals that follow from activities are derived in
 * src/resources/deals/activities.ts. Pure.
 */
import { authorFields, defineFields, idField, recordFields } from '../fields/define.ts'
import type { Draft, Resource } from '../fields/resource.ts'
import { kindNames, kindOf } from './activity-kinds.ts'
import { dealsInLine } from './deals/activities.ts'

const dayMs = 86_400_000
/** a year, in minutes */
const longest = 525_600

export const activity: Resource = {
  name: 'activity',
  source: { id: 13, name: 'Activity' },
  shownAs: ['subject'],
  ownership: { owner: 'owner', creator: 'created_by', through: ['deal', 'contact', 'company'] },
  partOf: ['deal', 'contact', 'company'],
  mentionsIn: 'notes',
  updatesOthers: dealsInLine,
  fields: defineFields('activity', {
    'Basic information': [
      idField(101),
      { id: 102, name: 'kind', label: 'Kind', type: 'DROPDOWN', required: true, options: kindNames },
      {
        id: 103,
        name: 'subject',
        label: 'Subject',
        type: 'SINGLE_STRING',
        required: true,
        config: { min_length: 1, max_length: 255 },
      },
      { id: 104, name: 'notes', label: 'Notes', type: 'TEXT', config: { min_length: 1, max_length: 32_000 } },
      { id: 105, name: 'due_at', label: 'Due at', type: 'DATE_TIME' },
      {
        id: 106,
        name: 'duration',
        label: 'Duration in minutes',
        type: 'SINGLE_NUMBER',
        config: { min: 0, max: longest, max_decimals: 0 },
      },
      {
        id: 121,
        name: 'reminder',
        label: 'Reminder, minutes before',
        type: 'SINGLE_NUMBER',
        config: { min: 0, max: longest, max_decimals: 0 },
        help: 'How long before due_at it is shown to its owner; empty: it is not.',
      },
      { id: 107, name: 'done_at', label: 'Done at', type: 'DATE_TIME' },
      {
        id: 108,
        name: 'outcome',
        label: 'Outcome',
        type: 'SINGLE_STRING',
        config: { min_length: 1, max_length: 255 },
      },
      { id: 109, name: 'owner', label: 'Owner', type: 'OWNER', related: 'user', offered: true },
    ],
    About: [
      { id: 110, name: 'deal', label: 'Deal', type: 'DEAL', related: 'deal' },
      { id: 111, name: 'contact', label: 'Contact', type: 'CONTACT', related: 'contact' },
      { id: 112, name: 'company', label: 'Company', type: 'COMPANY', related: 'company' },
    ],
    Record: [...authorFields(113), ...recordFields(117)],
  }),
  applyRules: applyActivityRules,
}

function applyActivityRules({
  after,
  before,
  sent,
  catalog,
  clock,
  momentPlaceholder,
  problem,
  warn,
}: Draft): void {
  const isOwnerSent =
    sent.has('owner') && !catalog.resources.get('activity')!.byName.get('owner')!.is_read_only
  if (!before && !isOwnerSent) after.owner ??= after.created_by!
  // A note is done when it is written.
  if (after.kind === kindOf.note && after.done_at === null) {
    after.done_at = before?.done_at ?? momentPlaceholder
    if (sent.has('done_at'))
      warn({ field: 'done_at', code: 'note_is_done', message: 'A note is done when it is written.' })
  }
  const { done_at } = after
  const isLater =
    typeof done_at === 'string' &&
    done_at !== momentPlaceholder &&
    Date.parse(done_at) > clock.getTime() + dayMs
  if (isLater && done_at !== before?.done_at)
    problem('done_at', 'out_of_range', 'must not be more than a day ahead', {
      hint: 'What is still to be done has a due_at, and no done_at yet.',
    })
}
