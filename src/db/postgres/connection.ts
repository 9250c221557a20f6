/**
 * One connection to the database. Owns that an answer goes to its statement (response-queue.ts): a statement
 * is encoded before it is queued. Any error after that ends the connection, with everything under way
 * refused, before anything more is read. Knows nothing of the content of statements.
 */
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { type Ask, type AskBatch, OneRefused } from '../ask.ts'
import { clientFault, DatabaseUnavailable } from '../unavailable.ts'
import type { ConnectionOptions } from './connection-options.ts'
import { Expected } from './expected.ts'
import { Greeting, longestGreeting, WrongServer } from './greeting.ts'
import { requireShape } from './message-shape.ts'
import { checkSendable } from './protocol-limits.ts'
import { type PendingQuery, ResponseQueue } from './response-queue.ts'
import { sendCancel } from './send-cancel.ts'
import * as wire from './wire.ts'

/** PostgreSQL's own limit. */
const longestMessage = 2 ** 30

const [closeWithinMs, goodbyeMs, cancelWithinMs] = [5000, 1000, 5000]

export class Connection {
  readonly openedAt = performance.now()
  /** True if a statement was ever answered */
  hasAnswered = false
  readonly #options: ConnectionOptions
  readonly #responses = new ResponseQueue(query => this.#send(query))
  /** Bytes that can't be sent yet. */
  #unsent: Buffer[] = []
  #isReady = false
  #isInTransaction = false
  #over: Error | null = null
  readonly #expected = new Expected()
  #socket: Duplex | undefined
  /** the greeting of the current socket's server, which is one of those of the address */
  #greeting: Greeting | undefined
  #server = 0
  /** aborted when the session leaves that server */
  #left = new AbortController()
  #connectTimer: NodeJS.Timeout | undefined
  /** when it was last heard of; or asked, if nothing was under way */
  #signAt = 0
  readonly #ended = new AbortController()
  #onEmpty = () => {}

  constructor(options: ConnectionOptions) {
    this.#options = options
    void this.#begin()
  }

  /** number of statements that wait for their answers */
  get underWay(): number {
    return this.#responses.underWay
  }

  /** time since the server last answered, or since the first question after an idle time, in milliseconds */
  get silentMs(): number {
    return performance.now() - this.#signAt
  }

