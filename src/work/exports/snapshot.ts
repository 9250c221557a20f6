/**
 * An export from a server: a cursor in a transaction of one snapshot, over a connection of its own (D81). It
 * is read at full speed, however slow the client is, and ends when the export is complete. Knows no format.
 */
import { fetchLines } from '../../db/cursor.ts'
import type { Database, PoolTransaction } from '../../db/open.ts'
import type { Reader } from '../../records/store.ts'
import { WaitEnded } from '../../waiting/fair-semaphore.ts'
import { contentOf, refuseTooMany } from './content.ts'
import type { ExportContext, ExportResult } from './export.ts'
import { lineStatement, scanStatement } from './scan.ts'
import { Spool } from './spool.ts'

/** Time limit of an export. Meanwhile the server retains what others change and delete, so it must end. */
const limitMs = 2 * 3_600_000

/** Resolves at the first bytes, so that an immediate failure can be refused. */
export function streamed(
  snapshot: NonNullable<Database['snapshot']>,
  asked: ExportContext,
): Promise<ExportResult> {
  const limit = AbortSignal.timeout(limitMs)
  const signal = AbortSignal.any([asked.ended, limit])
  return new Promise((resolve, reject) => {
    const spool = new Spool(asked.quota)
    const begun = () => resolve({ content: spool, bytes: null, completed })
    const completed = snapshot(async tx => {
      const reader: Reader = { query: (text, params = []) => tx.query(text, params) }
      await refuseTooMany(reader, asked)
      for await (const chunk of contentOf(asked, reader, linesOf(tx, asked))) {
        if (signal.aborted) throw new WaitEnded('Nobody waits for it')
        if (!(await spool.offer(chunk))) await spool.pass(chunk)
        begun()
      }
      spool.finish()
      begun()
    }, signal).catch(error => {
      spool.destroy(limit.aborted ? new Error('The export took too long') : error)
      reject(error)
    })
  })
}

function linesOf(tx: PoolTransaction, { caller, request }: ExportContext): AsyncGenerator<Uint8Array[]> {
  const one = async (place: string) => {
    const { text, values } = lineStatement(caller, request.list, place)
    const [row] = await tx.query<[Uint8Array][]>(text, values, { raw: true })
    return row![0]
  }
  return fetchLines(tx, scanStatement(caller, request.list), one)
}
