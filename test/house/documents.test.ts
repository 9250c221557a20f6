/** The documents say what the code does. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { errorTable } from '../../src/errors.ts'
import { sources } from './sources.ts'

const read = (path: string) => readFileSync(path, 'utf8')

test('docs/api/errors.md has a row for each error, and no other', () => {
  const rows = [...read('docs/api/errors.md').matchAll(/^\| (\d{4}) \| `(\w+)` \| (\d{3}) \|/gm)].map(
    match => `${match[1]} ${match[2]} ${match[3]}`,
  )
  const table = Object.entries(errorTable).map(([slug, { code, status }]) => `${code} ${slug} ${status}`)
  assert.deepEqual(rows, table)
  assert.equal(new Set(Object.values(errorTable).map(error => error.code)).size, table.length)
})

test('docs/api/errors.md lists every code of a problem, and no other', () => {
  const code =
    /(?:problem\(\s*(?:'\w+',\s*)?|refuse\(world, \w+, (?:'\w+'|parameter), |report\(problems, (?:'\w+'|name|parameter), |report\(\s*judge,\s*(?:'[^']*'|path|`[^`]*`),\s*|complaint\(\w+, |code: |warn\()'([a-z_]+)'/g
  const used = new Set(
    sources('src/**/*.ts').flatMap(file => [...file.text.matchAll(code)].map(match => match[1]!)),
  )
  const listed = [...read('docs/api/errors.md').matchAll(/^\| `(\w+)` \|/gm)].map(match => match[1]!)
  // Codes that are put together of parts.
  for (const made of ['required_when_won', 'required_when_lost', 'invalid_time']) used.add(made)
  assert.deepEqual(listed.toSorted(), [...used].toSorted())
})

test('every decision that the code cites is written down, in the order of the numbers', () => {
  const numbers = [...read('docs/decisions.md').matchAll(/^\*\*D(\d+) · /gm)].map(match => Number(match[1]))
  // The numbers from 61 to 99 belong to capabilities that are still to come.
  const first = numbers.filter(number => number < 100)
  assert.deepEqual(
    first,
    first.map((_, index) => index + 1),
  )
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
  )
  assert.equal(new Set(numbers).size, numbers.length)
  const cited = new Set(
    sources('{src,test,bench}/**/*.ts').flatMap(file =>
      [...file.text.matchAll(/\bD(\d{1,3})\b/g)].map(match => Number(match[1])),
    ),
  )
  assert.deepEqual(
    [...cited].filter(number => !numbers.includes(number)),
    [],
  )
})

test('every setting is in docs/operating.md, and no other', () => {
  const used = [...new Set([...read('src/config.ts').matchAll(/env\.([A-Z_]+)/g)].map(match => match[1]!))]
  const listed = [...read('docs/operating.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(match => match[1]!)
  assert.deepEqual(listed.toSorted(), used.toSorted())
})

test('every dependency is named in ARCHITECTURE.md with its reason', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: object }
  const listed = [...read('ARCHITECTURE.md').matchAll(/^\| `([^`]+)` \| [^|]+ \| [^|]+ \|$/gm)].map(
    match => match[1]!,
  )
  for (const name of Object.keys(dependencies)) assert.ok(listed.includes(name), name)
})

test('links between documents lead somewhere', () => {
  for (const file of sources('{*.md,docs/**/*.md}')) {
    for (const [, target] of file.text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)) {
      const path = new URL(target!, `file:///${file.path}`).pathname.slice(1)
      assert.doesNotThrow(
        () => read(path.endsWith('/') ? `${path}README.md` : path),
        `${file.path} → ${target}`,
      )
    }
  }
})
