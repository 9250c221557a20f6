/**
 * Merges the writes of single records that wait for the same lock, to one write of many records (D179). Only
 * writes of the same caller on the same resource are merged: then their references are checked for the same
 * rights, and their events differ only by the request. See db/group-commit.ts.
 */
import type { WriteParams } from '../../fields/caller-params.ts'
import type { ResourceSchema } from '../../fields/catalog.ts'
import type { MergeableWrite } from '../../mergeable-write.ts'
import type { Transaction } from '../store.ts'
import { fieldsWithKeys } from '../unique.ts'
import type { Work } from '../work.ts'
import { asTransaction } from './execute.ts'
import { planOf } from './plan.ts'
import type { Write } from './protocol.ts'
import type { ValidOperation } from './validate.ts'

/** A write of one record, as what it was planned from. */
type Planned = NonNullable<Write['mergeable']> & {
  readonly params: WriteParams
  readonly operation: ValidOperation
}

/** Undefined if a write has rows beside those of its record, or conditions that a plan of many lacks. */
export function mergeableOf(work: Work, params: WriteParams, operation: ValidOperation): Write['mergeable'] {
  const { schema, context } = work
  const { actor, territories, origin } = params
  const isNow = params.at.value === null && params.allowedInactive === null
  if (!isNow || context.skipsRendering || !isAlone(schema, operation)) return undefined
  const { token, session, job, by, client } = origin
  const origins = [token, session, job, by, client].map(({ value }) => value)
  const isNew = operation.row === null
  // A change of many sets all of their columns in each row. A backfill may have set others since (D56).
  const changed = isNew ? '' : Object.keys(operation.changes).sort().join()
  const planned: Planned = {
    kind: [schema, context.catalog, actor.value, territories.value, changed, ...origins],
    record: isNew ? null : operation.row.id!,
    merged(all) {
      const writes = all as readonly MergeableWrite[] as readonly (MergeableWrite & Planned)[]
      const operations = writes.map(({ operation }) => operation)
      const origins = writes.map(({ params }) => params.origin)
      return {
        statements: asTransaction(params, planOf(work, params, operations, { origins })),
        rowsOf: rows => rowsInOrder(operations, rows).map(row => [row]),
      }
    },
    ...{ params, operation },
  }
  return planned
}

function isAlone({ resource, whole }: ResourceSchema, one: ValidOperation): boolean {
  const { isConfiguration, quota, updatesOthers, actor, unique = {} } = resource
  if (isConfiguration || quota || updatesOthers || actor) return false
  if (one.nested.length > 0 || one.invariant || one.operation.options?.steps) return false
  const names = [...fieldsWithKeys(whole).map(({ internal_name }) => internal_name), ...Object.values(unique)]
  return one.before === null || !names.some(name => name in one.changes)
}

/** The rows of an answer in the order of their operations. New ids are in that order. */
export function rowsInOrder(
  operations: readonly ValidOperation[],
  rows: Awaited<ReturnType<Transaction['write']>>,
): readonly Record<string, string | null>[] {
  if (rows.length !== operations.length) throw new Error('Records changed under the lock of their account')
  const byId = new Map(rows.map(row => [row.id!, row]))
  const known = new Set(operations.flatMap(({ row }) => row?.id ?? []))
  const made = rows
    .filter(({ id }) => !known.has(id!))
    .sort((one, other) => Number(one.id) - Number(other.id))
    .values()
  return operations.map(({ row }) => (row ? byId.get(row.id!)! : made.next().value!))
}
