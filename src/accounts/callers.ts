/**
 * Authentication: finds the caller of a token or session, and their configuration. Caches callers for at most
 * a second, so what has ended is refused within a second (D38, D61), and a changed catalog is seen as soon.
 * Catalogs are cached until the account has another version. Knows no HTTP.
 */
import { buildCatalog, type Catalog, type CatalogRows } from '../fields/catalog.ts'
import type { Resource } from '../fields/resource.ts'
import { parseJson } from '../json.ts'
import type { Reader } from '../records/store.ts'
import { isInUse, isSignedIn, isValid } from '../resources/user-access.ts'
import { catalogAs } from '../rights/as-role.ts'
import { Rights } from '../rights/rights.ts'
import { narrowed } from '../rights/scopes.ts'
import type { AuthorizedCaller } from '../rights/visibility.ts'
import { ask, prepared, sql } from '../sql.ts'
import type { AccountState } from './account-state.ts'
import { catalogStatement } from './catalog-statement.ts'
import { accountOf, hashToken, parseToken } from './token.ts'

/**
 * A caller: the user of a token or a session, their account's catalog as their role sees it, and their
 * rights. Exactly one of `token` and `session` is set.
 */
export type AuthenticatedCaller = AuthorizedCaller & {
  readonly token: { readonly id: number; readonly name: string } | null
  readonly session: { readonly id: number } | null
  /** that of the account when the caller was looked up */
  readonly state: AccountState
}

/** `background`: a separate reader for work that no request waits for, if there is one. */
type CallersDatabase = Reader & { readonly background?: Reader }
type Kind = 'token' | 'session'
type Row = Readonly<Record<string, string | null>>

/** How long a process knows a caller without asking the database, in milliseconds. */
export const callerKnownMs = 1000
/** A cached token that is used after this time is refreshed before it expires, so that no request waits. */
const refreshAfterMs = 500
const tokensMax = 10_000
/** Maximum of cached catalogs, each with the values derived from it. */
const catalogsMax = 1000

type CachedCaller = {
  readonly caller: Promise<AuthenticatedCaller | null>
  readonly account: number | null
  /** time of the next refresh; infinite during one */
  refreshAt: number
  readonly until: number
}

export class Callers {
  readonly #db: Reader
  readonly #background: Reader
  readonly #resources: readonly Resource[]
  readonly #now: () => number
  /** hash of a token or session → its caller */
  readonly #remembered = new Map<string, CachedCaller>()
  /** account → its catalog, as an LRU cache: the least recently used is the first */
  readonly #catalogs = new Map<number, Promise<Catalog>>()
  readonly #catalogsMax: number

  /** `now` is monotonic, in milliseconds. At most `max` catalogs are cached. */
  constructor(db: CallersDatabase, resources: readonly Resource[], now: () => number, max = catalogsMax) {
    this.#db = db
    this.#background = db.background ?? db
    this.#resources = resources
    this.#now = now
    this.#catalogsMax = max
  }

