/**
 * Changes that agents were shown and have not carried out yet (D147), stored for ten minutes under the hashes
 * of their codes. So any process carries out the very change that was shown. Knows no tool.
 */
import { hash, randomInt } from 'node:crypto'
import { parseJson } from '../json.ts'
import type { Reader } from '../records/store.ts'
import { ask, sql } from '../sql.ts'
import type { Call } from './api.ts'

export type Change = {
  /** also the id of its requests, so that its events are known */
  readonly id: string
  readonly tool: string
  readonly calls: readonly Call[]
  /** what the answer says once it is done, and of which record */
  readonly done: string
  readonly record: { readonly resource: string; readonly id?: number } | null
}

/** The changes of one token. */
export type Changes = {
  /** Keeps a change; returns its code. Null: too many are waiting. */
  keep(change: Change): Promise<string | null>
  /** The change with this code; null if there is none, or its time is over. */
  find(code: string): Promise<Change | null>
}

/** How long a code is good, in minutes. */
export const codeMinutes = 10
/** A token has at most so many changes that wait. */
const waitingMax = 200

export function changesOf(db: Reader, account: number, token: number): Changes {
  const [own, its] = [String(account), String(token)]
  return {
    async keep(change) {
      const code = randomWord(10)
      // Those whose time is over go with the next one.
      const statement = sql`WITH over AS (
  DELETE FROM agent_change WHERE account_id = ${own}::bigint AND valid_until < now()
)
INSERT INTO agent_change (account_id, hash, token, change, valid_until)
SELECT ${own}::bigint, ${hash('sha256', code)}::text, ${its}::bigint, ${JSON.stringify(change)}::text,
  now() + make_interval(mins => ${sql.integer(codeMinutes)})
WHERE (SELECT count(*) FROM agent_change
  WHERE account_id = ${own}::bigint AND token = ${its}::bigint AND valid_until > now()) < ${sql.integer(waitingMax)}
RETURNING 1 AS kept`
      const [kept] = await ask(db, statement)
      return kept ? code : null
    },
    async find(code) {
      const statement = sql`SELECT change FROM agent_change
WHERE account_id = ${own}::bigint AND hash = ${hash('sha256', code)}::text AND token = ${its}::bigint
  AND valid_until > now()`
      const [found] = await ask(db, statement)
      return found ? (parseJson(found.change!) as unknown as Change) : null
    },
  }
}

/** Letters and digits that nobody mistakes for others. */
const letters = 'abcdefghjkmnpqrstuvwxyz23456789'

/** A random word: 49 bits in ten letters. */
export function randomWord(length: number): string {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join('')
}
