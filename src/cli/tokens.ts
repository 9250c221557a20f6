/** The commands of tokens (D66, D67), on an open database. */
import { createToken } from '../accounts/tokens.ts'
import { removeRecord } from '../records/remove.ts'
import { workOn } from '../records/work.ts'
import { allows } from '../rights/scopes.ts'
import { ask, param, sql } from '../sql.ts'
import { findAccount, operatorOf, userInUse } from './account-selector.ts'
import { type Act, CommandRefusal } from './command.ts'
import { tableOf } from './help.ts'
import { printableText } from './printable.ts'

export const create: Act = async (db, args, { now }) => {
  const account = await findAccount(db, args)
  const user = await userInUse(db, account, args.user!)
  const context = await operatorOf(db, account.id)
  const scopes = args.scopes!.split(',').map(scope => scope.trim())
  const expiresAt = args.expires === undefined ? null : momentOf(args.expires, now)
  const body = { name: args.name!, user: user.id, scopes, ...(expiresAt ? { expires_at: expiresAt } : {}) }
  const { id, secret } = await createToken(workOn(db, context, 'token'), body)
  const role = context.catalog.roles.get(user.role)!
  const notHeld = scopes.filter(scope => !allows(new Set(role.scopes), scope))
  return {
    text: printableText`Token ${id} acts for ${user.name} (user ${user.id}) ${expiresAt ? `until ${expiresAt}` : 'and never expires'}. Shown once:\n${secret!}`,
    data: { account: account.id, id, user: user.id, scopes, expires_at: expiresAt, token: secret },
    notes: notHeld.length
      ? [`The user's role "${role.name}" lacks ${notHeld.join(', ')}: the token does nothing with it.`]
      : [],
  }
}

export const list: Act = async (db, args) => {
  const account = await findAccount(db, args)
  const text = (column: string) =>
    sql`to_char(t.${sql.id(column)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`
  const statement = sql`SELECT t.id::text AS id, t.name, u.id::text AS user, u.email,
    t.scopes::text AS scopes, t.prefix, t.agent,
        ${text('expires_at')} AS expires_at, ${text('last_used_at')} AS last_used_at,
        ${text('agent_used_at')} AS agent_used_at,
        (t.expires_at <= now())::text AS is_over
      FROM token t JOIN "user" u ON u.account_id = t.account_id AND u.id = t."user"
      WHERE t.account_id = ${param(String(account.id))}::bigint AND t.deleted_at IS NULL ORDER BY t.id`
  const rows = await ask(db, statement)
  const tokens = rows.map(row => ({
    id: Number(row.id),
    name: row.name!,
    user: Number(row.user),
    email: row.email!,
    scopes: JSON.parse(row.scopes!) as string[],
    prefix: row.prefix!,
    expires_at: row.expires_at!,
    is_expired: row.is_over === 'true',
    last_used_at: row.last_used_at!,
    agent: row.agent!,
    agent_used_at: row.agent_used_at!,
  }))
  return {
    text: tableOf(
      ['ID', 'NAME', 'USER', 'SCOPES', 'BEGINS WITH', 'EXPIRES', 'LAST USED', 'AGENT'],
      tokens.map(token => [
        token.id,
        token.name,
        token.email,
        token.scopes.join(','),
        token.prefix,
        token.is_expired ? 'expired' : (token.expires_at ?? 'never'),
        token.last_used_at ?? 'never',
        token.agent,
      ]),
    ),
    data: { account: account.id, tokens },
  }
}

export const revoke: Act = async (db, args) => {
  const account = await findAccount(db, args)
  const id = /^\d{1,15}$/.test(args.ID!) ? Number(args.ID) : null
  if (id === null)
    throw new CommandRefusal('Name the token by its id, a number: "dealwright token list" shows it.')
  const context = await operatorOf(db, account.id)
  await removeRecord(workOn(db, context, 'token'), id)
  return {
    text: printableText`Token ${id} of account ${account.id} "${account.name}" is refused from now on.`,
    data: { account: account.id, id },
  }
}

/** A time from a timestamp, a date (its beginning in UTC), or a number of days from now: 90d. */
function momentOf(text: string, now: Date): string {
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  if (days) return new Date(now.getTime() + Number(days) * 86_400_000).toISOString()
  if (/^\d{1,5}$/.test(text))
    throw new CommandRefusal(
      `--expires ${text} says neither a day nor a time: did you mean ${text}d, in days?`,
    )
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
}
