/** The schemas of the inbox (D156). Data only. */
import type { Schema } from '../fields/field.ts'
import { arrayOf, closedObject, flag, openObject, orNull, text, whole } from '../fields/kinds/schemas.ts'
import { channels, itemKinds } from './kinds.ts'

const moment = { type: 'string', format: 'date-time' }
const named = openObject({ resource: text, id: whole, name: orNull(text) })

export const inboxItemSchema: Schema = openObject({
  id: { ...text, description: 'Stays the same; it is of this person alone.' },
  kind: { enum: [...itemKinds] },
  at: { ...moment, description: 'When it happened or was due, by which the list is sorted.' },
  read_at: orNull(moment),
  record: { ...named, description: 'An activity, a deal or a job.' },
  about: orNull({ ...named, description: 'What the activity is about.' }),
  actor: orNull(openObject({ id: whole, name: text })),
  count: { ...whole, description: 'How many records: more than one where a job assigned them.' },
  is_reminder: { ...flag, description: 'An open page shows it when its time has come.' },
  due: orNull({ ...moment, description: 'When the activity is due.' }),
})

export const inboxMetaSchema: Schema = openObject({
  pageSize: whole,
  hasMore: flag,
  nextCursor: orNull(text),
  unread: { ...whole, description: 'Unread items of all kinds that are shown; 1000 are 1000 or more.' },
  reminders: {
    ...arrayOf(inboxItemSchema),
    description: 'Unread ones from a day ago to a day ahead, the earliest first.',
  },
})

const hour = { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' }
const kindChannels = { type: 'array', items: { enum: [...channels] }, maxItems: channels.length }

export const inboxSettingsSchema: Schema = closedObject({
  kinds: closedObject(Object.fromEntries(itemKinds.map(kind => [kind, kindChannels]))),
  quiet: orNull({
    ...closedObject({ from: hour, to: hour }, ['from', 'to']),
    description: 'When no reminder pops up, by the clock of the person; the items come all the same.',
  }),
})

export const personSchema: Schema = openObject({
  id: whole,
  name: text,
  sees: { ...flag, description: 'False: they may not see it, and can not be mentioned.' },
})
