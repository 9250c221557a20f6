/**
 * Translates parameters of other systems into ours: HubSpot, Pipedrive, Salesforce, Freshsales, Zoho,
 * Directus, PostgREST, Stripe and OData. For hints only; nothing is accepted under these names. Pure.
 */
import type { ResourceSchema } from '../fields/catalog.ts'
import { bareName } from '../fields/synonyms.ts'
import { meantField } from '../fields/unknown-field.ts'
import { conditionMeant, filterMeant } from './foreign-filters.ts'
import { type Parameters, pageSizeMax } from './parameters.ts'

const longest = 1000
/** Maximum number of names in a hint. */
const namesMax = 20

/**
 * A function that returns a hint for another system's list parameter; null if there is none. `known`: our
 * parameters.
 */
export function foreignParameterHint(schema: ResourceSchema, known: readonly string[]) {
  return (name: string, parameters: Parameters): string | null => {
    if (name.length > longest || isMistyped(name, known)) return null
    const joined = (parameters.get(name) ?? []).join()
    const value = joined.length > longest ? '…' : joined
    const [called, hint] = hintOf(name)
    const hintText = called && known.includes(called) ? hint!({ value, schema, parameters }) : null
    // A request for a single record has no filter.
    if (!known.includes('filter')) return hintText ?? (upserts.test(bareName(name)) ? upsertHint : null)
    if (hintText) return hintText
    const condition = conditionMeant(name, value, schema)
    return condition && `Write filter=${condition}.`
  }
}

const upserts = /^(onconflict|upsert|mergeby|duplicatecheckfields)$/
const upsertHint = 'PUT …/{resource}/by/{field}/{value} changes a record or creates it.'

/** "pagesize", "page_size" and "filters" are misspellings of ours. */
function isMistyped(name: string, known: readonly string[]): boolean {
  const letters = name.toLowerCase().replace(/[-_]|s$/g, '')
  return known.some(one => one.toLowerCase() === letters)
}

type SentParameter = { value: string; schema: ResourceSchema; parameters: Parameters }
type ForeignParameter = {
  readonly ours: string
  /** names in other systems, normalized by `bareName` */
  readonly names: readonly string[]
  hint(said: SentParameter): string | null
}

const sizes = words('limit perpage pagesize pagelimit top take first max maxresults rows')
const orders = words('sort sortby orderby order ordering sorting')
const directions = words('sortorder sortdirection direction dir sorttype orderdir')

