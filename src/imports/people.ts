/** The users that texts of a file may mean. */
import { type Reader, tableOf } from '../records/store.ts'
import type { Rights } from '../rights/rights.ts'
import { allows } from '../rights/scopes.ts'
import { sightOf, type Viewer, visible } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import type { Choice } from './values.ts'

const peopleMax = 1000

/** Those that the viewer sees, those in use first; nobody without the scope to read users. */
export async function peopleOf(db: Reader, viewer: Viewer & { readonly rights: Rights }): Promise<Choice[]> {
  if (!allows(viewer.rights.scopes, 'user:read')) return []
  const fields = viewer.catalog.resources.get('user')!
  const seesEmail = !fields.byName.get('email')!.is_hidden
  const rows = await ask(
    db,
    sql`SELECT r.id::text AS id, r.name, r.email, (r.is_active <> 1)::text AS is_idle FROM ${tableOf(fields)} r
WHERE ${visible('user', sightOf(viewer), sql`r`)} AND r.deleted_at IS NULL
ORDER BY r.is_active, r.id LIMIT ${sql.integer(peopleMax)}`,
  )
  return rows.map(({ id, name, email, is_idle }) => ({
    ...{ id: Number(id), name: name!, isIdle: is_idle === 'true' },
    ...(email && seesEmail ? { email } : {}),
  }))
}
