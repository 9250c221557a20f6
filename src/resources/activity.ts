/**
 * The activity: a call, meeting, task, e-mail or note, about a deal, a contact or a company (D73). Fields as
 * data, and the rules that span them. Fields of deals that follow from activities are derived in
 * src/resources/deals/activities.ts. Pure.
 */
import { authorFields, defineFields, field, idField, recordFields, shortText } from '../fields/define.ts'
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
  isBusinessData: true,
  ownership: { owner: 'owner', creator: 'created_by', through: ['deal', 'contact', 'company'] },
  partOf: ['deal', 'contact', 'company'],
  mentionsIn: 'notes',
  updatesOthers: dealsInLine,
  fields: defineFields('activity', {
    'Basic information': [
      idField(101),
      field(102, 'kind', 'Kind', 'DROPDOWN', { is_required: true, options: kindNames }),
      field(103, 'subject', 'Subject', 'SINGLE_STRING', { is_required: true, config: shortText }),
      field(104, 'notes', 'Notes', 'TEXT', { config: { min_length: 1, max_length: 32_000 } }),
      field(105, 'due_at', 'Due at', 'DATE_TIME'),
      field(106, 'duration', 'Duration in minutes', 'SINGLE_NUMBER', {
        config: { min: 0, max: longest, max_decimals: 0 },
      }),
      field(121, 'reminder', 'Reminder, minutes before', 'SINGLE_NUMBER', {
        config: { min: 0, max: longest, max_decimals: 0 },
        help: 'How long before due_at it is shown to its owner; empty: it is not.',
      }),
      field(107, 'done_at', 'Done at', 'DATE_TIME'),
      field(108, 'outcome', 'Outcome', 'SINGLE_STRING', { config: shortText }),
      field(109, 'owner', 'Owner', 'OWNER', { related: 'user', is_offered: true }),
    ],
    About: [
      field(110, 'deal', 'Deal', 'DEAL', { related: 'deal' }),
      field(111, 'contact', 'Contact', 'CONTACT', { related: 'contact' }),
      field(112, 'company', 'Company', 'COMPANY', { related: 'company' }),
    ],
    Record: [...authorFields(113), ...recordFields(117)],
  }),
  applyRules: applyActivityRules,
}

function applyActivityRules({ after, before, sent, clock, momentPlaceholder, problem, warn }: Draft): void {
  if (!before && !sent.has('owner')) after.owner ??= after.created_by!
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
