/**
 * `dealwright backup` and `dealwright restore` (D60), from their settings to their output. Owns the order of
 * their steps. Knows neither the terminal nor the environment: it prints through callbacks.
 */
import type { Log } from '../db/open.ts'
import { asStartupError } from '../db/startup-error.ts'
import { asUnavailable, DatabaseUnavailable } from '../db/unavailable.ts'
import type { Json } from '../json.ts'
import { programVersion } from '../version.ts'
import { dump } from './dump.ts'
import { readLines, requireNewFile, writeFile } from './file.ts'
import { BackupError, type BackupPart, readBackup } from './format.ts'
import { examine, load } from './load.ts'
import { grouped, type Progress, size } from './progress.ts'
import { type DatabaseLocation, withSource } from './source.ts'
import { requireFree, withTarget } from './target.ts'

export type CommandOptions = {
  readonly location: DatabaseLocation
  readonly file: string
  readonly now: Date
  readonly progress: Progress
  readonly log: Log
  /** Aborts the command, which cleans up. */
  readonly signal: AbortSignal
}

/** The result: for people, and for programs. */
export type CommandResult = { readonly text: string; readonly data: { readonly [name: string]: Json } }

/**
 * Writes the database to the file. Returns the line that reports it. Throws a BackupError or StartupError,
 * without leaving a file, if this is not possible. Rethrows faults of the program.
 */
export async function backup({
  location,
  file,
  now,
  progress,
  log,
  signal,
}: CommandOptions): Promise<CommandResult> {
  const startedAt = performance.now()
  requireNewFile(file)
  let bytes = 0
  const { tables, rows } = await withSource(location, log, signal, db =>
    dump(
      db,
      {
        now,
        serviceVersion: programVersion(),
        onRows: (done, of) =>
          progress.show(
            done > of ? `${grouped(done)} rows` : `${grouped(done)} of about ${grouped(of)} rows`,
          ),
        say: log,
      },
      async content => {
        bytes = (await writeFile(file, content, signal)).bytes
      },
    ),
  )
    .catch(plain)
    .finally(progress.clear)
  const text = `Backed up ${tables} tables, ${grouped(rows)} rows to ${file} (${size(bytes)}, ${seconds(startedAt)}).`
  return { text, data: { file, tables, rows, bytes } }
}

/**
 * Loads the file into the empty database, which then has this program's schema. Returns the line that reports
 * it. Throws a BackupError or StartupError, with the database still empty, if this is not possible. Rethrows
 * faults of the program.
 */
export async function restore({
  location,
  file,
  progress,
  log,
  signal,
}: CommandOptions): Promise<CommandResult> {
  const startedAt = performance.now()
  const parts = (): AsyncGenerator<BackupPart> => readBackup(readLines(file, signal))
  const restored = async () => {
    requireFree(location)
    progress.show('Checking the file…')
    // The whole file is checked before anything is changed, and again while it is loaded.
    const contents = await examine(parts())
    await withTarget(location, log, async db => {
      await load(db, parts(), contents, done =>
        progress.show(`${grouped(done)} of ${grouped(contents.total)} rows`),
      )
      progress.show('Analyzing the tables…')
      // The planner has no statistics of the new tables yet.
      await db.queryWithoutTimeLimit('ANALYZE')
    })
    return contents
  }
  const { header, total } = await restored().catch(plain).finally(progress.clear)
  const text =
    `Restored ${header.tables.length} tables, ${grouped(total)} rows from ${file} ` +
    `(made ${header.made_at} by ${header.service_version} on ${header.database}; ${seconds(startedAt)}).`
  return { text, data: { file, tables: header.tables.length, rows: total, made_at: header.made_at } }
}

/** Rethrows errors of the system, the network or PostgreSQL as one of one line, and others unchanged. */
export function plain(error: unknown): never {
  const refused = asUnavailable(asStartupError(error))
  if (refused instanceof DatabaseUnavailable) throw new BackupError(`${refused.message}.`, { cause: error })
  const { name, message, code } = refused as Error & { code?: string }
  if (name !== 'PostgresError') throw refused
  throw new BackupError(`The database refused it: ${message.replace(/\s+/g, ' ')} (${code}).`, {
    cause: error,
  })
}

export function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}
