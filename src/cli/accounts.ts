/** The commands of accounts (D67), on an open database. */
import { allAccounts, announceDeletion, restoreAccount, withAccountsLock } from '../accounts/accounts.ts'
import { createAccount } from '../accounts/create.ts'
import { currencyCode } from '../accounts/currencies.ts'
import { createSample } from '../accounts/sample/sample.ts'
import { accountName, changeSettings, type RecalculationCounts, timeZone } from '../accounts/settings.ts'
import { createToken } from '../accounts/tokens.ts'
import type { JsonObject } from '../json.ts'
import type { Transaction } from '../records/store.ts'
import { workOn } from '../records/work.ts'
import { businessData } from '../resources/resources.ts'
import { administers } from '../resources/user-access.ts'
import { ask, param, sql } from '../sql.ts'
import { findAccount, operatorOf } from './account-selector.ts'
import { type Act, type CommandArguments, CommandRefusal } from './command.ts'
import { tableOf } from './help.ts'
import { printableText } from './printable.ts'

export const create: Act = async (db, args) => {
  const name = checkedName(args.name!)
  const { account, owner, secret } = await withAccountsLock(db, async tx => {
    const created = await createAccount(tx, {
      name,
      ownerName: args['owner-name']!,
      ownerEmail: args['owner-email']!,
      ...(await newSettings(tx, args)),
    })
    const context = await operatorOf(tx, created.account)
    const body = { name: 'First token', user: created.owner, scopes: ['admin'] }
    return { ...created, secret: (await createToken(workOn(tx, context, 'token'), body)).secret }
  })
  return {
    text: printableText`Account ${account} "${name}" has the user ${owner}, who administers it.\nTheir token, shown once:\n${secret!}`,
    data: { account, name, owner, token: secret },
  }
}

export const list: Act = async (db, _given, { retentionDays }) => {
  const { accounts, away } = await allAccounts(db)
  const endOf = (deletedAt: string) => dayAfter(deletedAt, retentionDays)
  const stateOf = ({ deletedAt, isWhole }: (typeof accounts)[number]) =>
    deletedAt === null ? 'in use' : isWhole ? `deleted, kept until ${endOf(deletedAt)}` : 'being purged'
  return {
    text: tableOf(
      ['ID', 'NAME', 'MADE', 'USERS', 'STATE'],
      accounts.map(one => [one.id, one.name, one.createdAt.slice(0, 10), one.users, stateOf(one)]),
    ),
    data: {
      accounts: accounts.map(({ id, name, createdAt, deletedAt, users, administrators }) => ({
        id,
        name,
        created_at: createdAt,
        deleted_at: deletedAt,
        users,
        administrators,
      })),
    },
    ...(away ? { notes: ['Those on a node that is away are missing: see "dealwright nodes".'] } : {}),
  }
}

export const rename: Act = async (db, args) => {
  const account = await findAccount(db, args)
  const { name } = (await changed(db, account.id, { name: args.name! })).settings
  return {
    text: printableText`Account ${account.id} is now "${name}"; it was "${account.name}".`,
    data: { account: account.id, name },
  }
}

/** Prints the settings of an account, after changing the ones in the options. */
export const settings: Act = async (db, args) => {
  const account = await findAccount(db, args)
  const body = {
    ...(args['time-zone'] === undefined ? {} : { time_zone: args['time-zone'] }),
    ...(args.locale === undefined ? {} : { locale: args.locale || null }),
    ...(args['base-currency'] === undefined ? {} : { base_currency: args['base-currency'] }),
  }
  const { settings, recalculated } = await changed(db, account.id, body)
  const { name, time_zone, locale, base_currency_code } = settings
  const rows = [
    ['Name', name],
    ['Time zone', time_zone],
    ['Language', locale ?? 'as each browser has it'],
    ['Base currency', base_currency_code],
  ]
  return {
    text: [tableOf(['SETTING', 'VALUE'], rows), ...(recalculated ? [toldCounts(recalculated)] : [])].join(
      '\n',
    ),
    data: { ...settings, ...(recalculated ? { recalculated } : {}) },
  }
}

function changed(db: Parameters<Act>[0], account: number, body: JsonObject) {
  return withAccountsLock(db, async tx => changeSettings(tx, await operatorOf(tx, account), body))
}

