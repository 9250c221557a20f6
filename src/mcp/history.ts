/** The tool of histories: what happened to a record, or in the account. */
import { dateIn } from '../fields/iso8601.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { fitting } from './answer.ts'
import { type Api, CallRefusal } from './api.ts'
import { daysMeant } from './days.ts'
import { itemsOf, recordNamed } from './find.ts'
import { ToolRefusal } from './refusal.ts'
import { readable } from './rows.ts'
import { cut, shownValue } from './shown.ts'
import type { Tool, ToolResult } from './tool.ts'

export const history: Tool = {
  name: 'history',
  title: 'What happened',
  description:
    'The newest changes, with who made them: of one record, or of the whole account since a day. by agents: only what came through agents. event is what undo takes.',
  input: {
    properties: {
      resource: { type: 'string', enum: readable },
      record: { type: ['integer', 'string'], maxLength: 255, description: 'id or name' },
      since: {
        type: 'string',
        maxLength: 40,
        description: '"today" if left out, "3 days ago", "2026-03-01"',
      },
      by: { type: 'string', enum: ['anybody', 'agents'] },
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      next: { type: 'string', maxLength: 200 },
    },
  },
  run: async (args, api) => {
    const { resource, record } = args
    if (record === undefined) return ofAccount(api, args)
    if (resource === undefined) throw new ToolRefusal('A record needs its resource, too.')
    return ofRecord(api, String(resource), await recordNamed(api, String(resource), record), args)
  },
}

const usualRows = 15
const columns = ['event', 'at', 'who', 'what', 'changes']

async function ofRecord(
  api: Api,
  resource: string,
  id: number,
  { by, limit, next }: JsonObject,
): Promise<ToolResult> {
  const query = {
    pageSize: String(limit ?? usualRows),
    ...(by === 'agents' ? { origin: 'mcp' } : {}),
    ...(next === undefined ? {} : { cursor: String(next) }),
  }
  const { data, meta } = await api.call({ operation: `${resource}_history`, id, query })
  const rows = itemsOf({ data: data! }).map(event => rowOf(api, event))
  const shown = fitting(rows)
  const { nextCursor = null } = meta as JsonObject
  const isCut = shown.length < rows.length
  return {
    summary: {
      shown: shown.length,
      ...(isCut ? { left_out: `older ones: ask with limit ${shown.length}` } : {}),
      ...(nextCursor && !isCut ? { next: nextCursor } : {}),
    },
    stored: { columns, rows: [...shown] },
  }
}

/** The feed is read backwards, so many events at a time, until the day or enough rows. */
const [pageOf, pagesMax] = [200, 5]

async function ofAccount(api: Api, args: JsonObject): Promise<ToolResult> {
  const { resource, since = 'today', by, limit = usualRows, next } = args
  const zone = api.caller.catalog.account.time_zone
  const [first] = daysMeant(String(since), dateIn(zone, api.now)!) ?? []
  if (!first)
    throw new ToolRefusal(
      'The day could not be read.',
      [{ at: 'since', message: String(since) }],
      'history {"since":"3 days ago"}',
    )
  const only = {
    ...(resource === undefined ? {} : { resource: String(resource) }),
    ...(by === 'agents' ? { origin: 'mcp' } : {}),
  }
  const read = (after: number, limit: number) =>
    api.call({ operation: 'event_list', query: { ...only, after: String(after), limit: String(limit) } })
  const { meta } = await read(Number.MAX_SAFE_INTEGER, 1)
  const newest = Number((meta as JsonObject).last) + 1
  let end = /^\d{1,15}$/.test(String(next)) ? Math.min(Number(next), newest) : newest
  const rows: JsonObject[] = []
  for (let page = 0; page < pagesMax && end > 1 && rows.length < Number(limit); page++) {
    const { events, after } = await eventsBefore(read, end)
    const recent = events.filter(({ at }) => dateIn(zone, new Date(String(at)))! >= first)
    rows.push(...recent.reverse())
    end = recent.length < events.length ? 1 : after + 1
  }
  const shown = fitting(
    rows
      .slice(0, Number(limit))
      .map(event => [`${String(event.resource)} ${String(event.id)}`, ...rowOf(api, event)]),
  )
  const last = rows[shown.length - 1]
  const isMore = shown.length < rows.length || end > 1
  return {
    summary: {
      ...{ since: first, shown: shown.length },
      ...(isMore
        ? {
            next: String(shown.length < rows.length ? last!.seq : end),
            left_out: 'older ones: the same call with next',
          }
        : {}),
    },
    stored: { columns: ['record', ...columns], rows: [...shown] },
  }
}

/** The page of events before one, in order, and after which event it begins; 0: there are none before it. */
async function eventsBefore(
  read: (after: number, limit: number) => Promise<JsonObject>,
  end: number,
): Promise<{ events: JsonObject[]; after: number }> {
  let after = Math.max(0, end - 1 - pageOf)
  const page = await read(after, pageOf).catch(error => {
    const oldest = error instanceof CallRefusal ? oldestKept(error) : null
    if (oldest === null) throw error
    after = 0
    return read(oldest - 1, pageOf)
  })
  const events = itemsOf(page)
  // A page of large changes ends early.
  for (let { next, hasMore } = metaOf(page); hasMore && next < end - 1; ) {
    const more = await read(next, pageOf)
    events.push(...itemsOf(more))
    ;({ next, hasMore } = metaOf(more))
  }
  return { events: events.filter(({ seq }) => Number(seq) < end), after }
}

function metaOf({ meta }: JsonObject): { next: number; hasMore: boolean } {
  return meta as { next: number; hasMore: boolean }
}

/** The oldest event, if older ones were removed (D71). */
function oldestKept({ problem }: CallRefusal): number | null {
  const [first] = Array.isArray(problem.errors) ? problem.errors : []
  return isObject(first) && first.code === 'events_gone' ? Number(first.oldest) : null
}

/** Longer values are cut, and only so many changes of an event are shown. */
const [valueMax, changesMax] = [80, 6]

function rowOf(api: Api, { seq, at, actor, type, also, changes, resource }: JsonObject): Json[] {
  const { name, token, origin, client } = actor as JsonObject
  const via = origin
    ? ` by ${String(client ?? 'an agent')}`
    : isObject(token)
      ? ` by token ${String(token.name ?? token.id)}`
      : ''
  const verb = String(type).split('.')[1]!
  const meaning = (also as string[]).map(one => one.split('.')[1]).join()
  const all = itemsOf({ data: changes! })
  const own = all.filter(({ field }) => !isDerived(String(field), String(resource), api))
  const texts = (own.length ? own : all).map(changeText)
  const shown = texts.slice(0, changesMax)
  const left = texts.length > shown.length ? [`and ${texts.length - shown.length} more`] : []
  const when = shownValue(at!)
  return [
    seq!,
    when,
    `${String(name ?? 'the service')}${via}`,
    meaning || verb,
    [...shown, ...left].join('; '),
  ]
}

/** True for a field whose value follows from others: it says nothing new. */
function isDerived(field: string, resource: string, api: Api): boolean {
  return api.caller.catalog.resources.get(resource)?.byName.get(field)?.is_read_only === true
}

function changeText({ label, from, to, from_name, to_name }: JsonObject): string {
  const text = (value: Json) => {
    const short = cut(shownValue(value), valueMax)
    return short === null ? '–' : typeof short === 'string' ? short : JSON.stringify(short)
  }
  const [before, after] = [text(from_name ?? from ?? null), text(to_name ?? to ?? null)]
  return from === null ? `${String(label)}: ${after}` : `${String(label)}: ${before} → ${after}`
}
