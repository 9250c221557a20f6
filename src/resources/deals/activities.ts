/**
 * Fields of deals derived from their activities (D73, D158): counters, the last and next activity, the
 * newest note, and the start of rotting. The statement that writes an activity computes them again for its
 * former and its new deal. So they are right under concurrent writes. The deal's version, its times and its
 * events don't change.
 */
import type { Step, WriteParams } from '../../fields/caller-params.ts'
import type { Values } from '../../fields/field.ts'
import { jsonInstant } from '../../fields/moment.ts'
import { type Sql, sql } from '../../sql.ts'
import { kindNames, kindOf } from '../activity-kinds.ts'

const isPlanned = sql`FILTER (WHERE x.done_at IS NULL)`

/** Columns computed from the activities `x` of a deal: column → its value. */
const worked: { readonly [column: string]: Sql } = {
  done_activities: sql`count(x.done_at)`,
  upcoming_activities: sql`count(*) - count(x.done_at)`,
  total_activities: sql`count(*)`,
  email_message_count: sql`count(x.done_at) FILTER (WHERE x.kind = ${sql.integer(kindOf.email)})`,
  last_done_at: sql`max(x.done_at)`,
  last_activity_date: dateOf(sql`max(x.done_at)`),
  next_activity_date: dateOf(sql`min(x.due_at) ${isPlanned}`),
  next_activity_at: sql`min(x.due_at) ${isPlanned}`,
  next_activity_subject: sql`(array_agg(x.subject ORDER BY x.due_at NULLS LAST, x.id) ${isPlanned})[1]`,
  last_activity_type: kindName(
    sql`(array_agg(x.kind ORDER BY x.done_at DESC, x.id DESC) FILTER (WHERE x.done_at IS NOT NULL))[1]`,
  ),
}
/** The newest note; its text, which may be long, is read for that one alone. */
const newest = sql`(array_agg(x.id ORDER BY x.created_at DESC, x.id DESC)
        FILTER (WHERE x.kind = ${sql.integer(kindOf.note)}))[1]`

const all = [...Object.keys(worked), 'recent_note']
const names = all.map(name => sql.id(name))
const namesOf = (row: Sql) => sql.join(names.map(name => sql`${row}.${name}`))

/** The members of the deal's text, from the row `n`. The start of rotting has only a column. */
const document = sql.join(
  all
    .filter(name => name !== 'last_done_at')
    .map(name => sql`${sql.text(`"${name}":`)}, coalesce(${jsonOf(name)}, 'null')`),
  sql`, ',', `,
)

/** A column of the row `n` as JSON text. */
function jsonOf(name: string): Sql {
  const column = sql`n.${sql.id(name)}`
  return name === 'next_activity_at' ? jsonInstant(column) : sql`to_json(${column})::text`
}

/**
 * The steps that update the deals of the activities `r`, those that they have and those that they had, if
 * anything differs. `r` has the rows after the write; the table may have them before it or after it.
 */
export function dealsInLine(
  { account }: Pick<WriteParams, 'account'>,
  r: Sql,
  befores: readonly Values[],
): Step[] {
  const values = Object.entries(worked).map(([name, value]) => sql`${value} AS ${sql.id(name)}`)
  const set = names.map(name => sql`${name} = n.${name}`)
  const counts = sql`id, kind, subject, due_at, done_at, created_at`
  const former = `{${befores.flatMap(({ deal }) => deal ?? []).join()}}`
  const zone = sql`SELECT time_zone FROM account WHERE account_id = ${account}::bigint`
  const touched = sql`SELECT deal FROM ${r} UNION SELECT unnest(${former}::bigint[])`
  const derived = sql`
    SELECT n.*, concat(${document}) AS activities_document FROM (
      SELECT t.deal, w.*, coalesce(
        (SELECT coalesce(r.notes, r.subject) FROM ${r} r WHERE r.id = w.newest_note),
        (SELECT coalesce(a.notes, a.subject) FROM activity a
         WHERE a.account_id = ${account}::bigint AND a.id = w.newest_note)) AS recent_note
      FROM touched t, LATERAL (
        SELECT ${sql.join(values, sql`,\n          `)},
          ${newest} AS newest_note
        FROM (
          SELECT ${counts} FROM activity a
          WHERE a.account_id = ${account}::bigint AND a.deal = t.deal AND a.deleted_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM ${r} r WHERE r.id = a.id)
          UNION ALL
          SELECT ${counts} FROM ${r} r WHERE r.deal = t.deal AND r.deleted_at IS NULL) x) w) n`
  const change = sql`
  UPDATE deal d SET ${sql.join(set)},
    activities_document = n.activities_document, activities_moved_at = counted.at
  FROM counted, derived n
  WHERE d.account_id = ${account}::bigint AND d.id = n.deal
    AND (${namesOf(sql`d`)}) IS DISTINCT FROM (${namesOf(sql`n`)})
`
  return [
    { name: 'zone', rows: () => zone },
    { name: 'touched', rows: () => touched },
    { name: 'derived', rows: () => derived },
    { name: 'in_line', change },
  ]
}

/** A calendar date in the account's time zone, like all dates that a moment is compared with (D31). */
function dateOf(moment: Sql): Sql {
  return sql`(${moment} AT TIME ZONE (SELECT time_zone FROM zone))::date`
}

function kindName(kind: Sql): Sql {
  const all = kindNames.map(
    (name, index) => sql`WHEN ${kind} = ${sql.integer(index + 1)} THEN ${sql.text(name)}`,
  )
  return sql`CASE ${sql.join(all, sql` `)} END`
}
