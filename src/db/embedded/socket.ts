/**
 * A Duplex that the database client uses like a network connection. It cuts written bytes into whole wire
 * messages. Owns the framing (PostgreSQL, "Message Formats"). Does not know what the messages mean, threads,
 * or the engine's life.
 */
import { Duplex } from 'node:stream'

/** Takes the messages. `alone` packets (start-up) must not share a batch with others. */
export type Outlet = {
  send(socket: EngineSocket, bytes: Uint8Array, alone: boolean): void
  forget(socket: EngineSocket): void
}

const sslRequest = 80877103
const gssRequest = 80877104
const terminate = 0x58

export class EngineSocket extends Duplex {
  readonly id: number
  private readonly outlet: Outlet
  private rest: Buffer = Buffer.alloc(0)
  private started = false

  constructor(id: number, outlet: Outlet) {
    super({ readableHighWaterMark: 1024 * 1024, writableHighWaterMark: 16 * 1024 * 1024 })
    this.id = id
    this.outlet = outlet
  }

  /** A member of net.Socket, which the client reads before it ends the connection. */
  get readyState(): 'open' | 'closed' {
    return this.destroyed ? 'closed' : 'open'
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const bytes = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk
    const used = this.started ? this.forward(bytes, 0) : this.begin(bytes)
    this.rest = used === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(used))
    done()
  }

  override _final(done: () => void): void {
    done()
    this.destroy()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.outlet.forget(this)
    done(error)
  }

  /** The packets before the session: they have a length but no type. Returns how many bytes were used. */
  private begin(bytes: Buffer): number {
    let at = 0
    while (!this.started && bytes.length - at >= 8) {
      const end = at + bytes.readUInt32BE(at)
      if (end > bytes.length) return at
      const code = bytes.readUInt32BE(at + 4)
      if (code === sslRequest || code === gssRequest) this.push('N')
      else {
        this.started = true
        this.outlet.send(this, bytes.subarray(at, end), true)
      }
      at = end
    }
    return this.started ? this.forward(bytes, at) : at
  }

  private forward(bytes: Buffer, from: number): number {
    let at = from
    while (bytes.length - at >= 5) {
      const end = at + 1 + bytes.readUInt32BE(at + 1)
      if (end > bytes.length) break
      // "Terminate" ends this connection, never the engine.
      if (bytes[at] === terminate) {
        if (at > from) this.outlet.send(this, bytes.subarray(from, at), false)
        return bytes.length
      }
      at = end
    }
    if (at > from) this.outlet.send(this, bytes.subarray(from, at), false)
    return at
  }
}
