/** Writes in the form that a database takes. Knows no table and no database. */
import type { Statement } from './sql.ts'

/** Statements of one transaction; the last one returns the rows of the write. */
export type StatementsToWrite = readonly Statement[] | MergeableWrite

/** A write that prints its statements in its turn: alone, or as one with others of its kind (D179). */
export type MergeableWrite = {
  /** Writes of an account are of one kind if all members of these are equal. */
  readonly kind: readonly unknown[]
  /** id of the stored record that it changes; null: a new record. Two changes of a record are not merged. */
  readonly record: string | null
  /** Its own statements. */
  alone(): readonly Statement[]
  /** The statements of all as one, and a function that takes the rows of each, in order, from their rows. */
  merged(all: readonly MergeableWrite[]): {
    readonly statements: readonly Statement[]
    rowsOf(rows: Rows): readonly Rows[]
  }
}

type Rows = readonly Record<string, string | null>[]

/** The statements of a write that is carried out on its own. */
export function statementsOf(write: StatementsToWrite): readonly Statement[] {
  return 'alone' in write ? write.alone() : write
}
