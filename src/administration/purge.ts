/**
 * The end of deleted custom fields (D36, D122). After the retention period their values are removed from the
 * records and the events; then the field itself is removed and its name is free. No record gets a new
 * version, because what callers see of it does not change. Every step checks again that the field is still
 * deleted: somebody may restore it at any moment.
 */
import type { Catalog } from '../fields/catalog.ts'
import { type Field, identifier } from '../fields/field.ts'
import { documentWithout } from '../records/document.ts'
import type { Queryable } from '../records/store.ts'
import { lockAccount, locked } from '../records/write.ts'

const recordsAtOnce = 200
const eventsAtOnce = 2000

/** Purges the fields that were deleted before `oldest`. Returns the names of those that are gone. */
export async function purgeFields(db: Queryable, catalog: Catalog, oldest: Date): Promise<string[]> {
  const before = oldest.toISOString()
  const purged: string[] = []
  for (const { fields } of catalog.resources.values()) {
    for (const field of fields) {
      if (!field.deleted_at || field.deleted_at > before) continue
      if (await purgeField(db, String(catalog.account.id), field, before)) purged.push(field.internal_name)
    }
  }
  return purged
}

async function purgeField(db: Queryable, account: string, field: Field, before: string): Promise<boolean> {
  const params = [account, String(field.id), before, field.resource, field.internal_name]
  for (const step of [fromRecords(field.resource), fromHistory]) {
    for (let last: string | null = '0'; last !== null; ) {
      const rows = await db.write(account, step, [...params, last], lockAccount)
      last = rows[0]!.last!
    }
  }
  return (await db.write(account, endOfField, params, lockAccount)).length > 0
}

/**
 * The parameters of all statements below: $1 account, $2 field, $3 deleted before, $4 resource, $5 the
 * field's name.
 */
const due =
  `${locked}, due AS (SELECT FROM locked, field WHERE account_id = $1::bigint AND id = $2::bigint AND deleted_at <= $3::timestamptz ` +
  'AND resource = $4::text AND internal_name = $5::text)'

/**
 * $6 is the last record that was looked at. Answers the last record of this batch; null when none is left, or
 * when the field was restored.
 */
function fromRecords(resource: string): string {
  const table = identifier(resource)
  return `WITH ${due},
    found AS (SELECT t.id FROM due, ${table} t WHERE t.account_id = $1::bigint AND t.id > $6::bigint AND t.custom ? $5::text
      ORDER BY t.id LIMIT ${recordsAtOnce}),
    cleared AS (UPDATE ${table} t SET custom = t.custom - $5::text, document = ${documentWithout('t.document', '$5::text')}
      FROM found WHERE t.account_id = $1::bigint AND t.id = found.id)
    SELECT max(id)::text AS last FROM found`
}

/** $6 is the `seq` of the last event that was looked at. Answers as above. */
const fromHistory = `WITH ${due},
    found AS (SELECT e.seq FROM due, event e WHERE e.account_id = $1::bigint AND e.seq > $6::bigint ORDER BY e.seq LIMIT ${eventsAtOnce}),
    wiped AS (UPDATE event e SET changes = e.changes - $5::text
      FROM found WHERE e.account_id = $1::bigint AND e.seq = found.seq AND e.resource = $4::text AND e.changes ? $5::text)
    SELECT max(seq)::text AS last FROM found`

const endOfField = `WITH ${due},
    gone AS (DELETE FROM field USING due WHERE account_id = $1::bigint AND id = $2::bigint RETURNING id),
    options AS (DELETE FROM option USING gone WHERE account_id = $1::bigint AND resource = $4::text AND field = $5::text)
    UPDATE account SET catalog_version = catalog_version + 1 WHERE account_id = $1::bigint AND EXISTS (SELECT FROM gone) RETURNING account_id`
