/**
 * `dealwright upgrade --check` (D154): tells what a start of this program would do to the database. Changes
 * nothing.
 */
import { existsSync } from 'node:fs'
import { grouped, size } from '../backup/progress.ts'
import { hasCluster } from '../db/embedded/data-directory.ts'
import { type Migration, nameOf, schemaVersion, withoutComments } from '../db/migrate.ts'
import { stoppingOf } from '../db/older-processes.ts'
import { type Database, openDatabase } from '../db/open.ts'
import { ask, sql } from '../sql.ts'
import { programVersion } from '../version.ts'
import { asRefusal, CommandRefusal, type Outcome, type Terminal } from './command.ts'
import { opened } from './database.ts'

type Table = { readonly name: string; readonly rows: number | null; readonly bytes: number }

/**
 * Opens the database itself. It does not ask a running service, whose program may be another one. Throws the
 * refusals.
 */
export async function checkUpgrade({ config, say }: Terminal): Promise<Outcome> {
  const { databaseUrl: url, pooler, dataDir } = config
  if (!url && !(existsSync(dataDir) && hasCluster(dataDir)))
    throw new CommandRefusal(
      `There is no database in ${dataDir}: set DATA_DIR or DATABASE_URL; a first start needs no upgrade.`,
    )
  try {
    const db = await openDatabase({ url, pooler, dataDir, ...opened, log: say })
    return await inspectUpgrade(db).finally(() => db.close())
  } catch (error) {
    throw asRefusal(error)
  }
}

async function inspectUpgrade(db: Database): Promise<Outcome> {
  const { version, known, pending } = await schemaVersion(db)
  const program = programVersion()
  if (version === 0)
    throw new CommandRefusal(
      'The database has no schema yet: set DATABASE_URL to another one, or start the service, which makes it.',
    )
  const tables = await tablesOf(db)
  const migrations = pending.map(file => ({
    version: file.version,
    name: file.name,
    is_concurrent: file.indexes.length > 0,
    tables: namedIn(file, tables),
  }))
  const stopped = stoppingOf(pending)
  const data = {
    ...{ program, version, known, needs_backup: pending.length > 0 },
    ...{ older_may_run: stopped.length === 0, migrations: migrations as never },
  }
  const schema = `The schema has version ${version}; this program, ${program}, has ${known}.`
  if (pending.length === 0) return { text: `${schema} A start changes nothing.`, data }
  const lines = migrations.map(({ tables, ...file }) => {
    const sizes = tables.map(({ name, rows, bytes }) => `${name} (${rowsOf(rows)}, ${size(bytes)})`)
    const how = file.is_concurrent ? 'while a server writes on; ' : ''
    return `  ${nameOf(file)}: ${how}${sizes.join(', ') || 'no table that is there'}`
  })
  const advice = 'Make a backup first: "dealwright backup FILE". A way back needs it.'
  const what = pending.length === 1 ? '1 migration, which names' : `${pending.length} migrations, which name`
  const count = `A start applies ${what} these tables:`
  // Only one process has a data directory open.
  const others = db.engine === 'postgres' ? [ofOlderProcesses(stopped)] : []
  return { text: [schema, count, ...lines, ...others, advice].join('\n'), data }
}

/** The sentence about processes of older versions (D177). `stopped`: the migrations that harm them. */
function ofOlderProcesses(stopped: readonly Migration[]): string {
  const [first, ...more] = stopped
  if (!first)
    return 'Processes of older versions may run on meanwhile and afterwards: restart them one after another.'
  const others = more.length ? ` and ${more.length} more` : ''
  return `Stop all processes of older versions first: ${nameOf(first)}${others} would harm them.`
}

/** The tables that a migration names. It may only look at some of them. */
function namedIn({ text }: Migration, tables: readonly Table[]): readonly Table[] {
  const words = new Set(withoutComments(text).match(/\w+/g))
  return tables.filter(({ name }) => words.has(name))
}

/** All tables, with the rows that the planner's statistics tell. */
async function tablesOf(db: Pick<Database, 'query'>): Promise<readonly Table[]> {
  const statement = sql`SELECT c.relname AS name, nullif(c.reltuples, -1)::bigint::text AS rows,
       pg_total_relation_size(c.oid)::text AS bytes
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = current_schema() AND c.relkind = 'r' ORDER BY c.relname`
  const rows = await ask(db, statement)
  return rows.map(({ name, rows, bytes }) => ({
    name: name!,
    rows: rows === null ? null : Number(rows),
    bytes: Number(bytes),
  }))
}

function rowsOf(rows: number | null): string {
  return rows === null ? 'rows not counted yet' : `about ${grouped(rows)} rows`
}