  readonly ask: Ask = (...statement) => {
    const isScript = statement[1] === undefined
    const all = isScript ? [statement] : [...this.#preamble, statement]
    return new Promise((resolve, reject) => this.#put(all, rows => resolve(rows.at(-1) as never), reject))
  }

  readonly askBatch: AskBatch = statements => {
    const preamble = this.#preamble
    const isOwn = (which: number | undefined) => which !== undefined && which >= preamble.length
    return new Promise((resolve, reject) =>
      this.#put(
        [...preamble, ...statements],
        rows => resolve(rows.slice(preamble.length) as wire.Row[][]),
        (error, which) => reject(isOwn(which) ? new OneRefused(which! - preamble.length, error) : error),
      ),
    )
  }

  /** Begins a transaction. Its mode can't be set after a query, which the preamble is. */
  begin(mode: string): Promise<void> {
    const all: Parameters<Ask>[] = [[`BEGIN ${mode}`, []], ...this.#preamble]
    return new Promise((resolve, reject) => this.#put(all, () => resolve(), reject))
  }

  /**
   * Cancels the running statement (57014). Send nothing more until it resolves: it might be cancelled
   * instead.
   */
  async cancel(): Promise<void> {
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(cancelWithinMs)])
    // The answer of the statement shows whether it was cancelled.
    const connect = this.#options.servers[this.#server]!
    await sendCancel(() => connect(signal), this.#greeting?.cancelKey, signal).catch(() => {})
  }

  /** Ends it at once; everything under way is refused for this reason. */
  end(reason: unknown): void {
    if (this.#over !== null) return
    this.#over = reason instanceof DatabaseUnavailable ? reason : clientFault(reason, this.#options.log)
    clearTimeout(this.#connectTimer)
    this.#responses.end(this.#over)
    this.#ended.abort()
    this.#left.abort()
    this.#socket?.destroy()
    this.#onEmpty()
    this.#options.onOver()
  }

  /** Ends it after the statements under way, waiting up to five seconds for them. */
  async close(): Promise<void> {
    const isEmpty = new Promise<void>(resolve => {
      this.#onEmpty = resolve
    })
    if (this.underWay > 0) await Promise.race([isEmpty, delay(closeWithinMs, undefined, { ref: false })])
    if (this.#isReady && this.#over === null) {
      const closed = new Promise(resolve => this.#socket!.once('close', resolve).end(wire.terminate))
      await Promise.race([closed, delay(goodbyeMs, undefined, { ref: false })])
    }
    this.end(new DatabaseUnavailable('The connection is closed'))
  }

  async #begin(): Promise<void> {
    const { delayMs } = this.#options
    try {
      if (delayMs > 0) await delay(delayMs, undefined, { signal: this.#ended.signal })
    } catch {
      return
    }
    await this.#enter(0, new Error('There is no server'))
  }

  /** Tries that server; if there is none, the session ends with the previous server's error. */
  async #enter(server: number, failure: Error): Promise<void> {
    const { servers, connectWithinMs } = this.#options
    const connect = servers[server]
    if (!connect) return this.#lose(failure)
    const left = new AbortController()
    this.#server = server
    this.#left = left
    this.#signAt = performance.now()
    const late = new DatabaseUnavailable('The connection could not be made in time')
    // A silent server leaves the next one its time.
    if (connectWithinMs !== null) this.#connectTimer = setTimeout(() => this.#leave(late), connectWithinMs)
    try {
      const socket = await connect(left.signal)
      if (left.signal.aborted) socket.on('error', () => {}).destroy()
      else this.#take(socket)
    } catch (error) {
      if (!left.signal.aborted) this.#leave(error as Error)
    }
  }

  #take(socket: Duplex): void {
    this.#socket = socket
    const isHere = () => this.#socket === socket
    socket.on('error', error => isHere() && this.#lose(error)).on('close', () => isHere() && this.#lose())
    this.#guard(() => this.#greet(socket))
  }

  #greet(socket: Duplex): void {
    const isRead = () => this.#over === null && this.#socket === socket
    const greeting = new Greeting(this.#options, socket, error => isRead() && this.end(error))
    this.#greeting = greeting
    const longest = () => (greeting.isIn ? longestMessage : longestGreeting)
    const read = wire.messageReader(longest, (type, body) => {
      if (!isRead()) return
      requireShape(type, body)
      if (type === wire.from.notice) this.#notice(body)
      else if (this.#isReady) this.#receive(type, body)
      else if (greeting.receive(type, body)) this.#begun()
    })
    socket.on('data', (chunk: Buffer) => {
      this.#signAt = performance.now()
      try {
        if (isRead()) read(chunk)
      } catch (error) {
        if (error instanceof WrongServer) this.#leave(error)
        else this.end(error)
      }
    })
  }

  /** Its queries wait for another server of the address. */
  #leave(why: Error): void {
    clearTimeout(this.#connectTimer)
    const made = this.#socket
    this.#socket = undefined
    this.#greeting = undefined
    this.#left.abort()
    made?.destroy()
    void this.#enter(this.#server + 1, why)
  }

  #notice(body: Buffer): void {
    // Before that the peer is not authenticated.
    if (this.#greeting?.isIn) this.#options.onNotice(wire.fieldsOf(body), this.#isReady)
  }

  #receive(type: number, body: Buffer): void {
    if (type === wire.from.status || type === wire.from.notification) return
    const refusal = type === wire.from.refusal ? new wire.PostgresError(body) : null
    if (refusal?.isFatal) throw new DatabaseUnavailable(refusal.message, { cause: refusal })
    this.#expected.take(type, body.length, refusal)
    if (refusal) this.#responses.refuse(refusal)
    else if (type === wire.from.ready) this.#finishFirst(String.fromCharCode(body[0]!))
    else this.#responses.receive(type, body)
  }

  #begun(): void {
    this.#isReady = true
    clearTimeout(this.#connectTimer)
    for (const bytes of this.#unsent) this.#socket!.write(bytes)
    this.#unsent = []
  }

  /** The preamble of a transaction that begins now. */
  get #preamble(): Parameters<Ask>[] {
    const { preamble } = this.#options
    return preamble && !this.#isInTransaction ? [preamble] : []
  }

  #finishFirst(state: string): void {
    this.hasAnswered = true
    this.#isInTransaction = state !== 'I'
    this.#responses.finishFirst(state)
    if (this.underWay === 0) this.#onEmpty()
    this.#options.onAnswer()
  }

  #put(
    asked: readonly Parameters<Ask>[],
    resolve: PendingQuery['resolve'],
    reject: PendingQuery['reject'],
  ): void {
    const refusals = asked.map(([text, params]) => checkSendable(text, params))
    const which = refusals.findIndex(refusal => refusal !== null)
    const isScript = asked[0]![1] === undefined
    if (this.#over !== null) reject(this.#over)
    else if (which >= 0) reject(refusals[which]!, which)
    else
      this.#send({
        statements: this.#responses.named(asked),
        isScript,
        at: 0,
        refusal: null,
        resolve,
        reject,
      })
  }

  #send(query: PendingQuery): void {
    const { statements, isScript } = query
    const bytes = isScript ? wire.script(statements[0]!.text) : wire.statements(statements)
    // From here on it is queued: an error must not leave it there unsent.
    this.#guard(() => {
      if (this.underWay === 0) this.#signAt = performance.now()
      this.#responses.add(query)
      this.#expected.add(isScript ? null : statements.length)
      if (!this.#isReady) this.#unsent.push(bytes)
      else if (!this.#options.isRemote) this.#socket!.write(bytes)
      else this.#gather(bytes)
    })
    if (this.#over !== null) query.reject(this.#over)
  }

  /**
   * Everything of one turn of the event loop is sent together at its end: fewer system calls, here and in
   * PostgreSQL.
   */
  #gather(bytes: Buffer): void {
    const socket = this.#socket!
    if (socket.writableCorked === 0) {
      socket.cork()
      setImmediate(() => this.#guard(() => socket.uncork()))
    }
    socket.write(bytes)
  }

  #guard(act: () => void): void {
    try {
      if (this.#over === null) act()
    } catch (error) {
      this.end(error)
    }
  }

  #lose(error: NodeJS.ErrnoException = new Error('The connection was lost')): void {
    const isKnown = error instanceof DatabaseUnavailable
    this.end(isKnown ? error : new DatabaseUnavailable(error.message || error.code, { cause: error }))
  }
}
