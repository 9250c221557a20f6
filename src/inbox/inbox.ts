/** A person's inbox (D156): a page of it, how many items are unread, and the reminders to come. */
import { shownName } from '../fields/kinds/reference.ts'
import { jsonInstant } from '../fields/moment.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { isHiddenByRole } from '../records/rendered-record.ts'
import type { Reader } from '../records/store.ts'
import { mayRead } from '../rights/rights.ts'
import { type Caller, callerParamsOf, visible } from '../rights/visibility.ts'
import { ask, type Sql, sql } from '../sql.ts'
import { type Follower, followEvents, isBehind, progress } from './follow.ts'
import { isShown, itemsSql } from './items.ts'
import { type ItemKind, type Settings, type SettingsChange, settingsOf, shownKinds } from './kinds.ts'

export type InboxRequest = {
  /** null: all that the settings show */
  readonly kinds: readonly ItemKind[] | null
  readonly isUnread: boolean
  readonly pageSize: number
  readonly cursor: Position | null
}

/** Where a page begins: after this item. */
export type Position = { readonly at: string; readonly id: string }

export type Inbox = {
  readonly items: readonly JsonObject[]
  readonly next: Position | null
  readonly unread: number
  readonly reminders: readonly JsonObject[]
}

/** Unread items are counted up to this number. */
const unreadMax = 1000
/** Maximum of reminders in an answer, from a day ago to a day ahead: an open page has timers for them. */
const remindersMax = 50
export const isNow = sql`i.at <= now()`

/** The inbox of the caller, with what has happened until now. `reader` reads the page. */
export async function readInbox(
  db: Follower,
  reader: Reader,
  caller: Caller,
  asked: InboxRequest,
): Promise<Inbox> {
  const settings = await settingsWithNews(db, caller)
  const shown = shownKinds(settings)
  const kinds = asked.kinds?.filter(kind => shown.includes(kind)) ?? shown
  const [row] = await ask(reader, pageSql(caller, shown, kinds, asked), true)
  const found = parseJson(row!.items!) as JsonObject[]
  const items = found.slice(0, asked.pageSize)
  const last = items.at(-1)
  return {
    items,
    next: found.length > asked.pageSize ? { at: String(last!.at), id: String(last!.id) } : null,
    unread: Number(row!.unread),
    reminders: parseJson(row!.reminders!) as JsonObject[],
  }
}

/** The settings of the caller. */
export async function readSettings(db: Reader, caller: Caller): Promise<Settings> {
  const [row] = await ask(db, settingsSql(caller))
  return ofRow(row!)
}

/** Stores a change of the caller's settings, beside changes of others at the same time. Returns them all. */
export async function saveSettings(
  db: Reader,
  caller: Caller,
  { kinds, quiet }: SettingsChange,
): Promise<Settings> {
  const { account, actor } = callerParamsOf(caller)
  const hours = sql`, quiet_from = EXCLUDED.quiet_from, quiet_to = EXCLUDED.quiet_to`
  const statement = sql`INSERT INTO inbox_setting AS s (account_id, user_id, channels, quiet_from, quiet_to)
VALUES (${account}::bigint, ${actor}::bigint, ${JSON.stringify(kinds)}::jsonb, ${quiet?.from ?? null}::text,
  ${quiet?.to ?? null}::text)
ON CONFLICT (account_id, user_id) DO UPDATE
  SET channels = s.channels || EXCLUDED.channels${quiet === undefined ? sql.none : hours}
RETURNING s.channels::text AS channels, s.quiet_from, s.quiet_to`
  const [row] = await ask(db, statement)
  return ofRow(row!)
}

/** Looks at new events of the account, if there are any. Returns the caller's settings. */
export async function settingsWithNews(db: Follower, caller: Caller): Promise<Settings> {
  const [row] = await ask(db, settingsSql(caller))
  if (row!.is_behind === 'true') await followEvents(db, caller.catalog.account.id)
  return ofRow(row!)
}

function settingsSql(caller: Caller): Sql {
  const { account, actor } = callerParamsOf(caller)
  return sql`SELECT ${isBehind},
  coalesce(s.channels, '{}')::text AS channels, s.quiet_from, s.quiet_to
FROM ${progress}
  LEFT JOIN inbox_setting s ON s.account_id = c.account_id AND s.user_id = ${actor}::bigint
WHERE c.account_id = ${account}::bigint`
}

function ofRow({ channels, quiet_from, quiet_to }: Readonly<Record<string, string | null>>): Settings {
  const quiet = quiet_from && quiet_to ? { from: quiet_from, to: quiet_to } : null
  return settingsOf(parseJson(channels!) as JsonObject, quiet)
}