const elsewhere: readonly ForeignParameter[] = [
  {
    ours: 'pageSize',
    names: sizes,
    hint: ({ value }) => {
      const size = /^\d{1,9}$/.test(value) ? Math.min(Math.max(Number(value), 1), pageSizeMax) : 25
      return `Write pageSize=${size}.${size < Number(value) ? ' A page has no more; follow meta.nextCursor.' : ''}`
    },
  },
  { ours: 'page', names: words('offset skip start pageoffset startat from'), hint: pageOf },
  {
    ours: 'page',
    names: words('pagenumber pageno pageindex'),
    hint: ({ value }) => `Write page=${/^[1-9]\d{0,5}$/.test(value) ? value : '1'}.`,
  },
  {
    ours: 'cursor',
    names: words(
      'startingafter endingbefore after before pageafter pagetoken nextpagetoken next nextcursor ' +
        'continuation sinceid querylocator',
    ),
    hint: () => 'Write cursor with the meta.nextCursor of the page before.',
  },
  { ours: 'sort', names: [...orders, ...directions], hint: sortOf },
  {
    ours: 'fields',
    names: words('fields select columns properties only attributes fieldset returnfields'),
    hint: ({ value, schema }) => {
      if (value === '*') return 'Leave it out: without fields every field is answered.'
      return `Write fields=${meantOf(value, schema)}.`
    },
  },
  {
    ours: 'expand',
    names: words('expand include includes embed with populate relations associations'),
    hint: ({ value, schema }) => `Write expand=${meantOf(value.replace(/\bdata\./g, ''), schema)}.`,
  },
  {
    ours: 'filter',
    names: words('filterid viewid cvid listview savedview'),
    hint: () => 'A saved view is read at GET …/view/{id}: write its filter as filter=….',
  },
  {
    ours: 'filter',
    names: words('filter where condition conditions criteria filtergroups searchcriteria'),
    hint: ({ value, schema }) => {
      const filter = filterMeant(value, schema) ?? filterMeant(`[${value}]`, schema)
      return filter ? `Write filter=${filter}.` : `For example filter=${likeTitle('acme', schema)}.`
    },
  },
  {
    ours: 'filter',
    names: words('search q query term keyword searchtext'),
    hint: ({ value, schema }) => {
      const filter = /\bwhere\b/i.test(value) ? filterMeant(value, schema) : null
      if (filter) return `Write filter=${filter}.`
      const text = /^[\p{L}\p{N} .@'-]+$/u.test(value) ? value : 'acme'
      return `Write filter=${likeTitle(text, schema)}, or use the search, which looks in all resources.`
    },
  },
]

function words(text: string): readonly string[] {
  return text.split(' ')
}

/** Our name of a parameter, and the function for its hint. `fields[]` and `fields[deals]` are `fields`. */
function hintOf(name: string): [ours?: string, hint?: ForeignParameter['hint']] {
  const named = (bare: string) => elsewhere.find(({ names }) => names.includes(bare))
  const whole = named(bareName(name))
  if (whole && (whole.ours !== 'filter' || !name.includes('['))) return [whole.ours, whole.hint]
  const list = /\[\w*\]$/.test(name) && named(bareName(name.replace(/\[\w*\]$/, '')))
  return list && ['fields', 'expand'].includes(list.ours) ? [list.ours, list.hint] : []
}

function likeTitle(text: string, { resource }: ResourceSchema): string {
  return `${resource.shownAs?.[0] ?? 'id'}:like(${text})`
}

/** The value of the first parameter with one of the names. */
function firstOf(names: readonly string[], parameters: Parameters): string | undefined {
  return [...parameters].find(([name]) => names.includes(bareName(name)))?.[1][0]
}

/** An offset is converted to a page if the page's size is known. */
function pageOf({ value, parameters }: SentParameter): string {
  const page = Number(value) / Number(firstOf(sizes, parameters) ?? 25) + 1
  if (value === '0' || (value !== '' && Number.isInteger(page) && page > 0)) return `Write page=${page}.`
  return 'Write page=2 for the second page, of pageSize records; to read all, follow meta.nextCursor with cursor.'
}

/** A list of fields, by our names if known. company(name) is company. */
function meantOf(value: string, schema: ResourceSchema): string {
  const names = value
    .replace(/\([^()]*\)|\w+:(?=\w)/g, '')
    .split(',')
    .map(one => one.trim())
    .filter(one => /^[\w.]+$/.test(one))
    .slice(0, namesMax)
  return names.map(one => meantField(one, schema) ?? one).join() || 'id'
}

/** "title desc", "-title", "title.desc", or field and direction in two parameters → sort=title:desc */
function sortOf({ value, schema, parameters }: SentParameter): string {
  const isDirection = (text: string) => /^(asc|desc)(ending)?$/i.test(text)
  const [asked = value, ...more] = [...orders, ...directions]
    .map(name => firstOf([name], parameters) ?? '')
    .filter(Boolean)
  const terms = [asked, ...more]
  const text = terms.find(text => !isDirection(text)) ?? ''
  const keys = text
    .split(',')
    .filter(key => key.trim())
    .slice(0, namesMax)
  const given = terms.find(isDirection)
  const all = (keys.length ? keys : ['created_at']).map(key => {
    const [, minus, name = '', own] = /^\s*(-?)([\w]*)[\s.:]*(asc|desc)?/i.exec(key) ?? []
    const direction = own ?? (minus ? 'desc' : (given ?? 'asc'))
    const isDown = direction.toLowerCase().startsWith('d')
    return `${meantField(name, schema) ?? (name || 'created_at')}:${isDown ? 'desc' : 'asc'}`
  })
  return `Write sort=${all.join()}.`
}

/** A hint for a sort in another form, such as "-created_at", "created_at desc" or "created_at". */
export function sortMeant(text: string): string {
  const parts = text.length > longest ? [] : text.split(',')
  const keys = parts.map(part => {
    const match = /^(-?)([A-Za-z_][\w.]{0,99})(?:[\s:.]+(asc|desc)?\w*)?$/i.exec(part.trim())
    return match && `${match[2]}:${(match[3] ?? (match[1] ? 'desc' : 'asc')).toLowerCase()}`
  })
  if (keys.length === 0 || keys.length > 5 || keys.includes(null))
    return 'Write field:asc or field:desc, such as sort=created_at:desc,id:asc.'
  return `Write ${keys.join()}.`
}
