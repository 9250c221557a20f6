/** The commands of users (D61, D67), on an open database. */
import type { Account } from '../accounts/accounts.ts'
import type { Database } from '../db/open.ts'
import { comparedName } from '../fields/name.ts'
import { createRecord } from '../records/create.ts'
import { createLink, type Purpose } from '../sign-in/links.ts'
import { type Command, CommandRefusal, type Given, type Outcome } from './command.ts'
import { findAccount, findUser, operatorOf, type User, userInUse } from './whom.ts'

type Act = NonNullable<Command['act']>

/** Makes the user if there is none with that e-mail, and a link with which they set their password. */
export const invite: Act = async (db, given) => {
  const account = await findAccount(db, given)
  const known = await findUser(db, account.id, given.email!)
  if (!known) await createUser(db, account, given)
  else await requireRole(db, account, known, given.role)
  const user = await userInUse(db, account, given.email!)
  const outcome = await linkFor(db, account, user, 'invitation')
  return known ? { ...outcome, notes: [`${user.name} (user ${user.id}) was there already.`] } : outcome
}

/** A link for somebody who has lost their password. */
export const reset: Act = async (db, given) => {
  const account = await findAccount(db, given)
  return linkFor(db, account, await userInUse(db, account, given.user!), 'reset')
}

async function createUser(db: Database, account: Account, { name, email, role }: Given): Promise<void> {
  if (name === undefined) throw new CommandRefusal(`There is no user ${email} yet: --name says who it is.`)
  const context = await operatorOf(db, account.id)
  const body = { name, email: email!, ...(role === undefined ? {} : { role }) }
  await createRecord(db, context.catalog.resources.get('user')!, body, context)
}

/** An invitation gives nobody another role. */
async function requireRole(
  db: Database,
  account: Account,
  user: User,
  wanted: string | undefined,
): Promise<void> {
  const { catalog } = await operatorOf(db, account.id)
  const role = catalog.roles.get(user.role)!
  if (wanted === undefined || wanted === String(role.id) || comparedName(wanted) === comparedName(role.name))
    return
  throw new CommandRefusal(
    `${user.name} (user ${user.id}) has the role "${role.name}", and an invitation doesn't change it: an administrator does.`,
  )
}

async function linkFor(db: Database, account: Account, user: User, purpose: Purpose): Promise<Outcome> {
  const context = await operatorOf(db, account.id)
  const { secret, expiresAt } = (await createLink(db, context, user.id, purpose))!
  return {
    text: `A link for ${user.name} (user ${user.id}, ${user.email}) to set a password with, once, until ${expiresAt}:\n${secret}`,
    data: {
      account: account.id,
      user: user.id,
      email: user.email,
      purpose,
      link: secret,
      expires_at: expiresAt,
    },
  }
}
