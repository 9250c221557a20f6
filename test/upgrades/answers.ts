/**
 * Compares the answers that a version of the service gave about a database (answers.json.gz) with those of
 * this one: every list with its total, records and sums. Differences that later versions intend are named
 * here one by one (D154); any other is found.
 */

/** The kept answers: path → body; `token`: the one with which they were asked. */
export type Answers = { readonly token: string; readonly answers: { readonly [path: string]: unknown } }

type JsonObject = { readonly [member: string]: unknown }

/** Members that records got later, with their value in a database that knew nothing of them. */
const everywhere: JsonObject = {
  // The user who deleted a record. Before, only its event had it.
  deleted_by: null,
}
const added: { readonly [resource: string]: JsonObject } = {
  // The next step of a deal, of activities.
  deal: { next_activity_at: null, next_activity_subject: null },
  // Territories decide who sees a record.
  contact: { territory: null },
  company: { territory: null },
  // Users sign in, have roles and see by territories. Roles are below.
  user: { territories: [], is_active: 1, time_zone: null, locale: null },
  // When an activity reminds its owner.
  activity: { reminder: null },
  // Fields that a pipeline shows on the cards of its board.
  pipeline: { card_fields: [] },
}
/** The owner of the account administers it, everybody else reads and writes. */
const roleOf = (id: unknown) => (id === 1 ? 1 : 3)

/** The differences between the kept answers and those of a service now; `keptAt`: when they were asked. */
export async function differences(
  url: string,
  { token, answers }: Answers,
  keptAt: Date,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const [path, body] of Object.entries(answers)) {
    const now = await answerOf(url + path, token)
    const days = (Date.now() - keptAt.getTime()) / 86_400_000
    const resource = /\/v1\/(\w+)/.exec(path)![1]!
    new Comparison(resource, days, found).answers(body as JsonObject, now, path)
  }
  return found
}

/** Asks the service. Throws its refusals. */
export async function answerOf(address: string, token: string): Promise<JsonObject> {
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } })
  const text = await response.text()
  if (!response.ok) throw new Error(`${address}: ${response.status} ${text}`)
  return JSON.parse(text)
}

class Comparison {
  private readonly resource: string
  private readonly days: number
  private readonly found: string[]

  constructor(resource: string, days: number, found: string[]) {
    this.resource = resource
    this.days = days
    this.found = found
  }

  answers(before: JsonObject, now: JsonObject, path: string): void {
    this.equal(envelope(before), envelope(now), path)
    const [was, is] = [before.data, now.data]
    if (path.endsWith('/history')) this.equal(was, withoutStarts(was as Events, is as Events), path)
    else if (Array.isArray(was) && Array.isArray(is)) this.list(was, is, path)
    else this.record(was as JsonObject, is as JsonObject, path)
  }

  private list(was: readonly JsonObject[], is: readonly JsonObject[], path: string): void {
    if (was.length !== is.length) this.found.push(`${path}: ${was.length} items → ${is.length}`)
    for (const [index, item] of was.entries()) this.record(item, is[index] ?? {}, `${path} ${index}`)
  }

  /** A record, or a group of a sum. */
  private record(before: JsonObject, now: JsonObject, place: string): void {
    const isRecord = 'version' in before
    const role = this.resource === 'user' ? { role: roleOf(before.id) } : {}
    const expected = isRecord ? { ...everywhere, ...added[this.resource], ...role, ...before } : before
    const { age, rotting_days, ...settled } = expected as JsonObject
    const { age: ageNow, rotting_days: rottingNow, ...settledNow } = now
    this.equal(settled, settledNow, place)
    this.grown('age', before, age, ageNow, place)
    this.grown('rotting_days', before, rotting_days, rottingNow, place)
  }

  /** Days of an open deal go on; those of another deal are settled. */
  private grown(name: string, { status }: JsonObject, before: unknown, now: unknown, place: string): void {
    if (typeof before !== 'number' || status !== 1) {
      this.equal(before, now, `${place} ${name}`)
      return
    }
    const passed = Number(now) - before
    // A deal that does not rot yet has 0 for some more days.
    const least = name === 'rotting_days' && before === 0 ? 0 : Math.floor(this.days)
    if (!(passed >= least && passed <= Math.floor(this.days) + 1))
      this.found.push(`${place} ${name}: ${before} → ${now} after ${this.days.toFixed(2)} days`)
  }

  private equal(was: unknown, now: unknown, place: string): void {
    const before = asTextOfRange(was)
    const isObject = typeof before === 'object' && before !== null
    if (
      !isObject ||
      typeof now !== 'object' ||
      now === null ||
      Array.isArray(before) !== Array.isArray(now)
    ) {
      if (before !== now) this.found.push(`${place}: ${shown(before)} → ${shown(now)}`)
      return
    }
    for (const name of new Set([...Object.keys(before), ...Object.keys(now)]))
      this.equal((before as JsonObject)[name], (now as JsonObject)[name], `${place} ${name}`)
  }
}

type Events = readonly { readonly type: string }[]

/** A history, the newest first, without the links that each start since then made (D133). */
function withoutStarts(before: Events, now: Events): Events {
  const later = now.slice(0, Math.max(0, now.length - before.length))
  return later.every(({ type }) => type === 'user.link_created') ? now.slice(later.length) : now
}

/** An answer without its data. Of a cursor only the presence counts: it has the time at which it was made. */
function envelope({ data, ...rest }: JsonObject): JsonObject {
  const { nextCursor, ...meta } = (rest.meta ?? {}) as JsonObject
  return { ...rest, meta: { ...meta, hasNextCursor: typeof nextCursor === 'string' } }
}

/** A time range is a text now; it was {"range":{"from":"09:00","to":"17:30"}} (migration 25). */
function asTextOfRange(before: unknown): unknown {
  const { range } = (before ?? {}) as { range?: { from: string; to: string } }
  return range && /^\d\d:/.test(range.from) ? `${range.from}/${range.to}` : before
}

function shown(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 200)
}
