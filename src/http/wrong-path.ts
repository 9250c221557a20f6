/**
 * Paths and methods without a route: finds the methods of a path, and the path that a client of another
 * system, or a guess, may mean. Knows the routes and no resource.
 */
import { Refusal } from '../errors.ts'
import { nearest } from '../fields/nearest.ts'
import { ourResource, pluralOf } from '../fields/synonyms.ts'
import { base, type Route } from './route.ts'

/** Longer paths are no typing errors. */
const longestPath = 200
/** Other systems' names of a list. */
const listWords = new Set(['list', 'search', 'all', 'view', 'query', 'filter'])
const newWords = new Set(['new', 'create', 'add'])
/** Endpoints that other systems have for all resources together. */
const forAll: ReadonlyMap<string, string> = new Map([
  ['batch', `POST ${base}/{resource}/batch`],
  ['composite', `POST ${base}/{resource}/batch`],
  ...['query', 'soql', 'sql', 'graphql'].map(word => [word, `GET ${base}/{resource}/view/list`] as const),
  ['upsert', `PUT ${base}/{resource}/by/{field}/{value}`],
])
/** Other systems' path prefixes. */
const otherBases = /^(\/(rest|api|crm|services|data|items|objects|sobjects|records|v\d+(\.\d+)?))+(?=\/|$)/i

/** The prefixes of a path before its first id, one per segment; the whole path if it has none. */
function beginnings(url: string): string[] {
  const steps = url.split('/:', 1)[0]!.split('/')
  return steps.map((_, index) => steps.slice(0, index + 1).join('/')).slice(1)
}

/** The routes of a service, by path. */
export class Paths {
  readonly #table: readonly {
    readonly method: string
    readonly url: string
    readonly pattern: RegExp
    /** the same, with ids as numbers */
    readonly exact: RegExp
  }[]
  /** paths without an id, and the prefixes of longer ones before their first id */
  readonly #fixed: ReadonlySet<string>
  /** the first word of each path below the base */
  readonly #words: readonly string[]

  constructor(table: readonly Pick<Route, 'method' | 'url'>[]) {
    this.#table = table.map(({ method, url }) => ({
      method,
      url,
      pattern: new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`),
      exact: new RegExp(`^${url.replace(/:(id|option)\b/g, '\\d+').replace(/:\w+/g, '[^/]+')}$`),
    }))
    this.#fixed = new Set(table.flatMap(({ url }) => beginnings(url)))
    this.#words = [...new Set(table.flatMap(({ url }) => (url.startsWith(base) ? [url.split('/')[4]!] : [])))]
  }

  /**
   * True if a route took words of a path, or nothing, for an id: `/deal/aggregate`, `/deal/by` and `/deal/`
   * are no deals.
   */
  isMistaken(route: string | undefined, path: string): boolean {
    const [steps, given] = [route?.split('/') ?? [], path.split('/')]
    const first = steps.findIndex(step => step.startsWith(':'))
    if (first < 0) return false
    const isEmpty = steps[first] === ':id' && given[first] === ''
    return isEmpty || this.#fixed.has(given.slice(0, first + 1).join('/'))
  }

  /**
   * The refusal of a request without a route: 405 with Allow if its path has other methods, else 404 (D3).
   */
  refusal(method: string, path: string): Refusal {
    const methods = this.#methodsOf(path)
    const meant = path.length > longestPath ? null : this.#meant(method === 'HEAD' ? 'GET' : method, path)
    const instead = meant ? ` Did you mean ${meant}?` : ''
    if (methods.length === 0) return new Refusal('route_not_found', `There is nothing at ${path}.${instead}`)
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
    return new Refusal('method_not_allowed', `${path} takes only ${allow}.${instead}`, [], { allow })
  }

  #methodsOf(path: string, how: 'pattern' | 'exact' = 'pattern'): string[] {
    const its = this.#table.filter(route => route[how].test(path) && !this.isMistaken(route.url, path))
    return [...new Set(its.map(({ method }) => method))]
  }

  /** The method and path nearest to a request, or null. */
  #meant(method: string, path: string): string | null {
    const own = path.replace(otherBases, '').split('/').filter(Boolean)
    const [first = '', ...rest] = own.map(step => step.toLowerCase())
    const word = this.#wordOf(first)
    if (!word) return forAll.get(first) ?? null
    const isList = rest.length === 0 || (rest.length === 1 && listWords.has(rest[0]!))
    const lists = isList ? [`${base}/${word}/view/list`, `${base}/${word}/list`] : []
    const tried = [
      [word, ...rest].join('/'),
      ...(rest.length === 1 && newWords.has(rest[0]!) ? [word] : []),
      ...(rest[0] === 'batch' ? [`${word}/batch`] : []),
      ...(rest.length === 2 && rest[0] === 'view' ? [`${word}/${rest[1]}`] : []),
      // Values are case-sensitive.
      ...(rest.length === 2 ? [`${word}/by/${rest[0]}/${own[2]}`] : []),
    ].map(one => `${base}/${one}`)
    const takes = (one: string, how = method) => this.#methodsOf(one, 'exact').includes(how)
    const all = [...tried, ...lists.filter(one => this.#fixed.has(one))]
    const found = all.find(one => takes(one) && one !== path)
    if (found) return `${method} ${found}`
    const one = `${base}/${word}/${rest[0]}`
    if (rest.length === 1 && method === 'POST' && takes(one, 'PATCH')) return `PATCH ${one}`
    if (rest.length === 0 && takes(`${base}/${word}/1`)) return `${method} ${base}/${word}/{id}`
    const by = `${base}/${word}/by`
    return rest[0] === 'upsert' && this.#fixed.has(by) ? `PUT ${by}/{field}/{value}` : null
  }

  /** The first segment below the base that a word may mean. */
  #wordOf(said: string): string | null {
    const isKnown = (known: string) => said === known || said === pluralOf(known)
    const elsewhere = ourResource(said)
    return (
      this.#words.find(isKnown) ??
      this.#words.find(known => known === elsewhere) ??
      nearest(said, this.#words)
    )
  }
}
