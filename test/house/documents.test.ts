/** The documents agree with the code. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { errorTable, problemCodes } from '../../src/errors.ts'
import { known } from '../../src/setting-names.ts'
import { installClient } from '../support/client-package.ts'
import { commentsOf, sources } from './sources.ts'

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
  const listed = [...read('docs/api/errors.md').matchAll(/^\| `(\w+)` \|/gm)].map(match => match[1]!)
  assert.deepEqual(listed, problemCodes)
  // The compiler takes no other code; each of these is used.
  const used = new Set(
    sources('src/**/*.ts')
      .filter(({ path }) => path !== 'src/errors.ts')
      .flatMap(({ text }) => [...text.matchAll(/'(\w+)'/g)].map(match => match[1]!)),
  )
  // The status of a deal is a part of these.
  for (const made of ['required_when_won', 'required_when_lost']) used.add(made)
  assert.deepEqual(
    problemCodes.filter(code => !used.has(code)),
    [],
  )
})

const decisionsIn = (page: string) =>
  [...read(page).matchAll(/^\*\*D(\d+) · /gm)].map(match => Number(match[1]))
const decisions = () => globSync('docs/decisions/*.md').flatMap(decisionsIn)

/** The decisions cited by a text: `D7`, and each one of `D4 to D6`. */
function cited(text: string): number[] {
  return [...text.matchAll(/\bD(\d{1,3})\b(?:\s+(?:\*\s+)?to\s+(?:\*\s+)?D(\d{1,3})\b)?/g)].flatMap(
    ([, first, last = first]) => {
      const from = Number(first)
      return Array.from({ length: Number(last) - from + 1 }, (_, index) => from + index)
    },
  )
}

test('each decision stands once, and the index has its page', () => {
  const rows = [...read('docs/decisions/README.md').matchAll(/^\| \[.+?\]\((.+?)\) \| (.+?) \|$/gm)]
  const indexed = rows.map(([, page, numbers]) => [`docs/decisions/${page}`, numbers])
  const written = globSync('docs/decisions/*.md')
    .filter(page => !page.endsWith('README.md'))
    .map(page => [
      page.replaceAll('\\', '/'),
      decisionsIn(page)
        .map(number => `D${number}`)
        .join(', '),
    ])
  assert.deepEqual(indexed.toSorted(), written.toSorted())
  const numbers = decisions().toSorted((a, b) => a - b)
  assert.equal(new Set(numbers).size, numbers.length)
  // From 69 on the numbers have gaps.
  assert.deepEqual(
    numbers.filter(number => number < 69),
    Array.from({ length: 68 }, (_, index) => index + 1),
  )
})

test('every decision that code or documents cite is written down', () => {
  const written = new Set(decisions())
  const unknown = sources('{{src,test,bench}/**/*.ts,src/**/*.sql,*.md,docs/**/*.md}').flatMap(file =>
    cited(file.text)
      .filter(number => !written.has(number))
      .map(number => `${file.path}: D${number}`),
  )
  assert.deepEqual(unknown, [])
})

test('every decision is cited where it is followed: in code, a test or the interface by example', () => {
  const used = new Set(
    sources('{{src,test}/**/*.ts,docs/api/*.md}')
      .filter(file => !file.path.startsWith('test/house/'))
      .flatMap(file => cited(file.text)),
  )
  assert.deepEqual(
    decisions().filter(number => !used.has(number)),
    [],
  )
})

// Applied migrations can't be edited, so their comments may name files that have moved since.
test('every file that a document or a comment names is there', () => {
  const folders = globSync('src/*/')
    .map(path => path.split(/[\\/]/)[1]!)
    .join('|')
  const name = `(?<![\\w./-])((?:src|test|bench|scripts|bin|deploy|docs|${folders})/[\\w./-]+\\.(?:ts|js|sql|md|service))\\b`
  const missing = sources('{*.md,docs/**/*.md,{src,test,bench}/**/*.ts}').flatMap(file => {
    // A recipe may name the files that it creates.
    const text = file.path.endsWith('.md')
      ? file.text.replace(/^\S+ new: .*$/gm, '')
      : commentsOf(file.text)
          .map(comment => comment.text)
          .join('\n')
    return [...text.matchAll(new RegExp(name, 'g'))]
      .map(match => match[1]!)
      .filter(path => ![path, `src/${path}`, `docs/${path}`].some(place => existsSync(place)))
      .map(path => `${file.path}: ${path}`)
  })
  assert.deepEqual(missing, [])
})

