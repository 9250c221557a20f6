/**
 * Writes a ZIP archive as a stream, by yazl: an entry is compressed as it arrives, and its size follows it.
 * For the few files of a workbook. Knows nothing of their contents.
 */
import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'

export type Entry = { readonly name: string; readonly content: AsyncIterable<Uint8Array> }

/** Streaming readers of workbooks support no larger entries. */
const sizeMax = 0xffffffff
/** The earliest possible time, so the same records produce the same bytes. */
const options = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true, compressionLevel: 1 }

/**
 * The bytes of the archive. Throws the error of an entry, and if an entry has more than 4 GiB; ends the
 * entries when it is ended.
 */
export async function* zipped(entries: readonly Entry[]): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  const contents = entries.map(({ name, content }) => {
    const stream = Readable.from(bounded(content))
    // Pipes, which yazl uses, don't forward errors.
    stream.once('error', error => output.destroy(error))
    zip.addReadStream(stream, name, options)
    return stream
  })
  zip.end()
  try {
    yield* output as AsyncIterable<Uint8Array>
  } finally {
    for (const stream of contents) stream.destroy()
  }
}

async function* bounded(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of content) {
    size += chunk.length
    if (size > sizeMax) throw new Error('an entry of an archive has more than 4 GiB')
    yield chunk
  }
}