  /** The caller of a token or session; null if it is unknown or has ended. */
  identify(token: string): Promise<AuthenticatedCaller | null> {
    const hash = hashToken(token)
    const cached = this.#remembered.get(hash)
    if (!cached || this.#now() >= cached.until) return this.#remember(token, hash)
    if (this.#now() >= cached.refreshAt) this.#refresh(token, hash, cached)
    return cached.caller
  }

  /**
   * Like `identify`, read from the database. Replaces the cached caller, by which other requests are judged
   * until the database has answered.
   */
  identifyNow(token: string): Promise<AuthenticatedCaller | null> {
    const hash = hashToken(token)
    const cached = this.#remembered.get(hash)
    if (!cached || this.#now() >= cached.until) return this.#remember(token, hash)
    return this.#replaced(token, hash, cached, this.#db)
  }

  /**
   * A user as the service acts for them, with the rights of their role, narrowed by `scopes`; null if they
   * are deleted or inactive, or the account is deleted.
   */
  async actingFor(
    account: number,
    user: number,
    scopes: readonly string[] | null = null,
  ): Promise<AuthorizedCaller | null> {
    const [row] = await ask(this.#db, userStatement(String(account), String(user)))
    return row ? this.#callerOf(account, row, scopes) : null
  }

  /** An account's current catalog, read from the database; `db`: as a transaction sees it. */
  catalogNow(account: number, db: Reader = this.#db): Promise<Catalog> {
    return loadCatalog(db, this.#resources, account)
  }

  /**
   * Invalidates the cache of an account after a change of its configuration: this process sees it at once.
   */
  forget(account: number): void {
    for (const [hash, cached] of this.#remembered)
      if (cached.account === account) this.#remembered.delete(hash)
  }

  /** Invalidates a token or session that has ended: this process refuses it at once. */
  forgetSecret(token: string): void {
    this.#remembered.delete(hashToken(token))
  }

  #remember(token: string, hash: string): Promise<AuthenticatedCaller | null> {
    const cached = this.#ask(token, hash)
    // A text that is no secret is not cached: anybody can send any number of them.
    if (cached.account === null) return cached.caller
    if (this.#remembered.size >= tokensMax) this.#remembered.clear()
    this.#remembered.set(hash, cached)
    cached.caller.catch(() => this.#remembered.delete(hash))
    return cached.caller
  }

  /** Refreshes a cached caller ahead of its expiry. The cached one stays valid until it is replaced. */
  #refresh(token: string, hash: string, cached: CachedCaller): void {
    cached.refreshAt = Number.POSITIVE_INFINITY
    this.#replaced(token, hash, cached, this.#background).catch(() => {})
  }

  async #replaced(
    token: string,
    hash: string,
    cached: CachedCaller,
    db: Reader,
  ): Promise<AuthenticatedCaller | null> {
    const latest = this.#ask(token, hash, db)
    const caller = await latest.caller
    // Nothing is cached that was asked before the configuration changed.
    if (this.#remembered.get(hash) === cached) this.#remembered.set(hash, latest)
    return caller
  }

  #ask(token: string, hash: string, db: Reader = this.#db): CachedCaller {
    const inSession = accountOf('session', token)
    const account = inSession ?? parseToken(token)?.account ?? null
    const at = this.#now()
    return {
      caller: this.#lookUp(db, account, hash, inSession === null ? 'token' : 'session'),
      account,
      refreshAt: at + refreshAfterMs,
      until: at + callerKnownMs,
    }
  }

  async #lookUp(
    db: Reader,
    account: number | null,
    hash: string,
    kind: Kind,
  ): Promise<AuthenticatedCaller | null> {
    if (account === null) return null
    const statement = kind === 'token' ? tokenStatement : sessionStatement
    const [row] = await ask(db, statement(String(account), hash))
    if (!row) return null
    // A session has all rights of its user's role.
    const scopes = row.scopes ? (JSON.parse(row.scopes) as string[]) : null
    const caller = await this.#callerOf(account, row, scopes, row.ends_at ? Number(row.ends_at) : null)
    if (!caller) return null
    if (row.is_use_due === 'true') this.#noteUse(account, row.id!, kind)
    const id = Number(row.id)
    return {
      ...caller,
      token: kind === 'token' ? { id, name: row.name! } : null,
      session: kind === 'session' ? { id } : null,
      state: { seq: Number(row.last_seq), settled: row.settled_version! },
    }
  }

  /** A user with the rights of their role, narrowed by `scopes`; null if there is no such role. */
  async #callerOf(
    account: number,
    row: Row,
    scopes: readonly string[] | null,
    endsAt: number | null = null,
  ): Promise<AuthorizedCaller | null> {
    const catalog = await this.#catalogAt(account, row.catalog_version!)
    const role = catalog.roles.get(Number(row.role))
    if (!role) return null
    const all = new Set(role.scopes)
    const rights = new Rights(scopes ? narrowed(all, new Set(scopes)) : all, role, endsAt)
    const territories = JSON.parse(row.territories!) as number[]
    return { catalog: catalogAs(catalog, rights), actor: Number(row.actor), territories, rights }
  }

  /** Records the last use of a token or session. The request does not depend on its success. */
  #noteUse(account: number, id: string, table: Kind): void {
    const statement = sql`UPDATE ${sql.id(table)} SET last_used_at = date_trunc('minute', now())
      WHERE account_id = ${String(account)}::bigint AND id = ${id}::bigint`
    const noted = ask(this.#background, statement)
    noted.catch(() => {})
  }

  async #catalogAt(account: number, version: string): Promise<Catalog> {
    const known = this.#catalogs.get(account)
    const isLatest = (await known?.catch(() => null))?.version === version
    const latest = isLatest ? known! : this.catalogNow(account)
    this.#catalogs.delete(account)
    this.#catalogs.set(account, latest)
    if (this.#catalogs.size > this.#catalogsMax) this.#forgetOldest()
    return latest
  }

  /** Evicts a catalog along with the callers that refer to it. */
  #forgetOldest(): void {
    const [oldest] = this.#catalogs.keys()
    this.#catalogs.delete(oldest!)
    this.forget(oldest!)
  }
}

/** The state of the account, over its rows `a` and `c`. */
const stateColumns = sql`a.catalog_version::text AS catalog_version, a.settled_version::text AS settled_version,
  c.last_seq::text AS last_seq`

/** The user of a valid token. Runs at most once a second per token. */
const tokenStatement = prepared(
  (account, hash) => sql`
SELECT t.id::text AS id, t.name, t.scopes::text AS scopes, u.id::text AS actor, u.role::text AS role,
  array_to_json(u.territories)::text AS territories, ${stateColumns},
  floor(extract(epoch FROM t.expires_at) * 1000)::text AS ends_at,
  (t.last_used_at IS NULL OR t.last_used_at < now() - interval '1 minute')::text AS is_use_due
FROM token_secret s
  JOIN token t ON t.account_id = s.account_id AND t.id = s.token
  JOIN "user" u ON u.account_id = s.account_id AND u.id = t."user"
  JOIN account a ON a.account_id = s.account_id
  JOIN counter c ON c.account_id = s.account_id
WHERE s.account_id = ${account}::bigint AND s.hash = ${hash}::text
  AND (s.valid_until IS NULL OR s.valid_until > now())
  AND ${isValid} AND ${isInUse} AND a.deleted_at IS NULL`,
)

/** The user of a session that has not ended. */
const sessionStatement = prepared(
  (account, hash) => sql`
SELECT s.id::text AS id, u.id::text AS actor, u.role::text AS role,
  array_to_json(u.territories)::text AS territories, ${stateColumns},
  (s.last_used_at < now() - interval '1 minute')::text AS is_use_due
FROM session s
  JOIN "user" u ON u.account_id = s.account_id AND u.id = s."user"
  JOIN account a ON a.account_id = s.account_id
  JOIN counter c ON c.account_id = s.account_id
WHERE s.account_id = ${account}::bigint AND s.hash = ${hash}::text
  AND ${isSignedIn} AND ${isInUse} AND a.deleted_at IS NULL`,
)

const userStatement = prepared(
  (account, user) => sql`
SELECT u.id::text AS actor, u.role::text AS role, array_to_json(u.territories)::text AS territories,
  a.catalog_version::text AS catalog_version
FROM "user" u JOIN account a ON a.account_id = u.account_id
WHERE u.account_id = ${account}::bigint AND u.id = ${user}::bigint AND ${isInUse} AND a.deleted_at IS NULL`,
)

/** An account's catalog, read in one statement. */
export async function loadCatalog(
  db: Reader,
  resources: readonly Resource[],
  account: number,
): Promise<Catalog> {
  const [row] = await ask(db, catalogStatement(String(account)))
  return buildCatalog(resources, parseJson(row!.catalog!) as unknown as CatalogRows)
}
