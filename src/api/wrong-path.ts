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

/** The routes of a service, by path. */
export class Paths {
  readonly #table: readonly { readonly method: string; readonly url: string; readonly pattern: RegExp }[]
  /** the paths without an id */
  readonly #fixed: ReadonlySet<string>
  /** the first word of each path below the base */
  readonly #words: readonly string[]

  constructor(table: readonly Route[]) {
    this.#table = table.map(({ method, url }) => ({
      method,
      url,
      pattern: new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`),
    }))
    this.#fixed = new Set(table.map(({ url }) => url).filter(url => !url.includes(':')))
    this.#words = [...new Set(table.flatMap(({ url }) => (url.startsWith(base) ? [url.split('/')[4]!] : [])))]
  }

  /** Whether a route took words of a path for an id: `/deal/aggregate` is no deal. */
  isMistaken(route: string | undefined, path: string): boolean {
    return route !== path && this.#fixed.has(path)
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
    const isFixed = this.#fixed.has(path)
    const its = this.#table.filter(({ url, pattern }) => (isFixed ? url === path : pattern.test(path)))
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
    const tried = [[word, ...rest].join('/'), ...(isList ? [`${word}/view/list`, `${word}/list`] : [])]
    const found = tried.map(steps => `${base}/${steps}`).filter(one => this.#methodsOf(one).includes(method))
    return found.find(one => one !== path) ?? null
  }
}
