/**
 * A lane: runs test files one after the other in one process, as long as there are files that no other lane
 * has taken (test/run.ts). Slow set-up is shared: loading the service, opening an engine
 * (support/shared-engine.ts), and starting a browser (support/ui.ts).
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { suite } from 'node:test'
import { pathToFileURL } from 'node:url'
import { endAll, tidyAll } from './support/ends.ts'

const { folder, files } = JSON.parse(process.env.TEST_LANE!) as { folder: string; files: string[] }

for (const [place, file] of files.entries()) {
  if (!isMine(place)) continue
  await suite(file, async () => {
    await import(pathToFileURL(resolve(file)).href)
  })
  await tidyAll()
}
await endAll()

/** True if this lane is the first to take the file: mkdir succeeds once. */
function isMine(place: number): boolean {
  try {
    mkdirSync(join(folder, String(place)))
    return true
  } catch {
    return false
  }
}
