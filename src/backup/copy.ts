/**
 * Copies an embedded database that a running service has open, for a backup. The backup sends a request to
 * the service; the service copies the database's files while its only session is idle. Knows nothing of the
 * copy's use.
 */
import { join } from 'node:path'
import { copyCluster } from '../db/embedded/data-directory.ts'
import type { Database } from '../db/open.ts'
import { type Answers, askService, ServiceRefusal } from '../local-socket.ts'
import { BackupError } from './backup-error.ts'
import { isCopyName } from './copies.ts'

/** The request handlers of the service that has `dataDir` open as `db`. */
export function copyAnswers(db: Database, dataDir: string): Answers {
  return {
    async copy({ folder }) {
      await copy(db, dataDir, String(folder))
      return {}
    },
  }
}

/** The transaction occupies the engine's only session: running statements end first, new ones wait for it. */
async function copy(db: Database, dataDir: string, name: string): Promise<void> {
  if (!isCopyName(name)) throw new Error('not a name of a copy')
  await db.sql.begin(async tx => {
    await tx.query('SELECT 1')
    await copyCluster(dataDir, join(dataDir, name))
    // Fails if the engine was reopened meanwhile, because opening it writes to the files.
    await tx.query('SELECT 1')
  })
}

/**
 * Requests a copy of the database in `dataDir` from the service that has it open, into the folder `name`
 * there. False if no service answers. Throws a BackupError if the service fails.
 */
export async function requestCopy(dataDir: string, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await askService(dataDir, 'copy', { folder: name }, signal)) !== null
  } catch (error) {
    if (!(error instanceof ServiceRefusal)) throw error
    throw new BackupError(`The running service could not copy its database: ${error.message}`)
  }
}
