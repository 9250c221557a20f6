/**
 * The feed of a calendar (D160): a person's activities as iCalendar, at an address that only they know. The
 * address has a token whose scope is the calendar's alone. The feed shows what the role of its person shows.
 */
import { createHash } from 'node:crypto'
import type { Callers } from '../../accounts/callers.ts'
import type { Database } from '../../db/open.ts'
import { parameterProblem, Refusal } from '../../errors.ts'
import { dateIn } from '../../fields/iso8601.ts'
import { momentIn } from '../../fields/local-times.ts'
import { type CalendarTime, calendarEnd, calendarHead, eventText } from '../../files/icalendar.ts'
import { type JsonObject, parseJson } from '../../json.ts'
import type { ListRequest } from '../../lists/list-request.ts'
import { listRecords } from '../../lists/page.ts'
import { readListQuery } from '../../lists/query.ts'
import { readRecord } from '../../records/read.ts'
import { mayRead } from '../../rights/rights.ts'
import { isOfCalendar } from '../../rights/scopes.ts'
import type { AuthorizedCaller } from '../../rights/visibility.ts'
import { mapYielding } from '../../waiting/yielding.ts'
import { ok, queryParameter } from '../openapi/operation.ts'
import { readParameters } from '../parameters.ts'
import type { AnonymousRequest } from '../request.ts'
import { type AnonymousRoute, base } from '../route.ts'
import { signInLimit } from './sessions.ts'

/** Days of the feed before today and after. */
const [daysBefore, daysAhead] = [90, 400]
/** Maximum of activities in each direction: of more, those next to today. */
const eachMax = 2000
const pageSize = 500
const shownInEvents = ['kind', 'subject', 'due_at', 'duration', 'done_at', 'updated_at']
const dayMs = 86_400_000
const minutesOfDay = 1440

const mediaType = 'text/calendar; charset=utf-8'

type CalendarService = { readonly db: Database; readonly callers: Callers; readonly now: () => Date }

export function calendarRoute(service: CalendarService): AnonymousRoute {
  return {
    ...{
      method: 'GET',
      url: `${base}/calendar/:file`,
      scope: 'public',
      bodyLimit: signInLimit,
      isFile: true,
    },
    anonymousHandler: request => feed(service, request),
    operation: {
      ...{ id: 'calendar_feed', summary: 'Feeds a calendar program with activities.', tag: 'activity' },
      description: `The address has a token with the scope calendar:read and the ending .ics. It is a secret, and read without any other. The feed has the activities with a due_at from ${daysBefore} days back to ${daysAhead} ahead.`,
      parameters: [
        queryParameter('owner', 'Whose: the id of a user, or all. Default: those of the token’s user.', {
          type: 'string',
          pattern: '^(all|[0-9]{1,15})$',
        }),
      ],
      responses: [{ ...ok('The calendar.', { type: 'string' }, ['etag']), mediaType }],
      errors: [
        ...(['record_not_found', 'rate_limited', 'malformed_query', 'unknown_parameter'] as const),
        ...(['database_unavailable', 'query_too_slow'] as const),
      ],
    },
  }
}

async function feed({ db, callers, now }: CalendarService, request: AnonymousRequest) {
  const caller = await personOf(callers, request.url)
  const owner = ownerOf(readParameters(request.query, ['owner'], []).owner, caller)
  const reader = db.inTurn({ account: String(caller.catalog.account.id), signal: request.hungUp() })
  const lists = listsOf(caller, owner, now())
  const found: JsonObject[] = []
  for (const list of lists) found.push(...(await recordsOf(reader, caller, list)))
  const schema = caller.catalog.resources.get('user')!.whole
  const { record } = await readRecord({ db, schema, context: caller }, caller.actor)
  const user = parseJson(record) as JsonObject
  const texts = await mapYielding(found, eventsOf(caller, user.time_zone as string | null, request))
  const whose = owner === 'all' ? 'everybody' : owner === caller.actor ? String(user.name) : `user ${owner}`
  const body = [
    calendarHead(`${caller.catalog.account.name}: ${whose}`),
    ...texts,
    calendarEnd(texts.length === 0),
  ].join('')
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const headers = { 'content-type': mediaType, 'cache-control': 'private, no-cache', etag }
  return { status: 200, headers, body }
}

