/** The parts of a record go and come back with it, each with its event before that of the record. */
import type { ResourceFields } from '../fields/catalog.ts'
import { type Sql, sql } from '../sql.ts'
import type { Author, Write } from './write.ts'

/** Changes those parts `x` of the record `r` whose `deleted_at` is as `which` says. */
export function partsOf(
  { resource: { name, parts = [] } }: ResourceFields,
  { account }: Author,
  verb: string,
  set: Sql,
  which: Sql,
): Required<Pick<Write, 'changes' | 'events'>> {
  const all = parts.map((part, index) => ({ part, cte: sql.id(`part${index}`) }))
  return {
    changes: all.map(
      ({ part, cte }) => sql`${cte} AS (
  UPDATE ${sql.id(part)} x SET version = x.version + 1, ${set}
  FROM r, locked
  WHERE x.account_id = ${account}::bigint AND x.${sql.id(name)} = r.id AND x.deleted_at ${which}
  RETURNING x.id, x.version
)`,
    ),
    events: all.map(({ part, cte }) => ({
      type: `${part}.${verb}`,
      resource: part,
      of: cte,
      isOfEach: true,
    })),
  }
}
