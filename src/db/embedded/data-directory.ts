/**
 * The data directory on disk: `pg` is the cluster, `pg.unfinished` stands beside it while it is being made,
 * `lock` is the lock. Owns what is found there at start. Does not know how a cluster is made or run.
 */
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { Log } from '../open.ts'
import { StartupError } from '../startup-error.ts'
import { makeDirectory, makeTreePrivate, syncDirectory, syncTree } from './disk.ts'

/** The PostgreSQL major version inside the embedded engine; a cluster of another cannot be opened. */
export const embeddedMajor = '18'

/**
 * Makes `dataDir` ready for the engine and returns the cluster's directory, and whether a cluster has to be
 * made in it. What an interrupted first start left is cleared away, and rights that others have to what is
 * there. Throws a StartupError when that is not ours to open. The caller holds the lock.
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
    {
      flush: true,
      mode: 0o600,
    },
  )
  syncDirectory(dataDir)
  makeDirectory(cluster)
  return { cluster, fresh: true }
}

/**
 * Ends what `prepareCluster` began: everything is on the disk before the marker goes. Only then may anything
 * be promised.
 */
export async function finishCluster(dataDir: string): Promise<void> {
  await syncTree(path.join(dataDir, 'pg'))
  fs.rmSync(marker(dataDir))
  syncDirectory(dataDir)
}

/** Whether `dataDir` has a database, of whatever version; one whose making was interrupted is none. */
export function hasCluster(dataDir: string): boolean {
  const cluster = path.join(dataDir, 'pg')
  return !fs.existsSync(marker(dataDir)) && fs.existsSync(cluster) && fs.readdirSync(cluster).length > 0
}

/**
 * Makes the closed cluster of the data directory `from` that of `dataDir`, which has none: from one moment to
 * the next, so that it is never there in part. The caller holds the lock of `dataDir`.
 */
export function adoptCluster(dataDir: string, from: string): void {
  fs.rmSync(path.join(dataDir, 'pg'), { recursive: true, force: true })
  fs.rmSync(marker(dataDir), { force: true })
  syncDirectory(dataDir)
  fs.renameSync(path.join(from, 'pg'), path.join(dataDir, 'pg'))
  syncDirectory(dataDir)
}

/**
 * Copies the cluster of `dataDir` into the data directory `to`. The engine must be idle: then the copy is
 * what a power cut would leave, all that was committed, and opens like that. Without a second copy on the
 * disk where the file system can (reflinks).
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
 * Earlier versions made files that anybody could read. Where the rights are somebody else's to give, the
 * operator should know.
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
