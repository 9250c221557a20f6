/**
 * Names that became duplicates by the folding of names (D127, D128): the later one is marked, with its
 * history.
 */
import assert from 'node:assert/strict'
import { migrate, migrateWithin, readMigrations } from '../../src/db/migrate.ts'
import type { Database } from '../../src/db/open.ts'
import { onEachEngine } from '../support/each-engine.ts'

const folding = readMigrations().findIndex(({ name }) => name === 'one-folding')

/** A database from before the migration: lower() alone decided which names are equal. */
async function oldDatabase(db: Database): Promise<void> {
  await db.sql.begin(tx => migrateWithin(tx, folding))
  await db.query("INSERT INTO account SELECT n, 'Old', 'UTC', 840, 1, now() FROM generate_series(1, 2) n")
  await db.query('INSERT INTO counter SELECT n, 100, 40 FROM generate_series(1, 2) n')
  const insert = (table: string, rows: readonly object[], more = '') =>
    db.query(
      `INSERT INTO ${table} (account_id, id, name, version, created_at, updated_at, document, deleted_at${more && ', pipeline, position, kind, probability'})
       SELECT coalesce(account, 1), id, name, 3, now() - interval '1 day', now() - interval '1 day',
         substr(t, 2, length(t) - 2), CASE WHEN is_deleted THEN now() END${more && ', pipeline, id, 1, 0'}
       FROM json_to_recordset($1::json) x (account bigint, id bigint, name text, is_deleted boolean, pipeline bigint),
         LATERAL (SELECT json_build_object('metadata', json_build_object('name', 'its own', 'n', '1.50'::json), 'name', name, 'updated_at', 'then')::text AS t) d`,
      [JSON.stringify(rows)],
    )
  const long = 'x'.repeat(255)
  await insert('tag', [
    { id: 1, name: 'x' },
    { id: 2, name: ' x ' },
    { id: 3, name: 'X (2)' },
    { id: 4, name: '\u00a0X' },
    { id: 5, name: 'é' },
    { id: 6, name: 'e\u0301' },
    { id: 7, name: 'x  ', is_deleted: true },
    { id: 8, name: long },
    { id: 9, name: `${long.slice(0, 254)} X`.slice(0, 255) },
    { id: 10, name: 'alone "\\' },
    { id: 11, name: 'ΟΔΟΣ' },
    { id: 12, name: 'οδος' },
    { account: 2, id: 1, name: 'x' },
  ])
  await db.query('UPDATE tag SET name = $1::text WHERE id = 9', [` ${long.slice(1)}`])
  await db.query('UPDATE tag SET name = $1::text WHERE id = 8', [long.slice(1)])
  await db.query(
    `INSERT INTO "user" (account_id, id, name, email, created_at, updated_at, document, deleted_at)
     SELECT 1, id, 'U', email, now(), now(), '"name":"U","email":' || to_json(email), CASE WHEN is_deleted THEN now() END
     FROM json_to_recordset($1::json) x (id bigint, email text, is_deleted boolean)`,
    [
      JSON.stringify([
        { id: 13, email: 'jo@example.com' },
        { id: 14, email: 'Jo@Example.com' },
        { id: 15, email: 'jo@example.com', is_deleted: true },
        { id: 16, email: 'jo@example.com' },
      ]),
    ],
  )
  await db.query(
    `INSERT INTO pipeline (account_id, id, name, position, is_default, version, created_at, updated_at, document)
     VALUES (1, 20, 'P', 1, 1, 1, now(), now(), '"name":"P"'), (1, 21, 'Q', 2, 2, 1, now(), now(), '"name":"Q"')`,
  )
  await insert(
    'pipeline_stage',
    [
      { id: 30, name: 'Won', pipeline: 20 },
      { id: 31, name: 'Won ', pipeline: 20 },
      { id: 32, name: 'Won', pipeline: 21 },
    ],
    'pipeline',
  )
}

