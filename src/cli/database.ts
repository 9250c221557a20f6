/**
 * Finds the database for a command: on a server, in a data directory that is not open, or in the running
 * service that has it open, over its socket (D67).
 */
import { existsSync } from 'node:fs'
import { originOf } from '../config.ts'
import { hasCluster } from '../db/embedded/data-directory.ts'
import { schemaVersion } from '../db/migrate.ts'
import { type Database, openDatabase } from '../db/open.ts'
import type { JsonObject } from '../json.ts'
import { type Answers, askService } from '../local-socket.ts'
import {
  asRefusal,
  type Command,
  type CommandArguments,
  type CommandContext,
  CommandRefusal,
  type Outcome,
  type Terminal,
} from './command.ts'

/** Commands may be slow, as nobody waits behind them; sample data is many statements. */
export const opened = { poolSize: 2, statementTimeoutMs: 600_000, waitMs: 600_000, silenceMs: 60_000 }

/** Carries out a command on the configured database. Throws its refusals. */
export async function onDatabase(
  command: Command,
  args: CommandArguments,
  { config, now, say, signal }: Terminal,
): Promise<Outcome> {
  const { databaseUrl: url, pooler, dataDir, hasOnlyTransactions, retentionDays, port } = config
  const context = { now, retentionDays, origin: originOf(config, port), signal, isTerminal: true } as const
  if (!url) {
    const asked = { name: command.name, given: args as JsonObject }
    const answer = await askService(dataDir, 'command', asked, signal)
    if (answer) return answer as unknown as Outcome
  }
  if (!url && !command.isForAnySchema && !(existsSync(dataDir) && hasCluster(dataDir)))
    throw new CommandRefusal(
      `There is no database in ${dataDir}: set DATA_DIR or DATABASE_URL, or start the service once.`,
    )
  const db = await openDatabase({ url, pooler, dataDir, hasOnlyTransactions, ...opened, log: say })
  return perform(command, db, args, context).finally(() => db.close())
}

/** The request handlers of a service with an open database; `context`: the commands' environment there. */
export function commandAnswers(
  commands: readonly Command[],
  db: Database,
  context: () => Omit<CommandContext, 'now' | 'signal'>,
): Answers {
  return {
    async command({ name, given }, signal) {
      const command = commands.find(one => one.name === name && one.act)
      if (!command) throw new Error(`The running service has no command "${String(name)}": restart it first.`)
      const own = { ...context(), now: new Date(), signal }
      const outcome = await perform(command, db, given as CommandArguments, own)
      return outcome as unknown as JsonObject
    },
  }
}

async function perform(
  command: Command,
  db: Database,
  args: CommandArguments,
  context: CommandContext,
): Promise<Outcome> {
  try {
    if (!command.isForAnySchema) await requireSchema(db)
    return await command.act!(db, args, context)
  } catch (error) {
    throw asRefusal(error)
  }
}

/** Throws if the database lacks migrations. */
export async function requireSchema(db: Database): Promise<void> {
  const { version, known } = await schemaVersion(db)
  if (version < known)
    throw new CommandRefusal(
      `The database has ${version} of ${known} migrations: "dealwright migrate" or a start applies the others.`,
    )
}
