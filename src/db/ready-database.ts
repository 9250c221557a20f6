/**
 * The initial database of an embedded first start: it has all tables, and no account. Migrating an empty one
 * takes two seconds of processor time, so `npm ci` does it once (scripts/build.ts). Without it, a first start
 * does it.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import type { Ask } from './ask.ts'
import { clusterIn, keepCluster, makeReadyCluster, pathOf, readyCluster } from './embedded/ready-cluster.ts'
import { migrateWithin, readMigrations } from './migrate.ts'

/** Path of its file. Each list of migrations has its own. */
export function readyDatabase(): string {
  const checksums = readMigrations().map(({ checksum }) => checksum)
  return pathOf(`database-${createHash('sha256').update(checksums.join()).digest('hex').slice(0, 12)}`)
}

/** Makes it if it does not exist, and removes those of other migrations. Idempotent. */
export async function makeReadyDatabase(): Promise<void> {
  await makeReadyCluster()
  const file = readyDatabase()
  for (const name of readdirSync(dirname(file))) {
    const other = join(dirname(file), name)
    if (/^database-.*\.gz$/.test(name) && other !== file) rmSync(other, { force: true })
  }
  if (existsSync(file)) return
  const engine = await PGlite.create({ extensions: { pg_trgm }, ...clusterIn(readyCluster) })
  await engine.transaction(tx => {
    const query = async (text: string, values?: readonly unknown[]) => {
      if (values) return (await tx.query(text, [...values])).rows
      return (await tx.exec(text)).at(-1)?.rows ?? []
    }
    return migrateWithin({ query: query as Ask })
  })
  await keepCluster(engine, file)
}
