/**
 * Looks for changes of an account's configuration that no process tells the background jobs of: those of a
 * command, and of a process that has ended since; and for those that the jobs could not follow.
 */
import { askEverywhere, type Everywhere } from '../../accounts/everywhere.ts'
import { sql } from '../../sql.ts'
import { interval } from '../../waiting/interval.ts'

const everyDefaultMs = 5_000

/**
 * Calls `follow` at the second look that finds the same change: by then the process that has made it has
 * usually followed it. It is called again, after twice the time each, while the change is not followed, as
 * jobs may fail.
 */
export function watchChanges(
  db: Everywhere,
  follow: (account: number) => void,
  everyMs = everyDefaultMs,
): ReturnType<typeof interval> {
  let looks = new Map<string, number>()
  const look = async () => {
    const { rows } = await askEverywhere(
      db,
      isAsked => sql`SELECT account_id::text AS account, catalog_version::text AS version FROM account
      WHERE settled_version < catalog_version AND deleted_at IS NULL AND ${isAsked(sql`account_id`)}`,
    )
    const before = looks
    looks = new Map()
    for (const { account, version } of rows) {
      const change = `${account} ${version}`
      const nth = (before.get(change) ?? 0) + 1
      looks.set(change, nth)
      if (nth > 1 && Number.isInteger(Math.log2(nth))) follow(Number(account))
    }
  }
  return interval(everyMs, look, () => {})
}
