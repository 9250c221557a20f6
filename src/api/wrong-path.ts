/**
 * Paths and methods that no route takes: which methods a path has, and which path somebody may have meant
 * that comes from another system or has guessed. Knows the routes and no resource.
 */
import { Refusal } from '../errors.ts'
import { nearest } from '../fields/nearest.ts'
import { pluralOf } from '../fields/synonyms.ts'
import type { Route } from './route.ts'

const base = '/rest/api/v1'
/** A longer path was not mistyped. */
const longestPath = 200
/** What other systems call a list. */
const listWords = new Set(['list', 'search', 'all', 'view', 'query', 'filter'])

/** What a path begins with before its first id, at each of its steps; the path itself where it has none. */
function beginnings(url: string): string[] {
  const steps = url.split('/:', 1)[0]!.split('/')
  return steps.map((_, index) => steps.slice(0, index + 1).join('/')).slice(1)
}

/** The routes of a service, by path. */
export class Paths {
  readonly #table: readonly { readonly method: string; readonly url: string; readonly pattern: RegExp }[]
  /** the paths without an id, and what longer paths begin with before their first one */
  readonly #fixed: ReadonlySet<string>
  /** the first word of each path below the base */
  readonly #words: readonly string[]

  constructor(table: readonly Route[]) {
    this.#table = table.map(({ method, url }) => ({
      method,
      url,
      pattern: new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`),
    }))
    this.#fixed = new Set(table.flatMap(({ url }) => beginnings(url)))
    this.#words = [...new Set(table.flatMap(({ url }) => (url.startsWith(base) ? [url.split('/')[4]!] : [])))]
  }

  /**
   * Whether a route took words of a path, or nothing, for an id: `/deal/aggregate`, `/deal/by` and `/deal/`
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
   * The refusal of a request that no route takes: 405 with Allow where its path has other methods, else 404
   * (D3).
   */
  refusal(method: string, path: string): Refusal {
    const methods = this.#methodsOf(path)
    const meant = path.length > longestPath ? null : this.#meant(method === 'HEAD' ? 'GET' : method, path)
    const instead = meant ? ` Did you mean ${method} ${meant}?` : ''
    if (methods.length === 0) return new Refusal('route_not_found', `There is nothing at ${path}.${instead}`)
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
    return new Refusal('method_not_allowed', `${path} takes only ${allow}.${instead}`, [], { allow })
  }

  #methodsOf(path: string): string[] {
    const its = this.#table.filter(({ url, pattern }) => pattern.test(path) && !this.isMistaken(url, path))
    return [...new Set(its.map(({ method }) => method))]
  }

  /** The path that a method takes and that `path` comes near to, or null. */
  #meant(method: string, path: string): string | null {
    const own = path
      .replace(/^(\/(rest|api|crm|v\d+(\.\d+)?))+(?=\/|$)/i, '')
      .split('/')
      .filter(Boolean)
    const [first = '', ...rest] = own.map(step => step.toLowerCase())
    const word =
      this.#words.find(known => first === known || first === pluralOf(known)) ?? nearest(first, this.#words)
    if (!word) return null
    const isList = rest.length === 0 || (rest.length === 1 && listWords.has(rest[0]!))
    const lists = isList ? [`${base}/${word}/view/list`, `${base}/${word}/list`] : []
    const tried = [`${base}/${[word, ...rest].join('/')}`, ...lists.filter(one => this.#fixed.has(one))]
    const found = tried.filter(one => this.#methodsOf(one).includes(method))
    return found.find(one => one !== path) ?? null
  }
}