/** The owner of the token in the address, with their current rights. Any other address gets the same 404. */
async function personOf(callers: Callers, url: string): Promise<AuthorizedCaller> {
  const file = url.split('?', 1)[0]!.split('/').at(-1)!
  const found = file.endsWith('.ics') ? await callers.identify(file.slice(0, -4)) : null
  const isRight = found?.token && isOfCalendar(found.rights.scopes)
  const account = found?.catalog.account.id
  const person = isRight ? await callers.actingFor(account!, found.actor, ['activity:read']) : null
  if (!person || !mayRead(person, 'activity'))
    throw new Refusal('record_not_found', 'There is no calendar at this address.')
  return person
}

function ownerOf(text: string | undefined, { actor }: AuthorizedCaller): number | 'all' {
  if (text === undefined) return actor
  if (text === 'all') return text
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Refusal('malformed_query', 'The calendar could not be read.', [
    parameterProblem('owner', 'invalid_value', 'owner must be the id of a user, or all.'),
  ])
}

/** The lists of what is next and of what was before, from now on; none if the role hides when it is due. */
function listsOf({ catalog }: AuthorizedCaller, owner: number | 'all', now: Date): ListRequest[] {
  const schema = catalog.resources.get('activity')!
  const isShown = (name: string) => schema.byName.get(name)?.is_hidden === false
  if (!isShown('due_at') || (owner !== 'all' && !isShown('owner'))) return []
  const at = (days: number) => new Date(now.getTime() + days * dayMs).toISOString()
  const whose = owner === 'all' ? '' : `,owner:eq(${owner})`
  // Without the notes, which are long.
  const fields = shownInEvents.filter(isShown).join()
  const asked = (filter: string, sort: string) => {
    const texts = { filter: filter + whose, sort, fields, pageSize: String(pageSize), count: 'none' }
    const parameters = new Map(Object.entries(texts).map(([name, text]) => [name, [text]]))
    return readListQuery(parameters, schema, catalog, now.toISOString())
  }
  return [
    asked(`due_at:gte(${at(0)}),due_at:lt(${at(daysAhead)})`, 'due_at:asc'),
    asked(`due_at:gte(${at(-daysBefore)}),due_at:lt(${at(0)})`, 'due_at:desc'),
  ]
}

async function recordsOf(
  reader: Parameters<typeof listRecords>[0],
  caller: AuthorizedCaller,
  list: ListRequest,
): Promise<JsonObject[]> {
  const found: JsonObject[] = []
  for (let page = 1; found.length < eachMax; page++) {
    const { records, hasMore } = await listRecords(reader, caller, { ...list, page })
    found.push(...(parseJson(`[${Buffer.concat(records)}]`) as unknown as JsonObject[]))
    if (!hasMore) break
  }
  return found
}

/** A function: activity → its event. */
function eventsOf(
  { catalog }: AuthorizedCaller,
  ownZone: string | null,
  { client: { origin } }: AnonymousRequest,
): (activity: JsonObject) => string {
  const { account, resources } = catalog
  const kinds = resources.get('activity')!.byName.get('kind')!.options ?? []
  const zone = ownZone ?? account.time_zone
  const { hostname } = new URL(origin)
  return ({ id, subject, kind, due_at, duration, done_at, updated_at }) => {
    const category = kinds.find(option => option.id === kind)?.name ?? null
    return eventText({
      uid: `activity-${id}.account-${account.id}@${hostname}`,
      changed: String(updated_at ?? due_at),
      time: timeOf(String(due_at), Number(duration ?? 0), zone),
      summary: `${done_at ? '✓ ' : ''}${subject}`,
      category,
      isBusy: category === 'Meeting' && !done_at,
      url: `${origin}/activities/${id}`,
    })
  }
}

/** An activity due at midnight without a duration, or with one of whole days, is for the day. */
function timeOf(at: string, minutes: number, zone: string): CalendarTime {
  const day = dateIn(zone, new Date(at))
  const isMidnight = day !== null && momentIn(zone)(day, '00:00:00') === at
  if (isMidnight && minutes % minutesOfDay === 0) return { day, days: Math.max(1, minutes / minutesOfDay) }
  return { at, minutes }
}
