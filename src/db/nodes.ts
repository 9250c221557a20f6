/**
 * The nodes of a Citus cluster (D176): which there are, what they hold, and moving an account's rows to
 * another. Owns the functions of Citus for that. `table` is the table with a row for each account.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Ask } from './ask.ts'

export type Node = {
  readonly id: string
  /** what shards name their node by */
  readonly group: string
  /** HOST:PORT */
  readonly name: string
  readonly role: 'coordinator' | 'worker' | 'replica'
  /** true if it may hold rows of accounts */
  readonly isForAccounts: boolean
  /** null: it does not answer, or is not in use */
  readonly state: { readonly bytes: number; readonly wal_level: string } | null
}

/** A part of the tables, with all rows of its accounts, which a node holds. */
export type Shard = {
  readonly id: string
  readonly group: string
  /** number of accounts; null: its node does not answer */
  readonly accounts: number | null
}

const stateOfNode = `SELECT json_build_object('bytes', pg_database_size(current_database()),
  'wal_level', current_setting('wal_level'))`

/** All nodes, the coordinator first. One that is away takes as long as connecting to it may. */
export async function nodesOf(ask: Ask): Promise<Node[]> {
  const rows = await ask<Record<string, string>[]>(
    `SELECT n.nodeid::text AS id, n.groupid::text AS "group", concat(n.nodename, ':', n.nodeport) AS name,
      CASE WHEN n.groupid = 0 THEN 'coordinator' WHEN n.noderole = 'primary' THEN 'worker' ELSE 'replica' END AS role,
      (n.isactive AND n.shouldhaveshards AND n.noderole = 'primary')::text AS is_for_accounts,
      CASE WHEN r.success THEN r.result END AS state
    FROM pg_dist_node n LEFT JOIN run_command_on_all_nodes($1) r ON r.nodeid = n.nodeid
    ORDER BY n.groupid, n.nodeid`,
    [stateOfNode],
  )
  return rows.map(({ id, group, name, role, is_for_accounts, state }) => ({
    ...{ id: id!, group: group!, name: name!, role: role as Node['role'] },
    isForAccounts: is_for_accounts === 'true',
    state: state ? JSON.parse(state) : null,
  }))
}

/** All shards of the tables of accounts, which are placed alike; `only`: the one of this account. */
export async function shardsOf(ask: Ask, table: string, only: number | null = null): Promise<Shard[]> {
  const rows = await ask<Record<string, string | null>[]>(
    `SELECT r.shardid::text AS id, p.groupid::text AS "group", CASE WHEN r.success THEN r.result END AS accounts
    FROM run_command_on_shards($1::regclass, 'SELECT count(*) FROM %s') r
      JOIN pg_dist_placement p ON p.shardid = r.shardid
    WHERE $2::bigint IS NULL OR r.shardid = get_shard_id_for_distribution_column($1::regclass, $2::bigint)`,
    [table, only === null ? null : String(only)],
  )
  return rows.map(({ id, group, accounts }) => ({
    ...{ id: id!, group: group! },
    accounts: accounts === null ? null : Number(accounts),
  }))
}

/**
 * Gives an account a shard of its own, on the node on which it is. Returns the shard's id. Writes to the
 * accounts of the shard wait meanwhile: the way of Citus that lets them go on hangs where rows are changed
 * (citusdata/citus#6790).
 */
export async function isolate(ask: Ask, table: string, account: number): Promise<string> {
  const [row] = await ask<[{ id: string }]>(
    `SELECT isolate_tenant_to_new_shard($1::regclass, $2::bigint, 'CASCADE', 'block_writes')::text AS id`,
    [table, String(account)],
  )
  return row.id
}

/** How long a move is tried again while the other node still has what an earlier one left there. */
const leftoverMs = 60_000

/**
 * Moves a shard. Writes go on, by logical replication, and wait for a moment at its end. Citus removes later
 * what a move leaves behind, and can't for a while after a node was away; moving back is refused till then.
 */
export async function moveShard(ask: Ask, shard: string, from: Node, to: Node): Promise<void> {
  const statement = `SELECT citus_move_shard_placement($1::bigint, $2::int, $3::int, 'force_logical')`
  for (const end = performance.now() + leftoverMs; ; await delay(1000))
    try {
      await ask(statement, [shard, from.id, to.id])
      return
    } catch (error) {
      const isLeft = String(error).includes('leftover from the previous move could not be cleaned up')
      if (!isLeft || performance.now() > end) throw error
    }
}

/**
 * Analyzes the tables of a shard on the node to which it was moved: a move brings the rows there without
 * their statistics. Returns why it could not; null if it could.
 */
export async function analyzeShard(ask: Ask, shard: string, { id }: Node): Promise<string | null> {
  const [row] = await ask<[{ problem: string | null }]>(
    `SELECT CASE WHEN NOT r.success THEN r.result END AS problem
    FROM pg_dist_node n, LATERAL (
      SELECT string_agg(shard_name(s.logicalrelid, s.shardid), ', ') AS tables
      FROM pg_dist_shard one
        JOIN pg_dist_partition own ON own.logicalrelid = one.logicalrelid
        JOIN pg_dist_partition alike ON alike.colocationid = own.colocationid
        JOIN pg_dist_shard s ON s.logicalrelid = alike.logicalrelid AND s.shardminvalue = one.shardminvalue
      WHERE one.shardid = $1::bigint
    ) t, LATERAL master_run_on_worker(ARRAY[n.nodename], ARRAY[n.nodeport], ARRAY['ANALYZE ' || t.tables], false) r
    WHERE n.nodeid = $2::int`,
    [shard, id],
  )
  return row.problem
}
