/**
 * Saves a validated change in one statement: the field with its options, or the form. The statement
 * increments the catalog's version, and does nothing unless the catalog still has the validated version
 * (D52): a compare and set.
 */
import type { WriteParams } from '../fields/caller-params.ts'
import type { Catalog, FieldRow, Section } from '../fields/catalog.ts'
import type { Field, Option } from '../fields/field.ts'
import { type IdempotentRequest, unchanged, writeIdempotently } from '../records/idempotency.ts'
import type { Transaction } from '../records/store.ts'
import { isTaken, keysOfRows } from '../records/unique.ts'
import { author, dated, lockFirst, type Origin, type Write, writing } from '../records/write.ts'
import { type Param, param, type Sql, sql } from '../sql.ts'

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
  { catalog, actor, origin, idempotency }: ChangeContext,
  change: Change | null,
  response: T,
): Promise<T | undefined> {
  const params = author({ catalog, actor, ...origin })
  if (!change) {
    const answer = sql`SELECT '' AS id FROM locked`
    if (idempotency)
      await writeIdempotently(db, params.account, idempotency, unchanged(params.account, answer), response)
    return response
  }
  // The keys must cover all committed records. If a concurrent write wins, the change is validated again.
  const first = change.keys ? lockFirst : undefined
  const ctes = writing(params, changeOf(params, change))
  const written = await writeIdempotently(db, params.account, idempotency, ctes, response, first).catch(
    error => {
      if (isTaken(error)) return undefined
      throw error
    },
  )
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
  return {
    changes: [
      sql`changed AS (
  UPDATE account SET catalog_version = catalog_version + 1
  FROM locked WHERE account_id = ${account}::bigint AND catalog_version = ${version}::bigint
  RETURNING catalog_version
)`,
      ...(field ? [savedField(account, source, field.row), savedOptions(account, source, field)] : []),
      ...(sections ? [arranged(account, source, sections)] : []),
      ...(keys ? keysSql(params, keys) : []),
    ],
    endsOlder: keys !== null,
    when: sql`EXISTS (SELECT 1 FROM changed)`,
    events: [
      {
        type: field ? `field.${verb}` : 'form.updated',
        resource: 'field',
        of: sql`(SELECT ${id}::bigint AS id, ${versionSql} AS version FROM changed)`,
        changes: dated(JSON.stringify(changes), sql`counted.at`),
      },
    ],
    answer: sql`SELECT ${id}::text AS id FROM changed`,
  }
}

/**
 * Deletes the keys of a field, and if it is unique (D76) inserts those of all live records: counting the
 * deleted ones enforces this order.
 */
function keysSql({ account }: WriteParams, { of: field, isUnique }: KeysChange): Sql[] {
  const forgotten = sql`forgotten AS (
  DELETE FROM unique_value u USING changed
  WHERE u.account_id = ${account}::bigint AND u.field = ${sql.integer(field.id)} RETURNING u.record
)`
  const live = sql`(
    SELECT t.* FROM changed, (SELECT count(*) FROM forgotten) f, ${sql.id(field.resource)} t
    WHERE t.account_id = ${account}::bigint AND t.deleted_at IS NULL)`
  return [forgotten, ...(isUnique ? [sql`keys AS (${keysOfRows({ account }, live, [field])})`] : [])]
}

function savedField(account: Param, source: Param, row: FieldRow): Sql {
  const given = dated(JSON.stringify([row]), sql`locked.at`)
  return sql`saved AS (
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
)`
}

function savedOptions(account: Param, source: Param, { row, options }: NonNullable<Change['field']>): Sql {
  return sql`offered AS (
  INSERT INTO option (account_id, id, resource, field, name, position, is_active, is_default)
  SELECT ${account}::bigint, o.id, ${source}::text, ${row.internal_name}::text, o.name, o.position,
    o.is_active, o.is_default
  FROM changed, jsonb_to_recordset(${JSON.stringify(options)}::jsonb) o (id bigint, name text, position int,
    is_active boolean, is_default boolean)
  ON CONFLICT (account_id, id) DO UPDATE SET name = excluded.name, position = excluded.position,
    is_active = excluded.is_active, is_default = excluded.is_default
  WHERE option.resource = excluded.resource AND option.field = excluded.field
)`
}

function arranged(account: Param, source: Param, sections: readonly Section[]): Sql {
  return sql`arranged AS (
  INSERT INTO form (account_id, resource, sections)
  SELECT ${account}::bigint, ${source}::text, ${JSON.stringify(sections)}::jsonb FROM changed
  ON CONFLICT (account_id, resource) DO UPDATE SET sections = excluded.sections
)`
}
