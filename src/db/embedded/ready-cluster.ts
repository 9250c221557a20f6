/**
 * The cluster that a new database begins with. To make one takes seconds of processor time, so `npm ci` makes
 * it once (scripts/build.ts). Where it is not there, a first start makes its own.
 */
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { PGlite } from '@electric-sql/pglite'

const root = new URL('../../../', import.meta.url)
const { dependencies } = JSON.parse(fs.readFileSync(new URL('package.json', root), 'utf8'))
const version: string = dependencies['@electric-sql/pglite']

/** Its file. Another version of PGlite has another: none opens what may not be its own. */
export const readyCluster: string = fileURLToPath(new URL(`dist/cluster-${version}.tar.gz`, root))

/** Makes the cluster, unless it is there. Two that make it at once write the same. */
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

/** The cluster in a file, a tar that may be compressed, as PGlite loads it; nothing without that file. */
export function clusterIn(file: string): { loadDataDir?: Blob } {
  if (!fs.existsSync(file)) return {}
  const bytes = fs.readFileSync(file)
  return { loadDataDir: new Blob([file.endsWith('.gz') ? gunzipSync(bytes) : bytes]) }
}
