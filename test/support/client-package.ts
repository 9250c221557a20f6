/** The client package in a project of its own, built as npm would install it. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

const root = join(import.meta.dirname, '../..')

/** The project's folder, the built files in it, and the compiler. The folder ends with the test file. */
export function installClient(): { project: string; built: string; tsc: string } {
  const project = mkdtempSync(join(tmpdir(), 'dealwright-client-'))
  after(() => rmSync(project, { recursive: true, force: true }))
  const installed = join(project, 'node_modules/@dealwright/client')
  const built = join(installed, 'dist')
  const tsc = join(root, 'node_modules/.bin/tsc')
  execFileSync(tsc, ['-p', join(root, 'client'), '--outDir', built])
  copyFileSync(join(root, 'client/package.json'), join(installed, 'package.json'))
  const manifest = { type: 'module', dependencies: { '@dealwright/client': '*' } }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  return { project, built, tsc }
}
