/** The PostgreSQL server of a bench: the one of BENCH_DATABASE_URL, or a throwaway one. */
import { createDatabase, dropDatabase, startPostgres } from '../test/support/postgres.ts'
import { endAll } from './processes.ts'

/**
 * Runs `act` on new databases of a server, which are dropped afterwards, after all processes of the bench
 * have ended. Prints a line if there is no server.
 */
export async function onServer<Urls extends [string, ...string[]] = [string]>(
  act: (...urls: Urls) => Promise<void>,
  databases: Urls['length'] = 1,
): Promise<void> {
  const given = process.env.BENCH_DATABASE_URL
  const server = given ? null : await startPostgres(true)
  const url = given ?? server?.url
  if (!url) return console.log('PostgreSQL is not installed here; set BENCH_DATABASE_URL to measure it.')
  const urls: string[] = []
  try {
    while (urls.length < databases) urls.push(await createDatabase(url))
    await act(...(urls as Urls))
  } finally {
    endAll()
    for (const made of urls) await dropDatabase(made)
    await server?.stop()
  }
}
