/** Executes a write, and decides whether it is one statement or a transaction (D164). */
import type { Step, WriteParams } from '../../fields/caller-params.ts'
import type { Transaction } from '../store.ts'
import { asStatement, asTransaction, isUnmet } from './print.ts'
import type { Write } from './protocol.ts'

export type Execution = {
  /** steps that read the answer */
  readonly after?: readonly Step[]
  /**
   * True for several records, in a transaction `db` that has the account's lock: they were validated since
   */
  readonly isLocked?: boolean
}

/** Carries out a write. Returns the rows of its answer; none if nothing was written. */
export async function execute(
  db: Transaction,
  params: WriteParams,
  write: Write,
  { after = [], isLocked = false }: Execution = {},
): ReturnType<Transaction['write']> {
  const statements =
    isLocked || db.hasOnlyTransactions
      ? asTransaction(params, write, after, isLocked)
      : asStatement(params, write, after)
  const { text, values } = statements.pop()!
  try {
    return await db.write(params.account.value!, text, values, statements)
  } catch (error) {
    if (isUnmet(error)) return []
    throw error
  }
}
