/**
 * Migration of time ranges from objects to texts (D16): in records, their history, and the defaults of
 * fields.
 */
import assert from 'node:assert/strict'
import { migrate, migrateWithin, readMigrations } from '../../src/db/migrate.ts'
import { onEachEngine } from '../support/each-engine.ts'

const before = readMigrations().findIndex(({ name }) => name === 'time-ranges')
const range = (from: string, to: string) => ({ range: { from, to } })

onEachEngine('time ranges of before are texts', async db => {
  await db.sql.begin(tx => migrateWithin(tx, before))
  await db.query("INSERT INTO account SELECT 1, 'Old', 'UTC', 840, 1, now()")
  await db.query(
    `INSERT INTO field (account_id, id, resource, internal_name, field_name, type, config, default_value)
     SELECT 1, id, 'tag', name, name, type, '{}', value
     FROM json_to_recordset($1::json) f (id bigint, name text, type text, value jsonb)`,
    [
      JSON.stringify([
        { id: 1001, name: 'cf_open', type: 'TIME_RANGE', value: range('09:00', '17:30') },
        { id: 1002, name: 'cf_stay', type: 'DATE_RANGE', value: range('2026-01-01', '2026-01-02') },
      ]),
    ],
  )
  const custom = { cf_open: range('22:00', '06:00'), cf_stay: range('2026-01-01', '2026-01-02') }
  const document = JSON.stringify({ name: 'x', ...custom, cf_last: 1 }).slice(1, -1)
  await db.query(
    `INSERT INTO tag (account_id, id, name, version, created_at, updated_at, document, custom)
     SELECT 1, id, name, 1, now(), now(), text, value
     FROM json_to_recordset($1::json) t (id bigint, name text, text text, value jsonb)`,
    [
      JSON.stringify([
        { id: 1, name: 'x', text: document, value: custom },
        { id: 2, name: 'y', text: '"name":"y"', value: {} },
      ]),
    ],
  )
  const changes = {
    name: { before: null, after: 'x' },
    cf_open: { before: null, after: range('22:00', '06:00') },
    cf_stay: { before: null, after: custom.cf_stay },
  }
  await db.query(
    `INSERT INTO event (account_id, seq, type, also, resource, record_id, version, at, changes, actor)
     VALUES (1, 1, 'tag.created', '{}', 'tag', 1, 1, now(), $1::jsonb, 0)`,
    [JSON.stringify(changes)],
  )
  await migrate(db)
  const rows = await db.query(
    `SELECT custom::text, concat('{', document, '}') AS document,
      (SELECT changes::text FROM event e WHERE e.record_id = t.id) AS changes FROM tag t ORDER BY id`,
  )
  const [changed, plain] = rows.map(row => ({
    custom: JSON.parse(row.custom!),
    document: JSON.parse(row.document!),
    changes: JSON.parse(row.changes ?? 'null'),
  }))
  const now = { ...custom, cf_open: '22:00/06:00' }
  assert.deepEqual(changed, {
    custom: now,
    document: { name: 'x', ...now, cf_last: 1 },
    changes: { ...changes, cf_open: { before: null, after: '22:00/06:00' } },
  })
  assert.deepEqual(plain, { custom: {}, document: { name: 'y' }, changes: null })
  const fields = await db.query('SELECT default_value::text AS value FROM field ORDER BY id')
  assert.deepEqual(
    fields.map(({ value }) => JSON.parse(value!)),
    ['09:00/17:30', custom.cf_stay],
  )
})
