/** `dealwright tail`: follows an account's events in a terminal (D71). */
import { setTimeout as sleep } from 'node:timers/promises'
import { loadCatalog } from '../accounts/callers.ts'
import { administratorRole } from '../accounts/defaults.ts'
import { type Database, openDatabase } from '../db/open.ts'
import { readFeed } from '../history/feed.ts'
import type { PresentedChange, PresentedEvent } from '../history/present.ts'
import { readFeedQuery } from '../history/query.ts'
import { type Json, type JsonObject, parseJson } from '../json.ts'
import { askService, ServiceAway } from '../local-socket.ts'
import { resources } from '../resources/resources.ts'
import { Rights } from '../rights/rights.ts'
import { adminScope } from '../rights/scopes.ts'
import { serviceActor } from '../rights/visibility.ts'
import { findAccount } from './account-selector.ts'
import { asRefusal, type CommandArguments, CommandRefusal, type Outcome, type Terminal } from './command.ts'
import { requireSchema } from './database.ts'
import { printable } from './printable.ts'

const everyMs = 500
/** Number of earlier events that are shown first. */
const shownBefore = 10
const valueMax = 60

/** A page of events after `after`: `data` has `events`, and `next`, the cursor of the next page. */
export async function pageOfEvents(db: Database, args: CommandArguments): Promise<Outcome> {
  const { id } = await findAccount(db, args)
  const catalog = await loadCatalog(db, resources, id)
  const rights = new Rights(new Set([adminScope]), catalog.roles.get(administratorRole)!)
  const asked = ['after', 'resource', 'type'].flatMap((name): [string, string[]][] =>
    args[name] === undefined ? [] : [[name, [args[name]]]],
  )
  const query = readFeedQuery(new Map(asked), catalog, rights)
  const caller = { catalog, actor: serviceActor }
  const { events, next, last } = await readFeed(db, caller, query)
  const isFirst = args.after === undefined
  // Without `after`, it starts with the last few events.
  if (isFirst && last > shownBefore)
    return pageOfEvents(db, { ...args, after: String(Math.max(last - shownBefore, 0)) })
  return { text: '', data: { events: events.map(({ text }) => parseJson(text)), next } }
}

/** Prints events until it is stopped. Retries while the service is away. */
export async function tail({ config, say, print, signal }: Terminal, args: CommandArguments): Promise<null> {
  const { databaseUrl: url, pooler, dataDir } = config
  const db = url ? await openDatabase({ url, pooler, poolSize: 1, log: say }) : null
  const ask = db ? () => pageOfEvents(db, args) : () => pageOfService(dataDir, args, signal)
  try {
    let page = await (db ? requireSchema(db).then(ask) : ask()).catch(error => {
      throw asRefusal(error)
    })
    for (;;) {
      const events = page.data.events as unknown as PresentedEvent[]
      for (const event of events) print({ text: lineOf(event), data: event as unknown as JsonObject })
      args = { ...args, after: String(page.data.next) }
      if (events.length === 0) await sleep(everyMs, undefined, { signal })
      page = await ask().catch(error => {
        if (isAway(error)) return { text: '', data: { events: [], next: page.data.next! } }
        throw asRefusal(error)
      })
    }
  } catch (error) {
    if (signal.aborted) return null
    throw error
  } finally {
    await db?.close()
  }
}

/** A page from the service that has the data directory open. */
async function pageOfService(dataDir: string, args: CommandArguments, signal: AbortSignal): Promise<Outcome> {
  const answer = await askService(dataDir, 'command', { name: 'tail', given: args as JsonObject }, signal)
  if (answer) return answer as unknown as Outcome
  throw new NoService(`No service has ${dataDir} open: start one, or set DATA_DIR or DATABASE_URL.`)
}

class NoService extends CommandRefusal {}

function isAway(error: unknown): boolean {
  return error instanceof NoService || error instanceof ServiceAway || isUnavailable(asRefusal(error))
}

function isUnavailable(error: unknown): boolean {
  return error instanceof CommandRefusal && error.cause !== undefined
}

/** An event on one line: 2026-05-01 12:00:00Z  #17  deal 42 updated by Ada: Stage New → Won */
export function lineOf({ seq, type, also, at, resource, id, actor, changes }: PresentedEvent): string {
  const when = `${at.slice(0, 10)} ${at.slice(11, 19)}Z`
  const verb = type.slice(type.indexOf('.') + 1).replaceAll('_', ' ')
  const meaning = also.length ? ` (${also.map(one => one.slice(one.indexOf('.') + 1)).join(', ')})` : ''
  const who = `${actor.name ?? 'the service'}${actor.token?.name ? ` by token ${actor.token.name}` : ''}`
  const what = type.endsWith('.updated') && changes.length ? `: ${changes.map(changed).join('; ')}` : ''
  return printable(`${when}  #${seq}  ${resource} ${id} ${verb}${meaning}, ${who}${what}`)
}

function changed({ label, from, to, from_name: fromName, to_name: toName }: PresentedChange): string {
  return `${label} ${shownValue(fromName ?? from)} → ${shownValue(toName ?? to)}`
}

function shownValue(value: Json): string {
  const text = value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > valueMax ? `${text.slice(0, valueMax)}…` : text
}
