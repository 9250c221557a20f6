/**
 * Migrations that databases may have applied stay as they are, comments included: a start refuses a database
 * whose history has another checksum.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readMigrations } from '../../src/db/migrate.ts'

// A new migration adds its line here in the commit that adds the file; no line is changed afterwards.
test('every migration has the checksum with which databases applied it', () => {
  const applied = JSON.parse(readFileSync('test/db/applied-migrations.json', 'utf8'))
  const present = readMigrations().map(({ version, name, checksum }) => [`${version} ${name}`, checksum])
  assert.deepEqual(Object.fromEntries(present), applied)
})
