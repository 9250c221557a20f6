/**
 * An export from the embedded engine (D81). Its one connection must not wait for a slow reader, nor others
 * for a long transaction. So the export is produced in steps, between which others are served. It is a
 * consistent snapshot if nothing of the account changed meanwhile. If it did, the export is repeated, and the
 * account's writes wait for it. Knows no format.
 */
import type { Database } from '../../db/open.ts'
import { Refusal } from '../../errors.ts'
import { lastSeqSql } from '../../lists/total.ts'
import type { RawReader } from '../../records/store.ts'
import { ask, param, sql } from '../../sql.ts'
import { WaitEnded } from '../../waiting/fair-semaphore.ts'
import { contentOf, refuseTooMany } from './content.ts'
import type { ExportContext, ExportResult } from './export.ts'
import { scanInSteps } from './scan.ts'
import { Spool } from './spool.ts'

/** Resolves when the export is complete. */
export async function spooled(db: Database, asked: ExportContext): Promise<ExportResult> {
  const account = String(asked.caller.catalog.account.id)
  const reader = db.inTurn({ account, signal: asked.ended })
  const before = await quietSeq(reader, account)
  const free = before === null ? null : await spoolOf(reader, asked)
  try {
    if (free && (await quietSeq(reader, account)) === before) return resultOf(free)
  } catch (error) {
    free?.destroy()
    throw error
  }
  free?.destroy()
  return resultOf(await db.whileUnwritten(account, () => spoolOf(reader, asked)))
}

function resultOf(content: Spool): ExportResult {
  return { content, bytes: content.bytes, completed: Promise.resolve() }
}

/** Produces the export. Throws `overloaded` if there is no room for it. */
async function spoolOf(reader: RawReader, asked: ExportContext): Promise<Spool> {
  await refuseTooMany(reader, asked)
  const steps = scanInSteps(reader, asked.caller, asked.request.list)
  const spool = new Spool(asked.quota)
  try {
    for await (const chunk of contentOf(asked, reader, steps)) {
      if (asked.ended.aborted) throw new WaitEnded('Nobody waits for it')
      if (!(await spool.offer(chunk))) throw noRoom()
    }
    spool.finish()
    return spool
  } catch (error) {
    spool.destroy()
    throw error
  }
}

function noRoom(): Refusal {
  const why = 'There is no room for the temporary file of the export; try again when others have been read.'
  return new Refusal('overloaded', why, [], { 'retry-after': '10' })
}

/**
 * The number of the account's last event; null while records are brought in line with its configuration. All
 * other changes of what an export has come with an event.
 */
async function quietSeq(reader: RawReader, account: string): Promise<string | null> {
  const own = param(account)
  const statement = sql`SELECT ${lastSeqSql(own)} AS seq FROM account
      WHERE account_id = ${own}::bigint AND derived_version = catalog_version`
  const [row] = await ask(reader, statement)
  return row?.seq ?? null
}
