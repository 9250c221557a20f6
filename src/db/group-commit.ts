/**
 * Writes of one account, committed together. An account's writes wait for each other anyway, as each takes the account's counter
 * (records/store.ts); waiting here instead lets all that came meanwhile share one commit, and its one flush to the disk. Knows no
 * statement and no schema.
 */
import type { Sql } from 'postgres'

type Rows = readonly Record<string, string | null>[]
type Write = {
  readonly text: string
  readonly params: readonly (string | null)[]
  resolve(rows: Rows): void
  reject(error: unknown): void
}

export type Execute = (
  sql: Pick<Sql, 'unsafe'>,
  text: string,
  params: readonly (string | null)[],
  prepare?: boolean,
) => Promise<Rows>

const largestGroup = 64

/**
 * A function that carries out one write statement of an account. Each is atomic by itself: in a group where one statement is
 * refused, nothing is committed and each is carried out again alone, with its own answer. A lost connection fails them all.
 */
export function groupCommit(sql: Sql, execute: Execute, isRefused: (error: unknown) => boolean) {
  /** The writes that wait; an account is in here while a group of its own is under way. */
  const waiting = new Map<string, Write[]>()

  async function carryOut(group: readonly Write[]): Promise<void> {
    if (group.length === 1) return alone(group[0]!)
    try {
      const answers = await sql.begin(tx => Promise.all(group.map(write => execute(tx, write.text, write.params))))
      for (const [index, write] of group.entries()) write.resolve((answers as Rows[])[index]!)
    } catch (error) {
      if (isRefused(error)) await Promise.all(group.map(alone))
      else for (const write of group) write.reject(error)
    }
  }

  const alone = (write: Write) => execute(sql, write.text, write.params).then(write.resolve, write.reject)

  async function depart(account: string, first: Write): Promise<void> {
    const writes = [first]
    waiting.set(account, writes)
    while (writes.length > 0) await carryOut(writes.splice(0, largestGroup))
    waiting.delete(account)
  }

  return (account: string, text: string, params: readonly (string | null)[]): Promise<Rows> =>
    new Promise((resolve, reject) => {
      const write = { text, params, resolve, reject }
      const writes = waiting.get(account)
      if (writes) writes.push(write)
      else void depart(account, write)
    })
}
