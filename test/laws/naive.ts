/**
 * Filters and sorts evaluated naively in memory, which the laws compare with the database: of every field
 * that lists accept, and of its members.
 */
import { loadCatalog } from '../../src/accounts/callers.ts'
import type { Catalog } from '../../src/fields/catalog.ts'
import { decimal } from '../../src/fields/decimal.ts'
import type { Field } from '../../src/fields/field.ts'
import { kinds } from '../../src/fields/kinds.ts'
import type { Operator, Term } from '../../src/fields/term.ts'
import { resources } from '../../src/resources/resources.ts'
import { samples } from '../support/kind-samples.ts'
import { type Service, v1 } from '../support/service.ts'

// biome-ignore lint/suspicious/noExplicitAny: records are whatever the service answers
export type Deal = any
export type Value = string | number | null

/** A path of the grammar, its values and their comparison: `id` values by equality alone. */
export type Path = {
  readonly path: string
  readonly field: Field
  readonly member: string
  /** `presence`: only null and not null can be asked */
  readonly type: 'text' | 'number' | 'id' | 'presence'
  readonly operators: readonly Operator[]
  of(deal: Deal): readonly Value[]
  /** the text of a value in a filter */
  operand(value: Value): string
  /** sort key; absent = not sortable */
  sortKey?(deal: Deal): Value
}

/** The paths of a resource's fields, including the account's own. */
export async function pathsOf(service: Service, resource: string): Promise<Path[]> {
  const catalog = await loadCatalog(service.db, resources, 1)
  const { fields } = catalog.resources.get(resource)!
  const names = await namesOf(service, fields)
  return fields
    .filter(field => field.is_active && !field.is_hidden)
    .flatMap(field =>
      ['', ...kinds[field.type].members].flatMap(member => {
        const term = kinds[field.type].term(field, member)
        const at = samples(service.known)[field.type]?.at?.[member]
        return term && at !== null
          ? pathOf(field, member, at ?? member, term, sortedBy(service, field, member, catalog, names))
          : []
      }),
    )
}

function pathOf(field: Field, member: string, at: string, term: Term, sorted: Sorted | null): Path {
  const isNumber = term.type === 'numeric' || (term.type === 'bigint' && term.operators.includes('lt'))
  const type =
    term.type === 'jsonb' ? 'presence' : isNumber ? 'number' : term.type === 'bigint' ? 'id' : 'text'
  // An amount is compared in base currency, in filters as in sorts (D29).
  const inBase = term.compared && sorted
  const of = (deal: Deal) =>
    inBase ? [inBase(deal)].filter(one => one !== null) : valuesAt(deal[field.internal_name], at, type)
  // The operand of a moment is in milliseconds or in its own form.
  const isEpoch = field.type === 'DATE_TIME' && field.is_read_only
  return {
    path: member ? `${field.internal_name}.${member}` : field.internal_name,
    field,
    member,
    type,
    operators: term.operators,
    of,
    operand: value => (isEpoch ? String(Date.parse(String(value))) : String(value)),
    ...(term.order ? { sortKey: sorted ?? (deal => sortable(of(deal)[0] ?? null)) } : {}),
  }
}

/** The values under a path, through objects and arrays. */
function valuesAt(value: Deal, at: string, type: Path['type']): Value[] {
  const reached = at
    .split('.')
    .filter(Boolean)
    .reduce(
      (values, step) =>
        values.flat().map(one => (typeof one === 'string' ? one.split('/')[Number(step)] : one?.[step])),
      [value],
    )
    .flat()
    .filter(one => one !== null && one !== undefined)
  return type === 'text' ? reached.map(String) : reached
}

type Sorted = (deal: Deal) => Value

/** The sort key if it is not the value itself (D29). */
function sortedBy(
  { known }: Service,
  field: Field,
  member: string,
  catalog: Catalog,
  names: ReadonlyMap<string, ReadonlyMap<number, string>>,
): Sorted | null {
  const value = (deal: Deal) => deal[field.internal_name] ?? null
  const at = samples(known)[field.type]?.sortedAt?.[member]
  if (at) return deal => sortable(valuesAt(value(deal), at, 'text')[0] ?? null)
  if (kinds[field.type].hasOptions) {
    const ids = field.options.map(({ id }) => id)
    return deal => (value(deal) === null ? null : ids.indexOf(value(deal)))
  }
  if (field.related) return deal => sortable(names.get(field.related!)!.get(value(deal)) ?? null)
  const isAmount = field.type === 'MONETARY' || field.type === 'DEAL_VALUE'
  if (!isAmount || member) return null
  if (field.in_base) return deal => deal[field.in_base!]?.value ?? null
  return deal => {
    const rate = value(deal) && decimal(catalog.currencies.get(value(deal).currency)?.rate)
    return rate ? Number(decimal(value(deal).value)!.times(rate)) : null
  }
}

/** The names of the records that fields point to. */
async function namesOf({ get }: Service, fields: readonly Field[]) {
  const names = new Map<string, ReadonlyMap<number, string>>()
  for (const { related, related_name } of fields) {
    if (!related || names.has(related)) continue
    const records: Deal[] = (await get(`${v1}/${related}/view/list?pageSize=500`)).body.data
    const nameOf = (record: Deal) => related_name.flatMap(name => record[name] ?? []).join(' ')
    names.set(related, new Map(records.map(record => [record.id, nameOf(record)])))
  }
  return names
}

function sortable(value: Value): Value {
  return typeof value === 'string' ? folded([...value].slice(0, 255).join('')) : value
}

