/** Secrets that are stored beside a record. A rotation ends those before the new one. */
import type { Step, WriteParams } from '../fields/caller-params.ts'
import { later } from '../fields/moment.ts'
import { sql } from '../sql.ts'
import type { Work } from './work.ts'
import type { Saved, SavedSecret } from './write/operation.ts'

/** The saved record with its secret; a replay has none. */
export function withSecretOnce({ context }: Work, saved: Saved, secret: string): SavedSecret {
  return { ...saved, secret: context.idempotency?.isReplayed ? null : secret }
}

/** Steps that end the previous secrets of the record `r`: the last one after the overlap. */
export function endedSecrets({ account }: WriteParams, { schema }: Work, overlapHours: number): Step[] {
  const { name } = schema.resource
  const table = sql.id(`${name}_secret`)
  const isOf = sql`x.account_id = ${account}::bigint AND x.${sql.id(name)} = r.id`
  const hours = sql.integer(overlapHours)
  return [
    {
      name: 'ended',
      change: sql`
  DELETE FROM ${table} x USING r
  WHERE ${isOf} AND (x.valid_until IS NOT NULL OR ${hours} = 0)
`,
    },
    {
      name: 'ending',
      change: sql`
  UPDATE ${table} x SET valid_until = ${later(sql`locked.at`, sql`make_interval(hours => ${hours})`)}
  FROM r, locked WHERE ${isOf} AND x.valid_until IS NULL AND ${hours} > 0
`,
    },
  ]
}
