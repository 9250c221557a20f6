/**
 * The recipes of CONTRIBUTING.md are complete. Each is applied to the letter in a copy of the tree. The
 * result compiles and keeps the laws.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'

/** A block of code: its file and, for an existing file, the line after which the code is inserted. */
type Step = { readonly path: string; readonly anchor: string | undefined; readonly code: string }

const parts = [
  ...['src', 'bench', 'client', 'web', 'docs', 'test', 'scripts'],
  ...['package.json', 'tsconfig.json'],
]

/** The steps of a recipe, by the title of its section. */
function stepsOf(title: string): Step[] {
  const section = readFileSync('CONTRIBUTING.md', 'utf8')
    .split(/^## /m)
    .find(text => text.startsWith(title))!
  const blocks = section.matchAll(/^```\w+\n(?:\/\/|--) (?:new: )?(\S+)(?: after (.+))?\n([\s\S]*?)^```$/gm)
  return [...blocks].map(([, path, anchor, code]) => ({ path: path!, anchor, code: code! }))
}

/** Applies a recipe to a copy of the project. */
function carryOut(title: string, copy: string): void {
  const steps = stepsOf(title)
  assert.ok(steps.length >= 3, `${title}: ${steps.length} steps`)
  for (const { path, anchor, code } of steps) {
    const file = join(copy, path.replace('NEXT', nextMigration()))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, anchor === undefined ? code : inserted(readFileSync(file, 'utf8'), anchor, code))
  }
}

function copyOfProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'dealwright-recipes-'))
  after(() => rmSync(copy, { recursive: true, force: true }))
  for (const part of parts)
    cpSync(part, join(copy, part), { recursive: true, filter: path => !/^(web.dist|docs.ui)\b/.test(path) })
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
  return copy
}

function nextMigration(): string {
  const last = readdirSync('src/db/migrations').sort().at(-1)!
  return String(Number.parseInt(last, 10) + 1).padStart(4, '0')
}

/** Inserts imports before the others, the rest after the line. */
function inserted(text: string, anchor: string, code: string): string {
  const lines = text.split('\n')
  const at = lines.findIndex(line => line.trim() === anchor.trim())
  assert.ok(at >= 0, `no line "${anchor}"`)
  const added = code.trimEnd().split('\n')
  const imports = added.filter(line => line.startsWith('import '))
  lines.splice(at + 1, 0, ...added.filter(line => !imports.includes(line)))
  lines.splice(
    lines.findIndex(line => line.startsWith('import ')),
    0,
    ...imports,
  )
  return lines.join('\n')
}

async function run(directory: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd: directory,
    // Databases of its own, as its schema differs.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, TEST_PREPARED: join(directory, 'prepared') },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', data => {
      text += data
    })
  const code = await new Promise(resolve => child.on('close', resolve))
  assert.equal(code, 0, text)
  return text
}

const compile = (copy: string, project = '.') =>
  run(copy, 'node_modules/typescript/bin/tsc', '-p', project, '--tsBuildInfoFile', `built-${project}`)

const noteProgram = `import { Dealwright } from './client.ts'
export const note = await new Dealwright({ url: 'http://localhost' }).note.create({ title: 'Call back' })
export const title: string = note.title
`

// In one copy, since what takes minutes is compiling, and making a database.
test('a field kind, a resource and a report are added', async () => {
  const copy = copyOfProject()
  mkdirSync(join(copy, 'prepared'))
  for (const title of ['Adding a field kind', 'Adding a resource', 'Adding a report']) carryOut(title, copy)
  await compile(copy)
  await run(copy, 'scripts/openapi.ts')
  // The kind is in the web UI, too, and the resource in the client.
  await compile(copy, 'web')
  writeFileSync(join(copy, 'client/src/note.ts'), noteProgram)
  await compile(copy, 'client')
  const ofKind = ['rating', 'every kind']
  const ofResource = ['note', 'account_id', 'a resource', 'ids of', 'that there are', 'unique', 'never null']
  const ofReport = ['the span of', 'every route', 'checked in is', 'hides']
  const ofHouse = ['folder', '300 lines', '60 lines', 'in a part']
  const names = [...ofKind, ...ofResource, ...ofReport, ...ofHouse].join('|')
  const files = [
    ...['laws/kinds', 'laws/schemas', 'laws/operators', 'laws/resources', 'laws/descriptors'],
    ...['laws/write-back', 'api/fields', 'api/schema', 'api/openapi', 'api/span'],
    ...['house/imports', 'house/layout'],
  ]
  const how = ['--liftoff-only', '--test', '--test-reporter=tap', `--test-name-pattern=/${names}/i`]
  const said = await run(copy, ...how, ...files.map(name => `test/${name}.test.ts`))
  const passed = [...said.matchAll(/^ *ok \d+ - (.+?)$/gm)].map(([, name]) => name!)
  for (const [what, least] of Object.entries({ rating: 5, note: 3, 'the span of': 1 }))
    assert.ok(passed.filter(name => name.toLowerCase().includes(what)).length >= least, `${what}: ${said}`)
  assert.ok(passed.length >= 34, said)
})