/** Leaves a third of the sample's deals: each request of a law reads all, and a third is as uneven. */
export async function keepFewDeals({ db }: Service): Promise<void> {
  await db.query('UPDATE deal SET deleted_at = now() WHERE account_id = $1::bigint AND id % 3 > 0', ['1'])
}

/** All values of a path in a deal. */
export function valuesOf(path: Path, deal: Deal): (string | number)[] {
  return path.of(deal).filter(value => value !== null)
}

/** Lower case (D126), letter by letter; JavaScript also looks at the neighbours of a Σ. */
function small(text: string): string {
  const special: { readonly [letter: string]: string } = { İ: 'i', ς: 'σ' }
  return [...text].map(letter => special[letter] ?? letter.toLowerCase()).join('')
}

/** Letters with a bare form that don't decompose. */
const typedAs: { readonly [letter: string]: string } = {
  ...{ ø: 'o', đ: 'd', ħ: 'h', ł: 'l', ŧ: 't', ı: 'i', ſ: 's', ß: 'ss', æ: 'ae', œ: 'oe' },
}

/** Without accents and invisible characters (D126); signs, and letters of other scripts, stay whole. */
export function folded(text: string): string {
  const bare = (letter: string) => {
    if (/[\u0300-\u0333\u0339-\u036f]|\p{Default_Ignorable_Code_Point}/u.test(letter)) return ''
    if (!/\p{L}/u.test(letter)) return letter
    const apart = letter.normalize('NFD')
    const without = apart.replace(/[\u0300-\u0333\u0339-\u036f]/g, '')
    return (apart === without ? letter : without).replace(/[øđħłŧıſßæœ]/g, one => typedAs[one]!)
  }
  return [...small(text)].map(bare).join('')
}

/** True if a text contains a word, ignoring case, accents and normalization (D31). */
export function contains(text: string, word: string): boolean {
  return [word, word.normalize('NFC'), word.normalize('NFD')].some(spelling =>
    folded(text).includes(folded(spelling)),
  )
}

/** True if one value is below another: numbers by value, text by code point (D48). */
export function below(one: Value, other: Value): boolean {
  if (typeof one === 'number') return one < Number(other)
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other))) < 0
}

/** The comparison of a sort: its keys, nulls last in both directions, then the id (D29). */
export function compare(
  one: Deal,
  other: Deal,
  keys: readonly { path: Path; direction: 'asc' | 'desc' }[],
): number {
  for (const { path, direction } of keys) {
    const [a, b] = [path.sortKey!(one) ?? null, path.sortKey!(other) ?? null]
    if (a === b) continue
    if (a === null) return 1
    if (b === null) return -1
    return below(a, b) === (direction === 'asc') ? -1 : 1
  }
  return keys.at(-1)?.direction === 'asc' ? one.id - other.id : other.id - one.id
}

/** A condition of the grammar as its text and as a function. */
export type Condition = { readonly text: string; holds(deal: Deal): boolean }

/**
 * The condition with an operator, a path and values of it. Null if the path has no such operator or value.
 */
export function conditionOf(path: Path, operator: string, values: readonly Value[]): Condition | null {
  if (!path.operators.some(known => known === operator)) return null
  const texts = values.map(path.operand)
  const quoted = texts.map(text => `"${text.replace(/[\\"]/g, '\\$&')}"`).join(',')
  const where = (test: (value: string | number) => boolean) => (deal: Deal) => valuesOf(path, deal).some(test)
  // E-mails match in any case (D88).
  const isEmail = path.field.is_email || (path.field.type === 'EMAIL' && path.member !== 'email_type')
  const alike = (value: Value) => (isEmail ? small(String(value)) : value)
  const has = where(value => values.some(other => alike(other) === alike(value)))
  const [first] = values as [string | number]
  const raw = `${path.path}:${operator}(${texts[0]})`
  const list = `${path.path}:${operator}(${quoted})`
  switch (operator) {
    case 'isnull':
      return { text: `${path.path}:isnull(true)`, holds: deal => valuesOf(path, deal).length === 0 }
    case 'notnull':
      return { text: `${path.path}:notnull(true)`, holds: deal => valuesOf(path, deal).length > 0 }
    case 'exists':
      return { text: `${path.path}:exists(true)`, holds: deal => valuesOf(path, deal).length > 0 }
  }
  if (values.length === 0 || path.type === 'presence') return null
  switch (operator) {
    case 'in':
      return { text: list, holds: has }
    case 'nin':
      return { text: list, holds: deal => !has(deal) }
  }
  if (operator === 'between') {
    if (path.type === 'id') return null
    const [low, high] = below(values.at(-1)!, first) ? [values.at(-1)!, first] : [first, values.at(-1)!]
    const text = `${path.path}:between(${[low, high].map(value => `"${path.operand(value).replace(/[\\"]/g, '\\$&')}"`).join(',')})`
    return { text, holds: where(value => !below(value, low) && !below(high, value)) }
  }
  // A single value is not quoted: it can only be written if its parentheses balance.
  if (/[()]/.test(texts[0]!)) return null
  const is = where(value => alike(value) === alike(first))
  if (operator === 'eq') return { text: raw, holds: is }
  if (operator === 'neq') return { text: raw, holds: deal => !is(deal) }
  if (operator === 'like') {
    if (folded(texts[0]!) === '') return null
    return { text: raw, holds: where(value => contains(String(value), texts[0]!)) }
  }
  if (path.type === 'id') return null
  const tests: { readonly [operator: string]: (value: string | number) => boolean } = {
    lt: value => below(value, first),
    lte: value => !below(first, value),
    gt: value => below(first, value),
    gte: value => !below(value, first),
  }
  return { text: raw, holds: where(tests[operator]!) }
}
