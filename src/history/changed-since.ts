/** Refuses an undo if the values of its event have changed since (D83): which ones, and who changed them. */
import { type Problem, problemAt, Refusal } from '../errors.ts'
import { jsonInstant } from '../fields/moment.ts'
import type { Json } from '../json.ts'
import { isHiddenByRole } from '../records/rendered-record.ts'
import type { ReadWork } from '../records/work.ts'
import { mayRead } from '../rights/rights.ts'
import { callerParamsOf } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import { mayName } from './present.ts'

/** A field that differs from the value that an event gave it. */
export type ChangedField = { readonly name: string; readonly made: Json; readonly current: Json }

type Event = ReadWork & { readonly seq: number; readonly id: number }

/** Maximum number of later events searched for the author of a change. */
const lookedThrough = 1000

/** The refusal, with both values of each field that the caller may read, and the event of its last change. */
export async function changedSince(event: Event, differing: readonly ChangedField[]): Promise<Refusal> {
  const { schema, context, seq, id } = event
  const isRead = mayRead(context, schema.resource.name)
  const shown = differing.filter(({ name }) => isRead && !isHiddenByRole(schema, name))
  const names = shown.map(({ name }) => name)
  const changes = await lastChanges(event, names)
  const problems = shown.map(({ name, made, current }): Problem => {
    const by = changes.get(name)
    return {
      ...{ field: name, path: `/${name}`, code: 'changed_since' },
      message: `${name} has been changed since.`,
      ...{ made, current },
      ...(by ? { by } : {}),
    }
  })
  const others: Problem[] =
    shown.length < differing.length
      ? [problemAt('', 'changed_since', 'Something has been changed since that you may not read.')]
      : []
  const { name } = schema.resource
  const detail = `What the event ${seq} changed of the ${name} ${id} has been changed since. Nothing was undone.`
  return new Refusal('changed_since', detail, [...problems, ...others])
}

/** For each field, the newest event after this one that changed it: its number, time and user. */
async function lastChanges(event: Event, names: readonly string[]) {
  const { db, schema, context, seq, id } = event
  const { account } = callerParamsOf(context)
  const { name } = schema.resource
  const statement = sql`SELECT DISTINCT ON (n.name) n.name, e.seq::text AS seq,
    ${jsonInstant(sql`e.at`)} AS at,
  e.actor::text AS actor, u.name AS actor_name
FROM (SELECT * FROM event e
    WHERE e.account_id = ${account}::bigint AND e.record_id = ${String(id)}::bigint
      AND e.resource = ${sql.text(name)} AND e.seq > ${String(seq)}::bigint
    ORDER BY e.seq DESC LIMIT ${sql.integer(lookedThrough)}) e
  JOIN jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) n (name) ON CASE
    WHEN n.name = 'deleted_at' THEN e.type IN (${sql.text(`${name}.deleted`)}, ${sql.text(`${name}.restored`)})
    ELSE e.changes ? n.name END
  LEFT JOIN "user" u ON u.account_id = ${account}::bigint AND u.id = e.actor
ORDER BY n.name, e.seq DESC`
  const rows = await ask(db, statement)
  return new Map(
    rows.map(({ name, seq, at, actor, actor_name }) => [
      name!,
      {
        seq: Number(seq),
        at: JSON.parse(at!) as string,
        actor: { id: Number(actor) || null, name: mayName(context, 'user') ? (actor_name ?? null) : null },
      },
    ]),
  )
}
