/**
 * Answers on their way from the engine's thread. That thread can send a message only at the end of a batch.
 * So it gathers answers in memory that both threads share, and the service's thread may take them early. Owns
 * who may read what, and when. Knows nothing of what they say. The answers between two messages are a part.
 * Each part has a number, and grows until its message takes it. The service's thread takes only from the part
 * whose message it waits for, and drops from that message what it has taken before.
 */
import type { FromEngine } from './messages.ts'

/** What both threads see. */
export type Shared = {
  readonly state: Int32Array<SharedArrayBuffer>
  readonly bytes: Uint8Array<SharedArrayBuffer>
}

const [part, length] = [0, 1]
const capacity = 256 * 1024

/** The side of the engine's thread. */
export class Gathered {
  readonly shared: Shared = {
    state: new Int32Array(new SharedArrayBuffer(8)),
    bytes: new Uint8Array(new SharedArrayBuffer(capacity)),
  }
  private length = 0

  /** Adds as many of `bytes` as fit; returns how many that were. */
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

  /** All of this part, which ends with it. Its message must be sent before anything is added. */
  take(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.shared.bytes.subarray(0, this.length))
    this.length = 0
    Atomics.store(this.shared.state, length, 0)
    Atomics.add(this.shared.state, part, 1)
    return all
  }
}

/** The side of the service's thread. */
export class Arriving {
  private readonly shared: Shared
  private part = 0
  private taken = 0

  constructor(shared: Shared) {
    this.shared = shared
  }

  /** Whether something has been added, or sent, that was not taken yet. */
  get hasMore(): boolean {
    return this.partNow() !== this.part || Atomics.load(this.shared.state, length) > this.taken
  }

  /**
   * What was added to the part since it was last asked for; nothing once it has ended, as its message is on
   * its way.
   */
  early(): Uint8Array<ArrayBuffer> {
    const { state, bytes } = this.shared
    const end = this.partNow() === this.part ? Atomics.load(state, length) : 0
    const found = new Uint8Array(bytes.subarray(this.taken, Math.max(end, this.taken)))
    // Had it ended meanwhile, another part's bytes might be among these.
    if (this.partNow() !== this.part) return found.subarray(0, 0)
    this.taken += found.length
    return found
  }

  /** What of the part's message was not taken early. */
  rest(message: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const rest = message.subarray(this.taken)
    this.taken = 0
    this.part = (this.part + 1) | 0
    return rest
  }

  /** A change that changes nothing: unlike a mere look it has its place after what was read before. */
  private partNow(): number {
    return Atomics.add(this.shared.state, part, 0)
  }
}

/** How many bytes of answers one turn of the event loop takes. */
const bytesATurn = 1024 * 1024

/**
 * Passes messages on in their order, but of a long answer only so much in each turn of the event loop: it may
 * have hundreds of megabytes, and its messages come all at once.
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
