/** Functions of superlinear time have one owner each, which checks the length first. */
import assert from 'node:assert/strict'
import { stripTypeScriptTypes } from 'node:module'
import { test } from 'node:test'
import { type Token, tokenizer } from 'acorn'
import { analyse } from 'scslre'
import { sources } from './sources.ts'

const owners: readonly { readonly what: RegExp; readonly only: string | readonly string[] }[] = [
  // Ordering the combining marks of a letter takes quadratic time. The password of a server is the operator's
  // own.
  { what: /\.normalize\(/, only: ['src/fields/name.ts', 'src/db/postgres/login.ts'] },
  // Compares every word with every other.
  {
    what: /\bnearest\(/,
    // Imports look for a few names of a file only.
    only: [
      'src/fields/nearest.ts',
      'src/http/wrong-path.ts',
      // The first mistakes in the arguments of a tool only.
      'src/mcp/input.ts',
      // Names of the environment, once at the start.
      'src/setting-names.ts',
      'src/work/imports/candidates.ts',
      'src/work/imports/values.ts',
    ],
  },
  // A text of a megabyte becomes a million strings.
  { what: /\[\.\.\.\w+\]\.length/, only: 'src/fields/code-points.ts' },
  // The reviver is called for every value: half a second for a megabyte.
  { what: /JSON\.parse\([^()]*, /, only: 'none' },
]

test('what takes long for a long text has one owner', () => {
  const others = owners.flatMap(({ what, only }) =>
    sources('src/**/*.ts')
      .filter(file => ![only].flat().includes(file.path) && what.test(file.text))
      .map(file => `${file.path}: ${what}`),
  )
  assert.deepEqual(others, [])
})

test('hints are looked for by whoever counts the problems, not where they are found', () => {
  const eager = sources('src/**/*.ts').filter(file =>
    /(?<!\(\) => |function )\b(suggestion|unknownFieldHint|unknownMemberHint)\(/.test(file.text),
  )
  // A single refusal, with one hint.
  const single = [
    'src/http/routes/metadata.ts',
    'src/cli/arguments.ts',
    'src/cli/account-selector.ts',
    'src/db/postgres/server-url.ts',
    'src/fields/unknown-field.ts',
    'src/fields/kinds/dropdown.ts',
    'src/fields/kinds/money.ts',
    // A tool takes at most thirty fields and twenty conditions.
    'src/mcp/conditions.ts',
    'src/mcp/rows.ts',
  ]
  assert.deepEqual(
    eager.map(file => file.path).filter(path => !single.includes(path)),
    [],
  )
})

/**
 * Files whose regular expressions may take quadratic time, with their number: they match what is short, or
 * our own.
 */
const superlinear: { readonly [path: string]: readonly [count: number, because: string] } = {
  'src/accounts/sign-in/password.ts': [1, 'a password has a bound'],
  'src/backup/progress.ts': [1, 'a number'],
  'src/db/migrate.ts': [1, 'our migrations'],
  'src/files/texts.ts': [2, 'momentMax'],
  'src/fold.ts': [2, 'the table of the same file'],
  'src/http/documents.ts': [1, 'our documents'],
  'src/lists/foreign-filters.ts': [7, 'translatedMax of query.ts, longest of foreign-parameters.ts'],
  'src/lists/foreign-parameters.ts': [1, 'longest'],
  'src/mcp/amounts.ts': [1, 'amountMax'],
  'src/mcp/report.ts': [1, 'maxLength of the tool: 120 characters'],
  'src/mcp/write.ts': [1, 'maxLength of the tool: 40 characters'],
  'src/records/write/execute.ts': [1, 'our statements'],
  'src/records/write/response.ts': [1, 'our messages'],
  'src/trace-settings.ts': [1, 'settings of the operator'],
  'src/work/exports/workbook.ts': [1, 'the digits of a number'],
  'src/work/imports/column-name.ts': [1, 'columnNameMax'],
  'src/work/imports/contents.ts': [1, 'textMax'],
}

/** The regular expressions of a TypeScript file. */
function expressionsOf(text: string): RegExp[] {
  const tokens = tokenizer(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module' })
  return [...tokens].flatMap(token => {
    const { type, value } = token as Token & { readonly value?: { pattern: string; flags: string } }
    return type.label === 'regexp' ? [new RegExp(value!.pattern, value!.flags)] : []
  })
}

test('a regular expression takes a time like the length of its text', () => {
  const found = [...sources('src/**/*.ts'), ...sources('client/src/**/*.ts')].flatMap(({ path, text }) => {
    const slow = expressionsOf(text).filter(one => analyse(one).reports.length > 0)
    const [count = 0, because = ''] = superlinear[path] ?? []
    return slow.length === count ? [] : [{ path, because, slow }]
  })
  assert.deepEqual(found, [])
})
