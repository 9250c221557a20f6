/**
 * The schema's rules that let an account be moved to a shard of its own; checked in the database's own
 * catalog.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '../../src/resources/resources.ts'
import { startService } from '../support/service.ts'

const { db } = await startService({ sampleData: false })
const found = async (text: string) => (await db.query(text)).map(row => row.name)

test('account_id comes first in every primary key, unique index and foreign key', async () => {
  const names = await found(`SELECT c.conrelid::regclass || ' ' || c.conname AS name FROM pg_constraint c
    JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
    WHERE c.connamespace = 'public'::regnamespace AND c.contype IN ('p', 'u', 'f') AND a.attname <> 'account_id' AND c.conrelid::regclass::text <> 'schema_migration'`)
  assert.deepEqual(names, [])
  const indexes = await found(`SELECT i.indexrelid::regclass::text AS name FROM pg_index i
    JOIN pg_class c ON c.oid = i.indrelid JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE c.relnamespace = 'public'::regnamespace AND i.indisunique AND a.attname <> 'account_id' AND c.relname <> 'schema_migration'`)
  assert.deepEqual(indexes, [])
})

test('every table but the history of migrations has an account_id that is never null', async () => {
  const names =
    await found(`SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> 'schema_migration'
    AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND a.attnotnull)`)
  assert.deepEqual(names, [])
})

test('nothing that other engines or shards do not have', async () => {
  assert.deepEqual(await found('SELECT tgname AS name FROM pg_trigger WHERE NOT tgisinternal'), [])
  assert.deepEqual(
    await found(
      "SELECT attrelid::regclass || '.' || attname AS name FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE c.relnamespace = 'public'::regnamespace AND attgenerated <> ''",
    ),
    [],
  )
  assert.deepEqual(
    await found(
      "SELECT typname AS name FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype IN ('d', 'r', 'e')",
    ),
    [],
  )
  assert.deepEqual(
    await found(
      "SELECT conname AS name FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND (condeferrable OR contype = 'x')",
    ),
    [],
  )
  assert.deepEqual(await found('SELECT inhrelid::regclass::text AS name FROM pg_inherits'), [])
})

test('a field without which no record is has a column that is never null', async () => {
  const filled = new Set(
    await found(
      "SELECT c.relname || '.' || a.attname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid " +
        "WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnotnull",
    ),
  )
  const said = resources.flatMap(resource => resource.fields.filter(field => field.is_filled))
  assert.ok(said.length > 20)
  assert.deepEqual(
    said.map(field => `${field.resource}.${field.internal_name}`).filter(name => !filled.has(name)),
    [],
  )
})
