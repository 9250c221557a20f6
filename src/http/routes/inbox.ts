/** The caller's inbox over HTTP (D156). Items show only what they may see, so it takes no scope. */
import type { Database } from '../../db/open.ts'
import { problemAt, Refusal } from '../../errors.ts'
import { isoInstant } from '../../fields/iso8601.ts'
import { arrayOf, closedObject, openObject, schemaRef } from '../../fields/kinds/schemas.ts'
import { type InboxRequest, type Position, readInbox, readSettings, saveSettings } from '../../inbox/inbox.ts'
import { itemKinds, settingsChangeOf } from '../../inbox/kinds.ts'
import { idsMax, type Mark, markItems } from '../../inbox/mark.ts'
import { isObject, type JsonObject } from '../../json.ts'
import {
  addProblem,
  beginQuery,
  cursorOf,
  listed,
  oneOf,
  single,
  textProblem,
  throwProblems,
  unreadable,
  wholeNumber,
} from '../../lists/parameters.ts'
import { peopleFor } from '../../records/mentions.ts'
import { workOn } from '../../records/work.ts'
import { okAnswer } from '../answer.ts'
import { envelope, ok, queryParameter } from '../openapi/operation.ts'
import { type ApiRequest, bodyOf, unknownMembers } from '../request.ts'
import { type AccountRoute, base, type Handler, route } from '../route.ts'
import { inTurn } from './record-reads.ts'

const tag = 'inbox'
const [pageSizeDefault, pageSizeMax] = [25, 100]
/** Maximum of minutes for which an item is snoozed: a week. */
const minutesMax = 10_080
const itemId = '^[a-z]+(-[a-z0-9]+){1,3}$'
const about = ['deal', 'contact', 'company']

export function inboxRoutes(db: Database): AccountRoute[] {
  const handlers = inboxHandlers(db)
  const ids = { type: 'array', items: { type: 'string', pattern: itemId, maxLength: 100 }, maxItems: idsMax }
  const until = { type: 'string', format: 'date-time', description: 'All until then, in place of ids.' }
  const marked = [ok('How many were marked.', envelope(openObject({ marked: { type: 'integer' } })))]
  const settings = [ok('The settings.', envelope(schemaRef('inbox_settings')))]
  return [
    route('GET', `${base}/inbox`, 'any', handlers.list, {
      ...{ id: 'inbox_list', summary: "Lists the caller's notifications, newest first.", tag },
      description: 'Items show only while their owner may see the record; what is done is not due any more.',
      parameters: [
        queryParameter('kind', `Of these kinds, with commas between: ${itemKinds.join(', ')}.`, {
          type: 'string',
        }),
        queryParameter('unread', 'Only what is not read.', { enum: ['1'] }),
        queryParameter('pageSize', 'Items in a page; default: 25.', {
          ...{ type: 'integer', minimum: 1, maximum: pageSizeMax },
        }),
        queryParameter('cursor', 'The meta.nextCursor of the page before.', { type: 'string' }),
      ],
      responses: [
        ok('The items.', envelope(arrayOf(schemaRef('inbox_item')), schemaRef('inbox_meta'), true)),
      ],
      errors: [],
    }),
    route('POST', `${base}/inbox/mark`, 'any', handlers.mark, {
      ...{ id: 'inbox_mark', summary: 'Marks items as read or unread, or snoozes what is due.', tag },
      description:
        'Items that are gone are left alone. What is snoozed comes again after some minutes, unread.',
      body: {
        schema: closedObject(
          {
            ids,
            until,
            to: { enum: ['read', 'unread', 'snoozed'] },
            minutes: { type: 'integer', minimum: 1, maximum: minutesMax },
          },
          ['to'],
        ),
      },
      responses: marked,
      errors: ['validation_failed'],
    }),
    route('GET', `${base}/inbox/settings`, 'any', handlers.settings, {
      ...{ id: 'inbox_settings', summary: "Returns the caller's notification settings.", tag },
      ...{ responses: settings, errors: [] },
    }),
    route('PATCH', `${base}/inbox/settings`, 'any', handlers.change, {
      ...{ id: 'inbox_settings_update', summary: "Changes the caller's notification settings.", tag },
      ...{ body: { schema: schemaRef('inbox_settings') }, responses: settings },
      errors: ['validation_failed'],
    }),
    peopleRoute(handlers.people),
  ]
}

function peopleRoute(handler: Handler): AccountRoute {
  const people = envelope(arrayOf(schemaRef('person')))
  const id = { type: 'integer', minimum: 1 }
  return route('GET', `${base}/inbox/people`, 'user:read', handler, {
    ...{ id: 'inbox_people', summary: 'Says whom a new activity may mention.', tag },
    description: 'Those who may not see it come last, with sees: false.',
    parameters: [
      ...about.map(name => queryParameter(name, `The ${name} that the activity is about.`, id)),
      queryParameter('search', 'A part of the name.', { type: 'string', maxLength: 255 }),
    ],
    responses: [ok('At most twenty people.', people)],
    errors: [],
  })
}

