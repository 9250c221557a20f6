/**
 * An export from a server: a cursor in a transaction of one snapshot, over a connection of its own (D81). It
 * is read as fast as the stream is, and ends with it. Knows no format.
 */
import { Readable } from 'node:stream'
import { fetchLines } from '../db/cursor.ts'
import { Waited } from '../db/fair-share.ts'
import type { Database, Transaction } from '../db/open.ts'
import { lineStatement, wholeStatement } from '../list/whole.ts'
import type { Reader } from '../records/store.ts'
import { contentOf, refuseTooMany } from './content.ts'
import type { Asked } from './export.ts'

/**
 * How long an export may take. While it runs, the server keeps what others change and delete: an end must
 * come.
 */
const limitMs = 2 * 3_600_000

/** The stream; it resolves when the first bytes are there, so that what fails at once can be refused. */
export function streamed(
  snapshot: NonNullable<Database['snapshot']>,
  asked: Asked,
  ended: AbortSignal,
): Promise<Readable> {
  const limit = AbortSignal.timeout(limitMs)
  const signal = AbortSignal.any([ended, limit])
  return new Promise((resolve, reject) => {
    snapshot(async tx => {
      const reader = readerOf(tx)
      await refuseTooMany(reader, asked)
      const content = contentOf(asked, reader, linesOf(tx, asked))
      const first = await content.next()
      if (signal.aborted) throw new Waited('Nobody waits for it')
      const stream = Readable.from(withFirst(first, content), { objectMode: false })
      const end = () => stream.destroy(limit.aborted ? new Error('The export took too long') : undefined)
      signal.addEventListener('abort', end)
      const closed = new Promise(close => stream.once('close', close))
      resolve(stream)
      await closed
      signal.removeEventListener('abort', end)
    }, signal).catch(reject)
  })
}

function linesOf(tx: Transaction, { fields, viewer, request }: Asked): AsyncGenerator<Uint8Array[]> {
  const one = async (place: string) => {
    const { text, values } = lineStatement(fields, viewer, place)
    const [row] = await tx.unsafe<[Uint8Array][]>(text, values, { raw: true })
    return row![0]
  }
  return fetchLines(tx, wholeStatement(fields, viewer, request.list), one)
}

/** What reads at the snapshot. */
function readerOf(tx: Transaction): Reader {
  return { query: (text, params = []) => tx.unsafe(text, params) }
}

async function* withFirst(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (first.done) return
  yield first.value
  yield* rest
}
