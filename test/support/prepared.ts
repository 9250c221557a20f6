/**
 * Databases after a first start, for services under test. Each is made once, on first use, and copied from
 * then on: making one takes several times as long as a copy.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { firstStart } from '../../src/accounts/first-start.ts'
import { createSample } from '../../src/accounts/sample/sample.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type Database, type DatabaseOptions, openDatabase } from '../../src/db/open.ts'
import { makeReadyDatabase, readyDatabase } from '../../src/db/ready-database.ts'
import { citusUrl, distributeDatabase } from './citus.ts'
import { createDatabase } from './postgres.ts'
import { keepRows } from './shared-engine.ts'
import { keepDaysSteady } from './steady-days.ts'
import { timeouts } from './timeouts.ts'

/** Options with which `openDatabase` opens it. */
type Location = Server | { readonly template: string }
type Server = { readonly url: string; readonly pooler?: DatabaseOptions['pooler'] }
type Started = { readonly location: Location; readonly token: string }
type Prepared = { readonly original: string; readonly token: string | null }
type Content = 'tables' | 'account' | 'sample'

/** The folder shared by the files of a run (test/run.ts); a file that runs alone has its own. */
const folder = process.env.TEST_PREPARED ?? ownFolder()
/** the server of the engine under test; undefined for the embedded engine */
const serverUrl = process.env.TEST_ENGINE === 'postgres' ? process.env.TEST_DATABASE_URL! : undefined
const log = () => {}
// The file may be of other migrations than those of now.
if (!serverUrl) await makeReadyDatabase()

function ownFolder(): string {
  const made = mkdtempSync(join(tmpdir(), 'dealwright-prepared-'))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  return made
}

/** A database of the engine under test, with an account and its token. */
export async function startedDatabase(sampleData: boolean): Promise<Started> {
  const { location, token } = await copyOf(sampleData ? 'sample' : 'account')
  return { location, token: token! }
}

/** A database with the tables and no account, as a first start has it after migrating. */
export async function migratedDatabase(): Promise<Location> {
  return serverUrl ? (await copyOf('tables')).location : { template: readyDatabase() }
}

/** Puts a database with the tables and no account into a data directory, as a killed first start may. */
export function migratedDirectory(dataDir: string): void {
  const cluster = join(dataDir, 'pg')
  mkdirSync(cluster, { recursive: true })
  execFileSync('tar', ['-xzf', readyDatabase(), '-C', cluster])
}

async function copyOf(content: Content): Promise<{ location: Location; token: string | null }> {
  const { original, token } = await preparedOn(content)
  if (!serverUrl) return { location: { template: original }, token }
  const own = await createDatabase(serverUrl, `TEMPLATE ${original}`)
  if (citusUrl) await distributeDatabase(own)
  return { location: { url: own }, token }
}

/** The database that is copied, on the engine under test. */
async function preparedOn(content: Content): Promise<Prepared> {
  const file = join(folder, `${serverUrl ? 'server' : 'embedded'}-${content}`)
  if (!existsSync(file)) {
    // Concurrent makers each make one, and all take the first.
    const own = `${file}-${randomUUID()}`
    const made = serverUrl ? await onServer(serverUrl, content) : await inFile(`${own}-files`, content)
    writeFileSync(own, JSON.stringify(made))
    try {
      linkSync(own, file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Starts an empty database of a server in place. */
export async function startedAt(server: Server, sampleData: boolean): Promise<Started> {
  const token = await withDatabase(server, db => begin(db, sampleData ? 'sample' : 'account'))
  return { location: server, token: token! }
}

async function onServer(server: string, content: Content): Promise<Prepared> {
  const url = await createDatabase(server)
  const token = await withDatabase({ url }, db => begin(db, content))
  return { original: basename(new URL(url).pathname), token }
}

async function inFile(dataDir: string, content: Content): Promise<Prepared> {
  const token = await withDatabase({ dataDir, template: readyDatabase() }, async db => {
    const made = await begin(db, content)
    await keepRows(db)
    await shrink(db)
    return made
  })
  const original = `${dataDir}.tar`
  execFileSync('tar', ['--format=ustar', '-cf', original, '-C', join(dataDir, 'pg'), '.'])
  rmSync(dataDir, { recursive: true })
  return { original, token }
}

async function begin(db: Database, content: Content): Promise<string | null> {
  await migrate(db)
  if (content === 'tables') return null
  const { token } = await firstStart(db, { now: new Date(), sampleData: content === 'sample', createSample })
  // Many tests compare two reads. No deal ages by a day between them.
  await keepDaysSteady(db)
  return token
}

/** Every start unpacks the file, so old log is removed. */
async function shrink(db: Database): Promise<void> {
  await db.sql.query('SET wal_recycle = off')
  await db.sql.query('SELECT pg_switch_wal()')
}

async function withDatabase<T>(
  location: Server | { dataDir: string; template: string },
  act: (db: Database) => Promise<T>,
): Promise<T> {
  const db = await openDatabase({ ...location, ...timeouts(600_000), log })
  return act(db).finally(() => db.close())
}
