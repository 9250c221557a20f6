/**
 * Authentication: finds the caller of a token or session, and their configuration. Caches callers for at most
 * a second, so what has ended is refused within a second (D38, D61), and a changed catalog is seen as soon.
 * Catalogs are cached until the account has another version. Knows no HTTP.
 */
import { buildCatalog, type Catalog, type CatalogRows } from '../fields/catalog.ts'
import type { Resource } from '../fields/resource.ts'
import { parseJson } from '../json.ts'
import type { Reader } from '../records/store.ts'
import { catalogAs } from '../rights/as-role.ts'
import { Rights } from '../rights/rights.ts'
import { narrowed } from '../rights/scopes.ts'
import type { AuthorizedCaller } from '../rights/visibility.ts'
import { ask, sql } from '../sql.ts'
import type { AccountState } from './account-state.ts'
import { sessionStatement, tokenStatement, userStatement } from './caller-statements.ts'
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
/** Maximum of cached secrets, of those with a caller and of those without. */
const secretsMax = 10_000
/** Maximum of cached catalogs, each with the values derived from it. */
const catalogsMax = 1000

type CachedCaller = {
  readonly caller: Promise<AuthenticatedCaller | null>
  readonly account: number | null
  /** time of the next refresh; infinite during one */
  refreshAt: number
  readonly until: number
}

/** hash of a token or session → its caller; the first is the one that was looked up least lately */
type Cache = Map<string, CachedCaller>
const nobody = Promise.resolve(null)

export class Callers {
  readonly #db: Reader
  readonly #background: Reader
  readonly #resources: readonly Resource[]
  readonly #now: () => number
  /** Secrets that were valid when last looked up. They stay here when their time is over. */
  readonly #known: Cache = new Map()
  /** Other secrets, in a cache of their own: anybody can send any number of them. */
  readonly #unknown: Cache = new Map()
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
    return this.identifyKnown(token) ?? this.#remember(token, hashToken(token))
  }

  /** Like `identify`, but null, without a query, for a text that was not valid when last looked up. */
  identifyKnown(token: string): Promise<AuthenticatedCaller | null> | null {
    const hash = hashToken(token)
    const cached = this.#known.get(hash)
    if (!cached) return this.#answerOf(hash)
    if (this.#now() >= cached.until) return this.#remember(token, hash)
    if (this.#now() >= cached.refreshAt) this.#refresh(token, hash, cached)
    return cached.caller
  }

  /**
   * Like `identify`, read from the database. Replaces the cached caller, by which other requests are judged
   * until the database has answered.
   */
  identifyNow(token: string): Promise<AuthenticatedCaller | null> {
    const hash = hashToken(token)
    const cached = this.#known.get(hash)
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
    for (const [hash, cached] of this.#known) if (cached.account === account) this.#expire(hash, cached)
    for (const [hash, cached] of this.#unknown) if (cached.account === account) this.#unknown.delete(hash)
  }

  /** Invalidates a token or session that has ended: this process refuses it at once. */
  forgetSecret(token: string): void {
    const hash = hashToken(token)
    this.#known.delete(hash)
    this.#unknown.delete(hash)
  }

  /** A look-up of an unknown secret that is under way, or was answered within a second. */
  #answerOf(hash: string): Promise<AuthenticatedCaller | null> | null {
    const cached = this.#unknown.get(hash)
    return cached && this.#now() < cached.until ? cached.caller : null
  }

  #remember(token: string, hash: string): Promise<AuthenticatedCaller | null> {
    const cached = this.#ask(token, hash)
    // A text that is no secret is not cached: it costs no query.
    if (cached.account === null) return cached.caller
    put(this.#known.has(hash) ? this.#known : this.#unknown, hash, cached)
    this.#sortIn(hash, cached)
    return cached.caller
  }

  /** Moves a cached secret to those with or without a caller, once it is looked up. */
  #sortIn(hash: string, cached: CachedCaller): void {
    cached.caller.then(
      caller => {
        const [from, to] = caller ? [this.#unknown, this.#known] : [this.#known, this.#unknown]
        if (from.get(hash) !== cached) return
        from.delete(hash)
        put(to, hash, cached)
      },
      () => {
        if (this.#known.get(hash) === cached) this.#expire(hash, cached)
        if (this.#unknown.get(hash) === cached) this.#unknown.delete(hash)
      },
    )
  }

  /** Lets go of a caller and their catalog. The secret stays known. */
  #expire(hash: string, { account }: CachedCaller): void {
    this.#known.set(hash, { account, caller: nobody, refreshAt: 0, until: Number.NEGATIVE_INFINITY })
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
    if (this.#known.get(hash) === cached) {
      put(this.#known, hash, latest)
      this.#sortIn(hash, latest)
    }
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

/** Adds a secret as the last. The first makes room for it. */
function put(cache: Cache, hash: string, cached: CachedCaller): void {
  cache.delete(hash)
  if (cache.size >= secretsMax) cache.delete(cache.keys().next().value!)
  cache.set(hash, cached)
}

/** An account's catalog, read in one statement. */
export async function loadCatalog(
  db: Reader,
  resources: readonly Resource[],
  account: number,
): Promise<Catalog> {
  const [row] = await ask(db, catalogStatement(String(account)))
  return buildCatalog(resources, parseJson(row!.catalog!) as unknown as CatalogRows)
}
