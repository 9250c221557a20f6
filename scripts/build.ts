/**
 * Last step of `npm ci`: builds the web UI and makes the initial databases, so that the start needs no step
 * of its own. An install without the development packages leaves an existing UI unchanged.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { makeReadyDatabase } from '../src/db/ready-database.ts'

const vite = new URL('../node_modules/vite/package.json', import.meta.url)
if (existsSync(vite)) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build', '--', '--logLevel', 'warn'], {
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} else console.log('Vite is not installed, so the web UI was not built.')

await makeReadyDatabase()
