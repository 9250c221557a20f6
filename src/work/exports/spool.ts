/**
 * A spool: buffers the bytes of an export between its producer and its reader (D81). A reader that keeps up
 * gets them from memory. When it falls behind, they go to a temporary file, so that the producer does not
 * wait for it. Knows neither formats nor where the bytes come from.
 */
import { Readable } from 'node:stream'
import { WaitEnded } from '../../waiting/fair-semaphore.ts'
import { within } from '../../waiting/timeout.ts'
import { SpoolFile, type SpoolQuota } from './spool-file.ts'

/** Bytes that a spool holds in memory. */
const memoryMax = 1_048_576
/** Bytes that the reader gets at once: few, so that its progress can be measured. */
const pieceBytes = 65_536
/** Minimum speed of a reader that the producer waits for, and the grace period in total. */
const [bytesPerMs, graceMs] = [1000, 30_000]

/** The producer calls `offer`, `pass` and at last `finish`; the reader reads the stream. */
export class Spool extends Readable {
  /** number of bytes offered */
  bytes = 0
  /** the bytes before those in the file */
  readonly #memory: Uint8Array[] = []
  #inMemory = 0
  readonly #file: SpoolFile
  #isWanted = false
  #isReading = false
  #isWhole = false
  readonly #graceMs: number
  /** time that the producer still waits, beyond the time that the unread bytes may take */
  #patienceMs: number
  #onTaken = () => {}

  constructor(quota: SpoolQuota, grace = graceMs) {
    super({ highWaterMark: pieceBytes })
    this.#file = new SpoolFile(quota)
    this.#graceMs = grace
    this.#patienceMs = grace
    // The producer may fail before there is a listener. A later reader gets the error, too.
    this.on('error', () => {})
  }

  /** Takes bytes. False if neither memory nor the disk has room for them now. */
  async offer(chunk: Uint8Array): Promise<boolean> {
    this.#requireReader()
    if (this.#file.unread === 0) await this.#file.empty()
    if (this.#file.unread === 0 && this.#inMemory + chunk.length <= memoryMax) this.#remember(chunk)
    else if (await this.#file.append(chunk)) this.bytes += chunk.length
    else return false
    this.#serve()
    return true
  }

  /**
   * Takes bytes for which there is no room, once the reader has taken all others. Throws if the reader is
   * gone or too slow. A slow read reduces the grace period; a fast one restores it.
   */
  async pass(chunk: Uint8Array): Promise<void> {
    this.#requireReader()
    const until = performance.now() + this.#patienceMs + this.#unread / bytesPerMs
    while (this.#unread > 0) {
      const left = until - performance.now()
      if (left < 0) throw new Error('There is no room for the export, and its client reads too slowly')
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#onTaken = resolve
      await within(promise, left, () => {})
      this.#requireReader()
    }
    this.#patienceMs = Math.min(this.#graceMs, until - performance.now())
    this.#remember(chunk)
    this.#serve()
  }

  /** Marks the end of the bytes. */
  finish(): void {
    this.#isWhole = true
    this.#serve()
  }

  override _read(): void {
    this.#isWanted = true
    this.#serve()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#onTaken()
    void this.#file.close().then(() => done(error))
  }

  #requireReader(): void {
    if (this.destroyed) throw new WaitEnded('Nobody waits for the export')
  }

  get #unread(): number {
    return this.#inMemory + this.#file.unread
  }

  #remember(chunk: Uint8Array): void {
    this.bytes += chunk.length
    this.#inMemory += chunk.length
    this.#memory.push(chunk)
  }

  /** Gives the reader the next piece, if it wants one and there is one. */
  #serve(): void {
    if (!this.#isWanted || this.#isReading) return
    if (this.#memory.length > 0) this.#give(this.#fromMemory())
    else if (this.#file.unread > 0) void this.#giveFromFile()
    else if (this.#isWhole) this.#give(null)
  }

  #give(piece: Uint8Array | null): void {
    this.#isWanted = false
    this.push(piece)
    this.#onTaken()
  }

  #fromMemory(): Uint8Array {
    const [first] = this.#memory as [Uint8Array]
    const piece = first.subarray(0, pieceBytes)
    if (piece.length === first.length) this.#memory.shift()
    else this.#memory[0] = first.subarray(pieceBytes)
    this.#inMemory -= piece.length
    return piece
  }

  async #giveFromFile(): Promise<void> {
    this.#isReading = true
    try {
      const piece = await this.#file.next(pieceBytes)
      this.#isReading = false
      this.#give(piece)
    } catch (error) {
      this.destroy(error as Error)
    }
  }
}
