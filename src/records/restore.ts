/** Brings a deleted record back (D9), with an event that says so; what it points to must be there. */
import { type Problem, Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import { type JsonObject, parseJson } from '../json.ts'
import { ask, param, type Sql, sql } from '../sql.ts'
import { documentSql, documentWith, jsonInstant } from './document.ts'
import type { Reference } from './parse.ts'
import { partsOf } from './parts.ts'
import { isMet, type Precondition, versionConflict } from './precondition.ts'
import { nameOf } from './read.ts'
import { askReferences, missingReferences, stillThere } from './references.ts'
import { type Context, fullness, type Saved, save, savedBefore } from './save.ts'
import { answerOf, type Queryable, tableOf } from './store.ts'
import { type Author, lockFirst, type Write } from './write.ts'

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
  const since = oldest.toISOString()
  for (let attempt = 0; attempt < attempts; attempt++) {
    const [row] = await ask(db, deletedSql(fields, context, id, since))
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
    const write = (by: Author) => restoration(by, fields, { id, since, version }, references)
    const saved = await save(db, fields, context, write, { warnings: [], created: [] }, lockFirst)
    if (saved) return saved
  }
  throw new Refusal('busy_record', 'What the record points to keeps changing; try again.', [], {
    'retry-after': '1',
  })
}

/** A record whose deletion can be undone: version, record. */
function deletedSql(fields: ResourceFields, { catalog }: Context, id: number, since: string): Sql {
  return sql`SELECT r.version::text AS version, ${documentSql(fields)} AS record
FROM ${tableOf(fields)} r
WHERE r.account_id = ${String(catalog.account.id)}::bigint AND r.id = ${String(id)}::bigint
  AND r.deleted_at >= ${since}::timestamptz`
}

/** The record as it was read. */
type Read = { readonly id: number; readonly since: string; readonly version: string }

/**
 * Brings the record back with those of its parts that went with it; nothing when it is not deleted in that
 * version, or what it points to is.
 */
function restoration(
  by: Author,
  fields: ResourceFields,
  { id, since, version }: Read,
  references: readonly Reference[],
): Write {
  const { isConfiguration = false, name } = fields.resource
  const table = tableOf(fields)
  const [record, oldest, read] = [param(String(id)), param(since), param(version)]
  const isIt = sql`account_id = ${by.account}::bigint AND id = ${record}::bigint
    AND deleted_at >= ${oldest}::timestamptz AND version = ${read}::int`
  const undeleted = (row: Sql) => sql`deleted_at = NULL, ${authored(by, row)}`
  const wentWithIt = sql`= (SELECT deleted_at FROM before)`
  const parts = partsOf(fields, by, 'restored', undeleted(sql`x`), wentWithIt)
  return {
    changes: [
      sql`before AS MATERIALIZED (
  SELECT deleted_at FROM ${table}
  WHERE ${isIt}
)`,
      sql`r AS (
  UPDATE ${table} SET version = version + 1, ${undeleted(table)}
  FROM locked
  WHERE ${sql.join([isIt, ...stillThere(by, references)], sql`\n    AND `)}
  RETURNING ${table}.*
)`,
      ...parts.changes,
    ],
    events: [...parts.events, { type: `${name}.restored`, resource: name, of: sql`r` }],
    isConfiguration,
    answer: answerOf(fields),
  }
}

/** When and by whom a record was changed, where nothing else of it is. */
function authored({ actor }: Author, row: Sql): Sql {
  const document = documentWith(sql`${row}.document`, {
    updated_at: jsonInstant(sql`locked.at`),
    updated_by: sql`${actor}::text`,
  })
  return sql`updated_at = locked.at, updated_by = ${actor}::bigint, document = ${document}`
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
