/** Set-up and summary of benches: a temporary directory, the machine, the median. */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a directory that is removed when the bench ends. */
export function ownDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'dealwright-bench-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Prints the machine and its other load. */
export function sayMachine(): void {
  const load = loadavg()[0]!.toFixed(1)
  console.log(
    `Node.js ${process.versions.node}, ${availableParallelism()} cores, load before the run ${load}`,
  )
}

/** The median of sorted figures, of which there is at least one. */
export function middle(sorted: readonly number[]): number {
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}
