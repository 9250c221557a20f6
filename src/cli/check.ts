/** `dealwright check` (D67): checks whether the service can run well here, and reports the problems. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { allAccounts } from '../accounts/accounts.ts'
import { type Soundness, soundness } from '../backup/soundness.ts'
import { hasCluster } from '../db/embedded/data-directory.ts'
import { groupAndOthers } from '../db/embedded/disk.ts'
import { schemaVersion } from '../db/migrate.ts'
import type { Database } from '../db/open.ts'
import { serverAddress } from '../db/postgres/server-address.ts'
import { requireFolding } from '../db/require-folding.ts'
import {
  asRefusal,
  type Command,
  type CommandArguments,
  isRefusal,
  type Outcome,
  type Terminal,
} from './command.ts'
import { onDatabase } from './database.ts'

type Finding = { readonly what: string; readonly is_right: boolean; readonly told: string }

/** Checks the database. Stops at the first failure that prevents further checks. */
export async function inspect(db: Database, given: CommandArguments = {}): Promise<Outcome> {
  const [server] = await db.query("SELECT current_setting('server_version') AS version")
  const kind = db.engine === 'embedded' ? 'embedded PostgreSQL' : 'PostgreSQL'
  const findings: Finding[] = [right('database', `${kind} ${server!.version} answers`)]
  const schema = await finding('schema', async () => {
    const { version, known } = await schemaVersion(db)
    if (version === known) return `all ${known} migrations are applied`
    return `${version} of ${known} migrations are applied: "dealwright migrate" or a start applies the others`
  })
  findings.push(schema)
  if (!schema.told.startsWith('all')) return outcomeOf(findings)
  findings.push(
    await finding('letters', async () => {
      await requireFolding(db)
      return 'upper and lower case are compared as they should be'
    }),
    await accountsOf(db),
  )
  if (given.database) findings.push(...(await soundness(db)).map(soundnessOf))
  return outcomeOf(findings)
}

/** Checks settings, data directory and database. */
export async function check(command: Command, terminal: Terminal, given: CommandArguments): Promise<Outcome> {
  const { databaseUrl, dataDir: directory, host, port } = terminal.config
  const place = databaseUrl ? serverAddress(databaseUrl).place : directory
  const findings = [
    right('settings', `can be used; the service listens on ${host}, port ${port}; data in ${place}`),
  ]
  if (existsSync(directory)) findings.push(rightsOf(directory))
  if (!databaseUrl && !(existsSync(directory) && hasCluster(directory)))
    return outcomeOf([...findings, right('database', 'none yet; the first start makes it')])
  try {
    const { data } = await onDatabase(command, given, terminal)
    return outcomeOf([...findings, ...(data.findings as unknown as Finding[])])
  } catch (error) {
    const refused = asRefusal(error)
    if (!isRefusal(refused)) throw error
    return outcomeOf([...findings, wrong('database', refused.message)])
  }
}

function soundnessOf({ what, problems, seen }: Soundness): Finding {
  return problems.length ? wrong(what, problems.join('; ')) : right(what, seen)
}

async function accountsOf(db: Database): Promise<Finding> {
  const { accounts: all, away } = await allAccounts(db)
  if (away) return wrong('accounts', 'a node is away: "dealwright nodes" shows which')
  const inUse = all.filter(({ deletedAt }) => deletedAt === null)
  const without = inUse.filter(({ administrators }) => administrators === 0)
  if (all.length === 0) return right('accounts', 'none yet; the first start makes one')
  if (inUse.length === 0) return wrong('accounts', 'none is in use')
  if (without.length > 0)
    return wrong('accounts', `nobody administers account ${without.map(({ id }) => id).join(', ')}`)
  const deleted = all.length - inUse.length
  return right(
    'accounts',
    `${inUse.length} in use, each with an administrator${deleted ? `; ${deleted} deleted` : ''}`,
  )
}

/**
 * Checks that only the owner has access to the files in the data directory (D106), and that this is the
 * current user.
 */
function rightsOf(directory: string): Finding {
  if (process.platform === 'win32') return right('directory', 'its rights are those of its folder')
  const inside = readdirSync(directory)
    .filter(name => /^(pg|lock|service\.sock|admin-token.*)$/.test(name))
    .map(name => join(directory, name))
  const open = inside.filter(path => (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & groupAndOthers)
  // The volume of a container may belong to root; what is in it is the service's.
  const owners = (inside.length ? inside : [directory]).map(
    path => statSync(path, { throwIfNoEntry: false })?.uid,
  )
  const owner = owners.find(uid => uid !== undefined && uid !== process.getuid!())
  if (owner !== undefined && process.getuid!() !== 0)
    return wrong('directory', `${directory} belongs to another user (${owner}): do this as that one`)
  if (open.length === 0) return right('directory', `only its owner can read what is in ${directory}`)
  return wrong('directory', `others may read ${open.join(', ')}: take their rights away (chmod -R go= …)`)
}

async function finding(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return right(what, await look())
  } catch (error) {
    const refused = asRefusal(error)
    if (!isRefusal(refused)) throw error
    return wrong(what, refused.message)
  }
}

function right(what: string, told: string): Finding {
  return { what, is_right: true, told }
}

function wrong(what: string, told: string): Finding {
  return { what, is_right: false, told }
}

function outcomeOf(findings: readonly Finding[]): Outcome {
  const isWrong = findings.some(({ is_right }) => !is_right)
  const lines = findings.map(
    ({ what, is_right, told }) => `${is_right ? 'ok   ' : 'WRONG'}  ${what.padEnd(9)}  ${told}`,
  )
  const data = { is_right: !isWrong, findings: findings as never }
  return { text: lines.join('\n'), data, exitCode: isWrong ? 1 : 0 }
}
