/** A FIFO queue of bytes in a temporary file: appended at its end, read from its start. Knows no export. */
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { openTemporary, writeAt } from '../../temporary-file.ts'
import type { Share } from '../../waiting/quota.ts'

/** An account's share of the disk, and the log for a full disk. */
export type SpoolQuota = Share & { readonly say: (line: string) => void }

export class SpoolFile {
  readonly #quota: SpoolQuota
  /** created on first use */
  #file: Promise<FileHandle> | null = null
  #hasFailed = false
  #isClosed = false
  /** start and end of the unread bytes */
  #from = 0
  #to = 0
  /** bytes taken from the quota */
  #taken = 0

  constructor(quota: SpoolQuota) {
    this.#quota = quota
  }

  /** Number of unread bytes. */
  get unread(): number {
    return this.#to - this.#from
  }

  /** False if the quota or the disk has no room for the bytes. The disk's error is reported once. */
  async append(chunk: Uint8Array): Promise<boolean> {
    if (this.#isClosed || !this.#quota.take(chunk.length)) return false
    this.#taken += chunk.length
    try {
      this.#file ??= openTemporary('export')
      await writeAt(await this.#file, chunk, this.#to)
      this.#to += chunk.length
      return true
    } catch (error) {
      if (!this.#hasFailed && !this.#isClosed)
        this.#quota.say(`The temporary file of an export can't be written in ${tmpdir()}: ${error}`)
      this.#hasFailed = true
      this.#release(chunk.length)
      return false
    }
  }

  /** The next bytes, `most` at most; there must be some. */
  async next(most: number): Promise<Uint8Array> {
    const file = await this.#file!
    const length = Math.min(most, this.unread)
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, this.#from)
    if (bytesRead === 0) throw new Error('The temporary file of an export has been cut')
    this.#from += bytesRead
    return buffer.subarray(0, bytesRead)
  }

  /** Frees the disk space; nothing may be unread. */
  async empty(): Promise<void> {
    if (this.#to === 0) return
    await (await this.#file!).truncate(0)
    this.#from = this.#to = 0
    this.#release(this.#taken)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#release(this.#taken)
    // Closing waits for pending operations.
    await this.#file?.then(file => file.close()).catch(() => {})
  }

  #release(bytes: number): void {
    const held = Math.min(bytes, this.#taken)
    this.#taken -= held
    this.#quota.release(held)
  }
}
