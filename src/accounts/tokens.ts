/**
 * Tokens with their secrets (D38, D66). The record says what a token is; only hashes of its secrets are kept,
 * beside it. Knows no HTTP.
 */
import { randomBytes } from 'node:crypto'
import { Refusal } from '../errors.ts'
import type { Json } from '../json.ts'
import { createRecord } from '../records/create.ts'
import type { Precondition } from '../records/precondition.ts'
import type { Context, Saved } from '../records/save.ts'
import type { Queryable } from '../records/store.ts'
import { updateRecord } from '../records/update.ts'
import type { Author } from '../records/write.ts'
import { allows } from '../rights/scopes.ts'
import { type Sql, sql } from '../sql.ts'
import { hashToken, newToken, prefixOf } from './token.ts'

/** A token as it was saved, and its secret; null where the request had been carried out before. */
export type SavedToken = Saved & { readonly secret: string | null }

/** Creates a token from a body, with this secret or a new one. Throws as `createRecord` does. */
export async function createToken(
  db: Queryable,
  context: Context,
  body: Json,
  secret: string = newToken(context.catalog.account.id, randomBytes),
): Promise<SavedToken> {
  const saved = await createRecord(db, fieldsOf(context), body, context, {
    values: { prefix: prefixOf(secret) },
    rows: by => [secretRow(by, secret)],
  })
  return { ...saved, secret: context.idempotency?.isReplayed ? null : secret }
}

/**
 * Gives a token a new secret. The one before is valid for so many hours more; those before it end. Throws as
 * `updateRecord` does, and `forbidden` where the token may do more than the caller.
 */
export async function rotateToken(
  db: Queryable,
  context: Context,
  id: number,
  overlapHours: number,
  precondition: Precondition,
): Promise<SavedToken> {
  const secret = newToken(context.catalog.account.id, randomBytes)
  const saved = await updateRecord(db, fieldsOf(context), id, {}, context, precondition, {
    values: { prefix: prefixOf(secret) },
    judge: async ({ scopes }) => refuseMore(scopes as string[], context),
    rows: by => [...endedSecrets(by, overlapHours), secretRow(by, secret)],
  })
  return { ...saved, secret: context.idempotency?.isReplayed ? null : secret }
}

/** Throws `forbidden` for scopes that the caller lacks, whether their role shows them or not. */
function refuseMore(scopes: readonly string[], { rights }: Context): void {
  if (rights && !scopes.every(scope => allows(rights.scopes, scope)))
    throw new Refusal('forbidden', 'The token may do more than you: its user or an administrator rotates it.')
}

function fieldsOf({ catalog }: Context) {
  return catalog.resources.get('token')!
}

/** The row of a secret of the token `r`. A secret that another token had is this one's from now on. */
function secretRow({ account }: Author, secret: string): Sql {
  return sql`secret AS (
  INSERT INTO token_secret (account_id, hash, token)
  SELECT ${account}::bigint, ${hashToken(secret)}::text, r.id FROM r
  ON CONFLICT (account_id, hash) DO UPDATE SET token = excluded.token, valid_until = NULL
)`
}

/** The secrets of the token `r` until now: the last one stays for a while. */
function endedSecrets({ account }: Author, overlapHours: number): Sql[] {
  const isOf = sql`x.account_id = ${account}::bigint AND x.token = r.id`
  const hours = sql.integer(overlapHours)
  return [
    sql`ended AS (
  DELETE FROM token_secret x USING r
  WHERE ${isOf} AND (x.valid_until IS NOT NULL OR ${hours} = 0)
)`,
    sql`ending AS (
  UPDATE token_secret x SET valid_until = locked.at + make_interval(hours => ${hours})
  FROM r, locked WHERE ${isOf} AND x.valid_until IS NULL AND ${hours} > 0
)`,
  ]
}
