/**
 * The start of a session: the login, and the server's parameters until it is ready for queries (PostgreSQL,
 * "Start-up"). Knows no statement.
 */
import type { Duplex } from 'node:stream'
import { DatabaseUnavailable, protocolViolation } from '../unavailable.ts'
import { endPointOf } from './channel-binding.ts'
import { type Binding, login } from './login.ts'
import { from, PostgresError, startup, statusOf } from './wire.ts'

export type GreetingOptions = {
  readonly user: string
  readonly password: string
  /** other parameters of the startup message, such as the database */
  readonly settings: Readonly<Record<string, string>>
  readonly channelBinding: Binding['wanted']
  /** wanted kind of server, as in libpq's target_session_attrs */
  readonly target: 'any' | 'read-write' | 'primary'
}

/** This server is not of the wanted kind, or not ready yet: another host of the address may be. */
export class WrongServer extends DatabaseUnavailable {}

/** Before the login a server is not trusted; no legitimate message of that phase is longer. */
export const longestGreeting = 65_536

export class Greeting {
  cancelKey: Buffer | undefined
  readonly #options: GreetingOptions
  readonly #made: Duplex
  readonly #fail: (error: unknown) => void
  readonly #answer: ReturnType<typeof login>
  readonly #status = new Map<string, string>()
  /** True if the server has accepted the login */
  isIn = false
  #isAnswering = false

  /** Begins it. `fail` takes errors that happen while nothing is received. */
  constructor(options: GreetingOptions, socket: Duplex, fail: (error: unknown) => void) {
    const { user, password, settings, channelBinding } = options
    this.#options = options
    this.#made = socket
    this.#fail = fail
    this.#answer = login(user, password, { wanted: channelBinding, hash: endPointOf(socket) })
    socket.write(startup({ user, ...settings }))
  }

  /**
   * Takes a message; returns true once the session is ready for queries. Throws NotHere, and
   * DatabaseUnavailable for the server's refusal and for a message out of place.
   */
  receive(type: number, body: Buffer): boolean {
    if (type === from.refusal) throw this.#refusal(new PostgresError(body))
    // A server that sends one challenge after the other would keep the processor busy.
    if (this.#isAnswering) throw protocolViolation('a message amid the login')
    if (type === from.authentication && !this.isIn) this.#logIn(body)
    else if (type === from.cancelKey && this.isIn) this.cancelKey = Buffer.from(body)
    else if (type === from.status && this.isIn) this.#note(...statusOf(body))
    else if (type === from.ready && this.isIn) return this.#begun()
    else throw protocolViolation('a message that does not belong to a login')
    return false
  }

  #logIn(body: Buffer): void {
    const answer = this.#answer(body)
    this.isIn = body.readUInt32BE(0) === 0
    if (answer instanceof Promise) void this.#send(answer)
    else if (answer) this.#made.write(answer)
  }

  async #send(worked: Promise<Buffer>): Promise<void> {
    this.#isAnswering = true
    try {
      const answer = await worked
      this.#isAnswering = false
      if (!this.#made.destroyed) this.#made.write(answer)
    } catch (error) {
      this.#fail(error)
    }
  }

  #note(name: string, value: string): void {
    if (name === 'in_hot_standby' || name === 'default_transaction_read_only') this.#status.set(name, value)
  }

  #begun(): true {
    const { target } = this.#options
    const is = (name: string) => this.#status.get(name) === 'on'
    if (target !== 'any' && is('in_hot_standby')) throw new WrongServer('The server is a standby')
    if (target === 'read-write' && is('default_transaction_read_only'))
      throw new WrongServer('The server takes no writes')
    return true
  }

  /** A server that is starting, or a standby that can't be read yet (57P03), is skipped, as by libpq. */
  #refusal(refusal: PostgresError): Error {
    const { message, code } = refusal
    return code === '57P03'
      ? new WrongServer(message, { cause: refusal })
      : new DatabaseUnavailable(message, { cause: refusal })
  }
}
