/**
 * Decodes the text of a file. The encoding is requested or detected: by a byte order mark, by zeros beside
 * letters (UTF-16), by valid UTF-8, and else Windows-1252. Knows no format.
 */
import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { TimeSlice } from '../waiting/yielding.ts'
import { unreadable } from './read-limits.ts'

/** Bytes read to detect the encoding, and bytes decoded at a time. */
const headBytes = 65_536
const pieceBytes = 65_536

export type Text = { readonly encoding: string; readonly chunks: AsyncGenerator<string> }

/**
 * The next bytes, at least `size` unless they end; null at the end. Work for each chunk would make a file
 * expensive that comes byte by byte.
 */
export async function gathered(source: AsyncIterator<Uint8Array>, size: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  for (let length = 0; length < size; ) {
    const { done, value } = await source.next()
    if (done) break
    chunks.push(value)
    length += value.length
  }
  if (chunks.length === 0) return null
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

/** Thrown if the next bytes are invalid in the encoding. All text before them has been returned. */
export class InvalidText extends Error {
  readonly encoding: string
  constructor(encoding: string) {
    super(`not valid ${encoding}`)
    this.encoding = encoding
  }
}

/**
 * The text of the bytes, without a byte order mark, in chunks of up to 64 kB. `encoding`: a label of the
 * Encoding Standard such as `utf-8`, `utf-16le` or `windows-1252`. Throws a Refusal for an unknown one.
 */
export async function textOf(bytes: AsyncIterable<Uint8Array>, encoding?: string): Promise<Text> {
  const given = encoding === undefined ? null : decoderOf(encoding).encoding
  const source = bytes[Symbol.asyncIterator]()
  const head = (await gathered(source, headBytes)) ?? new Uint8Array()
  const begin = head.subarray(0, headBytes)
  // A byte order mark overrides the requested encoding.
  const found = markedEncoding(begin) ?? given ?? unmarkedEncoding(begin)
  return { encoding: found, chunks: decoded(decoderOf(found), head, source) }
}

function decoderOf(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding.trim(), { fatal: true })
  } catch {
    const what = `${JSON.stringify(encoding.slice(0, 50))} is no encoding that can be read.`
    throw unreadable(null, what, 'Choose utf-8, utf-16le, utf-16be or windows-1252.')
  }
}

function markedEncoding(head: Uint8Array): string | null {
  if (isMarked(head, 0xef, 0xbb, 0xbf)) return 'utf-8'
  if (isMarked(head, 0xff, 0xfe, 0, 0) || isMarked(head, 0, 0, 0xfe, 0xff))
    throw unreadable(null, 'The file is in UTF-32.', 'Save it as UTF-8.')
  if (isMarked(head, 0xff, 0xfe)) return 'utf-16le'
  return isMarked(head, 0xfe, 0xff) ? 'utf-16be' : null
}

function unmarkedEncoding(head: Uint8Array): string {
  const zeros = [0, 0]
  for (let at = 0; at < head.length; at++) if (head[at] === 0) zeros[at & 1]!++
  const [even, odd] = zeros as [number, number]
  const many = head.length * 0.2
  if (odd > many && even * 10 < odd) return 'utf-16le'
  if (even > many && odd * 10 < even) return 'utf-16be'
  return isValidBegin(head) || isMostlyUtf8(head) ? 'utf-8' : 'windows-1252'
}

/**
 * True if valid multi-byte characters are at least as many as wrong bytes. Letters of Windows-1252 hardly
 * ever form one. So a wrong byte is reported with its line, and the other characters stay right.
 */
function isMostlyUtf8(head: Uint8Array): boolean {
  const text = new TextDecoder('utf-8').decode(head)
  const [wrong, whole] = [/\ufffd/g, /[\u0080-\ufffc]|[\ud800-\udbff][\udc00-\udfff]/g].map(
    sign => text.match(sign)?.length ?? 0,
  )
  return whole! >= wrong!
}

function isMarked(head: Uint8Array, ...mark: readonly number[]): boolean {
  return mark.every((byte, at) => head[at] === byte)
}

/** Checks UTF-8 whose last character may be cut: it has at most four bytes. */
function isValidBegin(head: Uint8Array): boolean {
  const longest = head.length < headBytes ? 0 : 3
  for (let cut = 0; cut <= longest; cut++) if (isUtf8(head.subarray(0, head.length - cut))) return true
  return false
}

async function* decoded(
  decoder: TextDecoder,
  head: Uint8Array,
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<string> {
  const lenient = new TextDecoder(decoder.encoding)
  const slice = new TimeSlice()
  try {
    for (let bytes: Uint8Array | null = head; bytes; ) {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        const piece = bytes.subarray(at, at + pieceBytes)
        yield* decodedPiece(decoder, lenient, piece)
        if (slice.isOver) await slice.yield()
      }
      bytes = await gathered(source, pieceBytes)
    }
    const last = endOf(decoder)
    if (last) yield last
  } finally {
    await source.return?.()
  }
}

function* decodedPiece(decoder: TextDecoder, lenient: TextDecoder, piece: Uint8Array): Generator<string> {
  let text: string
  try {
    text = decoder.decode(piece, { stream: true })
  } catch {
    // Continuation bytes of a character that began in the previous piece are valid.
    let from = 0
    while (from < 3 && (piece[from]! & 0xc0) === 0x80) from++
    yield lenient.decode(piece.subarray(from)).split('\ufffd', 1)[0]!
    throw new InvalidText(decoder.encoding)
  }
  if (text) yield text
}

function endOf(decoder: TextDecoder): string {
  try {
    return decoder.decode()
  } catch {
    throw new InvalidText(decoder.encoding)
  }
}
