/**
 * What the test files of a process share, such as an engine or a browser, and who ends it: a lane once no
 * file is left (test/lane.ts), and otherwise node:test after the only file.
 */
import { after } from 'node:test'

export type Shared = {
  /** takes away what a file has left in it */
  readonly tidy?: () => Promise<unknown>
  readonly end: () => Promise<unknown>
}

const all: Shared[] = []
export const isLane = process.env.TEST_LANE !== undefined

export function share(shared: Shared): void {
  if (isLane) all.push(shared)
  else after(shared.end)
}

export async function tidyAll(): Promise<void> {
  for (const { tidy } of all) await tidy?.()
}

export async function endAll(): Promise<void> {
  for (const { end } of all) await end()
}
