/**
 * One connection to the database, for its one life. Owns that an answer goes to the statement that asked for
 * it: a statement is put into words before it is put in line, PostgreSQL answers in the order of the line,
 * and whatever is thrown after that ends the connection, with all that was under way refused, before anything
 * more is read. Knows nothing of what is asked.
 */
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { login } from './login.ts'
import { sendCancel } from './send-cancel.ts'
import { complaint } from './sendable.ts'
import { clientFault, DatabaseUnavailable } from './unavailable.ts'
import * as wire from './wire.ts'

export type AskOptions = {
  /** whether the connection keeps the statement prepared */
  readonly prepare?: boolean
  /** rows as arrays, each value the bytes that PostgreSQL sent */
  readonly raw?: boolean
  readonly turn?: Turn | undefined
}

/** How far what is asked has come in its connection's line; it may be several statements. */
export type Turn = {
  hasBegun: boolean
  /** since when PostgreSQL carries out one of them, by performance.now() */
  runsSince: number | null
  /** Called each time it is set. */
  readonly onBegin?: () => void
}

/**
 * Sends a statement with its parameters. Without any, not even an empty list, it is a script, which may be
 * several statements; the rows are those of the last that has any. Throws `StatementTooLarge`,
 * `PostgresError` for what PostgreSQL refuses, and DatabaseUnavailable.
 */
export type Ask = <R = wire.Row[]>(
  text: string,
  params?: readonly (string | null)[],
  options?: AskOptions,
) => Promise<R>

export type Session = {
  readonly ask: Ask
  /** how many statements wait for their answers */
  readonly underWay: number
  /** whether it has ever been of use */
  readonly hasAnswered: boolean
  readonly openedAt: number
  /**
   * Has a server end what it carries out (57014). Send nothing more until it resolves: it might be ended
   * instead.
   */
  cancel(): Promise<void>
  /** Ends it at once; what is under way is refused for this reason. */
  end(reason: Error): void
  /** Ends it after what is under way, waiting up to five seconds for that. */
  close(): Promise<void>
}

export type SessionOptions = {
  readonly user: string
  readonly password: string
  /** what PostgreSQL is told besides: the database, and parameters of its own */
  readonly settings: Readonly<Record<string, string>>
  /** Connects, unless told meanwhile that nobody wants it any more. */
  connect(signal: AbortSignal): Duplex | Promise<Duplex>
  /** how long it may take until it can be asked, in milliseconds; null where something else sees to that */
  readonly connectWithinMs: number | null
  /** Called after each answer. */
  onAnswer(): void
  /** Called once, when it is over. */
  onOver(): void
  /** Takes one line for the operator. */
  readonly log: (line: string) => void
}

type Statement = {
  readonly text: string
  readonly params: readonly (string | null)[] | undefined
  readonly isRaw: boolean
  readonly turn: Turn | undefined
  /** under which the connection keeps it; empty for one that it doesn't keep */
  readonly name: string
  /** whether PostgreSQL has its text still to read */
  isNew: boolean
  resolve(rows: unknown): void
  reject(error: Error): void
  /** the answer, as far as it has come */
  columns: readonly string[]
  rows: unknown[]
  refusal: wire.PostgresError | null
}

const [closeWithinMs, goodbyeMs, cancelWithinMs] = [5000, 1000, 5000]

