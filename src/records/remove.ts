/** Deletes a record softly (D9): it leaves get and lists, and an event says so. */
import type { ResourceFields } from '../fields/catalog.ts'
import { recordNotFound } from './read.ts'
import type { Context } from './save.ts'
import { type Queryable, statements } from './store.ts'

/** Throws `record_not_found` when there is no such live record. */
export async function removeRecord(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  { catalog, actor, now }: Context,
): Promise<void> {
  const account = String(catalog.account.id)
  const rows = await db.write(account, statements(fields).remove, [account, String(actor), now.toISOString(), String(id)])
  if (rows.length === 0) throw recordNotFound(fields, id)
}
