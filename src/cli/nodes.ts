/** The commands of a Citus cluster (D176): its nodes, and on which one an account is. */
import type { Ask } from '../db/ask.ts'
import { analyzeShard, isolate, moveShard, type Node, nodesOf, type Shard, shardsOf } from '../db/nodes.ts'
import type { Database } from '../db/open.ts'
import { ask, sql } from '../sql.ts'
import { type Act, type CommandArguments, CommandRefusal } from './command.ts'
import { tableOf } from './help.ts'
import { printableText } from './printable.ts'

const table = 'account'

/** Lists the nodes with what they hold. */
export const nodes: Act = async db => {
  requireCluster(db)
  const all = await nodesOf(db.sql.query)
  const shards = await shardsOf(db.sql.query, table)
  const described = all.map(({ name, role, group, state }) => {
    const own = role === 'replica' ? [] : shards.filter(one => one.group === group)
    const accounts = state && own.reduce((sum, one) => sum + one.accounts!, 0)
    return { name, role, answers: state !== null, shards: own.length, accounts, bytes: state?.bytes ?? null }
  })
  return {
    text: tableOf(
      ['NODE', 'ROLE', 'STATE', 'SHARDS', 'ACCOUNTS', 'SIZE'],
      described.map(({ name, role, answers, shards, accounts, bytes }) => [
        ...[name, role, answers ? 'answers' : 'away', shards, accounts],
        bytes === null ? null : `${Math.ceil(bytes / 2 ** 20)} MB`,
      ]),
    ),
    data: { nodes: described },
  }
}

/** Says on which node an account is. */
export const place: Act = async (db, args) => {
  const { account, node, shard, name } = await located(db, args)
  const others = shard.accounts! - 1
  return {
    text: printableText`Account ${account} "${name}" is on ${node.name}. Others in its shard: ${others}.`,
    data: { account, node: node.name, others },
  }
}

/** Moves an account to another node, with all of its rows and no other account. */
export const move: Act = async (db, args) => {
  const { account, node: from, shard, name, all } = await located(db, args)
  const to = all.find(one => one.name === args.to && one.isForAccounts)
  if (!to) {
    const names = all.filter(({ isForAccounts }) => isForAccounts).map(one => one.name)
    throw new CommandRefusal(`No node "${args.to}" takes accounts. These do: ${names.join(', ')}.`)
  }
  if (to === from) throw new CommandRefusal(`Account ${account} is on ${to.name} already.`)
  requireAnswer(to)
  for (const one of [from, to])
    if (one.state!.wal_level !== 'logical')
      throw new CommandRefusal(
        `Writes can't go on during a move, as ${one.name} has wal_level = ${one.state!.wal_level}: ` +
          `ALTER SYSTEM SET wal_level = 'logical' there, and restart it.`,
      )
  const others = shard.accounts! - 1
  const untimed: Ask = (text, params) => db.queryWithoutTimeLimit(text, params) as Promise<never>
  const own = others ? await isolate(untimed, table, account) : shard.id
  await moveShard(untimed, own, from, to)
  const problem = await analyzeShard(untimed, own, to)
  const note = `Its tables there could not be analyzed (${problem}): lists may be slow until autovacuum has done so.`
  return {
    text: printableText`Account ${account} "${name}" is on ${to.name} now; it was on ${from.name}.`,
    data: { account, from: from.name, to: to.name, isolated: others > 0 },
    notes: problem === null ? [] : [note],
  }
}

type Located = {
  readonly account: number
  readonly name: string
  readonly node: Node
  readonly shard: Shard
  readonly all: readonly Node[]
}

/** The account, its node, which answers, and its shard. Throws a CommandRefusal. */
async function located(db: Database, { account: text }: CommandArguments): Promise<Located> {
  requireCluster(db)
  const account = Number(text)
  if (!/^[1-9]\d{0,14}$/.test(text!))
    throw new CommandRefusal('--account is the id of an account: "dealwright account list" names them.')
  const [shard] = await shardsOf(db.sql.query, table, account)
  const all = await nodesOf(db.sql.query)
  const node = all.find(({ group, role }) => group === shard!.group && role !== 'replica')!
  // The node of an account follows from its id, whether there is such an account or not.
  requireAnswer(node)
  const [row] = await ask(db, sql`SELECT name FROM account WHERE account_id = ${String(account)}::bigint`)
  if (!row) throw new CommandRefusal(`There is no account ${account}: "dealwright account list" names them.`)
  return { account, name: row.name!, node, shard: shard!, all }
}

function requireAnswer({ name, state }: Node): void {
  if (!state) throw new CommandRefusal(`The node ${name} does not answer: start it, and try again.`)
}

function requireCluster({ isDistributed }: Database): void {
  if (!isDistributed)
    throw new CommandRefusal(
      'The database is not distributed: only on a Citus cluster it has nodes (docs/scaling.md).',
    )
}
