/** Users by e-mail, and their passwords: the queries of sign-in. */
import { comparedName } from '../../fields/name.ts'
import { canBeName } from '../../records/name-lookup.ts'
import type { Transaction } from '../../records/store.ts'
import { execute } from '../../records/write/execute.ts'
import { type Origin, writeParamsOf } from '../../records/write/protocol.ts'
import { endedLinks, endedSessions, isInUse } from '../../resources/user-access.ts'
import type { Caller } from '../../rights/visibility.ts'
import { ask, sql } from '../../sql.ts'
import { askEverywhere, type Everywhere } from '../everywhere.ts'
import { passwordChanged, passwordRow } from './links.ts'
import { hasPassword, signingIn } from './sessions.ts'

/** A user who can sign in. */
export type Person = {
  readonly account: number
  readonly accountName: string
  readonly user: number
  readonly name: string
  readonly email: string
  /** null: they have no password yet */
  readonly hash: string | null
}

/** Maximum of accounts per e-mail, as each costs a hash. A user with more must name the account. */
export const peopleMax = 5

/** The form in which an e-mail is looked up and counted; '' if it is invalid, which no user has. */
export function comparedEmail(email: string): string {
  return canBeName(email) ? comparedName(email) : ''
}

/**
 * True if two e-mails differ at most in the case of A to Z. Others that fold to the same text may belong to
 * two people: the Kelvin sign folds to a k, and is part of another address (D61).
 */
export function isSameMailbox(one: string, other: string): boolean {
  const small = (email: string) => email.replace(/[A-Z]/g, letter => letter.toLowerCase())
  return small(one) === small(other)
}

/**
 * The users in use with an e-mail, in one account or in all: at sign-in the account is not known yet. Throws
 * DatabaseUnavailable if nobody is found and accounts could not be asked (D178).
 */
export async function peopleOf(db: Everywhere, email: string, account: number | null): Promise<Person[]> {
  const only = account === null ? null : String(account)
  const { rows, away } = await askEverywhere(
    db,
    isAsked => sql`SELECT u.account_id::text AS account, a.name AS account_name, u.id::text AS id, u.name, u.email, p.hash
    FROM "user" u
      JOIN account a ON a.account_id = u.account_id
      LEFT JOIN password p ON p.account_id = u.account_id AND p."user" = u.id AND ${isAsked(sql`p.account_id`)}
    WHERE compared_name(u.email) COLLATE "C" = ${comparedEmail(email)}::text AND ${isInUse}
      AND a.deleted_at IS NULL AND (${only}::bigint IS NULL OR u.account_id = ${only}::bigint)
      AND ${isAsked(sql`u.account_id`)} AND ${isAsked(sql`a.account_id`)}
    ORDER BY p.changed_at DESC NULLS LAST, u.account_id LIMIT ${sql.integer(peopleMax)}`,
  )
  if (away && rows.length === 0) throw away
  return rows.map(row => ({
    account: Number(row.account),
    accountName: row.account_name!,
    user: Number(row.id),
    name: row.name!,
    email: row.email!,
    hash: row.hash ?? null,
  }))
}

/** The caller's own name, e-mail and password hash. */
export async function ownPassword(
  db: Transaction,
  { catalog, actor }: Caller,
): Promise<Pick<Person, 'name' | 'email' | 'hash'>> {
  const statement = sql`SELECT u.name, u.email, p.hash
    FROM "user" u LEFT JOIN password p ON p.account_id = u.account_id AND p."user" = u.id
    WHERE u.account_id = ${String(catalog.account.id)}::bigint AND u.id = ${String(actor)}::bigint`
  const [row] = await ask(db, statement)
  return { name: row!.name!, email: row!.email!, hash: row!.hash ?? null }
}

/**
 * Changes the caller's password, if its hash is still `judgedHash` (compare and set; null: no password yet).
 * Revokes their links, and their sessions except the current one. False if nothing was saved.
 */
export async function changePassword(
  db: Transaction,
  caller: Caller & Origin,
  judgedHash: string | null,
  newHash: string,
): Promise<boolean> {
  const params = writeParamsOf(caller)
  const { condition, r } = signingIn(params, params.actor, hasPassword(params, judgedHash))
  const write = {
    conditions: [condition],
    locksFirst: true,
    steps: [r, passwordRow(newHash), endedSessions(params, caller.session?.id), endedLinks(params)],
    events: [passwordChanged],
    answer: sql`SELECT r.id::text AS id FROM r, counted`,
  }
  return (await execute(db, params, write)).length > 0
}
