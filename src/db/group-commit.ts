/**
 * Writes of one account, committed together. An account's writes wait for each other anyway, as each takes
 * the account's counter (records/store.ts); waiting here instead lets all that came meanwhile share one
 * commit, and its one flush to the disk. Knows no statement and no schema.
 */
import type { Pool, Transaction } from './pool.ts'
import type { Turn } from './session.ts'

type Rows = readonly Record<string, string | null>[]
type Write = {
  readonly text: string
  readonly params: readonly (string | null)[]
  /**
   * a statement on the account ($1) to be carried out first in the same transaction, so that the write sees
   * what was committed till then
   */
  readonly first: string | undefined
  readonly turn: Turn | undefined
  resolve(rows: Rows): void
  reject(error: unknown): void
}

const largestGroup = 64

/**
 * A function that carries out one write statement of an account. Each is atomic by itself: in a group where
 * one statement is refused, nothing is committed and each is carried out again alone, with its own answer. A
 * lost connection fails them all.
 */
export function groupCommit(
  sql: Pool,
  shouldPrepare: (text: string) => boolean,
  isRefused: (error: unknown) => boolean,
) {
  /** The writes that wait; an account is in here while a group of its own is under way. */
  const waiting = new Map<string, Write[]>()

  async function carryOut(account: string, group: readonly Write[]): Promise<void> {
    if (group.length === 1) return alone(account, group[0]!)
    try {
      const answers = await together(account, group)
      for (const [index, write] of group.entries()) write.resolve(answers[index]!)
    } catch (error) {
      if (isRefused(error)) await Promise.all(group.map(write => alone(account, write)))
      else for (const write of group) write.reject(error)
    }
  }

  const execute = (
    over: Transaction,
    text: string,
    params: readonly (string | null)[],
    turn: Turn | undefined,
  ): Promise<Rows> => over.unsafe(text, params, { prepare: shouldPrepare(text), turn })

  const together = (account: string, group: readonly Write[]): Promise<Rows[]> =>
    sql.begin(tx =>
      Promise.all(
        group.map(async ({ first, text, params, turn }) => {
          if (first) await execute(tx, first, [account], turn)
          return execute(tx, text, params, turn)
        }),
      ),
    )

  const alone = (account: string, write: Write) => {
    const { first, text, params, turn } = write
    const answer = first
      ? together(account, [write]).then(answers => answers[0]!)
      : execute(sql, text, params, turn)
    return answer.then(write.resolve, write.reject)
  }

  async function depart(account: string, first: Write): Promise<void> {
    const writes = [first]
    waiting.set(account, writes)
    while (writes.length > 0) await carryOut(account, writes.splice(0, largestGroup))
    waiting.delete(account)
  }

  return (
    account: string,
    text: string,
    params: readonly (string | null)[],
    first?: string,
    turn?: Turn,
  ): Promise<Rows> =>
    new Promise((resolve, reject) => {
      const write = { text, params, first, turn, resolve, reject }
      const writes = waiting.get(account)
      if (writes) writes.push(write)
      else void depart(account, write)
    })
}