function inboxHandlers(db: Database) {
  return {
    list: async request => {
      const asked = listRequest(request)
      const { items, next, unread, reminders } = await readInbox(
        db,
        inTurn(db, request),
        request.caller,
        asked,
      )
      const nextCursor = next && `${next.at}_${next.id}`
      const { pageSize } = asked
      return okAnswer(JSON.stringify(items), {
        pageSize,
        hasMore: next !== null,
        nextCursor,
        unread,
        reminders,
      })
    },
    mark: async request => {
      const { which, mark } = markRequest(request)
      const marked = await markItems(db, inTurn(db, request), request.caller, which, mark)
      return okAnswer(JSON.stringify({ marked }))
    },
    settings: async request => okAnswer(JSON.stringify(await readSettings(db, request.caller))),
    change: async request => {
      const settings = await saveSettings(db, request.caller, settingsChangeOf(bodyOf(request)))
      return okAnswer(JSON.stringify(settings))
    },
    people: async request => {
      const query = beginQuery(request.query, [...about, 'search'])
      const record = Object.fromEntries(
        about.map(name => [name, wholeNumber(query, [name], 0, Number.MAX_SAFE_INTEGER) || null]),
      )
      const search = single(query, 'search') ?? ''
      const problem = textProblem('search', search, 255)
      if (problem) addProblem(query.problems, 'search', ...problem)
      throwProblems(query.problems, unreadable)
      const { actor } = request.caller
      const values = { ...record, owner: actor, created_by: actor }
      const people = await peopleFor(workOn(db, request.caller, 'activity'), values, search)
      return okAnswer(JSON.stringify(people))
    },
  } satisfies { [name: string]: Handler }
}

function listRequest(request: ApiRequest): InboxRequest {
  const query = beginQuery(request.query, ['kind', 'unread', 'pageSize', 'cursor'])
  const { problems } = query
  const named = listed(query, 'kind')
  for (const name of named?.filter(name => !itemKinds.some(kind => kind === name)) ?? []) {
    const hint = `The kinds: ${itemKinds.join(', ')}.`
    addProblem(problems, 'kind', 'invalid_value', `"${name}" is not a kind of item.`, { hint })
  }
  const isUnread = oneOf(query, 'unread', ['1']) !== null
  const pageSize = wholeNumber(query, ['pageSize'], pageSizeDefault, pageSizeMax)
  const cursor = cursorOf(query, positionOf)
  throwProblems(problems, unreadable)
  const kinds = named && itemKinds.filter(kind => named.includes(kind))
  return { kinds, isUnread, pageSize, cursor }
}

function positionOf(text: string): Position | null {
  const [time = '', id = '', ...more] = text.split('_')
  const at = isoInstant(time, true)
  return at && new RegExp(itemId).test(id) && more.length === 0 && text.length < 150 ? { at, id } : null
}

type MarkRequest = { readonly which: Parameters<typeof markItems>[3]; readonly mark: Mark }

/** Throws `validation_failed` with every problem. */
function markRequest(request: ApiRequest): MarkRequest {
  const body = bodyOf(request)
  if (!isObject(body)) throw new Refusal('malformed_json', 'The body must be a JSON object.')
  const problems = unknownMembers(body, ['ids', 'until', 'to', 'minutes'])
  const { ids, until, to, minutes } = body as JsonObject
  const refuse = (path: string, message: string) =>
    problems.add(() => problemAt(path, 'invalid_value', message))
  const isId = (id: unknown) => typeof id === 'string' && id.length <= 100 && new RegExp(itemId).test(id)
  const moment = typeof until === 'string' ? isoInstant(until, true) : null
  const areIds = Array.isArray(ids) && ids.length <= idsMax && ids.every(isId)
  if ((ids === undefined) === (until === undefined)) refuse('/ids', 'Send either ids or until.')
  else if (ids !== undefined && !areIds) refuse('/ids', `/ids must be at most ${idsMax} ids of items.`)
  else if (until !== undefined && !moment)
    refuse('/until', '/until must be a moment such as 2026-06-30T09:00:00Z.')
  if (to !== 'read' && to !== 'unread' && to !== 'snoozed')
    refuse('/to', '/to must be "read", "unread" or "snoozed".')
  const isSpan = Number.isInteger(minutes) && Number(minutes) >= 1 && Number(minutes) <= minutesMax
  if ((to === 'snoozed' || minutes !== undefined) && !(to === 'snoozed' && isSpan && areIds))
    refuse(
      '/minutes',
      `To snooze, send ids and minutes, from 1 to ${minutesMax}; without "snoozed", no minutes.`,
    )
  if (problems.count) throw new Refusal('validation_failed', 'Nothing was marked.', problems)
  return {
    which: areIds ? { ids: ids as string[] } : { until: moment! },
    mark: to === 'snoozed' ? { to, minutes: Number(minutes) } : { to: to as 'read' | 'unread' },
  }
}
