/** The house rules of the web UI: imports of its folders, and sizes of its files. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { functionsOf, importsOf, sources } from './sources.ts'

const files = sources('web/src/**/*.{ts,tsx}')

/** Files of `from` must import nothing that matches `never`. */
const rules: readonly { readonly from: RegExp; readonly never: RegExp }[] = [
  { from: /^web\//, never: /^src\// },
  // Requests of pages go through the client. Texts of filters are no requests.
  { from: /^web\/src\/(?!api\/)/, never: /^client\/src\/(?!filter\.ts)/ },
  { from: /^web\/src\/ui\//, never: /^web\/src\/(?!ui\/|format\/)|^@tanstack\/react-(router|query)/ },
  { from: /^web\/src\/(format|fields)\//, never: /^web\/src\/(board|records|pages|settings|routes)/ },
]

test('no folder of the web UI knows what it must not know', () => {
  assert.ok(files.length > 30)
  const broken = files.flatMap(file =>
    rules
      .filter(({ from }) => from.test(file.path))
      .flatMap(({ never }) =>
        importsOf(file)
          .filter(name => never.test(name))
          .map(name => `${file.path} imports ${name}`),
      ),
  )
  assert.deepEqual(broken, [])
})

test('only field kinds look at the type of a field', () => {
  const looking = files.filter(
    ({ path, text }) =>
      !path.startsWith('web/src/fields/') &&
      /\bfield\.type\b|\.type === '[A-Z_]{4,}'|case '[A-Z]+_[A-Z]+'/.test(text),
  )
  assert.deepEqual(
    looking.map(({ path }) => path),
    [],
  )
})

test('the way out of a form looks the same everywhere', () => {
  const own = files.filter(
    ({ path, text }) =>
      path !== 'web/src/jobs/progress.tsx' && /<Button[^>]*>\s*Cancel\s*<\/Button>/.test(text),
  )
  assert.deepEqual(
    own.map(({ path }) => path),
    [],
  )
})

test('a file of the web UI opens with what it owns, and is short', () => {
  const wrong = files.filter(({ text }) => !text.startsWith('/**') || text.split('\n').length > 251)
  assert.deepEqual(
    wrong.map(({ path, text }) => `${path}: ${text.split('\n').length} lines`),
    [],
  )
})

test('a folder of the web UI has at most 25 files; one file for each field kind is the exception', () => {
  const counts = Map.groupBy(files, ({ path }) => path.slice(0, path.lastIndexOf('/')))
  const full = [...counts].filter(([folder, { length }]) => length > 25 && folder !== 'web/src/fields/kinds')
  assert.deepEqual(
    full.map(([folder, { length }]) => `${folder}: ${length} files`),
    [],
  )
})

test('a component or another function of the web UI has at most 120 lines', () => {
  const all = files.flatMap(file => functionsOf(file.text).map(one => ({ path: file.path, ...one })))
  assert.ok(all.some(({ lines }) => lines > 60))
  assert.deepEqual(
    all.filter(({ lines }) => lines > 120),
    [],
  )
})
