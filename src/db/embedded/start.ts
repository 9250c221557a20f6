/**
 * Starts the engine's thread on its cluster, and makes the cluster on the first start. Knows no connection
 * and no lock.
 */
import { finishCluster, prepareCluster } from './data-directory.ts'
import type { EngineOptions } from './engine.ts'
import { readyCluster } from './ready-cluster.ts'
import { startThread, type Thread } from './thread.ts'

/** Throws a StartupError when the cluster can't be made or opened. The caller holds the lock. */
export async function startEngine(options: EngineOptions): Promise<Thread> {
  const { dataDir, template = readyCluster, log } = options
  if (dataDir === undefined) return startThread({ template })
  const { cluster, fresh } = prepareCluster(dataDir, log)
  const running = await startThread({ directory: cluster, ...(fresh && { template }) })
  if (fresh) await finishCluster(dataDir)
  return running
}
