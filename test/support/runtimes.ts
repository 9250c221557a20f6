/**
 * The runtimes of client programs: this Node.js, and an older Node.js, Deno and Bun if they are on the PATH
 * or named by NODE20, DENO or BUN.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

type Runtime = {
  readonly name: string
  /** environment variable with its program */
  readonly variable: string
  readonly args: readonly string[]
  /** undefined: not installed */
  readonly file: string | undefined
}

const known = [
  { name: 'Node.js', program: 'node', variable: 'NODE', version: /^v/, args: [] },
  { name: 'Node.js 20', program: 'node', variable: 'NODE20', version: /^v20\./, args: [] },
  { name: 'Deno', program: 'deno', variable: 'DENO', version: /^deno /, args: ['run', '--allow-all'] },
  { name: 'Bun', program: 'bun', variable: 'BUN', version: /^\d+\./, args: ['run'] },
]

export const runtimes: readonly Runtime[] = known.map(one => ({ ...one, file: found(one) }))

/** The program of a runtime: the first of its version. */
function found({ program, variable, version }: (typeof known)[number]): string | undefined {
  const named = program === 'node' && version.test(process.version) ? process.execPath : process.env[variable]
  const onPath = (process.env.PATH ?? '').split(delimiter).map(folder => join(folder, program))
  return (named ? [named] : onPath).find(
    file => existsSync(file) && version.test(execFileSync(file, ['--version'], { encoding: 'utf8' })),
  )
}

/** Reason to skip a test of the runtime, or false. */
export function missing({ name, variable, file }: Runtime): string | false {
  return !file && `no ${name} on the PATH; ${variable} may name it`
}
