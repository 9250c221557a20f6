/**
 * Which connection a statement takes: any that nobody has to themselves, the one with the least to do. Owns
 * how many there are, and transactions. Does not know which engine it is, nor the schema.
 */
import type { Ask, Session, SessionOptions } from './session.ts'
import { DatabaseUnavailable } from './unavailable.ts'

/** What is asked within a transaction. Rows are text, as everywhere. */
export type Transaction = { readonly unsafe: Ask }

export type Pool = {
  readonly unsafe: Ask
  /** Gives `use` a connection that nobody else is given till it is done. */
  hold<T>(use: (session: Session) => Promise<T>): Promise<T>
  /**
   * Carries out `act` in a transaction on a connection of its own, and what it asks by `tx` only; `mode` as
   * in "BEGIN mode". Throws what `act` throws or, where it went on after one, the first error of its
   * statements; then nothing is saved.
   */
  begin<T>(act: (tx: Transaction) => Promise<T>, mode?: string): Promise<T>
  /**
   * Ends all connections after what is under way, waiting five seconds for it; what waits for a connection is
   * refused.
   */
  end(): Promise<void>
}

/** What a connection tells whoever opened it. */
export type Life = Pick<SessionOptions, 'onAnswer' | 'onOver'>

export type PoolOptions = {
  /** A new connection; it should begin only after `delayMs`, as those before could not be had. */
  open(life: Life, delayMs: number): Session
  /** how many connections there may be */
  readonly size: number
}

/**
 * Statements that wait for their answers on one connection: more would wait longer, and nothing would be done
 * sooner.
 */
const depth = 100
/** A server's memory for a session grows with what it has seen; addresses of servers change. */
const oldestMs = 45 * 60_000
const closeWithinMs = 5000

export function openPool({ open, size }: PoolOptions): Pool {
  const sessions = new Set<Session>()
  /** those that a transaction has to itself, and until when */
  const taken = new Map<Session, Promise<void>>()
  const waiting: { take(session: Session): void; refuse(error: unknown): void }[] = []
  let failures = 0
  let isEnded = false

  const add = (): Session => {
    const life: Life = {
      onAnswer() {
        if (session.hasAnswered) failures = 0
        goOn()
      },
      onOver() {
        sessions.delete(session)
        if (!session.hasAnswered) failures++
        goOn()
      },
    }
    const session = open(life, failures && Math.min(20 * 2 ** failures, 500))
    sessions.add(session)
    return session
  }

  const retire = (session: Session) => {
    sessions.delete(session)
    void session.close()
  }

  const choose = (): Session | undefined => {
    let best: Session | undefined
    for (const session of sessions) {
      const { underWay, openedAt } = session
      if (taken.has(session) || underWay >= depth) continue
      if (underWay === 0 && performance.now() - openedAt > oldestMs) retire(session)
      else if (!best || underWay < best.underWay) best = session
    }
    return best && (best.underWay === 0 || sessions.size >= size)
      ? best
      : sessions.size < size
        ? add()
        : undefined
  }

  const goOn = () => {
    while (waiting.length > 0 && !isEnded) {
      const session = choose()
      if (!session) return
      waiting.shift()!.take(session)
    }
  }

  /** Gives a connection to `take` at once if there is one. */
  const acquire = (take: (session: Session) => void, refuse: (error: unknown) => void) => {
    if (isEnded) return refuse(new DatabaseUnavailable('The database is closed'))
    const session = waiting.length === 0 ? choose() : undefined
    if (session) take(session)
    else waiting.push({ take, refuse })
  }

  const hold: Pool['hold'] = async use => {
    const { promise: end, resolve: release } = Promise.withResolvers<void>()
    const session = await new Promise<Session>((resolve, reject) => {
      acquire(session => {
        taken.set(session, end)
        resolve(session)
      }, reject)
    })
    try {
      return await use(session)
    } finally {
      taken.delete(session)
      release()
      goOn()
    }
  }

  return {
    unsafe: (...statement) =>
      new Promise((resolve, reject) =>
        acquire(session => session.ask<never>(...statement).then(resolve, reject), reject),
      ),
    hold,
    begin: (act, mode = '') => hold(session => transact(session, act, mode)),
    async end() {
      isEnded = true
      for (const { refuse } of waiting.splice(0)) refuse(new DatabaseUnavailable('The database is closed'))
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, closeWithinMs)
      await Promise.all(
        [...sessions].map(session => Promise.race([taken.get(session), late]).then(session.close)),
      )
      clearTimeout(timer)
    },
  }
}

async function transact<T>(session: Session, act: (tx: Transaction) => Promise<T>, mode: string): Promise<T> {
  let failure: unknown
  let isOver = false
  const unsafe: Ask = (...statement) => {
    // After its end it would take effect by itself.
    if (isOver) return Promise.reject(new Error('The transaction is over'))
    return session.ask<never>(...statement).catch(error => {
      failure ??= error
      throw error
    })
  }
  try {
    await session.ask(`BEGIN ${mode}`, [])
    const result = await act({ unsafe })
    if (failure) throw failure
    isOver = true
    await session.ask('COMMIT', [])
    // Of one that was not awaited: PostgreSQL's answer to COMMIT is then only that it rolled back.
    if (failure) throw failure
    return result
  } catch (error) {
    isOver = true
    await session.ask('ROLLBACK', []).catch(reason => session.end(reason))
    // "The transaction is aborted" only says that another statement failed before.
    throw (error as { code?: unknown }).code === '25P02' ? (failure ?? error) : error
  }
}
