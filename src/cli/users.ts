/** The commands of users (D61, D67), on an open database. */
import type { Account } from '../accounts/accounts.ts'
import { createLink, linkAddress, type Purpose } from '../accounts/sign-in/links.ts'
import type { Database } from '../db/open.ts'
import { comparedName } from '../fields/name.ts'
import { workOn } from '../records/work.ts'
import { createRecord } from '../records/write/save.ts'
import { findAccount, findUser, operatorOf, type User, userInUse } from './account-selector.ts'
import {
  type Act,
  type CommandArguments,
  type CommandContext,
  CommandRefusal,
  type Outcome,
} from './command.ts'
import { printableText } from './printable.ts'

/** Creates the user if there is none with that e-mail, and a link with which they set their password. */
export const invite: Act = async (db, args, context) => {
  const account = await findAccount(db, args)
  const email = args.email!
  // An id is no e-mail: the link would be for another user.
  if (!email.includes('@')) throw new CommandRefusal(`${JSON.stringify(email)} is no e-mail.`)
  const known = await findUser(db, account.id, email)
  if (!known) await createUser(db, account, args)
  else await requireSame(db, account, known, args)
  const user = await userInUse(db, account, email)
  const outcome = await linkFor(db, account, user, 'invitation', context)
  const notes = known ? [`${user.name} (user ${user.id}) was there already.`] : []
  return { ...outcome, notes: [...notes, ...(outcome.notes ?? [])] }
}

/** Creates a link for a user who has lost their password. */
export const reset: Act = async (db, args, context) => {
  const account = await findAccount(db, args)
  return linkFor(db, account, await userInUse(db, account, args.user!), 'reset', context)
}

async function createUser(
  db: Database,
  account: Account,
  { name, email, role }: CommandArguments,
): Promise<void> {
  if (name === undefined) throw new CommandRefusal(`There is no user ${email} yet: --name says who it is.`)
  const context = await operatorOf(db, account.id)
  const body = { name, email: email!, ...(role === undefined ? {} : { role }) }
  await createRecord(workOn(db, context, 'user'), body)
}

/** An invitation doesn't change the name or role of an existing user. */
async function requireSame(
  db: Database,
  account: Account,
  user: User,
  { name, role }: CommandArguments,
): Promise<void> {
  const { catalog } = await operatorOf(db, account.id)
  const known = catalog.roles.get(user.role)!
  const isSame = (given: string | undefined, is: string) =>
    given === undefined || comparedName(given) === comparedName(is)
  const refuse = (what: string): never => {
    throw new CommandRefusal(
      `User ${user.id} has the ${what}, and an invitation doesn't change it: an administrator does.`,
    )
  }
  if (!isSame(name, user.name)) refuse(`name "${user.name}"`)
  if (role !== String(known.id) && !isSame(role, known.name)) refuse(`role "${known.name}"`)
}

async function linkFor(
  db: Database,
  account: Account,
  user: User,
  purpose: Purpose,
  { origin }: CommandContext,
): Promise<Outcome> {
  const context = await operatorOf(db, account.id)
  const { secret, expiresAt } = (await createLink(db, context, user.id, purpose))!
  const url = origin && linkAddress(origin, secret!)
  return {
    text: printableText`A link for ${user.name} (user ${user.id}, ${user.email}) to set a password with, once, until ${expiresAt}:\n${url ?? linkAddress('', secret!)}`,
    data: {
      account: account.id,
      user: user.id,
      email: user.email,
      purpose,
      link: secret,
      url,
      expires_at: expiresAt,
    },
    notes: url
      ? []
      : [
          'This is only the path: put the address of the service before it. With PUBLIC_URL set, the command prints the whole link.',
        ],
  }
}
