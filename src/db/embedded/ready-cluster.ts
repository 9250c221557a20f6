/**
 * The initial cluster of new databases. Making one takes seconds of processor time, so `npm ci` makes it once
 * (scripts/build.ts). Without it, a first start makes its own.
 */
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { PGlite } from '@electric-sql/pglite'

const root = new URL('../../../', import.meta.url)
const { dependencies } = JSON.parse(fs.readFileSync(new URL('package.json', root), 'utf8'))
const version: string = dependencies['@electric-sql/pglite']

/**
 * Path of its file. Each version of PGlite has its own, because a cluster fits only the version that made it.
 */
export const readyCluster: string = fileURLToPath(new URL(`dist/cluster-${version}.tar.gz`, root))

/** Makes the cluster if it does not exist. Idempotent, also if two processes make it at once. */
export async function makeReadyCluster(): Promise<void> {
  if (fs.existsSync(readyCluster)) return
  const engine = await PGlite.create()
  await engine.exec('CHECKPOINT')
  const cluster = await engine.dumpDataDir('none')
  await engine.close()
  const own = `${readyCluster}.${process.pid}`
  fs.mkdirSync(dirname(readyCluster), { recursive: true })
  fs.writeFileSync(own, gzipSync(Buffer.from(await cluster.arrayBuffer())))
  fs.renameSync(own, readyCluster)
}

/**
 * The cluster in a file, a tar that may be compressed, in the form that PGlite loads; {} without the file.
 */
export function clusterIn(file: string): { loadDataDir?: Blob } {
  if (!fs.existsSync(file)) return {}
  const bytes = fs.readFileSync(file)
  return { loadDataDir: new Blob([file.endsWith('.gz') ? gunzipSync(bytes) : bytes]) }
}
