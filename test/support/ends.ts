/**
 * Shared resources of a process's test files, such as an engine or a browser, and their end: a lane ends them
 * once no file is left (test/lane.ts), otherwise node:test after the only file.
 */
import { after } from 'node:test'

export type Shared = {
  /** removes a file's leftovers */
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
