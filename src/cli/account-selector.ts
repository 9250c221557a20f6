/** Resolves the account and the user that a command names. */
import { type Account, allAccounts } from '../accounts/accounts.ts'
import { loadCatalog } from '../accounts/callers.ts'
import type { Everywhere } from '../accounts/everywhere.ts'
import { asDefined } from '../fields/as-defined.ts'
import { comparedName } from '../fields/name.ts'
import { suggestion } from '../fields/nearest.ts'
import type { Reader, Transaction } from '../records/store.ts'
import type { WriteContext } from '../records/write/operation.ts'
import { resources } from '../resources/resources.ts'
import { serviceActor } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import { type CommandArguments, CommandRefusal, type Option } from './command.ts'

export const accountOption: Option = {
  name: 'account',
  value: 'ID|NAME',
  does: 'which account; may be left out where there is only one',
}

/**
 * The selected account; by default the only one. Throws a CommandRefusal if there is none or more than one.
 */
export async function findAccount(
  db: Everywhere,
  { account: text }: CommandArguments,
  which: 'in use' | 'deleted' | 'any' = 'in use',
): Promise<Account> {
  const { accounts: all, away } = await allAccounts(db)
  const fitting = all.filter(
    ({ deletedAt }) => which === 'any' || (deletedAt === null) === (which === 'in use'),
  )
  const isMeant = ({ id, name }: Account) => text === String(id) || comparedName(name) === comparedName(text!)
  const found = text === undefined ? fitting : fitting.filter(isMeant)
  const byId = found.find(({ id }) => text === String(id))
  if (byId ?? (found.length === 1 && !away)) return byId ?? found[0]!
  if (away) throw away
  const list = '"dealwright account list" names them'
  if (found.length > 1)
    throw new CommandRefusal(
      text === undefined
        ? `There are ${found.length} accounts: say which (--account; ${list}).`
        : `There are ${found.length} such accounts: say which by its id (--account; ${list}).`,
    )
  const other = text === undefined ? undefined : all.find(isMeant)
  if (other?.deletedAt)
    throw new CommandRefusal(
      `Account ${other.id} "${other.name}" was deleted; "dealwright account restore" brings it back.`,
    )
  if (other) throw new CommandRefusal(`Account ${other.id} "${other.name}" is not deleted.`)
  throw new CommandRefusal(
    text === undefined
      ? which === 'deleted'
        ? 'No account is deleted.'
        : 'There is no account: "dealwright account create" makes one.'
      : noSuch(`account ${JSON.stringify(text)}`, text, fitting, `${list}.`),
  )
}

/** The message that there is none of that name, with a similar name, or else a hint. */
function noSuch(what: string, name: string, known: readonly { name: string }[], otherwise: string): string {
  const names = known.map(one => one.name)
  const hint = suggestion(name, names, '').replace('Did', 'did')
  return `There is no ${what}; ${hint || otherwise}`
}

/** The context of a command's writes, with the account's current configuration. */
export async function operatorOf(db: Transaction, account: number): Promise<WriteContext> {
  const catalog = await loadCatalog(db, resources, account)
  return { catalog: asDefined(catalog, 'user', 'token'), actor: serviceActor }
}

export type User = {
  readonly id: number
  readonly name: string
  readonly email: string
  readonly role: number
  readonly isInUse: boolean
}

/** A live user by id or e-mail; null if there is none. */
export async function findUser(db: Reader, account: number, text: string): Promise<User | null> {
  const id = /^\d{1,15}$/.test(text) ? text : null
  const statement = sql`SELECT u.id::text AS id, u.name, u.email, u.role::text AS role,
    (u.is_active = 1)::text AS is_in_use
      FROM "user" u
      WHERE u.account_id = ${String(account)}::bigint AND u.deleted_at IS NULL
        AND (u.id = ${id}::bigint OR compared_name(u.email) COLLATE "C" = compared_name(${text}::text))
      ORDER BY u.id LIMIT 1`
  const [row] = await ask(db, statement)
  return (
    row! && {
      id: Number(row.id),
      name: row.name!,
      email: row.email!,
      role: Number(row.role),
      isInUse: row.is_in_use === 'true',
    }
  )
}

/** A user who can sign in. Throws a CommandRefusal if there is none, or they are inactive. */
export async function userInUse(db: Reader, account: Account, text: string): Promise<User> {
  const user = await findUser(db, account.id, text)
  const of = `account ${account.id} "${account.name}"`
  if (!user) {
    const what = `user ${JSON.stringify(text)} in ${of}`
    const otherwise = 'a user is named by id or e-mail.'
    throw new CommandRefusal(noSuch(what, text, await emailsOf(db, account.id), otherwise))
  }
  if (user.isInUse) return user
  throw new CommandRefusal(
    `${user.name} (user ${user.id}) is out of use in ${of}: an administrator sets is_active to Yes first.`,
  )
}

/** Maximum of users among which a similar name is searched. */
const emailsMax = 1000

async function emailsOf(db: Reader, account: number): Promise<{ name: string }[]> {
  const statement = sql`SELECT u.email FROM "user" u
      WHERE u.account_id = ${String(account)}::bigint AND u.deleted_at IS NULL
      ORDER BY u.id LIMIT ${sql.integer(emailsMax)}`
  const rows = await ask(db, statement)
  return rows.map(({ email }) => ({ name: email! }))
}
