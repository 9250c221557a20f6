/** The client package in a project of its own, built and installed as its README documents. */
import { execFileSync, execSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

const root = join(import.meta.dirname, '../..')
const readme = readFileSync(join(root, 'client/README.md'), 'utf8')

/** The programs of the client's README. */
export const examples: readonly string[] = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
  ([, code]) => code!,
)

/**
 * The project's folder, the built files in it, and the compiler. The folder is removed with the test file.
 */
export function installClient(): { project: string; built: string; tsc: string } {
  const folder = mkdtempSync(join(tmpdir(), 'dealwright-client-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const [checkout, project] = [join(folder, 'dealwright'), join(folder, 'project')]
  const isSource = (path: string) => !/[\\/]dist$/.test(path)
  cpSync(join(root, 'client'), join(checkout, 'client'), { recursive: true, filter: isSource })
  // As `npm ci` leaves it.
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  const [, pack, install] = /^npm ci && (.+?) *#.*\n(.+?) *#/m.exec(readme)!
  run(pack!, checkout)
  run(install!, project)
  return {
    project,
    built: join(project, 'node_modules/@dealwright/client/dist'),
    tsc: join(root, 'node_modules/.bin/tsc'),
  }
}

/** Runs npm without the environment of the npm that runs the tests; offline. */
function run(command: string, cwd: string): void {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))
  const offline = { npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }
  execSync(command, { cwd, env: { ...Object.fromEntries(own), ...offline }, stdio: 'pipe' })
}

/** Compiles the project; throws the compiler's output. */
export function compile({ project, tsc }: { project: string; tsc: string }, ...args: string[]): void {
  try {
    execFileSync(tsc, ['-p', project, ...args], { encoding: 'utf8' })
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout)
  }
}
