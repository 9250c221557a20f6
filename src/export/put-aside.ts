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
import type { ListDatabase } from '../list/list.ts'
import { recordsInSteps } from '../list/whole.ts'
import { ask, sql } from '../sql.ts'
import { contentOf, refuseTooMany } from './content.ts'
import type { Asked, ExportDatabase, Exported } from './export.ts'

/** The stream of the file, which is gone from its folder already. */
export async function putAside(db: ExportDatabase, asked: Asked, ended: AbortSignal): Promise<Exported> {
  const account = String(asked.viewer.catalog.account.id)
  const reader = db.inTurn({ account, signal: ended })
  const file = await openNameless()
  try {
    const before = await lastSeq(reader, account)
    let bytes = await made(reader, asked, file, ended)
    if ((await lastSeq(reader, account)) !== before)
      bytes = await db.whileUnwritten(account, () => made(reader, asked, file, ended))
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

/** Makes the export in the file. Returns its bytes. */
async function made(
  reader: ListDatabase,
  asked: Asked,
  file: FileHandle,
  ended: AbortSignal,
): Promise<number> {
  await file.truncate(0)
  await refuseTooMany(reader, asked)
  const steps = recordsInSteps(reader, asked.fields, asked.viewer, asked.request.list)
  let bytes = 0
  for await (const chunk of contentOf(asked, reader, steps)) {
    if (ended.aborted) throw new Waited('Nobody waits for it')
    await file.write(chunk, 0, chunk.length, bytes)
    bytes += chunk.length
  }
  return bytes
}

/** The number of the account's last event: every write of records moves it. */
async function lastSeq(reader: ListDatabase, account: string): Promise<string | null> {
  const [row] = await ask(
    reader,
    sql`SELECT last_seq::text AS seq FROM counter WHERE account_id = ${account}::bigint`,
  )
  return row!.seq!
}
