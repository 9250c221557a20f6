/** `dealwright distribute` (D173): distributes the tables of accounts over the nodes of Citus. */
import { accountTables, quoted } from '../db/account-tables.ts'
import {
  distributeFunctions,
  distributing,
  distributionOf,
  removeCopied,
  requireDistributable,
  requireStopped,
} from '../db/distribution.ts'
import { type Command, CommandRefusal } from './command.ts'

const defaultShards = 32
const shardsMax = 1024

const howBack =
  "Start the service. The way back, with the service stopped: SELECT undistribute_table('account', " +
  'cascade_via_foreign_keys => true), and the same for each other table that citus_tables still shows.'

/** Distributes one table after the other. What is distributed stays so, and another call goes on. */
export const distribute: NonNullable<Command['act']> = async (db, { shards = String(defaultShards) }) => {
  const count = Number(shards)
  if (!Number.isInteger(count) || count < 1 || count > shardsMax)
    throw new CommandRefusal(`--shards is a whole number from 1 to ${shardsMax}.`)
  if (db.engine === 'embedded')
    throw new CommandRefusal(
      "The embedded database can't be distributed: set DATABASE_URL to the coordinator of a Citus cluster.",
    )
  await requireDistributable(db.sql.query)
  const { distributed } = await distributionOf(db.sql.query, 'The server')
  await requireStopped(db.sql.query)
  const { tables } = await accountTables(text => db.query(text))
  const wanted = tables.map(({ name }) => name).filter(name => !distributed.includes(name))
  const made: string[] = [...distributed]
  for (const name of wanted) {
    // Rows that are there already are copied, which may take any time.
    await db.queryWithoutTimeLimit(...distributing(name, made[0] ?? null, count))
    // Without statistics a node reads a record by an index of its account alone, until autovacuum has come.
    await db.queryWithoutTimeLimit(`ANALYZE ${quoted(name)}`)
    made.push(name)
  }
  await distributeFunctions(db.sql.query)
  await removeCopied(db.sql.query, wanted)
  const done = wanted.length
    ? `Distributed ${wanted.length} of ${tables.length} tables by account_id: ${wanted.join(', ')}.`
    : `All ${tables.length} tables of accounts are distributed already.`
  return { text: `${done}\n${howBack}`, data: { distributed: wanted, before: [...distributed] } }
}
