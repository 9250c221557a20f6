/**
 * Saves a validated change in one statement: the field with its options, or the form. The statement
 * increments the catalog's version, and does nothing unless the catalog still has the validated version
 * (D52): a compare and set.
 */
import { isTaken } from '../db/constraint.ts'
import type { Step, WriteParams } from '../fields/caller-params.ts'
import type { Catalog, FieldRow, Section } from '../fields/catalog.ts'
import type { Field, Option } from '../fields/field.ts'
import { fieldsVersion } from '../records/backfill.ts'
import { type IdempotentRequest, storeResponse, writeIdempotently } from '../records/idempotency.ts'
import type { Transaction } from '../records/store.ts'
import { keysOfRows, takenKey } from '../records/unique.ts'
import { counted, locked, withMoment } from '../records/write/placeholders.ts'
import { type Origin, type Write, writeParamsOf } from '../records/write/protocol.ts'
import { type Param, param, sql } from '../sql.ts'

export type KeysChange = { readonly of: Field; readonly isUnique: boolean; readonly wasUnique: boolean }

export type Change = {
  /** verb of the event's type: created, updated, deleted, restored */
  readonly verb: string
  readonly resource: string
  /** null: only the form changes */
  readonly field: { readonly row: FieldRow; readonly options: readonly Option[] } | null
  readonly sections: readonly Section[] | null
  /** set if the field's uniqueness changes, or the comparison of its values */
  readonly keys?: KeysChange | null
}

export type ChangeContext = {
  readonly catalog: Catalog
  readonly actor: number
  readonly origin: Origin
  readonly idempotency: IdempotentRequest | null
}

/**
 * Saves a change and its response; null saves the response only. Undefined on a version conflict. Locks the
 * counter first, like every write.
 */
export async function saveChange<T extends object>(
  db: Transaction,
  author: ChangeContext,
  change: Change | null,
  response: T,
): Promise<T | undefined> {
  const { catalog, actor, origin } = author
  if (!change) {
    await storeResponse(db, author, { row: {}, response })
    return response
  }
  const params = writeParamsOf({ catalog, actor, ...origin })
  const write = changeOf(params, change)
  const written = await writeIdempotently(db, params, author, write, response).catch(error => {
    if (isTaken(error, takenKey)) return undefined
    throw error
  })
  return written?.response
}

/** The rows of a change; none on a version conflict. */
function changeOf(params: WriteParams, { verb, resource, field, sections, keys = null }: Change): Write {
  const { account, version } = params
  const [source, id] = [param(resource), param(String(field?.row.id ?? 0))]
  const changes = {
    ...(field ? { field: field.row, options: field.options } : {}),
    ...(sections ? { sections } : {}),
  }
  const versionSql = field ? sql`${String(field.row.version)}::int` : sql`catalog_version::int`
  const isRead = sql`account_id = ${account}::bigint AND catalog_version = ${version}::bigint`
  const raised = sql`
  UPDATE account SET ${fieldsVersion}
  FROM locked WHERE account_id = ${account}::bigint
`
  const changed = sql`SELECT catalog_version FROM account WHERE account_id = ${account}::bigint`
  return {
    // If a concurrent write wins, the change is validated again. Keys must cover all committed records.
    conditions: [sql`EXISTS (SELECT 1 FROM account WHERE ${isRead})`],
    locksFirst: true,
    steps: [
      { name: 'changed', change: raised, returning: sql`catalog_version`, rows: () => changed },
      ...(field ? [savedField(account, source, field.row), savedOptions(account, source, field)] : []),
      ...(sections ? [arranged(account, source, sections)] : []),
      ...(keys ? keysSteps(params, keys) : []),
    ],
    endsOlder: keys !== null,
    events: [
      {
        type: field ? `field.${verb}` : 'form.updated',
        resource: 'field',
        of: sql`(SELECT ${id}::bigint AS id, ${versionSql} AS version FROM changed)`,
        changes: withMoment(JSON.stringify(changes), counted),
      },
    ],
    answer: sql`SELECT ${id}::text AS id FROM changed`,
  }
}

/**
 * Deletes the keys of a field, and if it is unique (D76) inserts those of all live records: counting the
 * deleted ones enforces this order.
 */
function keysSteps({ account }: WriteParams, { of: field, isUnique }: KeysChange): Step[] {
  const forgotten = sql`
  DELETE FROM unique_value u USING changed
  WHERE u.account_id = ${account}::bigint AND u.field = ${sql.integer(field.id)} RETURNING u.record
`
  const left = sql`SELECT u.record FROM unique_value u
  WHERE u.account_id = ${account}::bigint AND u.field = ${sql.integer(field.id)}`
  const live = sql`(
    SELECT t.* FROM changed, (SELECT count(*) FROM forgotten) f, ${sql.id(field.resource)} t
    WHERE t.account_id = ${account}::bigint AND t.deleted_at IS NULL)`
  return [
    { name: 'forgotten', change: forgotten, rows: () => left },
    ...(isUnique ? [{ name: 'keys', change: keysOfRows(live, [field]) }] : []),
  ]
}

function savedField(account: Param, source: Param, row: FieldRow): Step {
  const given = withMoment(JSON.stringify([row]), locked)
  const change = sql`
  INSERT INTO field (account_id, id, resource, internal_name, field_name, type, config, default_value,
    is_required, is_active, is_indexed, is_unique, deleted_at, version)
  SELECT ${account}::bigint, f.id, ${source}::text, f.internal_name, f.field_name, f.type, f.config,
    f.default_value, f.is_required, f.is_active, f.is_indexed, f.is_unique, f.deleted_at, f.version
  FROM changed, locked, jsonb_to_recordset(${given}::jsonb) f (id bigint,
    internal_name text, field_name text, type text, config jsonb, default_value jsonb, is_required boolean,
    is_active boolean, is_indexed boolean, is_unique boolean, deleted_at timestamptz, version int)
  ON CONFLICT (account_id, id) DO UPDATE SET field_name = excluded.field_name, config = excluded.config,
    default_value = excluded.default_value, is_required = excluded.is_required,
    is_active = excluded.is_active, is_indexed = excluded.is_indexed,
    is_unique = excluded.is_unique, deleted_at = excluded.deleted_at,
    version = excluded.version
`
  return { name: 'saved', change }
}

function savedOptions(account: Param, source: Param, { row, options }: NonNullable<Change['field']>): Step {
  const change = sql`
  INSERT INTO option (account_id, id, resource, field, name, position, is_active, is_default)
  SELECT ${account}::bigint, o.id, ${source}::text, ${row.internal_name}::text, o.name, o.position,
    o.is_active, o.is_default
  FROM changed, jsonb_to_recordset(${JSON.stringify(options)}::jsonb) o (id bigint, name text, position int,
    is_active boolean, is_default boolean)
  ON CONFLICT (account_id, id) DO UPDATE SET name = excluded.name, position = excluded.position,
    is_active = excluded.is_active, is_default = excluded.is_default
  WHERE option.resource = excluded.resource AND option.field = excluded.field
`
  return { name: 'offered', change }
}

function arranged(account: Param, source: Param, sections: readonly Section[]): Step {
  const change = sql`
  INSERT INTO form (account_id, resource, sections)
  SELECT ${account}::bigint, ${source}::text, ${JSON.stringify(sections)}::jsonb FROM changed
  ON CONFLICT (account_id, resource) DO UPDATE SET sections = excluded.sections
`
  return { name: 'arranged', change }
}
