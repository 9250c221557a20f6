/**
 * Links that sign a user in once (D61): invitations and resets also set the password. Only hashes of their
 * secrets are stored.
 */
import type { Step, WriteParams } from '../../fields/caller-params.ts'
import { instantText } from '../../fields/moment.ts'
import { storedResponse, type Written, writeIdempotently } from '../../records/idempotency.ts'
import type { Transaction } from '../../records/store.ts'
import { execute } from '../../records/write/execute.ts'
import type { WriteContext } from '../../records/write/operation.ts'
import { type Origin, writeParamsOf } from '../../records/write/protocol.ts'
import { endedLinks, endedSessions, isInUse } from '../../resources/user-access.ts'
import type { Caller } from '../../rights/visibility.ts'
import { ask, param, sql } from '../../sql.ts'
import { accountOf, hashToken, newSecret } from '../token.ts'
import { type NewSession, sessionRow, signingIn } from './sessions.ts'

/** Lifetimes of links, in seconds. */
const lifetimes = { invitation: 7 * 86_400, reset: 3600, sign_in: 600 }
export type Purpose = keyof typeof lifetimes

/** A saved link; `secret` is null for a replay. */
export type SavedLink = { readonly secret: string | null; readonly expiresAt: string }

/** The URL of the page that uses a link. The fragment is never sent to a server, so it is in no log. */
export function linkAddress(origin: string, secret: string): string {
  return `${origin}/sign-in#link=${secret}`
}

/** The secret in a copied text: the whole URL, the part from `#link=`, or the secret alone. */
export function secretIn(link: string): string {
  return /^(?:\S*#link=)?([^&]*)/.exec(link.trim())![1]!
}

/**
 * Creates a link for a user, and revokes their earlier ones. Null if the user can't sign in, because they are
 * inactive or deleted.
 */
export async function createLink(
  db: Transaction,
  context: WriteContext,
  user: number,
  purpose: Purpose,
): Promise<SavedLink | null> {
  const before = await storedResponse<object>(db, context)
  if (before) return savedLink(before, null)
  const secret = newSecret('link', context.catalog.account.id)
  const params = writeParamsOf(context)
  const { condition, r } = signingIn(params, param(String(user)))
  const write = {
    conditions: [condition],
    locksFirst: true,
    steps: [r, endedLinks(params), linkRow(params, secret, purpose)],
    events: [
      {
        type: 'user.link_created',
        resource: 'user',
        of: sql`r`,
        changes: sql`${JSON.stringify({ purpose: { before: null, after: purpose } })}`,
      },
    ],
    answer: sql`
    SELECT r.id::text AS id,
      ${instantText(sql`l.expires_at`)} AS expires_at
    FROM r, link_row l`,
  }
  const written = await writeIdempotently(db, params, context, write, {})
  return written ? savedLink(written, context.idempotency?.isReplayed ? null : secret) : null
}

function savedLink({ row }: Written<object>, secret: string | null): SavedLink {
  return { secret, expiresAt: row.expires_at! }
}

function linkRow({ account }: WriteParams, secret: string, purpose: Purpose): Step {
  return {
    name: 'link_row',
    change: sql`
  INSERT INTO sign_in_link (account_id, hash, "user", purpose, created_at, expires_at)
  SELECT counted.account, ${hashToken(secret)}::text, r.id, ${purpose}::text, counted.at,
    counted.at + make_interval(secs => ${sql.integer(lifetimes[purpose])})
  FROM r, counted
`,
    returning: sql`expires_at`,
    rows: () => sql`SELECT l.expires_at FROM sign_in_link l
  WHERE l.account_id = ${account}::bigint AND l.hash = ${hashToken(secret)}::text`,
  }
}

/** A link with its user. */
export type FoundLink = {
  readonly account: number
  readonly user: number
  readonly name: string
  readonly email: string
  readonly purpose: Purpose
  /** true if it can still be used */
  readonly isOpen: boolean
}

/** The link of a secret; null if there is none. */
export async function findLink(db: Transaction, secret: string): Promise<FoundLink | null> {
  const account = accountOf('link', secret)
  if (account === null) return null
  const statement = sql`SELECT u.id::text AS id, u.name, u.email, l.purpose,
      (l.used_at IS NULL AND l.expires_at > now() AND ${isInUse} AND a.deleted_at IS NULL)::text AS is_open
    FROM sign_in_link l
      JOIN "user" u ON u.account_id = l.account_id AND u.id = l."user"
      JOIN account a ON a.account_id = l.account_id
    WHERE l.account_id = ${String(account)}::bigint AND l.hash = ${hashToken(secret)}::text`
  const [row] = await ask(db, statement)
  if (!row) return null
  return {
    account,
    user: Number(row.id),
    name: row.name!,
    email: row.email!,
    purpose: row.purpose as Purpose,
    isOpen: row.is_open === 'true',
  }
}

/**
 * Uses a link and saves the session. With a password's hash, sets that password, and revokes the user's other
 * links and sessions. Concurrent uses: one succeeds. False if the link is used up.
 */
export async function consumeLink(
  db: Transaction,
  caller: Caller & Origin,
  secret: string,
  session: NewSession,
  passwordHash: string | null,
): Promise<boolean> {
  const params = writeParamsOf(caller)
  const hash = hashToken(secret)
  const { condition, r } = signingIn(params, params.actor)
  const isIt = sql`x.account_id = ${params.account}::bigint AND x.hash = ${hash}::text`
  const isOpen = sql`EXISTS (
      SELECT 1 FROM sign_in_link x
      WHERE ${isIt} AND x."user" = ${params.actor}::bigint AND x.used_at IS NULL AND x.expires_at > now())`
  const used = {
    name: 'used',
    change: sql`
  UPDATE sign_in_link x SET used_at = counted.at FROM counted WHERE ${isIt}
`,
  }
  const write = {
    conditions: [condition, isOpen],
    locksFirst: true,
    ids: 1,
    steps: [
      ...[r, used],
      ...(passwordHash === null
        ? []
        : [passwordRow(passwordHash), endedSessions(params), endedLinks(params, hash)]),
      sessionRow(session),
    ],
    events: passwordHash === null ? [] : [passwordChanged],
    answer: sql`SELECT counted.last_id::text AS id FROM counted`,
  }
  return (await execute(db, params, write)).length > 0
}

/** The event of a new password, without the password. */
export const passwordChanged = { type: 'user.password_changed', resource: 'user', of: sql`r` }

/** A CTE that saves the hash of the password of the user `r`. */
export function passwordRow(hash: string): Step {
  return {
    name: 'password_row',
    change: sql`
  INSERT INTO password (account_id, "user", hash, changed_at)
  SELECT counted.account, r.id, ${hash}::text, counted.at FROM r, counted
  ON CONFLICT (account_id, "user") DO UPDATE SET hash = excluded.hash, changed_at = excluded.changed_at
`,
  }
}
