/**
 * The files in a ZIP archive (PKWARE APPNOTE 6.3), each as a stream. The directory is at the end of an
 * archive, so an upload is spooled to an unlinked temporary file. Guards against ZIP bombs: a file that
 * declares too large a size is refused, and one that exceeds its declared size or fails its checksum is
 * broken. ARCHITECTURE.md says why no package does this. Knows nothing of the files' contents.
 */
import type { FileHandle } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import { Refusal } from '../errors.ts'
import { openTemporary, withStorageErrors, writeAt } from '../temporary-file.ts'
import type { Share } from '../waiting/quota.ts'
import { unreadable } from './read-limits.ts'

/** in bytes: of the archive, of its directory, and of everything inflated from it */
const archiveMax = 1_073_741_824
const directoryMax = 4_194_304
const inflatedMax = 2_147_483_648
/** Maximum compression ratio, from `ratioFrom` bytes on. */
const ratioMax = 250
const ratioFrom = 16_777_216
const pieceBytes = 65_536
/** The end record has 22 bytes, and a comment of up to 64 kB. */
const [endBytes, commentMax] = [22, 65_535]
const signatures = { end: 0x06054b50, entry: 0x02014b50, local: 0x04034b50, compound: 0xe011cfd0 }
const [stored, deflated] = [0, 8]

type Entry = { readonly [name in 'flags' | 'method' | 'crc' | 'packed' | 'size' | 'offset']: number }

const hint = 'Save it as XLSX again, or as CSV.'

export class Archive {
  readonly #file: FileHandle
  readonly #close: () => Promise<void>
  #entries: ReadonlyMap<string, Entry> = new Map()
  #inflated = 0

  private constructor(file: FileHandle, close: () => Promise<void>) {
    this.#file = file
    this.#close = close
  }

  /**
   * Spools the bytes and reads the directory. `share`: the room on disk; null: as much as there is. Throws a
   * Refusal if they are no archive.
   */
  static async of(bytes: AsyncIterable<Uint8Array>, share: Share | null): Promise<Archive> {
    const file = await withStorageErrors(() => openTemporary('import'))
    let [size, taken] = [0, 0]
    const archive = new Archive(file, () => {
      share?.release(taken)
      taken = 0
      return file.close()
    })
    try {
      for await (const chunk of bytes) {
        if (size + chunk.length > archiveMax)
          throw tooLarge('The file has more than 1 GiB.', 'Split it, or save it as CSV.')
        if (share && !share.take(chunk.length)) throw noRoom()
        taken += chunk.length
        await withStorageErrors(() => writeAt(file, chunk, size))
        size += chunk.length
      }
      archive.#entries = await entriesOf(file, size)
      return archive
    } catch (error) {
      await archive.close()
      throw error
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** The content of a file, in pieces; nothing if there is no such file. */
  async *content(name: string): AsyncGenerator<Uint8Array> {
    const entry = this.#entries.get(name)
    if (!entry) return
    this.#judge(entry)
    const packed = packedOf(this.#file, entry)
    const content = entry.method === stored ? packed : pipeline(packed, createInflateRaw(), () => {})
    let [left, sum] = [entry.size, 0]
    try {
      for await (const chunk of content as AsyncIterable<Buffer>) {
        left -= chunk.length
        if (left < 0) break
        sum = crc32(chunk, sum)
        yield chunk
      }
    } catch (error) {
      // zlib reports faulty bytes by error codes of its own.
      throw String((error as { code?: unknown }).code).startsWith('Z_') ? broken() : error
    }
    if (left !== 0 || sum !== entry.crc) throw broken()
  }

  /** Throws a Refusal for a file that must not be unpacked. */
  #judge({ flags, method, packed, size }: Entry): void {
    if (flags & 1) throw unreadable(null, 'The file is protected by a password.', 'Save it without one.')
    if (method !== stored && method !== deflated)
      throw unreadable(null, 'The file is compressed in an unusual way.', hint)
    this.#inflated += size
    const isBomb = size > ratioFrom && size > packed * ratioMax
    if (isBomb || this.#inflated > inflatedMax)
      throw tooLarge('The file is too large when it is unpacked.', 'Save the sheet as CSV.')
  }

  /** Idempotent. */
  close(): Promise<void> {
    return this.#close()
  }
}

async function* packedOf(file: FileHandle, { offset, packed }: Entry): AsyncGenerator<Uint8Array> {
  const head = await piece(file, offset, 30)
  if (head.length < 30 || head.readUInt32LE(0) !== signatures.local) throw broken()
  let at = offset + 30 + head.readUInt16LE(26) + head.readUInt16LE(28)
  for (const end = at + packed; at < end; ) {
    const bytes = await piece(file, at, Math.min(end - at, pieceBytes))
    if (bytes.length === 0) throw broken()
    at += bytes.length
    yield bytes
  }
}

function noRoom(): Refusal {
  const detail =
    'Your account uploads as much as it may have at a time. Try again when a workbook has been read.'
  return new Refusal('overloaded', detail, [], { 'retry-after': '60' })
}

function tooLarge(what: string, hint: string): Error {
  return unreadable(null, what, hint, 'body_too_large')
}

function broken(): Error {
  return unreadable(null, 'The file is no whole XLSX file: it is damaged, or it was cut off.', hint)
}

async function piece(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at)
  return buffer.subarray(0, bytesRead)
}

async function entriesOf(file: FileHandle, size: number): Promise<Map<string, Entry>> {
  const head = await piece(file, 0, 4)
  if (head.length === 4 && head.readUInt32LE(0) === signatures.compound)
    throw unreadable(
      null,
      'The file is an old XLS file, or has a password.',
      'Save it as XLSX without a password.',
    )
  const tailBytes = Math.min(size, endBytes + commentMax)
  const tail = await piece(file, size - tailBytes, tailBytes)
  let end = tail.length - endBytes
  while (end >= 0 && tail.readUInt32LE(end) !== signatures.end) end--
  if (end < 0) throw broken()
  const [length, offset] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)]
  if (length > directoryMax || offset + length > size) throw broken()
  return listed(await piece(file, offset, length))
}

function listed(directory: Buffer): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === signatures.entry; ) {
    const [name, extra, comment] = [28, 30, 32].map(offset => directory.readUInt16LE(at + offset))
    entries.set(directory.toString('utf8', at + 46, at + 46 + name!), {
      flags: directory.readUInt16LE(at + 8),
      method: directory.readUInt16LE(at + 10),
      crc: directory.readUInt32LE(at + 16),
      packed: directory.readUInt32LE(at + 20),
      size: directory.readUInt32LE(at + 24),
      offset: directory.readUInt32LE(at + 42),
    })
    at += 46 + name! + extra! + comment!
  }
  return entries
}
