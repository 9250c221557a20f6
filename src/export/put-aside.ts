/**
 * An export from the embedded engine (D81). Its one connection must not wait for a slow reader, nor others
 * for a long transaction. So the export is made at full speed, in steps between which others are served, into
 * a temporary file. It is of one moment if the account's `seq` did not move meanwhile. Where it did, it is
 * made again, and the account's writes wait that time. Knows no format.
 */
import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Waited } from '../db/fair-share.ts'
import { Refusal } from '../errors.ts'
import type { ListDatabase } from '../list/list.ts'
import { recordsInSteps } from '../list/whole.ts'
import type { Viewer } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import { contentOf, refuseTooMany } from './content.ts'
import type { Asked, ExportDatabase, Exported } from './export.ts'

/** How often it is made again. What a write had begun before the others waited may still come. */
const attemptsMax = 4

/** The stream of the file, which is gone from its folder already. */
export async function putAside(db: ExportDatabase, asked: Asked, ended: AbortSignal): Promise<Exported> {
  const account = String(asked.viewer.catalog.account.id)
  const reader = db.inTurn({ account, signal: ended })
  const file = await openNameless()
  try {
    let bytes = await made(reader, asked, file, ended)
    for (let attempt = 1; bytes === null && attempt < attemptsMax; attempt++)
      bytes = await db.whileUnwritten(account, () => made(reader, asked, file, ended))
    if (bytes === null) throw changedTooOften()
    return { content: file.createReadStream({ start: 0 }), bytes }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** A file that nobody finds, and that is gone when it is closed, even by the end of the process. */
async function openNameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `dealwright-export-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

/** Makes the export in the file. Returns its bytes; null when the account was written to meanwhile. */
async function made(
  reader: ListDatabase,
  asked: Asked,
  file: FileHandle,
  ended: AbortSignal,
): Promise<number | null> {
  await file.truncate(0)
  const before = await lastSeq(reader, asked.viewer)
  await refuseTooMany(reader, asked)
  const steps = recordsInSteps(reader, asked.fields, asked.viewer, asked.request.list)
  let bytes = 0
  for await (const chunk of contentOf(asked, reader, steps)) {
    if (ended.aborted) throw new Waited('Nobody waits for it')
    await file.write(chunk, 0, chunk.length, bytes)
    bytes += chunk.length
  }
  return (await lastSeq(reader, asked.viewer)) === before ? bytes : null
}

/** The number of the account's last event: every write of records moves it. */
async function lastSeq(reader: ListDatabase, { catalog }: Viewer): Promise<string | null> {
  const account = String(catalog.account.id)
  const [row] = await ask(
    reader,
    sql`SELECT last_seq::text AS seq FROM counter WHERE account_id = ${account}::bigint`,
  )
  return row!.seq!
}

function changedTooOften(): Refusal {
  const why = 'The account is changed too often for an export; try again in a moment.'
  return new Refusal('overloaded', why, [], { 'retry-after': '10' })
}
