/** A server that counts its statements, by pg_stat_statements. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask } from '../test/support/citus.ts'
import { createDatabase, hasLibrary, startPostgres } from '../test/support/postgres.ts'
import { endAll } from './processes.ts'

const library = 'pg_stat_statements'

/** Runs `act` on a new database of such a server, then ends the bench. Prints a line if there is none. */
export async function onCountingServer(act: (url: string) => Promise<void>): Promise<never> {
  const server = hasLibrary(library) ? await startPostgres(true, load) : null
  if (server) {
    const url = await createDatabase(server.url)
    await ask(url, `CREATE EXTENSION ${library}`)
    await act(url)
  } else console.log(`PostgreSQL with ${library} is not installed here.`)
  endAll()
  await server?.stop()
  process.exit(0)
}

function load(data: string): void {
  appendFileSync(join(data, 'postgresql.conf'), `shared_preload_libraries = '${library}'\n`)
}

/** The statements of a database so far. */
export async function statementsOf(url: string): Promise<number> {
  const text = `SELECT coalesce(sum(calls), 0)::int AS calls FROM ${library} s
    JOIN pg_database d ON d.oid = s.dbid AND d.datname = current_database()
    WHERE s.query NOT LIKE '%${library}%'`
  const [row] = (await ask(url, text)) as { calls: number }[]
  return row!.calls
}