/** A composed name has … in place of its variable parts. */
test('every proof of docs/security.md is a test that is there', () => {
  const plain = (text: string) => text.replace(/[\s\\]+/g, ' ').replaceAll('’', "'")
  const entries = read('docs/security.md')
    .split(/\n(?:- |\n)/)
    .flatMap(entry => entry.split('\n  Proof: ').slice(1))
  assert.ok(entries.length > 100)
  const missing = entries.flatMap(proofs =>
    plain(proofs.trim().replace(/\.$/, ''))
      .split(/; (?=`)/)
      .flatMap(proof => {
        const [, path, names = ''] = /^`(.+?)`(?:: (.+))?$/.exec(proof) ?? []
        if (!path || !existsSync(path)) return [proof]
        const text = plain(read(path))
        return names.split(/; |…/).filter(name => !text.includes(name.trim()))
      }),
  )
  assert.deepEqual(missing, [])
})

test('every setting is in docs/operating.md, and no other', () => {
  const text = read('src/config.ts') + read('src/trace-settings.ts')
  const own = [...text.matchAll(/(?:env\.|(?:wholeNumber|isOn)\(env, ')([A-Z_]+)/g)].map(match => match[1]!)
  // Each is there for traces and for all signals.
  const ofExporter = [...text.matchAll(/exporterSetting\(env, '([A-Z_]+)'\)/g)].flatMap(([, name]) => [
    `OTEL_EXPORTER_OTLP_${name}`,
    `OTEL_EXPORTER_OTLP_TRACES_${name}`,
  ])
  const used = [...new Set([...own, ...ofExporter])]
  const cells = [...read('docs/operating.md').matchAll(/^\| ((?:`[A-Z_]+`(?:, )?)+) \|/gm)]
  const listed = cells.flatMap(([, cell]) => cell!.replaceAll('`', '').split(', '))
  assert.deepEqual(listed.toSorted(), used.toSorted())
  assert.deepEqual(
    used.filter(name => !known.includes(name)),
    [],
  )
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
    for (const [, target, anchor] of file.text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)) {
      const path = new URL(target || file.path, `file:///${target ? file.path : ''}`).pathname.slice(1)
      const place = path.endsWith('/') ? `${path}README.md` : path
      assert.doesNotThrow(() => read(place), `${file.path} → ${target}`)
      if (anchor) assert.ok(anchorsOf(read(place)).has(anchor), `${file.path} → ${target}#${anchor}`)
    }
  }
})

/** The anchors of the headings of a document, as GitHub and the service name them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!)
  return new Set(
    headings.map(heading =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

// CONTRIBUTING.md has parts of the service, which brings its own Node.js: recipes.test.ts runs them.
test('the programs of the documents ask nothing of Node.js that 20 does not have', () => {
  const { project, tsc } = installClient()
  const programs = sources('{*.md,docs/**/*.md,client/*.md}')
    .filter(({ path }) => path !== 'CONTRIBUTING.md')
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^```(js|mjs|javascript|ts|mts|typescript)\n([\s\S]*?)^```$/gm)].map(
        ([, language, code], index) => ({
          name: `${path.replace(/\W/g, '-')}-${index + 1}.${/^m?j/.test(language!) ? 'mjs' : 'mts'}`,
          code: code!,
        }),
      ),
    )
  assert.ok(programs.length > 1)
  for (const { name, code } of programs) writeFileSync(join(project, name), code)
  symlinkSync(
    resolve('node_modules/@modelcontextprotocol'),
    join(project, 'node_modules/@modelcontextprotocol'),
  )
  // The account's own types are tested elsewhere (test/client/client.test.ts).
  writeFileSync(join(project, 'schemas.ts'), 'export type Schemas = any')
  mkdirSync(join(project, 'node_modules/@types'))
  symlinkSync(resolve('node_modules/@types/node20'), join(project, 'node_modules/@types/node'))
  const compilerOptions = {
    ...{ target: 'es2022', module: 'nodenext', lib: ['es2023'], types: ['node'], noEmit: true },
    ...{ allowJs: true, checkJs: true, strict: false, skipLibCheck: true },
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  assert.equal(spawnSync(tsc, ['-p', project], { encoding: 'utf8' }).stdout, '')
})