export function openSession(options: SessionOptions): Session {
  const { user, password, settings, connectWithinMs, onAnswer, onOver, log } = options
  /** The statements that wait for their answers, in the order in which they were sent. */
  let line: Statement[] = []
  /** What can't be sent yet. */
  let unsent: Buffer[] = []
  /** The names of the statements that the connection keeps, by their texts. */
  const kept = new Map<string, string>()
  let lastName = 0
  let isReady = false
  let hasAnswered = false
  let over: Error | null = null
  let socket: Duplex | undefined
  let cancelKey: Buffer | undefined
  const ended = new AbortController()
  let onEmpty = () => {}

  const end = (reason: unknown) => {
    if (over !== null) return
    over = reason instanceof DatabaseUnavailable ? reason : clientFault(reason, log)
    clearTimeout(connectTimer)
    const refused = line
    line = []
    for (const { reject } of refused) reject(over)
    ended.abort()
    socket?.destroy()
    onEmpty()
    onOver()
  }
  const lost = (error: NodeJS.ErrnoException = new Error('The connection was lost')) =>
    end(new DatabaseUnavailable(error.message || error.code, { cause: error }))
  const connectTimer =
    connectWithinMs === null
      ? undefined
      : setTimeout(end, connectWithinMs, new DatabaseUnavailable('The connection could not be made in time'))

  const begin = async () => {
    const made = await options.connect(ended.signal)
    socket = made
    made.on('error', lost).on('close', () => lost())
    if (over !== null) return void made.destroy()
    const answerLogin = login(user, password)
    const read = wire.messageReader((type, body) => {
      if (over !== null) return
      const answer = type === wire.from.authentication ? answerLogin(body) : receive(type, body)
      if (answer) made.write(answer)
    })
    made.on('data', (chunk: Buffer) => guard(() => read(chunk)))
    made.write(wire.startup({ user, ...settings }))
  }

  const receive = (type: number, body: Buffer): null => {
    // Without one the connection is out of step, and what this throws ends it.
    const first = line[0]!
    switch (type) {
      case wire.from.row:
        first.rows.push(first.isRaw ? wire.readRawRow(body) : wire.readRow(body, first.columns))
        break
      case wire.from.parsed:
        first.isNew = false
        break
      case wire.from.rowDescription:
        first.columns = wire.columnNames(body)
        first.rows = []
        break
      case wire.from.cancelKey:
        cancelKey = Buffer.from(body)
        break
      case wire.from.refusal: {
        const refusal = new wire.PostgresError(body)
        if (refusal.isFatal || !isReady) lost(refusal)
        else first.refusal = refusal
        break
      }
      case wire.from.ready:
        if (isReady) settle(String.fromCharCode(body[0]!))
        else begun()
        break
      case wire.from.copyIn:
      case wire.from.copyOut:
      case wire.from.copyBoth:
        throw new Error('COPY is not for this connection')
    }
    return null
  }

  const begun = () => {
    isReady = true
    clearTimeout(connectTimer)
    for (const bytes of unsent) socket!.write(bytes)
    unsent = []
  }

  /** The first in line has its answer whole. `state` is that of its transaction. */
  const settle = (state: string) => {
    const statement = line[0]!
    const { text, name, isNew, rows, refusal, turn } = statement
    hasAnswered = true
    if (turn) turn.runsSince = null
    const isOutdated = refusal !== null && name !== '' && outdated.has(refusal.routine ?? '')
    if ((isOutdated || (refusal !== null && isNew)) && kept.get(text) === name) kept.delete(text)
    if (refusal === null) statement.resolve(rows)
    // It was refused before any of it was carried out; in a transaction nothing is carried out after that.
    else if (isOutdated && state === 'I') send({ ...statement, name: '', isNew: true, refusal: null })
    else statement.reject(refusal)
    line.shift()
    if (line.length === 0) onEmpty()
    else comeFirst(line[0]!)
    onAnswer()
  }

  const send = (statement: Statement) => {
    const { text, params, name, isNew } = statement
    const bytes = params === undefined ? wire.script(text) : wire.statement(name, isNew ? text : null, params)
    // From here on it has its place in line: what is thrown must not leave it there without having been sent.
    guard(() => {
      if (line.push(statement) === 1) comeFirst(statement)
      if (name !== '') kept.set(text, name)
      if (isReady) gather(bytes)
      else unsent.push(bytes)
    })
    if (over !== null) statement.reject(over)
  }

  /** What is sent in one turn goes out together. */
  const gather = (bytes: Buffer) => {
    if (socket!.writableCorked === 0) {
      socket!.cork()
      process.nextTick(guard, () => socket!.uncork())
    }
    socket!.write(bytes)
  }

  const guard = (act: () => void) => {
    try {
      if (over === null) act()
    } catch (error) {
      end(error)
    }
  }

  begin().catch(error => (error instanceof DatabaseUnavailable ? end(error) : lost(error)))

  return {
    ask: (text, params, { prepare = false, raw = false, turn } = {}) =>
      new Promise((resolve, reject) => {
        const refusal = over ?? complaint(text, params)
        if (refusal) return reject(refusal)
        const known = prepare ? kept.get(text) : undefined
        const name = prepare ? (known ?? `s${++lastName}`) : ''
        const answer = { columns: [], rows: [], refusal: null }
        send({
          text,
          params,
          isRaw: raw,
          turn,
          name,
          isNew: known === undefined,
          resolve,
          reject,
          ...answer,
        } as Statement)
      }),
    get underWay() {
      return line.length
    },
    get hasAnswered() {
      return hasAnswered
    },
    openedAt: performance.now(),
    async cancel() {
      const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(cancelWithinMs)])
      // Whether the statement is ended shows in its answer.
      await sendCancel(() => options.connect(signal), cancelKey, signal).catch(() => {})
    },
    end,
    async close() {
      const isEmpty = new Promise<void>(resolve => {
        onEmpty = resolve
      })
      if (line.length > 0) await Promise.race([isEmpty, delay(closeWithinMs, undefined, { ref: false })])
      if (isReady && over === null) {
        const closed = new Promise(resolve => socket!.once('close', resolve).end(wire.terminate))
        await Promise.race([closed, delay(goodbyeMs, undefined, { ref: false })])
      }
      end(new DatabaseUnavailable('The connection is closed'))
    },
  }
}

function comeFirst({ turn }: Statement): void {
  if (!turn) return
  turn.hasBegun = true
  turn.runsSince = performance.now()
  turn.onBegin?.()
}

/**
 * Where PostgreSQL refuses a prepared statement that it doesn't know (a pooler changed the server), or whose
 * tables were altered.
 */
const outdated = new Set(['FetchPreparedStatement', 'RevalidateCachedQuery'])
