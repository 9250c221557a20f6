/**
 * The end of deleted custom fields (D36): after a while their values leave the records, then the field itself is gone and its name is
 * free. What remains in the events is history. Every step asks again whether the field is still deleted: it may be restored at any moment.
 */
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { type Field, identifier } from '../fields/field.ts'
import { type JsonObject, parseJson } from '../json.ts'
import type { Queryable } from '../records/store.ts'

const batch = 200

/** Purges the fields that were deleted before `oldest`: the names of those that are gone. */
export async function purgeFields(db: Queryable, catalog: Catalog, oldest: Date): Promise<string[]> {
  const before = oldest.toISOString()
  const purged: string[] = []
  for (const fields of catalog.resources.values()) {
    for (const field of fields.fields) {
      if (!field.deleted_at || field.deleted_at > before) continue
      if (await purgeField(db, String(catalog.account.id), fields, field, before)) purged.push(field.internal_name)
    }
  }
  return purged
}

async function purgeField(
  db: Queryable,
  account: string,
  { resource }: ResourceFields,
  field: Field,
  before: string,
): Promise<boolean> {
  const table = identifier(resource.name)
  const due = `EXISTS (SELECT FROM field WHERE account_id = $1::bigint AND id = $2::bigint AND deleted_at <= $3::timestamptz)`
  for (let last = '0'; ; ) {
    const rows = await db.query(
      `SELECT id::text AS id, version::text AS version, document FROM ${table} WHERE account_id = $1::bigint AND id > $2::bigint ` +
        `AND custom ? $3::text ORDER BY id LIMIT ${batch}`,
      [account, last, field.internal_name],
    )
    if (rows.length === 0) break
    const without = rows.map(({ id, version, document }) => ({
      id,
      version,
      document: withoutMember(document!, field.internal_name),
    }))
    // The version counts up, so that a change that read the value before can't write it back.
    const done = await db.write(
      account,
      `WITH locked AS MATERIALIZED (SELECT 1 FROM counter WHERE account_id = $1::bigint FOR UPDATE)
       UPDATE ${table} r SET custom = r.custom - $4::text, document = x.document, version = r.version + 1
       FROM locked, jsonb_to_recordset($5::jsonb) x (id bigint, version int, document text)
       WHERE r.account_id = $1::bigint AND r.id = x.id AND r.version = x.version AND ${due} RETURNING r.id::text AS id`,
      [account, String(field.id), before, field.internal_name, JSON.stringify(without)],
    )
    // A record that was changed meanwhile is read again; if none could be cleared, the field was restored.
    if (done.length === 0) return false
    if (done.length === rows.length) last = rows.at(-1)!.id!
  }
  const gone = await db.write(
    account,
    `WITH locked AS MATERIALIZED (SELECT 1 FROM counter WHERE account_id = $1::bigint FOR UPDATE),
       gone AS (DELETE FROM field USING locked WHERE account_id = $1::bigint AND id = $2::bigint AND deleted_at <= $3::timestamptz RETURNING id),
       options AS (DELETE FROM option USING gone WHERE account_id = $1::bigint AND resource = $4::text AND field = $5::text)
     UPDATE account SET catalog_version = catalog_version + 1 WHERE account_id = $1::bigint AND EXISTS (SELECT FROM gone) RETURNING account_id`,
    [account, String(field.id), before, resource.name, field.internal_name],
  )
  return gone.length > 0
}

function withoutMember(document: string, name: string): string {
  const members = parseJson(`{${document}}`) as JsonObject
  delete members[name]
  return JSON.stringify(members).slice(1, -1)
}
