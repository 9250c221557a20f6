/** SQL is written with the template of src/sql.ts, which numbers the parameters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sources } from './sources.ts'

const files = sources('src/**/*.ts').map(({ path, text }) => ({
  path,
  // Without comments.
  code: text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''),
}))

/**
 * The database's client and migrations work below the template. A backup names tables and types from
 * PostgreSQL's own catalog, which are no part of our source.
 */
const below = /^src\/(sql\.ts|db\/|backup\/)/

test('no parameter is numbered by hand', () => {
  const numbered = files.filter(({ path, code }) => !below.test(path) && /\$\d|\$\$\{/.test(code))
  assert.deepEqual(
    numbered.map(({ path }) => path),
    [],
  )
})

test('no statement is put together as a string', () => {
  const statement = /(?<!sql)(?:`|')\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|CREATE|DROP) [^'`]/
  const strings = files.filter(({ path, code }) => !below.test(path) && statement.test(code))
  assert.deepEqual(
    strings.map(({ path }) => path),
    [],
  )
})

/** Of all accounts, each with numbers of its own: it asks every node. */
const ofAllAccounts = 'src/accounts/accounts.ts'

test('a subquery names its account as a parameter, and takes it from no column (D175)', () => {
  const byColumn = /(?<!\bON )(?:\$\{\w+\}|\b\w+)\.?account_id = \w+\.account_id/
  const byOther = /account_id = \$\{(?!own\}|sql\.integer\(account\)\})[^}]*\}(?!::bigint)/
  const judged = files
    .filter(({ path, code }) => !below.test(path) && (byColumn.test(code) || byOther.test(code)))
    .map(({ path }) => path)
  assert.deepEqual(judged, [ofAllAccounts])
})

test('what a distributed database can’t carry out stands nowhere: no columns, CASE x, the time returned', () => {
  const refused = files.filter(({ code }) =>
    /SELECT FROM|\bCASE\s+(?!WHEN\b|\$\{sql\.join)\S|\bRETURNING [^`)]*\bnow\(\)/.test(code),
  )
  assert.deepEqual(
    refused.map(({ path }) => path),
    [],
  )
})