async function marksDoubles(db: Database): Promise<void> {
  await oldDatabase(db)
  await db.query(
    `CREATE INDEX custom_1_1001 ON deal ((lower(left(custom ->> 'cf_a', 255)) COLLATE "C"), id) WHERE account_id = 1`,
  )
  await db.query(
    `CREATE INDEX custom_1_1002 ON deal (((custom ->> 'cf_b')::numeric), id) WHERE account_id = 1`,
  )
  await migrate(db)
  const names = async (table: string, account = 1) =>
    Object.fromEntries(
      (
        await db.query(`SELECT id::text AS id, name FROM ${table} WHERE account_id = ${account} ORDER BY id`)
      ).map(row => [row.id, row.name]),
    )
  const tags = await names('tag')
  assert.deepEqual(
    { ...tags, 8: tags[8]!.length, 9: tags[9] },
    {
      ...{ 1: 'x', 2: 'x (3)', 3: 'X (2)', 4: '\u00a0X (4)', 5: 'é', 6: 'e\u0301 (2)', 7: 'x  ', 8: 254 },
      ...{ 9: `${'x'.repeat(251)} (2)`, 10: 'alone "\\', 11: 'ΟΔΟΣ', 12: 'οδος (2)' },
    },
  )
  assert.deepEqual(await names('tag', 2), { 1: 'x' })
  const users = await db.query('SELECT id::text AS id, email, document FROM "user" ORDER BY id')
  assert.deepEqual(
    users.map(user => user.email),
    ['jo@example.com', 'Jo@Example.com.2.invalid', 'jo@example.com', 'jo@example.com.3.invalid'],
  )
  assert.equal(users[3]!.document, '"name":"U","email":"jo@example.com.3.invalid"')
  assert.deepEqual(await names('pipeline_stage'), { 30: 'Won', 31: 'Won (2)', 32: 'Won' })
  const [row] = await db.query(
    'SELECT version, document, updated_at, created_at < updated_at AS later FROM tag WHERE account_id = 1 AND id = 2',
  )
  assert.equal(row!.version, '4')
  assert.equal(row!.later, 't')
  const instant = new Date(row!.updated_at!).toISOString()
  assert.equal(
    row!.document,
    `"metadata":{"name" : "its own", "n" : 1.50},"name":"x (3)","updated_at":"${instant}"`,
  )
  const events = await db.query(
    `SELECT seq::text AS seq, type, record_id::text AS id, version, actor::text AS actor, changes::text AS changes FROM event
     WHERE account_id = 1 AND resource <> 'role' ORDER BY seq`,
  )
  assert.deepEqual(
    events.map(event => event.seq),
    ['41', '42', '43', '44', '45', '46', '47', '48'],
  )
  assert.deepEqual(
    { ...events[0] },
    {
      ...{ seq: '41', type: 'tag.updated', id: '2', version: '4', actor: '0' },
      changes: '{"name": {"after": "x (3)", "before": " x "}}',
    },
  )
  assert.equal(events.at(-1)!.type, 'user.updated')
  const [account] = await db.query(
    'SELECT c.last_seq::text AS seq, a.catalog_version::text AS version FROM account a JOIN counter c USING (account_id) WHERE account_id = 1',
  )
  // The migrations that make roles, and change three of them three times, are changes of the configuration,
  // too.
  assert.deepEqual({ ...account }, { seq: '57', version: '14' })
  await assert.rejects(db.query("UPDATE tag SET name = 'E\u0301' WHERE account_id = 1 AND id = 1"), {
    code: '23505',
    constraint_name: 'tag_name',
  })
  const custom = await db.query("SELECT indexname AS name FROM pg_indexes WHERE indexname LIKE 'custom%'")
  assert.deepEqual(
    custom.map(index => index.name),
    ['custom_1_1002'],
  )
}

/**
 * Zero width, an ASCII control, a variant: these made names distinct until the migration "unseen-letters".
 */
async function forgetsTheUnseen(db: Database): Promise<void> {
  const before = readMigrations().findIndex(({ name }) => name === 'unseen-letters')
  await db.sql.begin(tx => migrateWithin(tx, before))
  await db.query("INSERT INTO account SELECT 1, 'Old', 'UTC', 840, 1, now()")
  await db.query('INSERT INTO counter SELECT 1, 100, 40')
  const insert = (table: string, values: readonly string[], column = 'name') =>
    db.query(
      `INSERT INTO ${table} (account_id, id, ${column}, version, created_at, updated_at, document)
       SELECT 1, n, t, 1, now(), now(), format('"${column}":%s', to_json(t))
       FROM json_array_elements_text($1::json) WITH ORDINALITY x (t, n)`,
      [JSON.stringify(values)],
    )
  await insert('tag', ['x\u200by', 'xy', 'x\u0007y', 'z\ufe0f', 'é', 'e'])
  await insert('company', ['Acme\u200b', 'Other'])
  await db.query(
    `INSERT INTO unique_value (account_id, field, key, record)
     SELECT 1, 1001, unnest(ARRAY['a\u200bb', 'ab', 'b\u2060']), generate_series(7, 9)`,
  )
  await migrate(db)
  const told = async (query: string) => (await db.query(query)).map(row => Object.values(row).join(' '))
  assert.deepEqual(await told('SELECT name FROM tag ORDER BY id'), [
    'x\u200by (2)',
    'xy',
    'x\u0007y (3)',
    'z\ufe0f',
    'é',
    'e',
  ])
  assert.deepEqual(await told("SELECT record_id, actor FROM event WHERE type = 'tag.updated' ORDER BY seq"), [
    '1 0',
    '3 0',
  ])
  await assert.rejects(db.query("UPDATE tag SET name = 'X\u2060Y' WHERE account_id = 1 AND id = 6"), {
    constraint_name: 'tag_name',
  })
  assert.deepEqual(await told('SELECT key, record FROM unique_value ORDER BY key'), ['ab 8', 'b 9'])
  // By the index from before.
  await db.query('SET enable_seqscan = off')
  const found = `SELECT id FROM company WHERE account_id = 1 AND deleted_at IS NULL AND compared_name(name) COLLATE "C" = 'acme'`
  assert.deepEqual(await told(found), ['1'])
}

onEachEngine('what nobody sees is no part of a name', forgetsTheUnseen)

onEachEngine('the later of two names that are one is marked, once, as a change of its own', marksDoubles)
