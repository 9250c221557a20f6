/**
 * A typed client of Dealwright. `new Dealwright({ url, token }).deal` has the operations of deals, and so has
 * each other resource. An account's custom fields come with its own types, which `dealwright types` writes:
 * `new Dealwright<Schemas>(…)`.
 */
import { type Answered, type Asked, Http, type Options } from './http.ts'
import { resourceNames } from './resource-names.ts'
import type { Schemas as BaseSchemas } from './schemas.ts'

// The package has one entry.
// biome-ignore lint/performance/noBarrelFile: of a few small files
export * from './errors.ts'
export type { Condition, Filter, FilterNode as Term, Group, Operator } from './filter.ts'
export { FilterError, parseFilter, printFilter } from './filter.ts'
export type { Answered, Asked, Options, Query } from './http.ts'
export type { Schemas } from './schemas.ts'

/** The resources of the service. */
export type ResourceName = (typeof resourceNames)[number]

/** The types of a record: read alone, in a list, created and changed. */
type Of<S, Name extends string> = S[Name & keyof S]
export type Read<S, R extends ResourceName> = Of<S, `${R}_read`>
export type Listed<S, R extends ResourceName> = Of<S, R>
export type New<S, R extends ResourceName> = Of<S, `${R}_new`>
export type Changes<S, R extends ResourceName> = Of<S, `${R}_input`>

export type ListQuery = {
  /** such as "status:eq(Open)"; several must all hold */
  readonly filter?: string | readonly string[]
  /** such as "created_at:desc" */
  readonly sort?: string
  readonly fields?: string
  readonly expand?: string
  readonly deleted?: 'only'
  readonly pageSize?: number
}

export type PageQuery = ListQuery & {
  readonly page?: number
  readonly cursor?: string
  readonly count?: 'exact' | 'estimate' | 'none'
}

export type Page<T> = { readonly data: T[]; readonly meta: BaseSchemas['page_meta'] }

export type Reading = { readonly expand?: string; readonly signal?: AbortSignal }

export type Writing = Reading & {
  /** makes a retry the same request; default: a key of its own for each call */
  readonly idempotencyKey?: string
}

export type Changing = Writing & {
  /** the change is refused if the record has another version */
  readonly ifVersion?: number
}

/**
 * A record that was read, or its id. A record that was read is changed only if its version is still the same.
 */
export type Which = number | { readonly id?: number | null; readonly version?: number | null }

const base = '/rest/api/v1'

/** The operations of a resource. Each throws a DealwrightError. */
export class Resource<S, R extends ResourceName> {
  readonly #http: Http
  readonly #path: string

  constructor(http: Http, name: R) {
    this.#http = http
    this.#path = `${base}/${name}`
  }

  async get(id: number, { expand, signal }: Reading = {}): Promise<Read<S, R>> {
    return dataOf(await this.#http.ask('GET', `${this.#path}/${id}`, { query: { expand }, signal }))
  }

  /** The record with its ETag, or null if its tag is still `etag`. */
  async getIfChanged(
    id: number,
    etag: string | null,
    { expand, signal }: Reading = {},
  ): Promise<{ record: Read<S, R>; etag: string } | null> {
    const headers: Asked['headers'] = etag === null ? {} : { 'if-none-match': etag }
    const answer = await this.#http.ask('GET', `${this.#path}/${id}`, { query: { expand }, headers, signal })
    return answer.status === 304 ? null : { record: dataOf(answer), etag: answer.headers.get('etag') ?? '' }
  }

  async create(record: New<S, R>, options: Writing = {}): Promise<Read<S, R>> {
    return dataOf(await this.#http.ask('POST', this.#path, { body: record, ...written(options) }))
  }

  /**
   * Changes only the fields of `changes`. A record that was read is refused if it has changed since (412).
   */
  async update(which: Which, changes: Changes<S, R>, options: Changing = {}): Promise<Read<S, R>> {
    return dataOf(
      await this.#http.ask('PATCH', this.#pathOf(which), { body: changes, ...changed(which, options) }),
    )
  }

  async delete(which: Which, options: Changing & { moveTo?: number } = {}): Promise<void> {
    const { query, ...asked } = changed(which, options)
    await this.#http.ask('DELETE', this.#pathOf(which), {
      ...asked,
      query: { ...query, move_to: options.moveTo },
    })
  }

  async restore(which: Which, options: Changing = {}): Promise<Read<S, R>> {
    return dataOf(await this.#http.ask('POST', `${this.#pathOf(which)}/restore`, changed(which, options)))
  }

  async page(query: PageQuery = {}, { signal }: { signal?: AbortSignal } = {}): Promise<Page<Listed<S, R>>> {
    const { body } = await this.#http.ask('GET', `${this.#path}/view/list`, { query, signal })
    return body as Page<Listed<S, R>>
  }

  /** All records of a list, a page at a time, by cursors: `for await (const deal of dealwright.deal.list())`. */
  async *list(
    query: ListQuery = {},
    options: { signal?: AbortSignal } = {},
  ): AsyncGenerator<Listed<S, R>, void> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const paged = {
        pageSize: 100,
        count: 'none',
        ...query,
        ...(cursor === undefined ? {} : { cursor }),
      } as const
      const { data, meta } = await this.page(paged, options)
      yield* data
      cursor = meta.nextCursor
    }
  }

  #pathOf(which: Which): string {
    const id = typeof which === 'number' ? which : which.id
    if (typeof id !== 'number') throw new TypeError('The record has no id')
    return `${this.#path}/${id}`
  }
}

type Resources<S> = { readonly [Name in ResourceName]: Resource<S, Name> }

/** Its members `deal`, `product` and those of all other resources: the constructor makes them. */
export interface Dealwright<S = BaseSchemas> extends Resources<S> {}

/** The service of one account, as its token may use it. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: a class can't name its members by a type
export class Dealwright<S = BaseSchemas> {
  readonly #http: Http

  constructor(options: Options) {
    this.#http = new Http(options)
    for (const name of resourceNames) Object.assign(this, { [name]: new Resource(this.#http, name) })
  }

  /** The caller: user or token, account and scopes. */
  async me(): Promise<Of<S, 'caller'>> {
    return dataOf(await this.request('GET', `${base}/me`))
  }

  /**
   * From now on no answer is older than the account's event `seq`: for who follows the feed, or gets events by
   * a webhook. The client knows of its own writes.
   */
  atLeast(seq: number): void {
    this.#http.atLeast(seq)
  }

  /** Any request: `request('GET', '/rest/api/v1/deal/aggregate', { query: { group_by: 'status' } })`. */
  request(method: string, path: string, asked: Asked = {}): Promise<Answered> {
    return this.#http.ask(method, path, asked)
  }
}

function dataOf<T>({ body }: Answered): T {
  return (body as { data: T }).data
}

function written({ expand, idempotencyKey, signal }: Writing): Asked {
  const headers: Asked['headers'] = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
  return { query: { expand }, headers, signal }
}

function changed(which: Which, { ifVersion, ...options }: Changing): Asked {
  const asked = written(options)
  const version = ifVersion ?? (typeof which === 'number' ? null : which.version)
  return typeof version === 'number'
    ? { ...asked, headers: { ...asked.headers, 'if-match': `"${version}"` } }
    : asked
}