/** One row: the page, one item more than it has; the number of unread items; the reminders. */
function pageSql(
  caller: Caller,
  shown: readonly ItemKind[],
  kinds: readonly ItemKind[],
  { isUnread, pageSize, cursor }: InboxRequest,
): Sql {
  const after = cursor ? sql` AND (i.at, i.id) < (${cursor.at}::timestamptz, ${cursor.id}::text)` : sql.none
  const unread = sql`${isNow} AND i.read_at IS NULL`
  const page = itemsSql(caller, {
    kinds,
    where: sql`${isUnread ? unread : isNow}${after}`,
    limit: { newest: pageSize + 1 },
  })
  const count = itemsSql(caller, { kinds: shown, where: unread, limit: { any: unreadMax } })
  const reminders = itemsSql(caller, {
    kinds: shown.filter(kind => kind === 'due'),
    where: sql`i.is_reminder AND i.read_at IS NULL AND i.at > now() - interval '1 day'
      AND i.at <= now() + interval '1 day'`,
    limit: null,
  })
  const soonest =
    reminders && sql`SELECT * FROM (${reminders}) i ORDER BY i.at LIMIT ${sql.integer(remindersMax)}`
  return sql`SELECT ${arrayOf(caller, page, sql`i.at DESC, i.id DESC`)} AS items,
  ${count ? sql`(SELECT count(*) FROM (${count}) i)::text` : sql`'0'`} AS unread,
  ${arrayOf(caller, soonest, sql`i.at, i.id`)} AS reminders`
}

/** A JSON array of the items, each with the names of its records as far as the caller sees them. */
function arrayOf(caller: Caller, items: Sql | null, order: Sql): Sql {
  if (!items) return sql`'[]'`
  const { account } = callerParamsOf(caller)
  const params = callerParamsOf(caller)
  const mentions = caller.catalog.resources.get('activity')!
  const about = (mentions.resource.partOf ?? [])
    .filter(name => mayRead(caller, name) && !isHiddenByRole(mentions, name))
    .map(name => ({ name, alias: sql.id(`about_${name}`), field: mentions.byName.get(name)! }))
  const joins = about.map(
    ({ name, alias }) => sql`
    LEFT JOIN ${sql.id(name)} ${alias} ON ${visible(name, params, alias)} AND ${alias}.id = a.${sql.id(name)}`,
  )
  const aboutJson = about.map(
    ({
      name,
      alias,
      field,
    }) => sql`WHEN ${alias}.id IS NOT NULL THEN json_build_object('resource', ${sql.text(name)},
        'id', ${alias}.id, 'name', ${shownName(field, sql`${alias}.`)})`,
  )
  const named = (resource: string, field: string, column: Sql) =>
    isShown(caller, resource, [field]) ? column : sql`NULL`
  const moment = (time: Sql) => sql`(${jsonInstant(time)})::json`
  return sql`(SELECT coalesce(json_agg(json_build_object(
      'id', i.id, 'kind', i.kind, 'at', ${moment(sql`i.at`)}, 'read_at', ${moment(sql`i.read_at`)},
      'record', json_build_object('resource', i.resource, 'id', i.record_id, 'name', CASE
        WHEN i.resource = 'activity' THEN ${named('activity', 'subject', sql`a.subject`)}
        WHEN i.resource = 'deal' THEN ${named('deal', 'title', sql`d.title`)} ELSE j.name END),
      'about', ${aboutJson.length ? sql`CASE ${sql.join(aboutJson, sql` `)} END` : sql`NULL`},
      'actor', CASE WHEN u.id IS NOT NULL THEN json_build_object('id', u.id, 'name', u.name) END,
      'count', i.count, 'is_reminder', i.is_reminder,
      'due', ${moment(named('activity', 'due_at', sql`a.due_at`))}) ORDER BY ${order}), '[]')::text
    FROM (${items}) i
    LEFT JOIN activity a ON i.resource = 'activity' AND a.account_id = ${account}::bigint AND a.id = i.record_id
    LEFT JOIN deal d ON i.resource = 'deal' AND d.account_id = ${account}::bigint AND d.id = i.record_id
    LEFT JOIN job j ON i.resource = 'job' AND j.account_id = ${account}::bigint AND j.id = i.record_id
    LEFT JOIN "user" u ON ${mayRead(caller, 'user') ? visible('user', params, sql`u`) : sql`false`} AND u.id = i.actor${sql.join(joins, sql.none)})`
}
