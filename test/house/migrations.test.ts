/**
 * Migrations that databases may have applied stay as they are, comments included: a start refuses a database
 * whose history has another checksum. New ones can be carried out on a distributed database (D173).
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readMigrations, statementsOf, withoutComments } from '../../src/db/migrate.ts'

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
