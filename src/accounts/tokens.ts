/**
 * Tokens with their secrets (D38, D66). The record describes a token; hashes of its secrets are stored beside
 * it. Knows no HTTP.
 */
import { Refusal } from '../errors.ts'
import type { Step } from '../fields/caller-params.ts'
import type { Json } from '../json.ts'
import type { Precondition } from '../records/precondition.ts'
import { endedSecrets, withSecretOnce } from '../records/secrets.ts'
import type { Work } from '../records/work.ts'
import type { SavedSecret, WriteContext } from '../records/write/operation.ts'
import { createRecord, updateRecord } from '../records/write/save.ts'
import { allows } from '../rights/scopes.ts'
import { sql } from '../sql.ts'
import { hashToken, newSecret, prefixOf } from './token.ts'

/** Creates a token from a body, with this secret or a new one. Throws the errors of `createRecord`. */
export async function createToken(work: Work, body: Json, secret = secretFor(work)): Promise<SavedSecret> {
  const saved = await createRecord(work, body, {
    values: { prefix: prefixOf(secret) },
    steps: () => [secretRow(secret)],
  })
  return withSecretOnce(work, saved, secret)
}

function secretFor({ context: { catalog } }: Work): string {
  return newSecret('token', catalog.account.id)
}

/**
 * Rotates a token's secret. The previous one stays valid for `overlapHours`; older ones end. Throws the
 * errors of `updateRecord`, and `forbidden` if the token has more rights than the caller.
 */
export async function rotateToken(
  work: Work,
  id: number,
  overlapHours: number,
  precondition: Precondition,
): Promise<SavedSecret> {
  const secret = secretFor(work)
  const saved = await updateRecord(work, id, {}, precondition, {
    values: { prefix: prefixOf(secret) },
    check: async ({ scopes }) => refuseMore(scopes as string[], work.context),
    steps: params => [...endedSecrets(params, work, overlapHours), secretRow(secret)],
  })
  return withSecretOnce(work, saved, secret)
}

/** Throws `forbidden` for scopes that the caller lacks, even hidden ones. */
function refuseMore(scopes: readonly string[], { rights }: WriteContext): void {
  if (rights && !scopes.every(scope => allows(rights.scopes, scope)))
    throw new Refusal('forbidden', 'The token may do more than you: its user or an administrator rotates it.')
}

/** A CTE that inserts a secret of the token `r`. A secret of another token moves to this one. */
function secretRow(secret: string): Step {
  return {
    name: 'secret',
    change: sql`
  INSERT INTO token_secret (account_id, hash, token)
  SELECT r.account_id, ${hashToken(secret)}::text, r.id FROM r
  ON CONFLICT (account_id, hash) DO UPDATE SET token = excluded.token, valid_until = NULL
`,
  }
}
