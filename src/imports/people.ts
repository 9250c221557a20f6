/** The users that texts of a file may mean. */
import { type Reader, tableOf } from '../records/store.ts'
import type { Rights } from '../rights/rights.ts'
import { allows } from '../rights/scopes.ts'
import { sightOf, type Viewer, visible } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import type { Choice } from './values.ts'

const peopleMax = 1000

/** Those in use, with what the viewer sees of them; nobody without the scope to read users. */
export async function peopleOf(db: Reader, viewer: Viewer & { readonly rights: Rights }): Promise<Choice[]> {
  if (!allows(viewer.rights.scopes, 'user:read')) return []
  const fields = viewer.catalog.resources.get('user')!
  const seesEmail = !fields.byName.get('email')!.is_hidden
  const rows = await ask(
    db,
    sql`SELECT r.id::text AS id, r.name, r.email FROM ${tableOf(fields)} r
WHERE ${visible('user', sightOf(viewer), sql`r`)} AND r.deleted_at IS NULL AND r.is_active = 1
ORDER BY r.id LIMIT ${sql.integer(peopleMax)}`,
  )
  return rows.map(({ id, name, email }) => ({
    ...{ id: Number(id), name: name! },
    ...(email && seesEmail ? { email } : {}),
  }))
}
