/**
 * What a write answers of its records, as the caller may be told it (D63 to D65). A request that was carried
 * out before is answered again (D8) as the caller of now may be told it: without fields that the role hides
 * by now, and of a record that they don't see by now its id alone.
 */
import type { Problem } from '../errors.ts'
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { mayRead, type Rights } from '../rights/rights.ts'
import { isLimited, sightOf, type Viewer, visible } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import { isHiddenByRole, shown } from './rendered-record.ts'
import type { Saved } from './save.ts'
import { type Reader, tableOf } from './store.ts'

/** Who is told of a write: the service itself has no rights, and is told all. */
type Told = Viewer & { readonly rights?: Rights }

/**
 * The text of a saved record. Of one that was there before, whoever may not read the resource is told the id
 * and the version: the rest they have not written.
 */
export function toldText(fields: ResourceFields, told: Told, saved: Saved): string {
  const { id, version, record, isNew = false } = saved
  return isNew || mayRead(told, fields.resource.name)
    ? shown(fields, record)
    : JSON.stringify({ id, version })
}

/** Records that were saved. Those that were deleted since are told as they were saved. */
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
 * What was wrong; null where it would name a field that is hidden by now. What it told of records besides,
 * such as current values and candidates, is that of then and left out.
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

/** The ids of those that the viewer does not see. */
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

/** Whether a warning or a problem is about a field that the role hides, of the record or of one within it. */
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
  // Without a path it may be one of a record within.
  const all = [fields, ...fields.fields.flatMap(({ internal_name }) => related(internal_name) ?? [])]
  return field !== null && all.some(one => isHiddenByRole(one, field))
}
