/**
 * The purge of deleted custom fields (D36, D122). After the retention period their values are removed from
 * records and events; then the field itself is removed, which frees its name. Records get no new version,
 * because what callers see of them does not change. Every step checks again that the field is still deleted:
 * it may be restored at any moment.
 */
import type { Catalog } from '../../fields/catalog.ts'
import type { Field } from '../../fields/field.ts'
import { fieldsVersion } from '../../records/backfill.ts'
import { renderedWithout } from '../../records/rendered-record.ts'
import type { Transaction } from '../../records/store.ts'
import { lockOnly, writeStatement } from '../../records/write/protocol.ts'
import { param, type Sql, sql } from '../../sql.ts'

const recordsAtOnce = 200
const eventsAtOnce = 2000

/** Purges the fields that were deleted before `oldest`. Returns their names. */
export async function purgeFields(db: Transaction, catalog: Catalog, oldest: Date): Promise<string[]> {
  const before = oldest.toISOString()
  const purged: string[] = []
  for (const { fields } of catalog.resources.values()) {
    for (const field of fields) {
      if (!field.deleted_at || field.deleted_at > before) continue
      if (await purgeField(db, dueOf(catalog.account.id, field, before))) purged.push(field.internal_name)
    }
  }
  return purged
}

/** A field due for purge, as parameters of the statements below. */
type Due = ReturnType<typeof dueOf>

function dueOf(account: number, { id, internal_name, resource }: Field, before: string) {
  const [ofAccount, ofField] = [param(String(account)), param(String(id))]
  return { account: ofAccount, id: ofField, name: param(internal_name), resource, before }
}

async function purgeField(db: Transaction, due: Due): Promise<boolean> {
  for (const step of [fromRecords, fromHistory]) {
    for (let last: string | null = '0'; last !== null; ) {
      const rows = await writeStatement(db, due.account, step(due, last), true)
      last = rows[0]!.last!
    }
  }
  return (await writeStatement(db, due.account, endOfField(due), true)).length > 0
}

/** The CTEs at the start of each step: `due` has a row as long as the field is still deleted. */
function isDue({ account, id, name, resource, before }: Due): Sql {
  return sql`${lockOnly(account)},
due AS (
  SELECT 1 FROM locked, field
  WHERE account_id = ${account}::bigint AND id = ${id}::bigint AND deleted_at <= ${before}::timestamptz
    AND resource = ${sql.text(resource)} AND internal_name = ${name}::text
)`
}

/**
 * Clears the values of the next batch of records. Returns the last record of the batch; null if none is left,
 * or the field was restored.
 */
function fromRecords(due: Due, last: string): Sql {
  const { account, name } = due
  const table = sql.id(due.resource)
  return sql`WITH ${isDue(due)},
found AS (
  SELECT t.id FROM due, ${table} t
  WHERE t.account_id = ${account}::bigint AND t.id > ${last}::bigint AND t.custom ? ${name}::text
  ORDER BY t.id LIMIT ${sql.integer(recordsAtOnce)}
),
cleared AS (
  UPDATE ${table} t SET custom = t.custom - ${name}::text,
    document = ${renderedWithout(sql`t.document`, sql`${name}::text`)}
  FROM found WHERE t.account_id = ${account}::bigint AND t.id = found.id
)
SELECT max(id)::text AS last FROM found`
}

/** Clears the values of the next batch of events, after the `seq` of the last one. */
function fromHistory(due: Due, last: string): Sql {
  const { account, name } = due
  return sql`WITH ${isDue(due)},
found AS (
  SELECT e.seq FROM due, event e
  WHERE e.account_id = ${account}::bigint AND e.seq > ${last}::bigint
  ORDER BY e.seq LIMIT ${sql.integer(eventsAtOnce)}
),
wiped AS (
  UPDATE event e SET changes = e.changes - ${name}::text
  FROM found
  WHERE e.account_id = ${account}::bigint AND e.seq = found.seq AND e.resource = ${sql.text(due.resource)}
    AND e.changes ? ${name}::text
)
SELECT max(seq)::text AS last FROM found`
}

function endOfField(due: Due): Sql {
  const { account, id, name, resource } = due
  return sql`WITH ${isDue(due)},
gone AS (
  DELETE FROM field USING due WHERE account_id = ${account}::bigint AND id = ${id}::bigint RETURNING id
),
options AS (
  DELETE FROM option USING gone
  WHERE account_id = ${account}::bigint AND resource = ${sql.text(resource)} AND field = ${name}::text
)
UPDATE account SET ${fieldsVersion}
WHERE account_id = ${account}::bigint AND EXISTS (SELECT 1 FROM gone)
RETURNING account_id`
}
