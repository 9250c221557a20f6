/**
 * Deletes a record softly (D9): it leaves get and lists, and an event says so. What others point to stays
 * (D37).
 */
import { type ErrorSlug, Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import { recall, writeOnce } from './once.ts'
import { isMet, type Precondition, versionConflict } from './precondition.ts'
import { nameOf, readRecord, recordNotFound } from './read.ts'
import { askedOnce, type Context, writeParams } from './save.ts'
import { type Queryable, statements } from './store.ts'
import { lockAccount } from './write.ts'

/**
 * Throws `record_not_found` when there is no such live record, `version_conflict` when it is another than the
 * caller has read, `in_use` with the counts when records point to it; of a user also `last_administrator`,
 * and `forbidden` where the caller is none (D121).
 */
export async function removeRecord(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  context: Context,
  precondition: Precondition = null,
): Promise<void> {
  const { catalog, actor, isAdmin = false } = context
  const { isActor } = fields.resource
  if (isActor && id === actor)
    throw new Refusal('in_use', 'This is the user of your token: ask with the token of another.')
  const asked = askedOnce(context)
  if (await recall(db, asked)) return
  const params = [...writeParams(context), String(id), precondition && JSON.stringify(precondition)]
  const all = isActor ? [...params, String(isAdmin)] : params
  const written = await writeOnce(db, asked, statements(fields).remove(catalog), all, {}, lockAccount)
  if (!written)
    throw new Refusal('busy_record', 'The configuration was changed meanwhile; try again.', [], {
      'retry-after': '1',
    })
  const { row } = written
  if (row.id !== null) return
  if (row.version === null) throw recordNotFound(fields, id)
  if (!isMet(precondition, row.version!))
    throw versionConflict(nameOf(fields, id), Number(row.version), precondition)
  if (row.refused) throw new Refusal(row.refused as ErrorSlug, refusals[row.refused]!)
  throw inUse(fields, id, JSON.parse(row.used!) as { [resource: string]: number })
}

/**
 * Throws `version_conflict` when the record is another than the caller has read: for what is done before it
 * is deleted.
 */
export async function refuseOther(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  { catalog }: Context,
  precondition: Precondition,
): Promise<void> {
  if (precondition === null) return
  const { version } = await readRecord(db, fields, catalog.account.id, id)
  if (!isMet(precondition, version)) throw versionConflict(nameOf(fields, id), version, precondition)
}

/** Why a user may not be deleted, see administrators.ts. */
const refusals: { readonly [slug: string]: string } = {
  last_administrator:
    'This user has the only valid token with the scope admin: make one for another user first.',
  forbidden: 'This user has a token with the scope admin: to delete them, ask with such a token too.',
  unauthenticated: 'The user of your token was deleted.',
}

function inUse(
  { resource: { name } }: ResourceFields,
  id: number,
  used: { [resource: string]: number },
): Refusal {
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
