/**
 * How single queries and writes reach a driver: while the database is available, in a group commit, with what
 * is prepared. Knows no engine and no schema.
 */
import type { SharedExclusiveLock } from '../waiting/shared-exclusive-lock.ts'
import type { Ask, AskOptions } from './ask.ts'
import { type Driver, withProgress } from './driver.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Database } from './open.ts'
import type { Progress } from './postgres/response-queue.ts'
import { asUnavailable, DatabaseUnavailable, DiskFull, rejectLater } from './unavailable.ts'

/**
 * A function that runs a query or a write while the database is available, and refuses it with the reason
 * otherwise.
 */
export function availabilityGuard(
  driver: Driver,
  isClosed: () => boolean,
  logOperationalError: (error: unknown) => void,
) {
  return async <T>(ask: () => Promise<T>, writes = false): Promise<T> => {
    if (isClosed() || !driver.isAvailable())
      return rejectLater(new DatabaseUnavailable('The database is not available'))
    if (writes && !driver.hasDiskSpace()) return rejectLater(new DiskFull())
    try {
      return await ask()
    } catch (error) {
      const meant = asUnavailable(error)
      if (!isClosed()) logOperationalError(meant)
      throw meant
    }
  }
}

type QueryDependencies = {
  readonly driver: Driver
  readonly commits: GroupCommit
  readonly writeLock: SharedExclusiveLock<string>
  readonly whileAvailable: ReturnType<typeof availabilityGuard>
  shouldPrepare(text: string): boolean
}

/** Single statements that don't take long: of requests or background work. */
export function singleStatements(
  { driver: { sql, guard }, commits, writeLock, whileAvailable, shouldPrepare }: QueryDependencies,
  isBackground: boolean,
): Pick<Database, 'query' | 'queryBytes' | 'write'> {
  const ask = <R>(asked: Parameters<Ask>) =>
    whileAvailable(() => guard<R>(progress => sql.query(...withProgress(asked, progress)), isBackground))
  return {
    ...readers(shouldPrepare, ask, { raw: true, isQuick: true }),
    write(account, content) {
      const write = (progress?: Progress) => commits.write(account, content, progress)
      const guarded = () => whileAvailable(() => guard(write, isBackground), true)
      return writeLock.shared(account, guarded, isBackground)
    },
  }
}

/** Both ways to read, given a function that runs the statement; `asBytes`: options for rows of bytes. */
export function readers(
  shouldPrepare: (text: string) => boolean,
  read: <R>(statement: Parameters<Ask>) => Promise<R>,
  asBytes: AskOptions = { raw: true },
): Pick<Database, 'query' | 'queryBytes'> {
  const ask = <R>(text: string, params: readonly (string | null)[], replan: boolean, more?: AskOptions) =>
    read<R>([text, params, { prepare: !replan && shouldPrepare(text), ...more }])
  return {
    query: (text, params = [], replan = false) => ask(text, params, replan),
    queryBytes: (text, params, replan = false) => ask(text, params, replan, asBytes),
  }
}
