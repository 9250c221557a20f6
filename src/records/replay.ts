/**
 * Renders the response to a write by the caller's rights (D63 to D65). A replayed response (D8) follows the
 * caller's current rights: it omits fields that the role hides now, and has only the id of a record that the
 * caller no longer sees.
 */
import type { Problem } from '../errors.ts'
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { mayRead, type Rights } from '../rights/rights.ts'
import { isLimited, sightOf, type Viewer, visible } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import { isHiddenByRole, shown } from './rendered-record.ts'
import type { Saved } from './save.ts'
import { type Reader, tableOf } from './store.ts'

/** The caller who gets the response: the service itself has no `rights`, and sees all. */
type Told = Viewer & { readonly rights?: Rights }

/**
 * The text of a saved record. A caller who may not read the resource gets the id and the version of a record
 * that existed before: they have not written the rest.
 */
export function toldText(fields: ResourceFields, told: Told, saved: Saved): string {
  const { id, version, record, isNew = false } = saved
  return isNew || mayRead(told, fields.resource.name)
    ? shown(fields, record)
    : JSON.stringify({ id, version })
}

/** Replays saved records. Those deleted since then have the text that was saved. */
export async function savedAgain(
  db: Reader,
  fields: ResourceFields,
  viewer: Told,
  saved: readonly Saved[],
): Promise<Saved[]> {
  const unseen = await unseenOf(db, fields, viewer, saved)
  return saved.map(one => ({
    ...one,
    record: unseen.has(one.id) ? JSON.stringify({ id: one.id }) : toldText(fields, viewer, one),
    warnings: one.warnings.filter(warning => !isAboutHidden(fields, viewer.catalog, warning)),
  }))
}

/**
 * A problem of an earlier response; null if it would name a field that is hidden now. Further members, such
 * as current values and candidates, are outdated and left out.
 */
export function problemAgain(
  fields: ResourceFields,
  { catalog }: Viewer,
  { field, path, code, message, rule, hint }: Problem,
): Problem | null {
  if (isAboutHidden(fields, catalog, { field, path })) return null
  // A hint may name any field.
  const isHinted = hint !== undefined && fields.byName === fields.whole.byName
  return {
    field,
    path,
    code,
    message,
    ...(rule === undefined ? {} : { rule }),
    ...(isHinted ? { hint } : {}),
  }
}

/** The ids of the records that the viewer does not see. */
async function unseenOf(
  db: Reader,
  fields: ResourceFields,
  viewer: Viewer,
  saved: readonly Saved[],
): Promise<Set<number>> {
  const unseen = new Set(isLimited(fields) ? saved.map(({ id }) => id) : [])
  if (unseen.size === 0) return unseen
  const seen = await ask(
    db,
    sql`SELECT r.id::text AS id FROM ${tableOf(fields)} r
WHERE ${visible(fields.resource.name, sightOf(viewer), sql`r`)} AND r.id = ANY(${`{${[...unseen].join()}}`}::bigint[])`,
  )
  for (const { id } of seen) unseen.delete(Number(id))
  return unseen
}

/** True if a warning or a problem is about a field that the role hides, of the record or of a nested one. */
export function isAboutHidden(
  fields: ResourceFields,
  { resources }: Catalog,
  { field, path }: { readonly field: string | null; readonly path?: string },
): boolean {
  const related = (name: string) => resources.get(fields.byName.get(name)?.related ?? '')
  if (path) {
    const [first, ...within] = path.split('/').filter(step => !/^\d*$/.test(step))
    if (first === undefined) return false
    const inner = related(first)
    return (
      isHiddenByRole(fields, first) || (inner !== undefined && within.some(one => isHiddenByRole(inner, one)))
    )
  }
  // Without a path it may be a field of a nested record.
  const all = [fields, ...fields.fields.flatMap(({ internal_name }) => related(internal_name) ?? [])]
  return field !== null && all.some(one => isHiddenByRole(one, field))
}
