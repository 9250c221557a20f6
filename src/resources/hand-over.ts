/**
 * Hands a user's records over to another, so that the user can be deleted (D37): every record with that owner
 * in a field of the service or of the account; records/move.ts moves them. Knows no HTTP.
 */
import type { Field } from '../fields/field.ts'
import { type Json, type JsonObject, parseJson } from '../json.ts'
import { type Move, NoTarget } from '../records/move.ts'
import { pointersTo } from '../records/references.ts'
import { recordStatement, type Transaction } from '../records/store.ts'
import type { WriteContext } from '../records/write/operation.ts'
import { ask, sql } from '../sql.ts'
import { user } from './user.ts'

/**
 * The moves of the records of user `from` to user `to`, also by fields that the caller's role hides or locks:
 * these are refused. Throws NoTarget if `to` is no other active user.
 */
export async function ownerMoves(
  db: Transaction,
  context: WriteContext,
  from: number,
  to: number,
): Promise<Move[]> {
  const { catalog } = context
  if (from === to) throw new NoTarget('a user takes over from another.')
  if (!(await isInUse(db, context, to))) throw new NoTarget(`there is no user ${to} who is in use.`)
  const owned = pointersTo('user', catalog, sql`${String(from)}::bigint`)
  return owned
    .filter(({ resource }) => !user.revokes?.includes(resource))
    .map(({ resource, condition }) => {
      const { fields } = catalog.resources.get(resource)!.whole
      const owners = fields.filter(field => field.related === 'user' && !field.is_read_only)
      return {
        resource,
        where: condition,
        change: (record: JsonObject) => replaced(record, owners, from, to),
      }
    })
}

async function isInUse(db: Transaction, context: WriteContext, id: number): Promise<boolean> {
  const schema = context.catalog.resources.get('user')!.whole
  const [row] = await ask(db, recordStatement({ db, schema, context }, String(id)))
  return row !== undefined && (parseJson(row.record!) as JsonObject).is_active === 1
}

/** The members of a record that have the one user, with the other in their place. */
function replaced(record: JsonObject, owners: readonly Field[], from: number, to: number): JsonObject {
  const other = (value: Json) => (value === from ? to : value)
  const references = owners.filter(({ internal_name: name }) => [record[name] ?? []].flat().includes(from))
  return Object.fromEntries(
    references.map(({ internal_name: name }): [string, Json] => {
      const value = record[name]!
      return [name, Array.isArray(value) ? value.map(other) : other(value)]
    }),
  )
}
