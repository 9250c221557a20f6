/** Functions of superlinear time have one owner each, which checks the length first. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
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
