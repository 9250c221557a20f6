/**
 * Citus: a server whose tables of accounts are distributed over several nodes by account (D173). Owns how
 * that is found out, and how tables are distributed. Knows no table by name: those of accounts have an
 * account_id.
 */
import { quoted } from './account-tables.ts'
import type { Ask } from './ask.ts'
import type { Database } from './open.ts'
import { StartupError } from './startup-error.ts'

/** The column by which all tables are distributed. Each account is on one node, with all of its rows. */
const by = 'account_id'
/** The oldest version that was tried. */
const oldestCitus = 13

/** How far the tables of accounts are distributed. */
export type Distribution = { readonly tables: readonly string[]; readonly distributed: readonly string[] }

/** SQL: true if the database has the extension. Only then the other statements can be asked. */
export const hasCitus = `(to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL)::text`

/**
 * The tables of accounts, and which of them are distributed. Throws a StartupError if the server at `where`
 * is a worker of a cluster: only the coordinator has one clock for an account's moments (D123).
 */
export async function distributionOf(ask: Ask, where: string): Promise<Distribution> {
  const rows = await ask<{ name: string; is_distributed: string; coordinates: string }[]>(
    `SELECT c.relname AS name, (p.logicalrelid IS NOT NULL)::text AS is_distributed,
      (SELECT groupid = 0 FROM pg_dist_local_group)::text AS coordinates
    FROM (SELECT 1) one LEFT JOIN (pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = '${by}' AND a.attnotnull
      LEFT JOIN pg_dist_partition p ON p.logicalrelid = c.oid)
      ON c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
    ORDER BY c.relname`,
    [],
  )
  if (rows[0]?.coordinates === 'false')
    throw new StartupError(
      `${where}, is a worker of a Citus cluster: set DATABASE_URL to the address of the coordinator`,
    )
  const tables = rows.filter(({ name }) => name !== null)
  return {
    tables: tables.map(({ name }) => name),
    distributed: tables.flatMap(({ name, is_distributed }) => (is_distributed === 'true' ? name : [])),
  }
}

/** Throws a StartupError with the reason why the database can't be distributed. */
export async function requireDistributable(ask: Ask): Promise<void> {
  const [extension] = await ask<{ version: string }[]>(
    `SELECT extversion AS version FROM pg_extension WHERE extname = 'citus'`,
    [],
  )
  if (!extension)
    throw new StartupError(
      'The database has no extension citus: CREATE EXTENSION citus on each node, then add the nodes ' +
        'with citus_add_node.',
    )
  if (Number.parseInt(extension.version, 10) < oldestCitus)
    throw new StartupError(
      `The database has Citus ${extension.version}; ${oldestCitus} is the oldest that works: upgrade it first.`,
    )
  const [nodes] = await ask<{ count: string }[]>(
    `SELECT count(*)::text AS count FROM pg_dist_node
    WHERE isactive AND noderole = 'primary' AND shouldhaveshards`,
    [],
  )
  if (nodes?.count === '0')
    throw new StartupError(
      'The cluster has no node for rows: add one with SELECT citus_add_node(HOST, PORT) on the coordinator.',
    )
  const zones = await ask<{ node: string; answers: string; said: string }[]>(
    `SELECT concat(n.nodename, ':', n.nodeport) AS node, r.success::text AS answers, r.result AS said
    FROM run_command_on_all_nodes('SHOW timezone') r JOIN pg_dist_node n ON n.nodeid = r.nodeid`,
    [],
  )
  const silent = zones.find(({ answers }) => answers === 'false')
  if (silent) throw new StartupError(`The node ${silent.node} does not answer: ${silent.said}`)
  const elsewhere = zones.filter(({ said }) => !/^(Etc\/)?(UTC|GMT)$/.test(said))
  if (elsewhere.length > 0)
    throw new StartupError(
      `The nodes ${elsewhere.map(({ node }) => node).join(', ')} don't use UTC: ALTER SYSTEM SET timezone = 'UTC', and SELECT pg_reload_conf(), there.`,
    )
  const others = await ask<{ name: string }[]>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attname = '${by}'
      AND a.attnotnull AND NOT pg_has_role(c.relowner, 'USAGE') ORDER BY c.relname`,
    [],
  )
  if (others.length > 0)
    throw new StartupError(
      `The tables ${others.map(({ name }) => name).join(', ')} belong to another role: do this as that one.`,
    )
}

/**
 * The statement that distributes a table by account: as another one is, so that an account's rows are
 * together, or the first one over `shards`.
 */
export function distributing(name: string, like: string | null, shards = 0): [string, string[]] {
  const how = like === null ? 'shard_count => $2::int' : 'colocate_with => $2::text'
  return [
    `SELECT create_distributed_table($1::regclass, '${by}', ${how})`,
    [quoted(name), like === null ? String(shards) : quoted(like)],
  ]
}

/** Gives all nodes the functions of the schema; statements and indexes use them. */
export async function distributeFunctions(ask: Ask): Promise<void> {
  await ask(
    `SELECT create_distributed_function(p.oid::regprocedure) FROM pg_proc p
    WHERE p.pronamespace = current_schema()::regnamespace AND NOT EXISTS (
      SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
    ORDER BY p.oid`,
    [],
  )
}

/**
 * Removes the rows that distributed tables have left behind on the coordinator, where nothing reads them.
 * Call it once all tables are distributed: it empties those that refer to a table, too.
 */
export async function removeCopied(ask: Ask, tables: readonly string[]): Promise<void> {
  for (const name of tables)
    await ask('SELECT truncate_local_data_after_distributing_table($1::regclass)', [quoted(name)])
}

/** Throws a StartupError if a service is connected: it would go on as if the tables were on one server. */
export async function requireStopped(ask: Ask): Promise<void> {
  const [others] = await ask<{ count: string }[]>(
    `SELECT count(*)::text AS count FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend'
      AND application_name = current_setting('application_name')
      AND backend_start < (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid())`,
    [],
  )
  if (others?.count !== '0')
    throw new StartupError(
      'The service is running: stop all of its processes first, and start them afterwards.',
    )
}

/** Throws a StartupError if only some of the tables are distributed. */
export async function requireWhole({
  isDistributed,
  sql,
}: Pick<Database, 'isDistributed' | 'sql'>): Promise<void> {
  if (!isDistributed) return
  const { tables, distributed } = await distributionOf(sql.query, 'The server')
  if (distributed.length < tables.length)
    throw new StartupError(
      `Only ${distributed.length} of ${tables.length} tables are distributed: "dealwright distribute" goes on.`,
    )
}
