/**
 * Group commit. An account's writes wait for each other anyway, as each takes the account's counter
 * (records/write/protocol.ts); and on the embedded engine everything waits for everything. Waiting here
 * instead lets all that came meanwhile share one commit and its one flush. Owns the grouping. Knows no
 * statement and no schema.
 */
import { publish } from '../diagnostics.ts'
import { FairQueue } from '../waiting/fair-queue.ts'
import { type Ask, OneRefused, type Statement } from './ask.ts'
import type { Pool } from './postgres/pool.ts'
import type { Progress } from './postgres/response-queue.ts'

type Rows = readonly Record<string, string | null>[]
type Params = readonly (string | null)[]
type Write = {
  readonly account: string
  readonly text: string
  readonly params: Params
  /** statements that go before it in the same transaction: it sees everything committed till then */
  readonly before: readonly Statement[]
  readonly progress: Progress | undefined
  resolve(rows: Rows): void
  reject(error: unknown): void
}

export type GroupCommitOptions = {
  readonly sql: Pick<Pool, 'batch'>
  /** True if accounts share commits; else each account has a running group of its own */
  readonly isShared: boolean
  shouldPrepare(text: string): boolean
  /** True if the error is the database's answer, so that the statement was not carried out */
  isRefused(error: unknown): boolean
}

/** The writes that wait while a group is running. */
type Queue = FairQueue<string, Write>

const largestGroup = 64

/** Each write is atomic, and has its own answer even if others of its group fail. */
export class GroupCommit {
  readonly #options: GroupCommitOptions
  /** queues of the accounts with a running group, or the one of all */
  readonly #queues = new Map<string, Queue>()

  constructor(options: GroupCommitOptions) {
    this.#options = options
  }

  /**
   * Runs a write of an account, and returns the rows of its last statement. A lost connection fails all that
   * run on it.
   */
  write(
    account: string,
    text: string,
    params: Params,
    before: readonly Statement[] = [],
    progress?: Progress,
  ): Promise<Rows> {
    return new Promise((resolve, reject) => {
      const key = this.#options.isShared ? '' : account
      const write = { account, text, params, before, progress, resolve, reject }
      const queue = this.#queues.get(key)
      if (queue) queue.push(account, write)
      else void this.#depart(key, write)
    })
  }

  async #depart(key: string, first: Write): Promise<void> {
    const queue: Queue = new FairQueue('commit')
    queue.push(first.account, first)
    this.#queues.set(key, queue)
    while (!queue.isEmpty) await this.#carryOut(nextGroup(queue))
    this.#queues.delete(key)
  }

  /**
   * If one write is refused, the whole group is rolled back. It runs again in parts: writes of other
   * accounts, which are independent of it; those before it; that one; those behind it.
   */
  async #carryOut(group: readonly Write[]): Promise<void> {
    const { sql, isRefused } = this.#options
    publish('commit', { writes: group.length })
    const statements = group.flatMap(write =>
      this.#statementsOf(write).map(statement => ({ write, statement })),
    )
    try {
      const answers = await sql.batch(statements.map(({ statement }) => statement))
      const last = new Map(statements.map(({ write }, index) => [write, answers[index]!]))
      for (const [write, rows] of last) write.resolve(rows)
    } catch (error) {
      const refusal = error instanceof OneRefused && isRefused(error.cause) ? error : null
      if (refusal && group.length > 1)
        for (const part of partsOf(group, statements[refusal.which]!.write)) await this.#carryOut(part)
      else for (const { reject } of group) reject(error instanceof OneRefused ? error.cause : error)
    }
  }

  #statementsOf({ before, text, params, progress }: Write): Parameters<Ask>[] {
    const { shouldPrepare } = this.#options
    return [...before, { text, values: params }].map(({ text, values }) => {
      return [text, values, { prepare: shouldPrepare(text), progress }]
    })
  }
}

/** Round robin over accounts, so that none waits behind another's many writes. */
function nextGroup(queue: Queue): Write[] {
  const group: Write[] = []
  while (group.length < largestGroup && !queue.isEmpty) group.push(queue.shift()!)
  return group
}

function partsOf(group: readonly Write[], refused: Write): (readonly Write[])[] {
  const own = group.filter(({ account }) => account === refused.account)
  const others = group.filter(({ account }) => account !== refused.account)
  const at = own.indexOf(refused)
  return [others, own.slice(0, at), [refused], own.slice(at + 1)].filter(part => part.length > 0)
}
