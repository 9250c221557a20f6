/**
 * The whole suite, on the embedded database and, where TEST_DATABASE_URL or PostgreSQL's binaries are found,
 * on PostgreSQL too. Arguments are test files; without them, all. The exit code is the worst of the runs.
 */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { startPostgres } from './support/postgres.ts'

const files = process.argv.length > 2 ? process.argv.slice(2) : globSync('test/**/*.test.ts').sort()
/**
 * Files that ask nothing of a database, or bring their own engines: once is enough
 * (test/house/layout.test.ts).
 */
const engineFree = /test[/\\](house|db|units|backup)[/\\]/

let worst = await run('embedded', files, {})
const server = await startPostgres()
if (server) {
  try {
    const own = files.filter(file => !engineFree.test(file))
    worst = Math.max(
      worst,
      own.length
        ? await run('PostgreSQL', own, { TEST_ENGINE: 'postgres', TEST_DATABASE_URL: server.url })
        : 0,
    )
  } finally {
    await server.stop()
  }
} else
  console.log('No PostgreSQL found: set TEST_DATABASE_URL or install its server to test that engine too.')
process.exit(worst)

function run(engine: string, names: readonly string[], env: Record<string, string>): Promise<number> {
  console.log(`\n── ${engine} ──`)
  const concurrency = `--test-concurrency=${availableParallelism()}`
  const child = spawn(process.execPath, ['--test', concurrency, ...names], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  return new Promise(resolve => child.on('exit', code => resolve(code ?? 1)))
}
