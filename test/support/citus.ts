/**
 * Databases on the Citus cluster of TEST_CITUS_URL: the address of its coordinator, whose own database has
 * the extension and the nodes. Each database of a test has them, too, and is distributed (D173).
 */
import pg from 'pg'
import { distribute } from '../../src/cli/distribute.ts'
import { openDatabase } from '../../src/db/open.ts'

/** The coordinator's address, if tests run on Citus. */
export const citusUrl = process.env.TEST_CITUS_URL

/** SQL of a moment an interval before that of a column, in a form by which a cluster sets columns (D173). */
export function earlier(column: string, interval: string): string {
  return `(${column} AT TIME ZONE 'UTC' - ${interval}) AT TIME ZONE 'UTC'`
}

type Node = { readonly nodename: string; readonly nodeport: number; readonly groupid: number }

/** Distributes the tables of a database on the coordinator. */
export async function distributeDatabase(url: string): Promise<void> {
  const nodes = await makeWorkers(url, citusUrl!)
  await addNodes(url, nodes)
  const db = await openDatabase({ url, statementTimeoutMs: 600_000, log: () => {} })
  const { signal } = new AbortController()
  const context = { now: new Date(), retentionDays: 30, origin: null, signal }
  await distribute(db, { shards: '4' }, context).finally(() => db.close())
}

/**
 * Makes the databases on the workers that belong to the one of `url`, which gets the extension, too. They are
 * still to be added. Returns the addresses of the workers' databases; `cluster`: that of the coordinator.
 */
export async function makeWorkers(url: string, cluster: string): Promise<string[]> {
  const name = new URL(url).pathname.slice(1)
  const workers = (await nodesOf(cluster)).filter(({ groupid }) => groupid > 0)
  for (const worker of workers) {
    await ask(at(url, 'postgres', worker), `CREATE DATABASE ${name}`)
    await ask(at(url, name, worker), 'CREATE EXTENSION citus')
  }
  await ask(url, 'CREATE EXTENSION citus')
  return workers.map(worker => at(url, name, worker))
}

/** Lets the coordinator's database of `url` know those of its workers. */
export async function addNodes(url: string, workers: readonly string[]): Promise<void> {
  const { hostname, port } = new URL(url)
  await ask(
    url,
    `SELECT citus_set_coordinator_host('${hostname}', ${port})`,
    ...workers.map(worker => `SELECT citus_add_node('${new URL(worker).hostname}', ${new URL(worker).port})`),
  )
}

/** Drops the workers' databases of one on the coordinator. */
export async function dropOnWorkers(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  for (const node of await nodesOf(citusUrl!))
    if (node.groupid > 0) await ask(at(url, 'postgres', node), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}

async function nodesOf(cluster: string): Promise<Node[]> {
  return (await ask(cluster, 'SELECT nodename, nodeport, groupid FROM pg_dist_node')) as Node[]
}

function at(url: string, name: string, { nodename, nodeport }: Node): string {
  const own = new URL(url)
  Object.assign(own, { hostname: nodename, port: String(nodeport), pathname: `/${name}` })
  return own.href
}

/** Asks one statement after the other; returns the rows of the last. */
export async function ask(url: string, ...texts: string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let rows: unknown[] = []
    for (const text of texts) rows = (await client.query(text)).rows
    return rows
  } finally {
    await client.end()
  }
}
