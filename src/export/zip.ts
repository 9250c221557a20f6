/**
 * A ZIP archive as a stream (PKWARE APPNOTE 6.3): what stands in an entry is compressed as it comes, and its
 * size follows it. Made for the few files of a workbook. Knows nothing of what they are.
 */
import { pipeline } from 'node:stream'
import { crc32, createDeflateRaw } from 'node:zlib'

export type Entry = { readonly name: string; readonly content: AsyncIterable<Uint8Array> }

/** Sizes have 32 bits: readers of workbooks know no larger ones in a stream. */
const sizeMax = 0xffffffff
/** Bit 3: sizes follow the content; bit 11: names are UTF-8. */
const flags = 0x0808
const [version, deflate] = [20, 8]
/** The first moment that there is, 1980-01-01: so the same records make the same bytes. */
const [time, date] = [0, 0x21]

type Written = { readonly name: Buffer; readonly offset: number } & Sizes
type Sizes = { crc: number; packed: number; size: number }

/** The bytes of the archive. Throws where an entry has more than 4 GiB. */
export async function* zipped(entries: readonly Entry[]): AsyncGenerator<Uint8Array> {
  const all: Written[] = []
  let offset = 0
  for (const { name: text, content } of entries) {
    const name = Buffer.from(text)
    const head = header(0x04034b50, [version, flags, deflate, time, date], [0, 0, 0], [name.length, 0], name)
    yield head
    const sizes: Sizes = { crc: 0, packed: 0, size: 0 }
    for await (const chunk of packed(content, sizes)) yield chunk
    if (Math.max(sizes.size, offset + sizes.packed) > sizeMax) throw new Error(`${text} has more than 4 GiB`)
    const foot = header(0x08074b50, [], [sizes.crc, sizes.packed, sizes.size], [])
    yield foot
    all.push({ name, offset, ...sizes })
    offset += head.length + sizes.packed + foot.length
  }
  const directory = Buffer.concat(all.map(directoryEntry))
  yield directory
  yield header(0x06054b50, [0, 0, all.length, all.length], [directory.length, offset], [0])
}

/** Compresses, and notes the sizes as they grow. */
async function* packed(content: AsyncIterable<Uint8Array>, sizes: Sizes): AsyncGenerator<Uint8Array> {
  const measured = async function* () {
    for await (const chunk of content) {
      sizes.crc = crc32(chunk, sizes.crc)
      sizes.size += chunk.length
      yield chunk
    }
  }
  // What fails destroys the last of them, and so is thrown where it is read.
  const compressed = pipeline(measured, createDeflateRaw({ level: 1 }), () => {})
  for await (const chunk of compressed as AsyncIterable<Buffer>) {
    sizes.packed += chunk.length
    yield chunk
  }
}

function directoryEntry({ name, offset, crc, packed, size }: Written): Buffer {
  const numbers = [crc, packed, size]
  const head = header(0x02014b50, [version, version, flags, deflate, time, date], numbers, [name.length])
  // No extra field, comment, disk or attributes.
  return Buffer.concat([head, header(null, [0, 0, 0, 0], [0, offset], []), name])
}

/** Little-endian numbers: a signature, shorts, longs, shorts; and bytes after them. */
function header(
  signature: number | null,
  shorts: readonly number[],
  longs: readonly number[],
  last: readonly number[],
  bytes: Buffer = Buffer.alloc(0),
): Buffer {
  const fixed = Buffer.alloc(
    (signature === null ? 0 : 4) + 2 * shorts.length + 4 * longs.length + 2 * last.length,
  )
  let at = signature === null ? 0 : fixed.writeUInt32LE(signature)
  for (const number of shorts) at = fixed.writeUInt16LE(number, at)
  for (const number of longs) at = fixed.writeUInt32LE(number, at)
  for (const number of last) at = fixed.writeUInt16LE(number, at)
  return Buffer.concat([fixed, bytes])
}
