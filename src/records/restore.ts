/** Brings a deleted record back (D9), with an event that says so; what it points to must be there. */
import { type Problem, Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import { type JsonObject, parseJson } from '../json.ts'
import type { Reference } from './parse.ts'
import { isMet, type Precondition, versionConflict } from './precondition.ts'
import { nameOf } from './read.ts'
import { askReferences, missingReferences, pointedTo } from './references.ts'
import { type Context, fullness, type Saved, save, savedBefore, writeParams } from './save.ts'
import { type Queryable, statements } from './store.ts'
import { lockAccount } from './write.ts'

const attempts = 3

/**
 * Restores what was deleted at `oldest` or later. Throws `record_not_found` when no such record was,
 * `version_conflict` when it is another than the caller has read, `validation_failed` naming what it points
 * to and is deleted itself, `duplicate` when its name was taken meanwhile.
 */
export async function restoreRecord(
  db: Queryable,
  fields: ResourceFields,
  id: number,
  context: Context,
  oldest: Date,
  precondition: Precondition = null,
): Promise<Saved> {
  const before = await savedBefore(db, fields, context)
  if (before) return before
  const account = String(context.catalog.account.id)
  const since = oldest.toISOString()
  for (let attempt = 0; attempt < attempts; attempt++) {
    const [row] = await db.query(statements(fields).readDeleted, [account, String(id), since])
    if (!row) {
      const { name } = fields.resource
      throw new Refusal(
        'record_not_found',
        `There is no deleted ${name} ${id}; what was deleted long ago is gone.`,
      )
    }
    const version = row.version!
    if (!isMet(precondition, version))
      throw versionConflict(nameOf(fields, id), Number(version), precondition)
    const record = parseJson(row.record!) as JsonObject
    const full = fullness(fields, context, record)
    if (full) throw new Refusal('validation_failed', `The ${fields.resource.name} was not restored.`, [full])
    const references = referencesOf(fields, record, context)
    refuseMissing(fields, missingReferences(references, await askReferences(db, context.catalog, references)))
    const params = [...writeParams(context), String(id), since, version]
    const points = pointedTo(references)
    const all = [...params, ...points.params]
    const saved = await save(
      db,
      fields,
      context,
      statements(fields).restore(points.related),
      all,
      { warnings: [], created: [] },
      lockAccount,
    )
    if (saved) return saved
  }
  throw new Refusal('busy_record', 'What the record points to keeps changing; try again.', [], {
    'retry-after': '1',
  })
}

/**
 * What a stored record points to and needs: not products, of which its lines have copies (D23), and not who
 * changed it.
 */
function referencesOf(fields: ResourceFields, record: JsonObject, { catalog }: Context): Reference[] {
  return fields.fields.flatMap(({ internal_name: field, related, is_read_only }) => {
    if (!related || is_read_only || catalog.resources.get(related)?.resource.snapshot) return []
    const ids = [record[field] ?? []].flat().map(Number)
    return ids.map(id => ({ resource: related, id, field, path: `/${field}` }))
  })
}

function refuseMissing({ resource }: ResourceFields, missing: readonly Problem[]): void {
  if (missing.length === 0) return
  const problems = missing.map(problem => ({
    ...problem,
    hint: 'Restore it first; what was deleted long ago is gone.',
  }))
  throw new Refusal(
    'validation_failed',
    `The ${resource.name} was not restored: what it points to is deleted.`,
    problems,
  )
}
