/** Sizes, names and places of files. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parts, runsOnBoth } from '../parts.ts'
import { functionsOf, type Source, sources } from './sources.ts'

test('a source file is a screen or a few: at most 300 lines', () => {
  const long = sources('src/**/*.ts').filter(file => file.text.trimEnd().split('\n').length > 300)
  assert.deepEqual(
    long.map(file => file.path),
    [],
  )
})

test('a file of data has one entry a line', () => {
  const files = sources('src/**/*.json')
  assert.ok(files.length > 0)
  for (const { path, text } of files) {
    const depth = path.endsWith('/templates.json') ? 3 : 2
    assert.equal(text, `${printed(JSON.parse(text), depth)}\n`, path)
  }
})

/** JSON whose outer lists and objects have one entry a line. An item of a list is one entry. */
function printed(value: unknown, depth: number, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  const entries = Array.isArray(value)
    ? value.map(item => printed(item, 0))
    : Object.entries(value).map(
        ([name, item]) => `${JSON.stringify(name)}: ${printed(item, depth - 1, inner)}`,
      )
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (depth > 0) return `${open}\n${entries.map(entry => inner + entry).join(',\n')}\n${indent}${close}`
  return Array.isArray(value) ? `[${entries.join(', ')}]` : `{ ${entries.join(', ')} }`
}

test('a function or method has at most 60 lines', () => {
  const long = sources('src/**/*.ts').flatMap(file =>
    functionsOf(file.text)
      .filter(({ lines }) => lines > 60)
      .map(({ head, lines }) => ({ path: file.path, head, lines })),
  )
  assert.deepEqual(long, [])
})

test('no barrels, no dumping grounds, no default exports; names in kebab-case', () => {
  const files = sources('{src,test,bench}/**/*.ts')
  assert.deepEqual(
    files.filter(
      file =>
        /\/(utils?|helpers?|common|shared|misc|lib)\//.test(file.path) || file.path.endsWith('/index.ts'),
    ),
    [],
  )
  assert.deepEqual(
    files.filter(file => /^export default/m.test(file.text)).map(file => file.path),
    [],
  )
  assert.deepEqual(
    files
      .filter(file => !/^[a-z0-9-]+(\.test)?\.ts$/.test(file.path.split('/').at(-1)!))
      .map(file => file.path),
    [],
  )
})

test('a source file opens with what it owns', () => {
  const silent = sources('src/**/*.ts').filter(file => !file.text.startsWith('/**'))
  assert.deepEqual(
    silent.map(file => file.path),
    [],
  )
})

test('every test file is in a part, and in no two of one engine with all their questions', () => {
  const inParts = Object.values(parts).flatMap(({ engine, files, share }) =>
    share < 1 ? [] : files.map(file => `${engine} ${file}`),
  )
  assert.deepEqual(
    inParts.filter((place, index) => inParts.indexOf(place) !== index),
    [],
  )
  const known = new Set(Object.values(parts).flatMap(({ files }) => files))
  const left = sources('test/**/*.test.ts').filter(({ path }) => !known.has(path))
  assert.deepEqual(
    left.map(({ path }) => path),
    [],
  )
})

test('a test that asks which engine it runs on is where it runs on both', () => {
  const once = sources('test/**/*.test.ts').filter(
    ({ path, text }) => !runsOnBoth(path) && /env\.TEST_ENGINE\b/.test(text),
  )
  assert.deepEqual(
    once.map(file => file.path),
    [],
  )
})

test('a line of code has at most 110 characters, unless it is part of a long text', () => {
  const long = sources('{src,test,bench,scripts,bin,web/src}/**/*.{ts,tsx,js}').flatMap(file => {
    let isTemplate = false
    return linesOf(file).flatMap(({ place, text }) => {
      const begins = isTemplate
      if (!isComment.test(text)) isTemplate = (text.match(/(?<!\\)`/g)?.length ?? 0) % 2 ? !begins : begins
      return [...text].length <= 110 || begins || isTemplate || holdsLongText.test(text) ? [] : [place]
    })
  })
  assert.deepEqual(long, [])
})

const isComment = /^\s*(\/\/|\/?\*)/
/** A string, a template or a regular expression of more than sixty characters. */
const holdsLongText = /^(?!\s*(?:\/\/|\/?\*)).*(?:'[^']{60,}'|"[^"]{60,}"|`.{60,}`|\/.{60,}\/)/

test('a line of a document has at most 100 characters, unless it is a table, code or a link', () => {
  const long = sources('{*.md,docs/**/*.md}').flatMap(file => {
    let isCode = false
    return linesOf(file).flatMap(({ place, text }) => {
      if (text.startsWith('```')) isCode = !isCode
      return [...text].length <= 100 || isCode || /^\||\]\([^)]{60,}\)/.test(text) ? [] : [place]
    })
  })
  assert.deepEqual(long, [])
})

function linesOf({ path, text }: Source): { place: string; text: string }[] {
  return text.split('\n').map((line, index) => ({ place: `${path}:${index + 1}`, text: line }))
}
