/**
 * The empty cluster of new databases, such as those of a restore. Making one takes seconds of processor time,
 * so `npm ci` makes it once (scripts/build.ts). Without it, the engine makes its own.
 */
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { PGlite } from '@electric-sql/pglite'

const root = new URL('../../../', import.meta.url)
const { dependencies } = JSON.parse(fs.readFileSync(new URL('package.json', root), 'utf8'))
const version: string = dependencies['@electric-sql/pglite']

/** Raised with every change of how these files are made. */
const recipe = 2

export const readyCluster: string = pathOf('cluster')

/**
 * Path of the file of an initial cluster. Each version of PGlite has its own, because a cluster fits only the
 * version that made it.
 */
export function pathOf(name: string): string {
  return fileURLToPath(new URL(`dist/${name}-${version}-${recipe}.tar.gz`, root))
}

/** Makes the cluster if it does not exist. Idempotent, also if two processes make it at once. */
export async function makeReadyCluster(): Promise<void> {
  if (fs.existsSync(readyCluster)) return
  const engine = await PGlite.create()
  // They are for making further databases, and two thirds of the files that each first start would write.
  for (const name of ['template0', 'template1']) {
    await engine.exec(`ALTER DATABASE ${name} IS_TEMPLATE false`)
    await engine.exec(`DROP DATABASE ${name}`)
  }
  await keepCluster(engine, readyCluster)
}

/** Closes the engine and keeps its cluster in `file`, without the log of its making. */
export async function keepCluster(engine: PGlite, file: string): Promise<void> {
  await engine.exec('SET wal_recycle = off; SELECT pg_switch_wal(); CHECKPOINT')
  const cluster = await engine.dumpDataDir('none')
  await engine.close()
  const own = `${file}.${process.pid}`
  fs.mkdirSync(dirname(file), { recursive: true })
  fs.writeFileSync(own, gzipSync(Buffer.from(await cluster.arrayBuffer())))
  fs.renameSync(own, file)
}

/**
 * The cluster in a file, a tar that may be compressed, in the form that PGlite loads; {} without the file.
 */
export function clusterIn(file: string): { loadDataDir?: Blob } {
  if (!fs.existsSync(file)) return {}
  const bytes = fs.readFileSync(file)
  return { loadDataDir: new Blob([file.endsWith('.gz') ? gunzipSync(bytes) : bytes]) }
}
