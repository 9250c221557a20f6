/**
 * `node test/run.ts [--part web | FILE …]`: runs a part of the suite (parts.ts; default: `quick`, which is
 * `npm test`), or files on every engine that they run on (PostgreSQL: TEST_DATABASE_URL, or a new one).
 * `--seed N` repeats the questions of the laws of an earlier run. The largest files come first, so that all
 * processes end at about the same time; `--shuffle` runs them in an order that follows from the seed.
 */
import { mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { isTogether, type Part, parts, runsOnBoth } from './parts.ts'
import { citusUrl } from './support/citus.ts'
import { random } from './support/generated.ts'
import { startPostgres, type TestServer } from './support/postgres.ts'

const { values, positionals: files } = parseArgs({
  options: {
    part: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    shuffle: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const asked =
  values.part === undefined && files.length > 0 ? partsOf(files) : [partCalled(values.part ?? 'quick')]

/**
 * A test opens many embedded engines in one process, each for seconds. Optimizing their code pays only if it
 * runs ten times longer than V8's default budget. The other flags prevent a crash in V8's garbage collection
 * of WebAssembly code (nodejs/node#64500). Programs that tests start: support/short-lived.mjs; the part
 * `operating` starts the service with its usual flags.
 */
const manyEngines = ['--wasm-tiering-budget=130000000', '--no-wasm-code-gc', '--no-memory-protection-keys']

/**
 * A test that takes longer hangs, and fails by name; so does a program (a file or a lane), and a minute later
 * its part. On a busy machine a lane takes several times as long as usual.
 */
const [testLimitMs, programLimitMs] = [30 * 60_000, 75 * 60_000]

/**
 * Folder of the tests' data, if it has room for all concurrent tests. On a disk, making a database takes
 * several times the processor's time, and each commit waits for it.
 */
const inMemory = '/dev/shm'
const roomInMemory = 8 * 2 ** 30

// Each process uses the compile cache, as the service does (bin/dealwright.js).
process.env.NODE_COMPILE_CACHE ??= resolve('node_modules/.cache/dealwright-code')
if (hasRoomInMemory()) process.env.TMPDIR ??= inMemory
const shortLived = pathToFileURL(join(import.meta.dirname, 'support/short-lived.mjs')).href
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import ${shortLived}`

// Shared by the files: a server, and databases that are ready to be copied.
const isAsked = asked.some(({ engine, compares }) => engine === 'postgres' || compares)
const server = isAsked ? await startPostgres() : null
const home = mkdtempSync(join(tmpdir(), 'dealwright-tests-'))
Object.assign(process.env, { TEST_PREPARED: home, LAWS_SEED: values.seed })
console.log(`Seed ${values.seed}: --seed ${values.seed} asks the laws' questions again.`)
try {
  for (const part of asked) await report(part, server)
} finally {
  await server?.stop()
  rmSync(home, { recursive: true, force: true })
}

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(inMemory)
    return bavail * bsize >= roomInMemory
  } catch {
    return false
  }
}

function partCalled(name: string): Part {
  if (!(name in parts)) throw new Error(`There is no part ${name}, but ${Object.keys(parts).join(', ')}`)
  return parts[name as keyof typeof parts]
}

function partsOf(files: readonly string[]): Part[] {
  if (citusUrl) return [{ engine: 'postgres', files, share: 1 }]
  const both = files.filter(runsOnBoth)
  const onServer = both.length ? [{ engine: 'postgres', files: both, share: 1 } as const] : []
  return [{ engine: 'embedded', files, share: 1 }, ...onServer]
}

/** Runs the files and prints node:test's output. The exit code is 1 from the first failure on. */
async function report(
  { engine, files, share, waits, writes }: Part,
  server: TestServer | null,
): Promise<void> {
  console.log(`\n── ${engine} ──`)
  if (engine === 'postgres' && !server) {
    console.log('No PostgreSQL found: set TEST_DATABASE_URL or install its server to test that engine too.')
    return
  }
  Object.assign(process.env, { LAWS_SHARE: String(share), TEST_ENGINE: engine })
  if (server) process.env.TEST_DATABASE_URL = server.url
  if (writes) process.env.TEST_WRITES = writes
  const alone = files.filter(file => !isTogether(file))
  const concurrency = availableParallelism() + (waits ? 1 : 0)
  const programs = [...lanes(inOrder(files.filter(isTogether)), concurrency), ...inOrder(alone)]
  const signal = AbortSignal.timeout(programLimitMs + 60_000)
  const execArgv = [...manyEngines, `--test-timeout=${testLimitMs}`]
  const tests = run({ files: programs, concurrency, timeout: programLimitMs, signal, execArgv })
  tests.on('test:fail', () => {
    process.exitCode = 1
  })
  for await (const text of tests.compose(new spec())) process.stdout.write(text)
}

/** At most `count` programs, which share the files. */
function lanes(files: readonly string[], count: number): string[] {
  if (files.length === 0) return []
  const folder = mkdtempSync(join(home, 'lanes-'))
  const work = JSON.stringify(JSON.stringify({ folder, files }))
  const lane = JSON.stringify(pathToFileURL(join(import.meta.dirname, 'lane.ts')).href)
  return Array.from({ length: Math.min(count, files.length) }, (_, number) => {
    const program = join(folder, `lane-${number}.mjs`)
    writeFileSync(program, `process.env.TEST_LANE = ${work}\nawait import(${lane})\n`)
    return program
  })
}

function inOrder(files: readonly string[]): string[] {
  const next = random(Number(values.seed))
  const places = new Map(files.map(file => [file, values.shuffle ? next() : -statSync(file).size]))
  return files.toSorted((one, other) => places.get(one)! - places.get(other)!)
}
