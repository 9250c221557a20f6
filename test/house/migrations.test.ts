/**
 * Migrations that databases may have applied stay as they are, comments included: a start refuses a database
 * whose history has another checksum. New ones can be carried out on a distributed database (D173), and while
 * processes of the version before still run (D177).
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readMigrations, statementsOf, withoutComments } from '../../src/db/migrate.ts'
import { firstRolling, keyOf, stopping, stoppingOf } from '../../src/db/older-processes.ts'

// A new migration adds its line here in the commit that adds the file; no line is changed afterwards.
test('every migration has the checksum with which databases applied it', () => {
  const applied = JSON.parse(readFileSync('test/db/applied-migrations.json', 'utf8'))
  const present = readMigrations().map(({ version, name, checksum }) => [`${version} ${name}`, checksum])
  assert.deepEqual(Object.fromEntries(present), applied)
})

/** The first one that may find a distributed database. */
const firstDistributed = 37

test('a migration is cut into its statements, none of which is lost', () => {
  for (const { name, text } of readMigrations()) {
    const statements = statementsOf(text)
    const bare = (sql: string) => sql.replaceAll(/[\s;]/g, '')
    assert.equal(bare(statements.join('')), bare(withoutComments(text)), name)
    const begun = /^(ALTER|ANALYZE|CREATE|DELETE|DO|DROP|INSERT|SELECT|UPDATE|WITH)\b/
    assert.deepEqual(
      statements.filter(statement => !begun.test(statement)),
      [],
      name,
    )
  }
})

// There, a table can't refer to a distributed one before it is distributed itself (D173).
test('a new table gets its foreign keys by ALTER TABLE', () => {
  const early = readMigrations()
    .filter(({ version }) => version >= firstDistributed)
    .filter(({ text }) => statementsOf(text).some(one => /^CREATE TABLE[\s\S]*\bREFERENCES\b/.test(one)))
  assert.deepEqual(
    early.map(({ name }) => name),
    [],
  )
})

/** Forms of statements about tables that older processes know → the harm to these processes. */
const harms: readonly (readonly [RegExp, string])[] = [
  [/^(UPDATE|DELETE|WITH)\b/, 'changes values, of which they write more in the old form'],
  [/^INSERT\b/, 'adds rows, which they do not know'],
  [/^(DO|SELECT)\b/, 'can not be judged by its text'],
  [/^DROP (?!INDEX\b)/, 'removes what they use'],
  [/\bDROP (COLUMN|DEFAULT|EXPRESSION|IDENTITY)\b/, 'removes what they use'],
  [/\bRENAME\b/, 'renames what they use'],
  [/\bSET (SCHEMA|NOT NULL)\b/, 'refuses what they write'],
  [/\bALTER COLUMN \S+ (SET DATA )?TYPE\b/, 'changes a column that they read and write'],
  [
    // Texts between quotation marks are passed over.
    /\bADD COLUMN \S+ (?=([^,']|'[^']*')*\bNOT NULL\b)(?!([^,']|'[^']*')*\bDEFAULT\b)/,
    'has a column that they leave out, and that must be given',
  ],
  [
    /^ALTER TABLE[\s\S]*\b(CHECK|UNIQUE|PRIMARY KEY|FOREIGN KEY|REFERENCES|EXCLUDE)\b/,
    'refuses what they write',
  ],
  [/^CREATE UNIQUE INDEX\b/, 'refuses what they write'],
]

const aboutTable =
  /^(?:(?:CREATE|ALTER) TABLE|UPDATE|INSERT INTO|DELETE FROM|CREATE (?:UNIQUE )?INDEX[^(]*? ON) "?(\w+)/

/** The table that a statement creates or is about. */
const tableOf = (statement: string) => aboutTable.exec(statement)?.[1]

/** Why older processes can't run beside a migration and after it, as far as its text tells. */
function harmsOf(text: string): string[] {
  const statements = statementsOf(text).map(one => one.replaceAll(/\s+/g, ' '))
  const created = new Set(statements.filter(one => one.startsWith('CREATE TABLE')).map(tableOf))
  const known = statements.filter(one => !created.has(tableOf(one)))
  return known.flatMap(one => harms.flatMap(([form, harm]) => (form.test(one) ? `${one}: ${harm}` : [])))
}

test('what harms older processes is found in the text of a migration', () => {
  for (const harmless of [
    "ALTER TABLE account ADD COLUMN at timestamptz NOT NULL DEFAULT '-infinity'",
    "ALTER TABLE deal ADD COLUMN a text, ADD COLUMN b text NOT NULL DEFAULT 'NOT NULL, x'",
    'CREATE TABLE note (account_id bigint NOT NULL); ALTER TABLE note ADD FOREIGN KEY (a) REFERENCES account',
    'CREATE TABLE note (id int); INSERT INTO note SELECT 1; CREATE UNIQUE INDEX note_id ON note (id)',
    'CREATE INDEX CONCURRENTLY deal_x ON deal (x)',
    'DROP INDEX deal_tags -- as 0035 did',
  ])
    assert.deepEqual(harmsOf(harmless), [], harmless)
  for (const harmful of [
    'ALTER TABLE deal DROP COLUMN a',
    'ALTER TABLE deal RENAME COLUMN a TO b',
    'ALTER TABLE deal RENAME TO deals',
    'DROP TABLE deal',
    'ALTER TABLE deal ADD COLUMN a int NOT NULL',
    "ALTER TABLE deal ADD COLUMN a int NOT NULL, ADD COLUMN b text NOT NULL DEFAULT ''",
    'ALTER TABLE deal ALTER COLUMN a SET NOT NULL',
    'ALTER TABLE deal ALTER COLUMN a TYPE text',
    'ALTER TABLE deal ALTER COLUMN a DROP DEFAULT',
    'ALTER TABLE deal ADD CONSTRAINT x CHECK (a > 0)',
    'CREATE UNIQUE INDEX deal_x ON deal (x)',
    "UPDATE deal SET document = ''",
    'WITH x AS (SELECT 1) UPDATE deal SET a = 1 FROM x',
    'DELETE FROM deal',
    "INSERT INTO account VALUES ('a;b')",
    'DO $$ BEGIN DROP TABLE deal; END $$',
  ])
    assert.equal(harmsOf(harmful).length, 1, `${harmful}: ${harmsOf(harmful)}`)
})

// Cut such a migration into one that adds and a later version's that removes, or list it as stopping.
test('older processes go on while a migration is applied, and afterwards (D177)', () => {
  const own = readMigrations().filter(({ version }) => version >= firstRolling)
  const harmful = own.filter(one => !(keyOf(one) in stopping) && harmsOf(one.text).length > 0)
  assert.deepEqual(
    harmful.map(one => [keyOf(one), harmsOf(one.text)]),
    [],
  )
  const needless = Object.keys(stopping).filter(
    key => !own.some(one => keyOf(one) === key && harmsOf(one.text).length > 0),
  )
  assert.deepEqual(needless, [])
})

test('older processes must have ended for early migrations, and for those that are listed', () => {
  const files = [37, 38, 39].map(version => ({ version, name: 'x' }))
  assert.deepEqual(stoppingOf(files, { '39 x': 'drops a column' }), [files[0], files[2]])
  assert.deepEqual(stoppingOf(files.slice(1), {}), [])
})