function toldCounts({ rates, open_deals, closed_deals, products }: RecalculationCounts): string {
  const amounts = `${open_deals} open deals, ${closed_deals} closed deals and ${products} products`
  return `${rates} rates are converted; the amounts of ${amounts} follow while the service runs.`
}

/** The settings of a new account. Throws a CommandRefusal for an invalid one. */
async function newSettings(tx: Transaction, args: CommandArguments) {
  const { 'time-zone': zone, 'base-currency': currency } = args
  const known = zone === undefined ? undefined : await timeZone(tx, zone)
  if (known === null)
    throw new CommandRefusal(`There is no time zone ${JSON.stringify(zone)}: name one of the IANA list.`)
  const code = currency === undefined ? undefined : currencyCode(currency)
  if (code === null)
    throw new CommandRefusal(
      `There is no currency ${JSON.stringify(currency)}: give its code (ISO 4217), like EUR.`,
    )
  return { ...(known ? { timeZone: known } : {}), ...(code ? { baseCurrency: code } : {}) }
}

export const remove: Act = async (db, args, { retentionDays }) => {
  const account = await findAccount(db, args)
  if (args.yes === undefined && args.name !== account.name)
    throw new CommandRefusal(
      `Account ${account.id} "${account.name}" was not deleted: repeat its name (--name), or add --yes.`,
    )
  if (!(await announceDeletion(db, account.id)))
    throw new CommandRefusal(
      'The only account in use stays: make another first, or remove the database if nobody needs it any more.',
    )
  const { deletedAt } = (await allAccounts(db)).accounts.find(({ id }) => id === account.id)!
  const until = dayAfter(deletedAt!, retentionDays)
  return {
    text: printableText`Account ${account.id} "${account.name}" is deleted: its tokens and sessions are refused from now on.\nUntil ${until}, "dealwright account restore --account ${account.id}" brings it back. Then all of it is removed.`,
    data: { account: account.id, deleted_at: deletedAt, kept_until: until },
  }
}

export const restore: Act = async (db, args) => {
  const account = await findAccount(db, args, 'deleted')
  if (!(await restoreAccount(db, account.id)))
    throw new CommandRefusal(
      `Account ${account.id} "${account.name}" is being removed and can't be brought back.`,
    )
  return {
    text: printableText`Account ${account.id} "${account.name}" is in use again, with the tokens that it had.`,
    data: { account: account.id, name: account.name },
  }
}

/** Adds sample data, as a first start does, to an account without data of its own. */
export const sampleData: Act = async (db, args, { now }) => {
  const account = await findAccount(db, args)
  const owner = await withAccountsLock(db, async tx => {
    const own = param(String(account.id))
    const found = await contentsOf(tx, account.id)
    if (found)
      throw new CommandRefusal(
        `Account ${account.id} "${account.name}" has records or fields of its own (${found}): sample data is for empty accounts.`,
      )
    const statement = sql`SELECT u.id::text AS id FROM "user" u
        WHERE u.account_id = ${own}::bigint AND ${administers(own)} ORDER BY u.id LIMIT 1`
    const [first] = await ask(tx, statement)
    await createSample(tx, account.id, Number(first!.id), now)
    return Number(first!.id)
  })
  return {
    text: printableText`Account ${account.id} "${account.name}" has sample data now.`,
    data: { account: account.id, owner },
  }
}

/** The first kind of content that a new account lacks; null: none. */
async function contentsOf(tx: Transaction, account: number): Promise<string | null> {
  const own = param(String(account))
  for (const name of [...businessData, 'territory', 'tag', 'field']) {
    const statement = sql`SELECT 1 AS one FROM ${sql.id(name)} t WHERE t.account_id = ${own}::bigint LIMIT 1`
    const [row] = await ask(tx, statement)
    if (row) return name
  }
  return null
}

function checkedName(text: string): string {
  const name = accountName(text)
  if (name !== null) return name
  throw new CommandRefusal('The name of an account has 1 to 255 characters, on one line.')
}

function dayAfter(instant: string, days: number): string {
  return new Date(Date.parse(instant) + days * 86_400_000).toISOString().slice(0, 10)
}
