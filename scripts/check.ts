/**
 * `npm run check [-- --only web,laws]`: all checks that `npm test` leaves out. Runs all parts even if one
 * fails, then prints the failed tests, the duration of each part and node:test's total counts. Ends with 1 if
 * one failed.
 */
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'
import { parts as suites } from '../test/parts.ts'

const node = process.execPath
const tsc = [node, 'node_modules/typescript/bin/tsc']
const { quick: _, ...others } = suites

/** name → commands that run side by side */
const parts: { readonly [name: string]: readonly (readonly string[])[] } = {
  types: [tsc, [...tsc, '-p', 'web'], [...tsc, '-p', 'test/web']],
  lint: [[node, 'node_modules/@biomejs/biome/bin/biome', 'check', '.']],
  audit: [[node, 'scripts/audit.ts']],
  ...Object.fromEntries(Object.keys(others).map(name => [name, [[node, 'test/run.ts', '--part', name]]])),
}

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const only = values.only?.split(',') ?? Object.keys(parts)
const unknown = only.filter(name => !(name in parts))
if (unknown.length) throw new Error(`There is no part ${unknown}, but ${Object.keys(parts).join(', ')}`)

const counts = new Map<string, number>()
const took: string[] = []
/** node:test's output of failed tests, of all parts */
const failures: string[] = []
for (const name of only) {
  const from = performance.now()
  console.log(`\n══ ${name} ══ after ${Math.round(from / 60_000)} min`)
  const codes = await Promise.all(parts[name]!.map(carriedOut))
  const failed = codes.some(code => code !== 0)
  if (failed) process.exitCode = 1
  const seconds = Math.round((performance.now() - from) / 1000)
  took.push(`| ${name.padEnd(8)} | ${String(seconds).padStart(5)} s | ${failed ? 'failed' : 'passed'} |`)
}
console.log(failures.join('\n'))
console.log(`\n| Part     |    Took | Outcome |\n|---|--:|---|\n${took.join('\n')}\n`)
for (const [what, count] of counts) console.log(`ℹ ${what} ${count}`)

/** Runs a command, passes on its output and adds up node:test's counts; resolves to its exit code. */
function carriedOut([program, ...given]: readonly string[]): Promise<number> {
  const child = spawn(program!, given, { stdio: ['ignore', 'pipe', 'inherit'] })
  let line = ''
  let isOfFailures = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text)
    const lines = `${line}${text}`.split('\n')
    line = lines.pop()!
    for (const one of lines) {
      isOfFailures ||= one === '✖ failing tests:'
      if (isOfFailures) failures.push(one)
      const [, what, count] = /^ℹ (\w+) ([\d.]+)$/.exec(one) ?? []
      if (what) counts.set(what, (counts.get(what) ?? 0) + Number(count))
    }
  })
  return new Promise(resolve => child.on('close', code => resolve(code ?? 1)))
}
