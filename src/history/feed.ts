/**
 * The feed (D71): an account's events in the order of their commits, without gaps. `seq` is assigned under
 * the account's lock, so a client that has read up to one has missed nothing before it. Knows no HTTP.
 */
import { Refusal } from '../errors.ts'
import type { CallerParams } from '../fields/caller-params.ts'
import { renderedSql, shown } from '../records/rendered-record.ts'
import type { Reader } from '../records/store.ts'
import { type Caller, callerParamsOf, visible } from '../rights/visibility.ts'
import { ask, type Sql, sql } from '../sql.ts'
import { eventRows, isByAgent, isShownToRole, type PresentedEvent, presentEvents } from './present.ts'
import type { FeedRequest } from './query.ts'

export type FeedPage = {
  /** JSON texts, with the record if requested */
  readonly events: readonly { readonly seq: number; readonly type: string; readonly text: string }[]
  /** the account's newest `seq` */
  readonly last: number
  /** the `seq` after which the next page begins */
  readonly next: number
}

/** Maximum number of events that one page scans for matches. */
const scanMax = 10_000
/** Maximum bytes of records in one page, which has at least one record. */
const recordBytesMax = 8_388_608

/** Throws `events_gone` if events after `after` have been deleted. */
export async function readFeed(db: Reader, caller: Caller, asked: FeedRequest): Promise<FeedPage> {
  const params = callerParamsOf(caller)
  const found = await ask(db, feedSql(params, asked))
  const [last, oldest] = [Number(found[0]!.last), Number(found[0]!.oldest)]
  const after = asked.after ?? oldest - 1
  if (after + 1 < oldest) throw gone(oldest)
  const rows = found.filter(row => row.seq !== null)
  const presented = await presentEvents(
    db,
    caller,
    rows.filter(row => isShownToRole(caller.catalog, row)),
  )
  const records = asked.withRecord ? await recordsOf(db, caller, params, presented) : null
  const events = records ? presented.slice(0, records.enough) : presented
  const end = rows.at(-1)?.has_next === 'true' ? Number(rows.at(-1)!.seq) : Math.min(after + scanMax, last)
  return {
    events: events.map(event => ({ seq: event.seq, type: event.type, text: textOf(event, records) })),
    last,
    next: events.length < presented.length ? events.at(-1)!.seq : Math.max(after, end),
  }
}

/**
 * SELECT of the requested events, each with the account's newest and oldest stored `seq`; one row without an
 * event if there is none. One statement, so that no event is deleted between two reads.
 */
function feedSql(params: CallerParams, { after, limit, resources, types, isOfAgents }: FeedRequest): Sql {
  const { account } = params
  const start = after === null ? sql`(SELECT oldest - 1 FROM bounds)` : sql`${String(after)}::bigint`
  const named = types && `{${types.join()}}`
  const ofTypes = named ? sql` AND (e.type = ANY(${named}::text[]) OR e.also && ${named}::text[])` : sql.none
  const byAgents = isOfAgents ? sql` AND ${isByAgent(sql`e`)}` : sql.none
  const condition = sql`e.account_id = ${account}::bigint AND e.seq > ${start}
      AND e.seq <= ${start} + ${sql.integer(scanMax)} AND e.resource = ANY(${`{${resources.join()}}`}::text[])${ofTypes}${byAgents}`
  return sql`
WITH bounds AS MATERIALIZED (
  SELECT c.last_seq AS last, coalesce((
    SELECT e.seq FROM event e WHERE e.account_id = ${account}::bigint ORDER BY e.seq LIMIT 1),
    c.last_seq + 1) AS oldest
  FROM counter c WHERE c.account_id = ${account}::bigint)
SELECT bounds.last::text AS last, bounds.oldest::text AS oldest, e.*
FROM bounds LEFT JOIN (${eventRows(params, condition, 'ASC', limit)}) e ON true
ORDER BY e.seq::bigint`
}

function gone(oldest: number): Refusal {
  const detail = `Events before ${oldest} are no longer kept: read the records anew, then follow from there.`
  return new Refusal('events_gone', detail, [
    { field: null, path: '', parameter: 'after', code: 'events_gone', message: detail, oldest },
  ])
}

type Records = {
  /** by resource and id */
  readonly texts: ReadonlyMap<string, string>
  /** number of events whose records are included */
  readonly enough: number
}

/** The current records of events, up to the size limit. */
async function recordsOf(
  db: Reader,
  caller: Caller,
  params: CallerParams,
  events: readonly PresentedEvent[],
): Promise<Records> {
  const { resources } = caller.catalog
  const ofRecords = events.filter(({ resource }) => resources.has(resource))
  const groups = [...Map.groupBy(ofRecords, ({ resource }) => resource)]
  if (groups.length === 0) return { texts: new Map(), enough: events.length }
  const selects = (columns: (resource: string) => Sql, isWanted: (key: string) => boolean) =>
    groups.map(([resource, of]) => {
      const ids = [...new Set(of.map(({ id }) => id))].filter(id => isWanted(`${resource} ${id}`))
      return sql`SELECT ${sql.text(resource)} AS resource, r.id::text AS id, ${columns(resource)} AS value
FROM ${sql.id(resource)} r
WHERE ${visible(resource, params, sql`r`)} AND r.id = ANY(${`{${ids.join()}}`}::bigint[])
  AND r.deleted_at IS NULL`
    })
  const all = async (parts: readonly Sql[]) => {
    const rows = await ask(db, sql.join(parts, sql`\nUNION ALL\n`))
    return new Map(rows.map(({ resource, id, value }) => [`${resource} ${id}`, value!]))
  }
  const lengths = await all(
    selects(
      () => sql`octet_length(r.document)::text`,
      () => true,
    ),
  )
  let bytes = 0
  const wanted = new Set<string>()
  let enough = 0
  for (const { resource, id } of events) {
    const key = `${resource} ${id}`
    // Each event has its record, however many are of the same one.
    bytes += Number(lengths.get(key) ?? 0)
    if (bytes > recordBytesMax && enough > 0) break
    wanted.add(key)
    enough++
  }
  const texts = await all(
    selects(
      resource => renderedSql(resources.get(resource)!, params.account),
      key => wanted.has(key),
    ),
  )
  for (const [key, text] of texts) texts.set(key, shown(resources.get(key.split(' ', 1)[0]!)!, text))
  return { texts, enough }
}

function textOf(event: PresentedEvent, records: Records | null): string {
  const text = JSON.stringify(event)
  if (!records) return text
  return `${text.slice(0, -1)},"record":${records.texts.get(`${event.resource} ${event.id}`) ?? 'null'}}`
}
