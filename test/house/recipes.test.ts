/**
 * The recipes of CONTRIBUTING.md are complete. All are applied to the letter in one copy of the tree. The
 * result compiles, its tests too, and keeps the laws and the house rules.
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

/** A copy of the project, for all recipes: compiling and making a database take minutes. */
const copy = mkdtempSync(join(tmpdir(), 'dealwright-recipes-'))
after(() => rmSync(copy, { recursive: true, force: true }))
for (const part of parts)
  cpSync(part, join(copy, part), { recursive: true, filter: path => !/^(web.dist|docs.ui)\b/.test(path) })
symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
mkdirSync(join(copy, 'prepared'))

/** Applies a recipe to the copy. */
function carryOut(title: string): void {
  const steps = stepsOf(title)
  assert.ok(steps.length >= 3, `${title}: ${steps.length} steps`)
  for (const { path, anchor, code } of steps) {
    const file = join(copy, path.replace('NEXT', nextMigration()))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, anchor === undefined ? code : inserted(readFileSync(file, 'utf8'), anchor, code))
  }
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

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd: copy,
    // Databases of its own, as its schema differs.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, TEST_PREPARED: join(copy, 'prepared'), ...env },
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

const compile = (project = '.') =>
  run([
    'node_modules/typescript/bin/tsc',
    ...['-p', project, '--tsBuildInfoFile', `built-${project.replace('/', '-')}`],
  ])

/** Runs the laws with matching names, and asks a share of their questions; at least `atLeast` must pass. */
async function keepsLaws(names: string, files: readonly string[], atLeast: number, share = 1): Promise<void> {
  const laws = files.map(name => `test/${name}.test.ts`)
  const args = ['--liftoff-only', '--test', `--test-name-pattern=${names}`, ...laws]
  const said = await run(args, { LAWS_SHARE: String(share) })
  const passed = Number(/^. pass (\d+)$/m.exec(said)?.[1])
  assert.ok(passed >= atLeast, said)
}

const noteProgram = `import { Dealwright } from './client.ts'
export const note = await new Dealwright({ url: 'http://localhost' }).note.create({ title: 'Call back' })
export const title: string = note.title
`

test('a field kind, a resource and a report compile, in the web UI and in the client, too', async () => {
  for (const title of ['Adding a field kind', 'Adding a resource', 'Adding a report']) carryOut(title)
  await compile()
  await run(['scripts/openapi.ts'])
  await compile('web')
  await compile('test/web')
  writeFileSync(join(copy, 'client/src/note.ts'), noteProgram)
  await compile('client')
})

test('a new field kind keeps the laws', async () => {
  const laws = ['laws/kinds', 'laws/schemas', 'laws/operators', 'api/fields']
  await keepsLaws('/rating|every kind/i', laws, 11)
})

test('a new resource keeps the laws', async () => {
  const names = '/^note|account_id|a resource|ids of|that there are|unique|never null|folder/'
  const laws = ['laws/resources', 'laws/descriptors', 'laws/schemas', 'laws/write-back', 'api/schema']
  await keepsLaws(names, [...laws, 'house/imports'], 14)
  await keepsLaws('/foreign keys by ALTER|older processes go on/', ['house/migrations'], 2)
})

test('a new report keeps the laws', async () => {
  const names = '/span|every route|checked in is|hides|folder|300 lines|60 lines|in a part/'
  await keepsLaws(names, ['api/span', 'api/openapi', 'house/imports', 'house/layout'], 9)
  await keepsLaws('/no route answers a filter/', ['api/across'], 1)
  await keepsLaws('/not seen changes no answer/', ['laws/visibility'], 1, 0.1)
})
