/**
 * Group commit. An account's writes wait for each other anyway, as each takes the account's counter
 * (records/write/protocol.ts); and on the embedded engine everything waits for everything. Waiting here
 * instead lets all that came meanwhile share one commit and its one flush; and those of a kind are merged to
 * one write (D179). Owns the grouping. Knows no statement and no schema.
 */
import { publish } from '../diagnostics.ts'
import { type MergeableWrite, type StatementsToWrite, statementsOf } from '../mergeable-write.ts'
import type { Statement } from '../sql.ts'
import { FairQueue } from '../waiting/fair-queue.ts'
import { type Ask, OneRefused } from './ask.ts'
import type { Pool } from './postgres/pool.ts'
import type { Progress } from './postgres/response-queue.ts'

type Rows = readonly Record<string, string | null>[]
type Write = {
  readonly account: string
  /** the statements of one transaction, which see everything committed till then; or how to print them */
  readonly content: StatementsToWrite
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
/** Two or three are as quick each on its own: merged, they are half a dozen statements. */
const fewestMerged = 4

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
  write(account: string, content: Write['content'], progress?: Progress): Promise<Rows> {
    return new Promise((resolve, reject) => {
      const key = this.#options.isShared ? '' : account
      const write = { account, content, progress, resolve, reject }
      const queue = this.#queues.get(key)
      if (queue) queue.push(account, write)
      else void this.#runGroups(key, write)
    })
  }

  async #runGroups(key: string, first: Write): Promise<void> {
    const queue: Queue = new FairQueue('commit')
    queue.push(first.account, first)
    this.#queues.set(key, queue)
    while (!queue.isEmpty) await this.#commit(nextGroup(queue))
    this.#queues.delete(key)
  }

  /**
   * If one write is refused, the whole group is rolled back. It runs again in parts: writes of other
   * accounts, which are independent of it; those before it; that one; those behind it. If merged writes are
   * refused, nobody knows which of them is meant: the group runs again with each on its own.
   */
  async #commit(group: readonly Write[], units: readonly Unit[] = merged(group)): Promise<void> {
    const { sql, isRefused } = this.#options
    if (units.length === 0) return
    publish('commit', { writes: group.length })
    const statements = units.flatMap(unit => this.#statementsOf(unit).map(statement => ({ unit, statement })))
    try {
      const answers = await sql.batch(statements.map(({ statement }) => statement))
      const last = new Map(statements.map(({ unit }, index) => [unit, answers[index]!]))
      for (const [{ writes, rowsOf }, rows] of last)
        for (const [index, own] of rowsOf(rows).entries()) writes[index]!.resolve(own)
    } catch (error) {
      const refusal = error instanceof OneRefused && isRefused(error.cause) ? error : null
      const refused = refusal && statements[refusal.which]!.unit.writes
      if (refused && refused.length > 1) await this.#commit(group, each(group))
      else if (refused && group.length > 1)
        for (const part of partsOf(group, refused[0]!)) await this.#commit(part)
      else for (const { reject } of group) reject(error instanceof OneRefused ? error.cause : error)
    }
  }

  #statementsOf({ statements, writes }: Unit): Parameters<Ask>[] {
    const { shouldPrepare } = this.#options
    const progress = progressOf(writes)
    return statements.map(({ text, values }) => [text, values, { prepare: shouldPrepare(text), progress }])
  }
}

/** A write, or several that are carried out as one. */
type Unit = {
  readonly writes: readonly Write[]
  readonly statements: readonly Statement[]
  rowsOf(rows: Rows): readonly Rows[]
}

function alone(write: Write): Unit {
  return { writes: [write], statements: statementsOf(write.content), rowsOf: rows => [rows] }
}

/** Each write on its own. One that can't be printed is refused. */
function each(writes: readonly Write[]): Unit[] {
  return writes.flatMap(write => {
    try {
      return alone(write)
    } catch (error) {
      write.reject(error)
      return []
    }
  })
}

/** The group with writes of one kind merged, in the order of the first of each kind. */
function merged(group: readonly Write[]): Unit[] {
  const kinds: Write[][] = []
  for (const write of group) {
    const same = kinds.find(others => canJoin(write, others))
    if (same) same.push(write)
    else kinds.push([write])
  }
  return kinds.flatMap(writes => {
    if (writes.length < fewestMerged) return each(writes)
    const all = writes.map(({ content }) => content as MergeableWrite)
    try {
      return { writes, ...all[0]!.merged(all) }
    } catch {
      return each(writes)
    }
  })
}

function canJoin({ account, content }: Write, others: readonly Write[]): boolean {
  const [first] = others
  if (first!.account !== account || !isMergeable(content) || !isMergeable(first!.content)) return false
  const { kind, record } = content
  const isOfRecord = ({ content }: Write) => isMergeable(content) && content.record === record
  return (
    first!.content.kind.every((member, index) => member === kind[index]) &&
    (record === null || !others.some(isOfRecord))
  )
}

function isMergeable(content: Write['content']): content is MergeableWrite {
  return 'alone' in content
}

/** The progress of writes that are carried out as one. */
function progressOf(writes: readonly Write[]): Progress | undefined {
  const all = writes.flatMap(({ progress }) => progress ?? [])
  const [first] = all
  if (all.length < 2) return first
  return {
    get hasBegun() {
      return first!.hasBegun
    },
    set hasBegun(has) {
      for (const one of all) one.hasBegun = has
    },
    get runsSince() {
      return first!.runsSince
    },
    set runsSince(since) {
      for (const one of all) one.runsSince = since
    },
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
