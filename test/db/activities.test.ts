/**
 * Migration of accounts from before activities (D73): their deals lose the members that were always 0 or null
 * from their text, and the default roles read and write activities as they do deals.
 */
import assert from 'node:assert/strict'
import { migrateWithin, readMigrations } from '../../src/db/migrate.ts'
import type { Database } from '../../src/db/open.ts'
import { onEachEngine } from '../support/each-engine.ts'

const before = readMigrations().findIndex(({ name }) => name === 'activities')

const counters =
  '"done_activities":0,"upcoming_activities":0,"total_activities":0,"email_message_count":0,' +
  '"last_email_received":null,"last_email_sent":null,"last_activity_date":null,"next_activity_date":null,' +
  '"last_activity_type":null,"web_forms":null,"recent_note":null'
/** Texts as written by earlier versions, in several orders; with members of the same names elsewhere. */
const texts = [
  `"title":"A",${counters},"created_at":"then","metadata":{}`,
  `${counters},"title":"\\"done_activities\\":0,","metadata":{"recent_note":null,"n":1.50}`,
  `"metadata":{"done_activities":0,"x":{"total_activities":0}},"title":"C","cf_j":9999999999999999,${counters}`,
]
const left = '"last_email_received":null,"last_email_sent":null,"web_forms":null'
const stripped = [
  `"title":"A",${left},"created_at":"then","metadata":{}`,
  `${left},"title":"\\"done_activities\\":0,","metadata":{"recent_note":null,"n":1.50}`,
  `"metadata":{"done_activities":0,"x":{"total_activities":0}},"title":"C","cf_j":9999999999999999,${left}`,
]

type Role = {
  id: number
  built_in: string | null
  scopes: string[]
  visibility?: object
  may_change?: object
}
const roles: Role[] = [
  { id: 1, built_in: 'administrator', scopes: ['admin'] },
  { id: 2, built_in: 'manager', scopes: ['deal:read', 'deal:write', 'tag:read'] },
  // Changed by the account: sees its own deals only, and may not write them.
  {
    id: 3,
    built_in: 'member',
    scopes: ['deal:read'],
    visibility: { deal: 'own' },
    may_change: { deal: 'own' },
  },
  { id: 4, built_in: 'read_only', scopes: ['tag:read'] },
  { id: 5, built_in: null, scopes: ['deal:read', 'deal:write'] },
]

async function oldDatabase(db: Database): Promise<void> {
  await db.sql.begin(tx => migrateWithin(tx, before))
  const run = (text: string, ...values: string[]) => db.query(text, values)
  await run(
    "INSERT INTO account (account_id, name, base_currency, created_at) SELECT n, 'Old', 840, now() FROM generate_series(1, 2) n",
  )
  await run(
    "INSERT INTO counter (account_id, last_id, last_seq, last_at) SELECT n, 100, 40, now() + interval '1 hour' FROM generate_series(1, 2) n",
  )
  for (const { id, built_in, scopes, visibility = {}, may_change = {} } of roles) {
    const members = {
      name: `R${id}`,
      scopes,
      visibility,
      may_change,
      updated_at: 'then',
      metadata: { scopes: 1 },
    }
    await run(
      `INSERT INTO role (account_id, id, name, built_in, scopes, visibility, may_change, created_at, updated_at, document)
       SELECT n, $1::bigint, $2::text, nullif($3::text, ''), $4::jsonb, $5::jsonb, $6::jsonb, now(), now(), $7::text
       FROM generate_series(1, 2) n`,
      ...[
        String(id),
        `R${id}`,
        built_in ?? '',
        ...[scopes, visibility, may_change].map(one => JSON.stringify(one)),
      ],
      JSON.stringify(members).slice(1, -1),
    )
  }
  const author = 'now(), now(), \'"name":"x"\''
  await run(
    `INSERT INTO "user" (account_id, id, name, email, created_at, updated_at, document) VALUES (1, 1, 'U', 'u@example.com', ${author})`,
  )
  await run(
    `INSERT INTO pipeline (account_id, id, name, position, is_default, created_at, updated_at, document) VALUES (1, 2, 'P', 1, 1, ${author})`,
  )
  await run(
    `INSERT INTO pipeline_stage (account_id, id, pipeline, name, position, kind, probability, created_at, updated_at, document)
     VALUES (1, 3, 2, 'S', 1, 1, 0, ${author})`,
  )
  await run(
    `INSERT INTO contact (account_id, id, last_name, created_at, updated_at, document) VALUES (1, 4, 'C', ${author})`,
  )
  for (const [index, text] of texts.entries())
    await run(
      `INSERT INTO deal (account_id, id, title, pipeline, pipeline_stage, primary_contact, sales_owner, status, stage_probability,
         deal_stage_updated_at, last_assigned_at, created_at, updated_at, created_by, updated_by, document)
       VALUES (1, $1::bigint, 'D', 2, 3, 4, 1, 1, 0, now(), now(), now(), now(), 1, 1, $2::text)`,
      String(10 + index),
      text,
    )
}

async function bringsActivities(db: Database): Promise<void> {
  await oldDatabase(db)
  await db.sql.begin(tx => migrateWithin(tx, before + 1))
  const deals = await db.query(
    'SELECT document, done_activities::text AS done, recent_note FROM deal ORDER BY id',
  )
  assert.deepEqual(
    deals.map(({ document, done, recent_note }) => [document, done, recent_note]),
    stripped.map(text => [text, '0', null]),
  )
  for (const account of ['1', '2']) {
    const rows = await db.query(
      `SELECT id::text AS id, version::text AS version, scopes::text AS scopes, visibility::text AS visibility,
         may_change::text AS may_change, concat('{', document, '}') AS document, updated_at::text AS at
       FROM role WHERE account_id = $1::bigint ORDER BY id`,
      [account],
    )
    const [own, none] = [{ deal: 'own', activity: 'own' }, {}]
    assert.deepEqual(
      rows.map(row => [
        row.version,
        ...[row.scopes, row.visibility, row.may_change].map(text => JSON.parse(text!)),
      ]),
      [
        ['1', ['admin'], none, none],
        ['2', ['deal:read', 'deal:write', 'tag:read', 'activity:read', 'activity:write'], none, none],
        ['2', ['deal:read', 'activity:read'], own, own],
        ['1', ['tag:read'], none, none],
        ['1', ['deal:read', 'deal:write'], none, none],
      ],
    )
    for (const { document, scopes, visibility, may_change, version, at } of rows) {
      const text = JSON.parse(document!)
      assert.deepEqual(
        [text.scopes, text.visibility, text.may_change, text.metadata],
        [...[scopes, visibility, may_change].map(one => JSON.parse(one!)), { scopes: 1 }],
      )
      assert.equal(text.updated_at, version === '1' ? 'then' : new Date(at!).toISOString())
    }
    const events = await db.query(
      `SELECT e.seq::text AS seq, e.record_id::text AS id, e.version::text AS version, e.actor::text AS actor,
         e.changes::text AS changes, (e.at = c.last_at AND c.last_seq = 42)::text AS is_last
       FROM event e JOIN counter c USING (account_id) WHERE account_id = $1::bigint ORDER BY seq`,
      [account],
    )
    assert.deepEqual(
      events.map(({ changes, ...event }) => [
        ...Object.values(event),
        Object.keys(JSON.parse(changes!)).toSorted(),
      ]),
      [
        ['41', '2', '2', '0', 'true', ['scopes']],
        ['42', '3', '2', '0', 'true', ['may_change', 'scopes', 'visibility']],
      ],
    )
  }
}

onEachEngine('an account from before has activities, and what it has says so', bringsActivities)
