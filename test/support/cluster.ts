/** A Citus cluster for tests: that of TEST_CITUS_URL, or a throwaway one if it is installed (D173). */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { addNodes, ask, citusUrl } from './citus.ts'
import { hasLibrary, startPostgres, type TestServer } from './postgres.ts'

/** The address of its coordinator, and its end. */
export type TestCluster = { readonly url: string; stop(): Promise<void> }

/** A throwaway cluster, whose servers can be stopped. */
export type OwnCluster = TestCluster & {
  readonly coordinator: TestServer
  readonly workers: readonly TestServer[]
}

/** The cluster of TEST_CITUS_URL, or else a throwaway one; null without the library. */
export async function startCluster(): Promise<TestCluster | null> {
  return citusUrl ? { url: citusUrl, async stop() {} } : startOwnCluster()
}

/** Starts a coordinator and two workers; null without the library. */
export async function startOwnCluster(): Promise<OwnCluster | null> {
  if (!hasLibrary('citus')) return null
  const servers: TestServer[] = []
  for (let count = 0; count < 3; count++) {
    const server = (await startPostgres(true, loadCitus))!
    await ask(server.url, 'CREATE EXTENSION citus')
    servers.push(server)
  }
  const [coordinator, ...workers] = servers as [TestServer, ...TestServer[]]
  const { url } = coordinator
  await addNodes(
    url,
    workers.map(worker => worker.url),
  )
  const stop = async () => void (await Promise.all(servers.map(server => server.stop())))
  return { url, coordinator, workers, stop }
}

/** Without TLS: libpq would look for certificates in the home of whoever runs the tests. */
function loadCitus(data: string): void {
  const settings = [
    "shared_preload_libraries = 'citus'",
    "timezone = 'UTC'",
    "citus.node_conninfo = 'sslmode=disable'",
  ]
  appendFileSync(join(data, 'postgresql.conf'), settings.join('\n'))
}
