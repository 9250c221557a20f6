/**
 * Saves what was judged, in one statement: the field with its options, or the form. The statement increases
 * the catalog's version, and does nothing unless the catalog still has the version that was judged (D52). So
 * no other change can come between the judgement and its saving.
 */
import type { FieldRow, Section } from '../fields/catalog.ts'
import type { Option } from '../fields/field.ts'
import { type Once, writeOnce } from '../records/once.ts'
import type { Queryable } from '../records/store.ts'
import { appended, counted, dated, locked, lockedAt } from '../records/write.ts'

export type Change = {
  /** what happened, as its event says: created, updated, deleted, restored */
  readonly verb: string
  readonly resource: string
  /** null: only the form changes */
  readonly field: { readonly row: FieldRow; readonly options: readonly Option[] } | null
  readonly sections: readonly Section[] | null
}

export type Author = {
  readonly account: number
  readonly version: string
  readonly actor: number
  readonly once: Once | null
}

/**
 * Saves a change (null: there is none) and stores what its answer says. Undefined when the catalog no longer
 * has the version that was judged. Takes the counter first, like every write.
 */
export async function saveChange<T extends object>(
  db: Queryable,
  { account, version, actor, once }: Author,
  change: Change | null,
  told: T,
): Promise<T | undefined> {
  const asked = { once, account: String(account) }
  if (!change) {
    if (once) await writeOnce(db, asked, unchanged, [asked.account], told)
    return told
  }
  const { verb, resource, field, sections } = change
  const params = [
    asked.account,
    String(actor),
    null,
    version,
    resource,
    JSON.stringify(field ? [field.row] : []),
    JSON.stringify(field?.options ?? []),
    sections && JSON.stringify(sections),
    field ? field.row.internal_name : null,
    field ? `field.${verb}` : 'form.updated',
    String(field?.row.id ?? 0),
    JSON.stringify({
      ...(field ? { field: field.row, options: field.options } : {}),
      ...(sections ? { sections } : {}),
    }),
    field && String(field.row.version),
  ]
  const written = await writeOnce(db, asked, statement, params, told)
  return written?.told
}

/**
 * Reserves `count` ids of fields and options, and returns the first. Unused ids are never given to another.
 */
export async function reserveIds(db: Queryable, account: number, count: number): Promise<number> {
  const [row] = await db.write(
    String(account),
    'UPDATE counter SET last_field_id = last_field_id + $2::bigint WHERE account_id = $1::bigint RETURNING (last_field_id - $2::bigint + 1)::text AS first',
    [String(account), String(count)],
  )
  return Number(row!.first)
}

/** $1 account. A change that alters nothing stores only its key. */
const unchanged = `WITH ${locked}, answer AS (SELECT '' AS id FROM locked)`

const told = appended('logged', {
  type: '$10::text',
  resource: "'field'",
  of: '(SELECT $11::bigint AS id, coalesce($13::int, catalog_version::int) AS version FROM changed)',
  changes: dated('$12', 'counted.at'),
})

/**
 * $1 account, $2 actor, $3 moment, $4 version judged, $5 resource, $6 field rows, $7 its options, $8
 * sections, $9 the field's internal name, $10 event type, $11 record id, $12 changes, $13 the field's version
 * (null: the catalog's is told) → the record id.
 */
const statement = `WITH ${lockedAt},
  changed AS (UPDATE account SET catalog_version = catalog_version + 1 FROM locked
    WHERE account_id = $1::bigint AND catalog_version = $4::bigint RETURNING catalog_version),
  saved AS (INSERT INTO field (account_id, id, resource, internal_name, field_name, type, config, default_value, is_required, is_active,
      is_indexed, deleted_at, version)
    SELECT $1::bigint, f.id, $5::text, f.internal_name, f.field_name, f.type, f.config, f.default_value, f.is_required, f.is_active,
      f.is_indexed, f.deleted_at, f.version
    FROM changed, locked, jsonb_to_recordset(${dated('$6', 'locked.at')}::jsonb) f (id bigint, internal_name text, field_name text, type text, config jsonb, default_value jsonb,
      is_required boolean, is_active boolean, is_indexed boolean, deleted_at timestamptz, version int)
    ON CONFLICT (account_id, id) DO UPDATE SET field_name = excluded.field_name, config = excluded.config,
      default_value = excluded.default_value, is_required = excluded.is_required, is_active = excluded.is_active,
      is_indexed = excluded.is_indexed, deleted_at = excluded.deleted_at, version = excluded.version),
  offered AS (INSERT INTO option (account_id, id, resource, field, name, position, is_active, is_default)
    SELECT $1::bigint, o.id, $5::text, $9::text, o.name, o.position, o.is_active, o.is_default
    FROM changed, jsonb_to_recordset($7::jsonb) o (id bigint, name text, position int, is_active boolean, is_default boolean)
    ON CONFLICT (account_id, id) DO UPDATE SET name = excluded.name, position = excluded.position, is_active = excluded.is_active,
      is_default = excluded.is_default WHERE option.resource = excluded.resource AND option.field = excluded.field),
  arranged AS (INSERT INTO form (account_id, resource, sections)
    SELECT $1::bigint, $5::text, $8::jsonb FROM changed WHERE $8::jsonb IS NOT NULL
    ON CONFLICT (account_id, resource) DO UPDATE SET sections = excluded.sections),
  ${counted('1', 'EXISTS (SELECT FROM changed)')},
  ${told},
  answer AS (SELECT $11::text AS id FROM changed)`
