/** Suites that run on a new, empty database of each engine. */
import { describe, test } from 'node:test'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { createDatabase, dropDatabase, startPostgres } from './postgres.ts'
import { timeouts } from './timeouts.ts'

/** Runs `act` as a test on the embedded engine, and as one on PostgreSQL, where that is installed. */
export function onEachEngine(title: string, act: (db: Database) => Promise<void>): void {
  const run = async (url?: string) => {
    const db = await openDatabase({ url, ...timeouts(), log: () => {} })
    await act(db).finally(() => db.close())
  }
  describe(title, () => {
    test('embedded', () => run())
    test('PostgreSQL', async context => {
      const server = await startPostgres()
      if (!server) return context.skip('no PostgreSQL here')
      const url = await createDatabase(server.url)
      try {
        await run(url)
      } finally {
        await dropDatabase(url)
        await server.stop()
      }
    })
  })
}
