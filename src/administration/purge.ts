/**
 * The end of deleted custom fields (D36): after a while their values leave the records, then the field itself is gone and its name is
 * free. What remains in the events is history. Records keep their version: nothing that anyone sees has changed.
 */
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { type Field, identifier } from '../fields/field.ts'
import { type JsonObject, parseJson } from '../json.ts'
import type { Queryable } from '../records/store.ts'

const keptForMs = 30 * 86_400_000
const batch = 200

/** Purges what was deleted 30 days before `now` or earlier: the names of the fields that are gone. */
export async function purgeFields(db: Queryable, catalog: Catalog, now: Date): Promise<string[]> {
  const purged: string[] = []
  for (const fields of catalog.resources.values()) {
    for (const field of fields.fields) {
      if (!field.deleted_at || Date.parse(field.deleted_at) > now.getTime() - keptForMs) continue
      await clearValues(db, String(catalog.account.id), fields, field)
      purged.push(field.internal_name)
    }
  }
  return purged
}

async function clearValues(db: Queryable, account: string, { resource }: ResourceFields, field: Field): Promise<void> {
  const table = identifier(resource.name)
  for (;;) {
    const rows = await db.query(
      `SELECT id::text AS id, version::text AS version, document FROM ${table} WHERE account_id = $1::bigint AND custom ? $2::text LIMIT ${batch}`,
      [account, field.internal_name],
    )
    if (rows.length === 0) break
    const without = rows.map(({ id, version, document }) => ({
      id,
      version,
      document: withoutMember(document!, field.internal_name),
    }))
    // A record that was changed meanwhile is left to the next round.
    await db.write(
      account,
      `WITH locked AS MATERIALIZED (SELECT 1 FROM counter WHERE account_id = $1::bigint FOR UPDATE)
       UPDATE ${table} r SET custom = r.custom - $2::text, document = x.document
       FROM locked, jsonb_to_recordset($3::jsonb) x (id bigint, version int, document text)
       WHERE r.account_id = $1::bigint AND r.id = x.id AND r.version = x.version`,
      [account, field.internal_name, JSON.stringify(without)],
    )
  }
  await db.write(account, removeField, [account, String(field.id), resource.name, field.internal_name])
}

/** $1 account, $2 field id, $3 resource, $4 internal name. */
const removeField = `WITH locked AS MATERIALIZED (SELECT 1 FROM counter WHERE account_id = $1::bigint FOR UPDATE),
  options AS (DELETE FROM option USING locked WHERE account_id = $1::bigint AND resource = $3::text AND field = $4::text),
  gone AS (DELETE FROM field USING locked WHERE account_id = $1::bigint AND id = $2::bigint AND deleted_at IS NOT NULL RETURNING id)
  UPDATE account SET catalog_version = catalog_version + 1 WHERE account_id = $1::bigint AND EXISTS (SELECT FROM gone)`

function withoutMember(document: string, name: string): string {
  const members = parseJson(`{${document}}`) as JsonObject
  delete members[name]
  return JSON.stringify(members).slice(1, -1)
}
