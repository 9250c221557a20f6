/**
 * The whole suite, on the embedded database and, where TEST_DATABASE_URL or PostgreSQL's binaries are found,
 * on PostgreSQL too. Arguments are test files; without them, all. The exit code is the worst of the runs.
 */
import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from './support/postgres.ts'

const files = process.argv.length > 2 ? process.argv.slice(2) : globSync('test/**/*.test.ts').sort()
/**
 * Files that ask nothing of a database, or bring their own engines: once is enough
 * (test/house/layout.test.ts).
 */
const engineFree = /test[/\\](house|db|units|backup|web|reliability[/\\](files|network|stop)\.)/

/**
 * A file's embedded engine lives for seconds: to optimize its code is worth while only where it runs ten
 * times as long as V8 asks for by itself. The services that tests start as people do are without.
 */
const shortLived = ['--wasm-tiering-budget=130000000']

// What the files share: a server, and databases that are ready to be copied.
const server = await startPostgres()
const prepared = mkdtempSync(join(tmpdir(), 'dealwright-prepared-'))
const shared = { TEST_PREPARED: prepared, ...(server && { TEST_DATABASE_URL: server.url }) }
let worst = 1
try {
  worst = await run('embedded', files, shared)
  const own = files.filter(file => !engineFree.test(file))
  if (server && own.length)
    worst = Math.max(worst, await run('PostgreSQL', own, { ...shared, TEST_ENGINE: 'postgres' }))
} finally {
  await server?.stop()
  rmSync(prepared, { recursive: true, force: true })
}
if (!server)
  console.log('No PostgreSQL found: set TEST_DATABASE_URL or install its server to test that engine too.')
process.exit(worst)

function run(engine: string, names: readonly string[], env: Record<string, string>): Promise<number> {
  console.log(`\n── ${engine} ──`)
  const concurrency = `--test-concurrency=${availableParallelism()}`
  const child = spawn(process.execPath, [...shortLived, '--test', concurrency, ...names], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  return new Promise(resolve => child.on('exit', code => resolve(code ?? 1)))
}
