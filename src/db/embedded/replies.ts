/**
 * Answers on their way from the engine's thread, which can send a message only at the end of a batch. So it
 * gathers answers in shared memory, and the service's thread may read them early. Owns who may read, and
 * when. A part is the answers between two messages; it has a number, and grows until its message is sent. The
 * service's thread reads only the part whose message it waits for, and drops from the message the bytes it
 * read early.
 */
import type { FromEngine } from './messages.ts'

/** The memory of both threads. */
export type SharedBuffer = {
  readonly state: Int32Array<SharedArrayBuffer>
  readonly bytes: Uint8Array<SharedArrayBuffer>
}

const [part, length] = [0, 1]
const capacity = 256 * 1024

/** The engine thread's side. */
export class ReplyWriter {
  readonly shared: SharedBuffer = {
    state: new Int32Array(new SharedArrayBuffer(8)),
    bytes: new Uint8Array(new SharedArrayBuffer(capacity)),
  }
  private length = 0

  /** Adds as many of `bytes` as fit; returns their number. */
  add(bytes: Uint8Array): number {
    const fitting = bytes.subarray(0, capacity - this.length)
    this.shared.bytes.set(fitting, this.length)
    this.length += fitting.length
    Atomics.store(this.shared.state, length, this.length)
    return fitting.length
  }

  get isFull(): boolean {
    return this.length === capacity
  }

  /** Returns and ends this part. Its message must be sent before anything is added. */
  take(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.shared.bytes.subarray(0, this.length))
    this.length = 0
    Atomics.store(this.shared.state, length, 0)
    Atomics.add(this.shared.state, part, 1)
    return all
  }
}

/** The service thread's side. */
export class ReplyReader {
  private readonly shared: SharedBuffer
  private part = 0
  private taken = 0

  constructor(shared: SharedBuffer) {
    this.shared = shared
  }

  /** True if bytes were added, or a message sent, that were not read yet. */
  get hasMore(): boolean {
    return this.partNow() !== this.part || Atomics.load(this.shared.state, length) > this.taken
  }

  /**
   * The bytes added to the part since the last call; empty once it has ended, as its message is on its way.
   */
  early(): Uint8Array<ArrayBuffer> {
    const { state, bytes } = this.shared
    const end = this.partNow() === this.part ? Atomics.load(state, length) : 0
    const found = new Uint8Array(bytes.subarray(this.taken, Math.max(end, this.taken)))
    // If it has ended meanwhile, another part's bytes might be among these.
    if (this.partNow() !== this.part) return found.subarray(0, 0)
    this.taken += found.length
    return found
  }

  /** The rest of the part's message that was not read early. */
  rest(message: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const rest = message.subarray(this.taken)
    this.taken = 0
    this.part = (this.part + 1) | 0
    return rest
  }

  /** An atomic add of 0: unlike a mere load it is ordered after the reads before it. */
  private partNow(): number {
    return Atomics.add(this.shared.state, part, 0)
  }
}

/** Bytes of answers in one turn of the event loop. */
const bytesATurn = 1024 * 1024

/**
 * Passes messages on in order, but limits the bytes in each turn of the event loop: a long answer may have
 * hundreds of megabytes, and its messages come all at once.
 */
export function paced(receive: (message: FromEngine) => void): (message: FromEngine) => void {
  const waiting: FromEngine[] = []
  let left = bytesATurn
  const pass = () => {
    while (left > 0 && waiting.length > 0) {
      const message = waiting.shift()!
      if (message.kind === 'reply') left -= message.bytes.length
      receive(message)
    }
    if (left <= 0) setImmediate(goOn)
  }
  const goOn = () => {
    left = bytesATurn
    pass()
  }
  return message => {
    waiting.push(message)
    if (left > 0) pass()
  }
}
