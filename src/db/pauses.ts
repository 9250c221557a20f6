/**
 * Writes of an account that wait, while all its records are read on the embedded engine (D81). Owns who
 * writes and who waits; knows nothing of what is read or written.
 */
import { DatabaseUnavailable } from './unavailable.ts'

/** The writes of an account; there as long as there are any, or none may begin. */
type Gate = {
  /** how many have begun */
  writes: number
  /** the end of the pause; null when there is none */
  pause: Promise<void> | null
  /** let those begin that have come during the pause */
  readonly waiting: Set<() => void>
  /** says that all that had begun are over */
  idle: (() => void) | null
}

export class Pauses {
  readonly #gates = new Map<string, Gate>()
  readonly #waitMs: number

  /** `waitMs`: how long a write may wait */
  constructor(waitMs: number) {
    this.#waitMs = waitMs
  }

  /** Carries out `act` while the account is not written to. Waits for another such act. */
  async during<T>(account: string, act: () => Promise<T>): Promise<T> {
    for (let other = this.#gates.get(account)?.pause; other; other = this.#gates.get(account)?.pause)
      await other
    const gate = this.#gate(account)
    const { promise, resolve } = Promise.withResolvers<void>()
    gate.pause = promise
    try {
      if (gate.writes > 0) await new Promise<void>(idle => (gate.idle = idle))
      return await act()
    } finally {
      gate.pause = null
      // They begin before the next such act can keep them waiting: no write waits for one after the other.
      gate.writes += gate.waiting.size
      for (const begin of gate.waiting) begin()
      gate.waiting.clear()
      this.#leave(account, gate)
      resolve()
    }
  }

  /**
   * Carries out a write as soon as the account may be written to. Throws DatabaseUnavailable when that takes
   * too long.
   */
  async writing<T>(account: string, write: () => Promise<T>): Promise<T> {
    const gate = this.#gate(account)
    if (gate.pause) await this.#begun(gate)
    else gate.writes++
    try {
      return await write()
    } finally {
      gate.writes--
      this.#leave(account, gate)
    }
  }

  #gate(account: string): Gate {
    let gate = this.#gates.get(account)
    if (!gate) {
      gate = { writes: 0, pause: null, waiting: new Set(), idle: null }
      this.#gates.set(account, gate)
    }
    return gate
  }

  #begun({ waiting }: Gate): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(begin)
        reject(new DatabaseUnavailable('All records of the account are being read'))
      }, this.#waitMs)
      waiting.add(begin)
    })
  }

  #leave(account: string, gate: Gate): void {
    if (gate.writes > 0) return
    gate.idle?.()
    gate.idle = null
    if (!gate.pause) this.#gates.delete(account)
  }
}
