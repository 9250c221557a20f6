/**
 * Who may ask, and under which configuration. Remembers the tokens and catalogs of the database for at most a
 * second, so a revoked token is refused within a second (D38), and a changed catalog is seen as soon. Knows
 * no HTTP.
 */
import { buildCatalog, type Catalog, type CatalogRows } from '../fields/catalog.ts'
import { parseJson } from '../json.ts'
import { isValid } from '../records/administrators.ts'
import type { Resource } from '../records/resource.ts'
import type { Queryable } from '../records/store.ts'
import { ask, prepared, type Sql, sql } from '../sql.ts'
import { hashToken, parseToken } from './token.ts'

/** A caller: the user a token acts for, what it may do, and its account's catalog. */
export type Caller = {
  readonly user: number
  readonly scopes: ReadonlySet<string>
  readonly catalog: Catalog
}

export type Directory = {
  /** The caller a token stands for; null when it is unknown, expired or revoked. */
  caller(token: string): Promise<Caller | null>
  /** The same as the database has it now. Forgets what was remembered. */
  callerNow(token: string): Promise<Caller | null>
  /** An account's catalog as the database has it now. */
  catalogNow(account: number): Promise<Catalog>
  /**
   * Forgets what is remembered of an account, after a change of its configuration: this process sees it at
   * once.
   */
  forget(account: number): void
}

const rememberMs = 1000
/** What is asked for by then is looked up again ahead of its end, so that no request waits for it. */
const refreshAfterMs = 500
const tokensMax = 10_000

type Remembered = {
  readonly caller: Promise<Caller | null>
  readonly account: number | null
  /** set when it is being looked up again */
  refreshAt: number
  readonly until: number
}

/** `now` gives milliseconds and must not run backwards. */
export function openDirectory(db: Queryable, resources: readonly Resource[], now: () => number): Directory {
  const callers = new Map<string, Remembered>()
  const catalogs = new Map<number, Promise<Catalog>>()

  async function catalogAt(account: number, version: string): Promise<Catalog> {
    const known = await catalogs.get(account)?.catch(() => null)
    if (known?.version === version) return known
    const loading = loadCatalog(db, resources, account)
    catalogs.set(account, loading)
    return loading
  }

  async function lookUp(account: number | null, hash: string): Promise<Caller | null> {
    if (account === null) return null
    const [row] = await ask(db, tokenStatement(String(account), hash))
    if (!row) return null
    const catalog = await catalogAt(account, row.catalog_version!)
    return { user: Number(row.user_id), scopes: new Set(JSON.parse(row.scopes!) as string[]), catalog }
  }

  function remember(token: string, hash: string): Promise<Caller | null> {
    if (callers.size >= tokensMax) callers.clear()
    const remembered = look(token, hash)
    callers.set(hash, remembered)
    remembered.caller.catch(() => callers.delete(hash))
    return remembered.caller
  }

  function look(token: string, hash: string): Remembered {
    const account = parseToken(token)?.account ?? null
    const at = now()
    return {
      caller: lookUp(account, hash),
      account,
      refreshAt: at + refreshAfterMs,
      until: at + rememberMs,
    }
  }

  /** Takes the place of what is remembered when it is there; till then that is good enough. */
  function refresh(token: string, hash: string, remembered: Remembered): void {
    remembered.refreshAt = Number.POSITIVE_INFINITY
    const latest = look(token, hash)
    latest.caller.then(
      () => callers.get(hash) === remembered && callers.set(hash, latest),
      () => {},
    )
  }

  return {
    caller: token => {
      const hash = hashToken(token)
      const remembered = callers.get(hash)
      if (!remembered || now() >= remembered.until) return remember(token, hash)
      if (now() >= remembered.refreshAt) refresh(token, hash, remembered)
      return remembered.caller
    },
    callerNow: token => remember(token, hashToken(token)),
    catalogNow: account => loadCatalog(db, resources, account),
    forget(account) {
      for (const [hash, remembered] of callers) if (remembered.account === account) callers.delete(hash)
    },
  }
}

/** Whom a valid token acts for. Asked once a second for whoever asks. */
const tokenStatement = prepared(
  (account, hash) => sql`
SELECT t.user_id::text AS user_id, to_json(t.scopes)::text AS scopes,
  a.catalog_version::text AS catalog_version
FROM token t JOIN account a ON a.account_id = t.account_id
WHERE t.account_id = ${account}::bigint AND t.hash = ${hash}::text AND ${isValid}`,
)

/** An account's catalog as one statement sees it. */
export async function loadCatalog(
  db: Queryable,
  resources: readonly Resource[],
  account: number,
): Promise<Catalog> {
  const [row] = await ask(db, catalogStatement(String(account)))
  return buildCatalog(resources, parseJson(row!.catalog!) as unknown as CatalogRows)
}

/** Everything a catalog is made of. */
const catalogStatement = prepared(account => {
  const rows = (of: Sql, order: Sql) =>
    sql`(SELECT coalesce(json_agg(x ORDER BY ${order}), '[]') FROM (${of}) x)`
  const own = sql`account_id = ${account}::bigint`
  return sql`
SELECT json_build_object(
  'account', (SELECT row_to_json(x) FROM (
    SELECT account_id AS id, name, time_zone, base_currency, catalog_version::text
    FROM account WHERE ${own}) x),
  'fields', ${rows(
    sql`
    SELECT id, resource, internal_name, field_name, type, config, default_value, is_required, is_active,
      is_indexed, deleted_at, version
    FROM field WHERE ${own}`,
    sql`x.id`,
  )},
  'options', ${rows(
    sql`
    SELECT id, resource, field, name, position, is_active, is_default FROM option WHERE ${own}`,
    sql`x.position, x.id`,
  )},
  'forms', ${rows(
    sql`
    SELECT resource, sections FROM form WHERE ${own}`,
    sql`x.resource`,
  )},
  'currencies', ${rows(
    sql`
    SELECT id, code, name, symbol, decimals, rate::text, is_active = 1 AS is_active
    FROM currency WHERE ${own}`,
    sql`x.code`,
  )},
  'pipelines', ${rows(
    sql`
    SELECT id, name, position, is_default = 1 AS is_default
    FROM pipeline WHERE ${own} AND deleted_at IS NULL`,
    sql`x.position, x.id`,
  )},
  'stages', ${rows(
    sql`
    SELECT id, pipeline, name, position,
      CASE kind WHEN 1 THEN 'open' WHEN 2 THEN 'won' ELSE 'lost' END AS kind, probability, rotting_days
    FROM pipeline_stage WHERE ${own} AND deleted_at IS NULL`,
    sql`x.pipeline, x.position, x.id`,
  )}
)::text AS catalog`
})
