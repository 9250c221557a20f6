/**
 * The data directory on disk. `pg` is the cluster. `pg.unfinished` marks a cluster that is still being made.
 * `lock` is the lock. Owns the state that a start finds there. Does not know how a cluster is made or run.
 */
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { Log } from '../open.ts'
import { StartupError } from '../startup-error.ts'
import { makeDirectory, makeTreePrivate, syncDirectory, syncTree } from './disk.ts'

/** The PostgreSQL major version of the embedded engine; it can't open a cluster of another. */
export const embeddedMajor = '18'

/**
 * Prepares `dataDir` for the engine. Returns the cluster's directory, and whether a cluster has to be made in
 * it. Removes the remains of an interrupted first start, and the rights of other users to the files. Throws a
 * StartupError when `dataDir` can't be used. The caller holds the lock.
 */
export function prepareCluster(
  dataDir: string,
  log: Log,
): { readonly cluster: string; readonly fresh: boolean } {
  const cluster = path.join(dataDir, 'pg')
  if (fs.existsSync(marker(dataDir))) fs.rmSync(cluster, { recursive: true, force: true })
  else if (fs.existsSync(cluster) && fs.readdirSync(cluster).length > 0) {
    refuseOtherMajor(cluster)
    makePrivate(cluster, log)
    return { cluster, fresh: false }
  }
  // The marker is on the disk before the first file of the cluster is.
  fs.writeFileSync(
    marker(dataDir),
    'The database in pg is being made. If this stays behind, the next start makes it anew.\n',
    { flush: true, mode: 0o600 },
  )
  syncDirectory(dataDir)
  makeDirectory(cluster)
  return { cluster, fresh: true }
}

/**
 * Completes `prepareCluster`: removes the marker when everything is flushed to disk. Nothing may be
 * acknowledged before that.
 */
export async function finishCluster(dataDir: string): Promise<void> {
  await syncTree(path.join(dataDir, 'pg'))
  fs.rmSync(marker(dataDir))
  syncDirectory(dataDir)
}

/** True if `dataDir` has a database of any version. An unfinished cluster is none. */
export function hasCluster(dataDir: string): boolean {
  const cluster = path.join(dataDir, 'pg')
  return !fs.existsSync(marker(dataDir)) && fs.existsSync(cluster) && fs.readdirSync(cluster).length > 0
}

/**
 * Moves the closed cluster of the data directory `from` into `dataDir`, which has none. One rename makes it
 * atomic. The caller holds the lock of `dataDir`.
 */
export function adoptCluster(dataDir: string, from: string): void {
  fs.rmSync(path.join(dataDir, 'pg'), { recursive: true, force: true })
  fs.rmSync(marker(dataDir), { force: true })
  syncDirectory(dataDir)
  fs.renameSync(path.join(from, 'pg'), path.join(dataDir, 'pg'))
  syncDirectory(dataDir)
}

/**
 * Copies the cluster of `dataDir` into the data directory `to`. The engine must be idle. The copy has
 * everything committed, and opens as after a power cut. Where the file system has reflinks, the copy takes no
 * space.
 */
export async function copyCluster(dataDir: string, to: string): Promise<void> {
  const mode = fs.constants.COPYFILE_FICLONE
  await fs.promises.cp(path.join(dataDir, 'pg'), path.join(to, 'pg'), {
    recursive: true,
    errorOnExist: true,
    force: false,
    mode,
  })
}

function marker(dataDir: string): string {
  return path.join(dataDir, 'pg.unfinished')
}

/**
 * Earlier versions made world-readable files. When this process may not change their mode, the operator gets
 * a log line.
 */
function makePrivate(cluster: string, log: Log): void {
  try {
    makeTreePrivate(cluster)
  } catch (error) {
    log(
      `Others may read the database: the rights to its files can't be changed (${(error as Error).message}).`,
    )
  }
}

function refuseOtherMajor(cluster: string): void {
  const file = path.join(cluster, 'PG_VERSION')
  if (!fs.existsSync(file))
    throw new StartupError(
      `${cluster} is not a database directory. Move it away, or set DATA_DIR to another directory.`,
    )
  const major = fs.readFileSync(file, 'utf8').trim()
  if (major === embeddedMajor) return
  throw new StartupError(
    `${cluster} was made by PostgreSQL ${major} and this version runs PostgreSQL ${embeddedMajor}. ` +
      'Export the data with the version that made it ("npm run backup -- FILE") and restore it here into an empty DATA_DIR ' +
      '("npm run restore -- FILE"); the old directory was not touched.',
  )
}
