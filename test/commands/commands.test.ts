/**
 * Every command of package.json works: benches and crash tests run for a moment and on little data. Their
 * output is for people; here they must exit with 0.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { after, suite, test } from 'node:test'
import { noBrowser } from '../support/chromium.ts'
import { startPostgres } from '../support/postgres.ts'

/** A bench runs until it has a figure (bench/slice.ts). */
const moment = ['--seconds', '0.1']
const once = [...moment, '--turns', '1']
/** Where a bench does the same on either engine. */
const onServer = ['--engine', 'postgres']
/** A command that takes longer hangs: it is ended, so that the others are still heard of. */
const timeout = 30 * 60_000
const rounds = (count: number) => ['--rounds', String(count)]

/** The command, and what else stands for it → its options. */
const commands: { readonly [called: string]: readonly string[] } = {
  bench: [...once, '--deals', '1000'],
  'bench:batches': once,
  'bench:events': ['--deals', '1000', '--events', '3000', '--writes', '10'],
  'bench:export': ['--deals', '2000', '--embedded', '1000'],
  'bench:fields': moment,
  'bench:idle': ['--accounts', '3', '--seconds', '1', '--calm', '1'],
  'bench:imports': ['--rows', '300', ...onServer],
  'bench:lists': [...once, '--deals', '2000', '--embedded', '1000'],
  'bench:scale': [...once, '--deals', '1000', '--steps', 'pooler,replica'],
  'bench:search': [...once, '--deals', '2000', '--contacts', '600'],
  'bench:sign-ins': moment,
  'bench:sizes': [...moment, '--deals', '1000'],
  'bench:upserts': once,
  'bench:versions': [...once, '--other', '.', '--deals', '1000', ...onServer],
  'bench:web': ['--deals', '1000', '--moves', '10'],
  'bench:webhooks': [...moment, '--events', '200', ...onServer],
  'bench:year': ['--accounts', '2', '--deals', '3', '--reads', '2'],
  attack: ['--seconds', '0.2', '--deals', '2000', '--engine', 'embedded'],
  comments: ['--seed', '7', '--count', '3'],
  'crash writes': rounds(3),
  'crash copies': rounds(2),
  'crash imports': rounds(3),
  'crash webhooks': rounds(2),
  'crash power-cut': rounds(1),
  scale: rounds(2),
  fuzz: ['--requests', '2500', '--seed', '20261121'],
  sql: ['deal.update'],
  sbom: [],
}

/** The other commands, and where they run. */
const elsewhere: { readonly [name: string]: string } = {
  prepare: 'npm ci',
  build: 'npm ci, by prepare',
  dev: 'it does not end by itself',
  start: 'test/reliability/first-start.test.ts',
  backup: 'test/backup/backup.test.ts',
  restore: 'test/backup/backup.test.ts',
  test: '.ci/run',
  check: '.ci/run',
  types: 'scripts/check.ts',
  nodes: '.ci/run',
  package: 'test/operating/release.test.ts',
  release: 'test/operating/release.test.ts',
  image: 'test/operating/image.test.ts',
  lint: 'scripts/check.ts',
  audit: 'scripts/check.ts',
  format: 'it changes the sources; lint asks the same',
  openapi: 'test/house/recipes.test.ts',
  pictures: 'it makes docs/ui anew, for people to look at',
}

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))

test('no command is left out', () => {
  const called = Object.keys(commands).map(one => one.split(' ')[0])
  assert.deepEqual(
    Object.keys(scripts).filter(name => !(called.includes(name) || name in elsewhere)),
    [],
  )
})

/** One for all benches: each makes databases of its own. */
const given = process.env.BENCH_DATABASE_URL
const server = given ? null : await startPostgres(true)
after(() => server?.stop())

/** Most of their time is waiting: for a lease to end, for a server, for a measurement. */
suite('commands', { concurrency: 2 * availableParallelism() }, () => {
  for (const [called, options] of Object.entries(commands))
    test(`npm run ${[called, ...options].join(' ')}`, {
      skip: called === 'bench:web' && noBrowser,
      timeout,
    }, async ({ signal }) => {
      const [name, ...parts] = called.split(' ')
      const { code, said } = await carriedOut(['run', name!, '--', ...parts, ...options], signal)
      assert.equal(code, 0, said)
      // A figure that could not be measured.
      assert.doesNotMatch(said, /NaN|Infinity|undefined/)
    })
})

async function carriedOut(
  options: readonly string[],
  signal: AbortSignal,
): Promise<{ code: number | null; said: string }> {
  const isWindows = process.platform === 'win32'
  const child = spawn('npm', options, {
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: isWindows,
    // A process group of its own: npm does not end what it runs.
    detached: !isWindows,
    // A command's own node:test must not report to this one.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, BENCH_DATABASE_URL: given ?? server?.url },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', text => {
      said += text
    })
  const end = () => {
    console.error(`npm ${options.join(' ')} hangs:\n${said}`)
    process.kill(isWindows ? child.pid! : -child.pid!, 'SIGTERM')
  }
  signal.addEventListener('abort', end)
  return new Promise(resolve =>
    child.on('close', code => {
      signal.removeEventListener('abort', end)
      resolve({ code, said })
    }),
  )
}
