/**
 * Tokens with their secrets (D38, D66). The record describes a token; hashes of its secrets are stored beside
 * it. Knows no HTTP.
 */
import { randomBytes } from 'node:crypto'
import { Refusal } from '../errors.ts'
import type { Step, WriteParams } from '../fields/caller-params.ts'
import { later } from '../fields/moment.ts'
import type { Json } from '../json.ts'
import type { Precondition } from '../records/precondition.ts'
import type { Transaction } from '../records/store.ts'
import { type SavedSecret, type WriteContext, workOn } from '../records/write/operation.ts'
import { createRecord, updateRecord } from '../records/write/save.ts'
import { allows } from '../rights/scopes.ts'
import { sql } from '../sql.ts'
import { hashToken, newToken, prefixOf } from './token.ts'

/** Creates a token from a body, with this secret or a new one. Throws the errors of `createRecord`. */
export async function createToken(
  db: Transaction,
  context: WriteContext,
  body: Json,
  secret: string = newToken(context.catalog.account.id, randomBytes),
): Promise<SavedSecret> {
  const saved = await createRecord(workOn(db, context, 'token'), body, {
    values: { prefix: prefixOf(secret) },
    steps: params => [secretRow(params, secret)],
  })
  return { ...saved, secret: context.idempotency?.isReplayed ? null : secret }
}

/**
 * Rotates a token's secret. The previous one stays valid for `overlapHours`; older ones end. Throws the
 * errors of `updateRecord`, and `forbidden` if the token has more rights than the caller.
 */
export async function rotateToken(
  db: Transaction,
  context: WriteContext,
  id: number,
  overlapHours: number,
  precondition: Precondition,
): Promise<SavedSecret> {
  const secret = newToken(context.catalog.account.id, randomBytes)
  const saved = await updateRecord(workOn(db, context, 'token'), id, {}, precondition, {
    values: { prefix: prefixOf(secret) },
    check: async ({ scopes }) => refuseMore(scopes as string[], context),
    steps: params => [...endedSecrets(params, overlapHours), secretRow(params, secret)],
  })
  return { ...saved, secret: context.idempotency?.isReplayed ? null : secret }
}

/** Throws `forbidden` for scopes that the caller lacks, even hidden ones. */
function refuseMore(scopes: readonly string[], { rights }: WriteContext): void {
  if (rights && !scopes.every(scope => allows(rights.scopes, scope)))
    throw new Refusal('forbidden', 'The token may do more than you: its user or an administrator rotates it.')
}

/** A CTE that inserts a secret of the token `r`. A secret of another token moves to this one. */
function secretRow({ account }: WriteParams, secret: string): Step {
  return {
    name: 'secret',
    change: sql`
  INSERT INTO token_secret (account_id, hash, token)
  SELECT ${account}::bigint, ${hashToken(secret)}::text, r.id FROM r
  ON CONFLICT (account_id, hash) DO UPDATE SET token = excluded.token, valid_until = NULL
`,
  }
}

/** CTEs that end the previous secrets of the token `r`: the last one after the overlap. */
function endedSecrets({ account }: WriteParams, overlapHours: number): Step[] {
  const isOf = sql`x.account_id = ${account}::bigint AND x.token = r.id`
  const hours = sql.integer(overlapHours)
  return [
    {
      name: 'ended',
      change: sql`
  DELETE FROM token_secret x USING r
  WHERE ${isOf} AND (x.valid_until IS NOT NULL OR ${hours} = 0)
`,
    },
    {
      name: 'ending',
      change: sql`
  UPDATE token_secret x SET valid_until = ${later(sql`locked.at`, sql`make_interval(hours => ${hours})`)}
  FROM r, locked WHERE ${isOf} AND x.valid_until IS NULL AND ${hours} > 0
`,
    },
  ]
}
