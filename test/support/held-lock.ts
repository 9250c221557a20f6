/** Makes the interleaving of two writes certain: the one waits for the account's lock, the other has it. */
import { setTimeout as delay } from 'node:timers/promises'
import { loadCatalog } from '../../src/accounts/callers.ts'
import type { Database } from '../../src/db/open.ts'
import type { Json } from '../../src/json.ts'
import { workOn } from '../../src/records/work.ts'
import { updateRecord } from '../../src/records/write/save.ts'
import { resources } from '../../src/resources/resources.ts'
import { byQueries } from './by-queries.ts'
import { citusUrl } from './citus.ts'
import { eventually } from './eventually.ts'

/**
 * The embedded engine runs one transaction at a time, so nothing comes between there. On a cluster, the
 * workers wait, and the coordinator shows nothing of it.
 */
export const onServer = { skip: process.env.TEST_ENGINE !== 'postgres' || citusUrl !== undefined }

/** Updates a record of account 1 as its user 1 would, under the lock. */
type Update = (resource: string, id: number, body: Json) => Promise<unknown>

/** The result of `act`, which writes to account 1: `meanwhile` happens while it waits for the lock. */
export async function whileItWaits<T>(
  db: Database,
  act: () => Promise<T>,
  meanwhile: (update: Update) => Promise<unknown>,
): Promise<T> {
  const [result] = await db.sql.begin(async tx => {
    const held = byQueries({ query: (text, params = []) => tx.query(text, params) })
    await tx.query('SELECT FROM counter WHERE account_id = 1 FOR UPDATE', [])
    const result = act()
    await untilOneWaits(db)
    const catalog = await loadCatalog(db, resources, 1)
    await meanwhile((resource, id, body) =>
      updateRecord(workOn(held, { catalog, actor: 1 }, resource), id, body),
    )
    return [result]
  })
  return result!
}

/** Resolves when a write waits for the lock; where none is shown, after a moment. */
export async function untilOneWaits(db: Pick<Database, 'query'>): Promise<void> {
  if (onServer.skip) return delay(300)
  await eventually(async () => (await db.query(waiting)).length > 0, 'a write that waits for the lock')
}

const waiting = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%counter%'`
