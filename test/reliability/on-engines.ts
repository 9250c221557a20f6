/** The scripts of this folder that run on a new database of each engine: the database, and the verdict. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, startPostgres, type TestServer } from '../support/postgres.ts'
import { migratedDirectory } from '../support/prepared.ts'
import { serviceEnv } from './service-process.ts'

export type EngineName = 'embedded' | 'postgres'

/** A new database: in a directory, or on a server of its own. */
export type Target = {
  readonly directory: string
  readonly server: TestServer | null
  /** where it is, for `openDatabase` */
  readonly open: { readonly url: string } | { readonly dataDir: string }
  /** the environment of a service that uses it */
  readonly env: NodeJS.ProcessEnv
}

/** The counts of a scenario, by name. */
export type Counts = { readonly [name: string]: number }

/** Work during which the service is killed, over and over, and the count of what is wrong afterwards. */
export type Scenario = {
  /** default number of rounds */
  readonly rounds: number
  /** the engines where it can be carried out; default: all */
  readonly engines?: readonly EngineName[]
  /** what it needs and does not have here */
  readonly needs?: string | null
  act(target: Target, rounds: number, say: (line: string) => void): Promise<Counts>
  /** the counts that must be zero, and those that must not */
  readonly zero: readonly string[]
  readonly some: readonly string[]
}

/** Runs `act` on a new database, which is removed afterwards; null if the engine is not installed. */
export async function onEngine<T>(
  engine: EngineName,
  act: (target: Target) => Promise<T>,
): Promise<T | null> {
  const server = engine === 'postgres' ? await startPostgres(true) : null
  if (engine === 'postgres' && !server) return null
  const directory = mkdtempSync(join(tmpdir(), 'dealwright-kill-'))
  try {
    const url = server && (await createDatabase(server.url))
    const open = url ? { url } : { dataDir: directory }
    if (!url) migratedDirectory(directory)
    const env = { ...serviceEnv(directory), DATABASE_URL: url ?? '', LOG_LEVEL: 'error' }
    return await act({ directory, server, open, env })
  } finally {
    await server?.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The requested engines. */
export function enginesOf(given: string | undefined): readonly EngineName[] {
  if (given === undefined) return ['embedded', 'postgres']
  if (given === 'embedded' || given === 'postgres') return [given]
  throw new Error(`--engine is embedded or postgres, not ${given}`)
}

/** Makes the process end with 1 if anything is wrong. */
export function judge(wrong: readonly string[]): void {
  for (const one of wrong) console.error(`Wrong: ${one}`)
  if (wrong.length > 0) process.exitCode = 1
}
