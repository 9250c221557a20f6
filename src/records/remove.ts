/** Deletes a record softly (D9): it leaves get and lists, and an event says so. What others point to stays (D37). */
import { Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import { recall, writeOnce } from './once.ts'
import { recordNotFound } from './read.ts'
import { askedOnce, type Context } from './save.ts'
import { lockAccount, type Queryable, statements } from './store.ts'

/** Throws `record_not_found` when there is no such live record, `in_use` with the counts when records point to it. */
export async function removeRecord(db: Queryable, fields: ResourceFields, id: number, context: Context): Promise<void> {
  const { catalog, actor, now } = context
  if (fields.resource.isActor && id === actor)
    throw new Refusal('in_use', 'This is the user of your token: ask with the token of another.')
  const asked = askedOnce(context)
  if (await recall(db, asked)) return
  const params = [asked.account, String(actor), now.toISOString(), String(id)]
  const { row } = (await writeOnce(db, asked, statements(fields).remove(catalog), params, {}, lockAccount))!
  if (row.id !== null) return
  if (row.is_there !== 'true') throw recordNotFound(fields, id)
  throw inUse(fields, id, JSON.parse(row.used!) as { [resource: string]: number })
}

function inUse({ resource: { name } }: ResourceFields, id: number, used: { [resource: string]: number }): Refusal {
  const uses = Object.entries(used).filter(([, count]) => count > 0)
  const problems = uses.map(([resource, count]) => ({
    field: null,
    path: '',
    code: 'in_use',
    message: `${count} ${count === 1 ? `${resource} points` : `${resource}s point`} to it.`,
    resource,
    count,
  }))
  return new Refusal('in_use', `The ${name} ${id} is in use; change what points to it first.`, problems)
}
