/**
 * Migration of accounts from before the next step (D158): deals say what is next, as if their activities had
 * just been written, and pipelines name no fields for their cards.
 */
import assert from 'node:assert/strict'
import { migrateWithin, readMigrations } from '../../src/db/migrate.ts'
import type { Database } from '../../src/db/open.ts'
import { onEachEngine } from '../support/each-engine.ts'

const before = readMigrations().findIndex(({ name }) => name === 'next-steps')

const subject = 'He said: "recent_note":\\1'
const note = '"recent_note":"\\"last_activity_type\\":"'
const former = `"done_activities":0,"upcoming_activities":2,"next_activity_date":null,"last_activity_type":null,${note}`

async function oldDatabase(db: Database): Promise<void> {
  await db.sql.begin(tx => migrateWithin(tx, before))
  const run = (text: string, ...values: string[]) => db.query(text, values)
  await run("INSERT INTO account (account_id, name, base_currency, created_at) VALUES (1, 'Old', 840, now())")
  await run('INSERT INTO counter (account_id, last_id, last_seq, last_at) VALUES (1, 100, 40, now())')
  const author = 'now(), now(), \'"name":"x"\''
  await run(
    `INSERT INTO role (account_id, id, name, scopes, visibility, may_change, created_at, updated_at, document)
     VALUES (1, 5, 'R', '["admin"]', '{}', '{}', ${author})`,
  )
  await run(
    `INSERT INTO "user" (account_id, id, name, email, role, created_at, updated_at, document)
     VALUES (1, 1, 'U', 'u@example.com', 5, ${author})`,
  )
  await run(
    `INSERT INTO pipeline (account_id, id, name, position, is_default, created_at, updated_at, document)
     VALUES (1, 2, 'P', 1, 1, now(), now(), '"name":"P","is_default":1,"metadata":{"is_default":2}')`,
  )
  await run(
    `INSERT INTO pipeline_stage (account_id, id, pipeline, name, position, kind, probability, created_at, updated_at, document)
     VALUES (1, 3, 2, 'S', 1, 1, 0, ${author})`,
  )
  await run(
    `INSERT INTO contact (account_id, id, last_name, created_at, updated_at, document) VALUES (1, 4, 'C', ${author})`,
  )
  const deals: [string, string][] = [
    ['10', 'NULL'],
    ['11', "'2026-01-02'"],
    ['12', 'NULL'],
  ]
  for (const [id, deletedAt] of deals)
    await run(
      `INSERT INTO deal (account_id, id, title, pipeline, pipeline_stage, primary_contact, sales_owner, status, stage_probability,
         deal_stage_updated_at, last_assigned_at, created_at, updated_at, created_by, updated_by, document, activities_document, deleted_at)
       VALUES (1, $1::bigint, 'D', 2, 3, 4, 1, 1, 0, now(), now(), now(), now(), 1, 1, '"title":"D"', $2::text, ${deletedAt})`,
      ...[id, former],
    )
  const activities: [deal: string, due: string, done: string, deleted: string, subject: string][] = [
    ['10', "'2026-07-02 10:00:00.25+02'", 'NULL', 'NULL', subject],
    ['10', "'2026-07-01'", "'2026-07-01'", 'NULL', 'Done'],
    ['10', "'2026-07-01'", 'NULL', "'2026-01-02'", 'Deleted'],
    ['10', 'NULL', 'NULL', 'NULL', 'Undated'],
    ['11', 'NULL', 'NULL', "'2026-01-02'", 'Deleted with its deal'],
  ]
  for (const [index, [deal, due, done, deleted, subject]] of activities.entries())
    await run(
      `INSERT INTO activity (account_id, id, kind, subject, due_at, done_at, deal, document, created_at, updated_at, deleted_at)
       VALUES (1, $1::bigint, 1, $2::text, ${due}, ${done}, $3::bigint, '"x":1', now(), now(), ${deleted})`,
      ...[String(20 + index), subject, deal],
    )
}

async function saysNext(db: Database): Promise<void> {
  await oldDatabase(db)
  await db.sql.begin(tx => migrateWithin(tx, before + 1))
  const deals = await db.query(
    `SELECT next_activity_at = '2026-07-02 08:00:00.25+00' AS is_at, next_activity_subject AS subject,
       activities_document AS text, activities_moved_at IS NOT NULL AS moved FROM deal ORDER BY id`,
  )
  const text = (at: string | null, subject: string | null) =>
    former.replace(
      '"last_activity_type"',
      () =>
        `"next_activity_at":${JSON.stringify(at)},"next_activity_subject":${JSON.stringify(subject)},"last_activity_type"`,
    )
  assert.deepEqual(
    deals.map(({ is_at, subject, text, moved }) => [
      String(is_at)[0] ?? null,
      subject,
      text,
      String(moved)[0],
    ]),
    [
      ['t', subject, text('2026-07-02T08:00:00.250Z', subject), 't'],
      ['n', 'Deleted with its deal', text(null, 'Deleted with its deal'), 't'],
      ['n', null, text(null, null), 'f'],
    ],
  )
  const [pipeline] = await db.query('SELECT card_fields::text AS fields, document FROM pipeline')
  assert.deepEqual(
    [pipeline!.fields, pipeline!.document],
    ['[]', '"name":"P","is_default":1,"card_fields":[],"metadata":{"is_default":2}'],
  )
  const [made] = await db.query(
    `SELECT column_default AS text FROM information_schema.columns
     WHERE table_name = 'deal' AND column_name = 'activities_document'`,
  )
  assert.match(made!.text!, /"next_activity_at":null,"next_activity_subject":null,"last_activity_type":null/)
}

onEachEngine('deals of an account from before say what is next', saysNext)
