/**
 * The agent behind a token: its program's name, and the time of its last request (D149). Clients of the older
 * revision send their name only when they connect, so the token remembers it.
 */
import { programName } from '../accounts/oauth/program-name.ts'
import { isObject, type Json } from '../json.ts'
import type { Reader } from '../records/store.ts'
import { ask, sql } from '../sql.ts'

const clientInfo = 'io.modelcontextprotocol/clientInfo'

/** The name of the client in a message of either revision; null if it doesn't tell one. */
export function agentNameOf(message: Json | undefined): string | null {
  const { params } = isObject(message) ? message : {}
  const { _meta: meta, clientInfo: own } = isObject(params) ? params : {}
  const info = isObject(meta) ? (meta[clientInfo] ?? own) : own
  return isObject(info) ? programName(info.title ?? info.name) : null
}

/** Notes that the token was used by an agent, and returns the agent's name. */
export async function noteAgent(
  db: Reader,
  account: number,
  token: number,
  client: string | null,
): Promise<string | null> {
  const [own, its] = [sql`${String(account)}::bigint`, sql`${String(token)}::bigint`]
  const name = sql`coalesce(${client}::text, t.agent)`
  const statement = sql`WITH noted AS (
  UPDATE token t SET agent = ${name}, agent_used_at = date_trunc('milliseconds', now())
  WHERE t.account_id = ${own} AND t.id = ${its} AND (t.agent IS DISTINCT FROM ${name}
    OR t.agent_used_at IS NULL OR t.agent_used_at < now() - interval '1 minute')
  RETURNING t.agent
)
SELECT ${name} AS agent FROM token t WHERE t.account_id = ${own} AND t.id = ${its}`
  const [row] = await ask(db, statement)
  return row?.agent ?? null
}
