/** Filters and sorts as anyone would write them in memory, for the laws to compare the database with. */
import type { Service } from '../support/service.ts'
import { v1 } from '../support/service.ts'

// biome-ignore lint/suspicious/noExplicitAny: records are whatever the service answers
export type Deal = any
export type Value = string | number | null

/** A path of the grammar, the values it speaks of and how they compare: `id` values by equality alone. */
export type Path = {
  readonly path: string
  readonly type: 'text' | 'number' | 'id'
  /** whether `like` looks into it */
  readonly like?: true
  of(deal: Deal): Value | readonly Value[]
  /** the text of a value in a filter */
  operand?(value: Value): string
  /** what a sort compares; absent = not sortable */
  sortKey?(deal: Deal): Value
}

/** The paths that the laws try, one or more of each type. */
export async function pathsOf({ get }: Service): Promise<Path[]> {
  const names = async (field: string): Promise<Map<number, string>> => {
    const { data } = (await get(`${v1}/field/dropdown?name=${field}&include_inactive=true`)).body
    return new Map(data.map((option: { id: number; name: string }) => [option.id, option.name]))
  }
  const owners = await names('sales_owner')
  const position = async (field: string) => {
    const options = [...(await names(field)).keys()]
    return (deal: Deal) =>
      deal[field] === null || deal[field] === undefined ? null : options.indexOf(deal[field])
  }
  const sortable = (text: Value | undefined) =>
    typeof text === 'string' ? [...folded(text)].slice(0, 255).join('') : null
  const member = (path: string) => (deal: Deal) =>
    path.split('.').reduce((value, name) => value?.[name] ?? null, deal)
  const number = (path: string): Path => ({ path, type: 'number', of: member(path), sortKey: member(path) })
  const moment = (path: string): Path => ({ path, type: 'text', of: member(path), sortKey: member(path) })
  const text = (path: string, at = path): Path => ({
    path,
    type: 'text',
    like: true,
    of: member(at),
    sortKey: deal => sortable(member(at)(deal)),
  })
  const id = (path: string): Path => ({ path, type: 'id', of: member(path) })
  const several = (path: string, of = (item: Deal) => item, type: 'id' | 'text' = 'id'): Path => ({
    path,
    type,
    ...(type === 'text' ? { like: true } : {}),
    of: deal => (deal[path.split('.')[0]!] ?? []).map(of),
  })
  return [
    number('id'),
    text('title'),
    text('description'),
    {
      ...number('deal_value'),
      of: member('deal_value.value'),
      sortKey: member('deal_value_in_base_currency.value'),
    },
    number('deal_value.value'),
    { ...id('deal_value.currency'), sortKey: deal => sortable(member('deal_value.currency_code')(deal)) },
    number('weighted_value.value'),
    number('expected_deal_value.value'),
    { ...id('source'), sortKey: await position('source') },
    { ...id('status'), sortKey: member('status') },
    { ...id('pipeline_stage'), sortKey: await position('pipeline_stage') },
    { ...id('lost_reason'), sortKey: await position('lost_reason') },
    { ...number('sales_owner'), sortKey: deal => sortable(owners.get(deal.sales_owner)) },
    { path: 'company', type: 'number', of: member('company') },
    several('tags'),
    several('related_contacts'),
    moment('expected_close_date'),
    moment('created_at'),
    moment('updated_at'),
    { ...moment('won_time'), operand: value => String(Date.parse(String(value))) },
    number('age'),
    number('rotting_days'),
    number('stage_probability'),
    text('cf_custom_text_field'),
    text('cf_custom_large_txt_field'),
    number('cf_custom_number_field'),
    { ...id('cf_custom_dropdown_field'), sortKey: await position('cf_custom_dropdown_field') },
    several('cf_custom_multiselect_field'),
    { ...number('cf_custom_owner_field'), sortKey: deal => sortable(owners.get(deal.cf_custom_owner_field)) },
    number('cf_custom_monetory_field.value'),
    id('cf_custom_monetory_field.currency'),
    several('cf_custom_email_field.email_value', item => item.email_value, 'text'),
    several('cf_custom_email_field.email_type', item => item.email_type),
    several('cf_custom_phone_field.phone_number', item => item.phone_number, 'text'),
    text('cf_custom_address_field.city', 'cf_custom_address_field.0.city'),
    moment('cf_custom_time_field'),
    moment('cf_custom_date_field'),
    moment('cf_custom_date_range_field.range.from'),
    moment('cf_custom_date_time_range_field.range.to'),
  ]
}

/** All values of a path in a deal. */
export function valuesOf(path: Path, deal: Deal): (string | number)[] {
  return [path.of(deal)]
    .flat()
    .filter((value): value is string | number => value !== null && value !== undefined)
}

/**
 * Without regard to case (D126): each letter by itself, where JavaScript also looks at what stands beside a
 * Σ.
 */
function folded(text: string): string {
  const special: { readonly [letter: string]: string } = { İ: 'i', ς: 'σ' }
  return [...text].map(letter => special[letter] ?? letter.toLowerCase()).join('')
}

/** Whether a text contains a word, in any case and however the word is written (D31). */
export function contains(text: string, word: string): boolean {
  return [word, word.normalize('NFC'), word.normalize('NFD')].some(spelling =>
    folded(text).includes(folded(spelling)),
  )
}

/** Whether one value is below another: numbers as such, text by code point (D48). */
export function below(one: Value, other: Value): boolean {
  if (typeof one === 'number') return one < Number(other)
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other))) < 0
}

/** The order of a sort: its keys, nulls last in both directions, then the id (D29). */
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
 * The condition that `operator` makes of a path and values of it. Null where the path has no such operator or
 * value.
 */
export function conditionOf(path: Path, operator: string, values: readonly Value[]): Condition | null {
  const operand = path.operand ?? String
  const texts = values.map(operand)
  const quoted = texts.map(text => `"${text.replace(/[\\"]/g, '\\$&')}"`).join(',')
  const where = (test: (value: string | number) => boolean) => (deal: Deal) => valuesOf(path, deal).some(test)
  const has = where(value => values.includes(value))
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
  if (values.length === 0) return null
  switch (operator) {
    case 'in':
      return { text: list, holds: has }
    case 'nin':
      return { text: list, holds: deal => !has(deal) }
  }
  if (operator === 'between') {
    if (path.type === 'id') return null
    const [low, high] = below(values.at(-1)!, first) ? [values.at(-1)!, first] : [first, values.at(-1)!]
    const text = `${path.path}:between(${[low, high].map(value => `"${operand(value).replace(/[\\"]/g, '\\$&')}"`).join(',')})`
    return { text, holds: where(value => !below(value, low) && !below(high, value)) }
  }
  // A single value stands as it is: only where its parentheses balance can it be written.
  if (/[()]/.test(texts[0]!)) return null
  if (operator === 'eq') return { text: raw, holds: where(value => value === first) }
  if (operator === 'neq')
    return { text: raw, holds: deal => !valuesOf(path, deal).some(value => value === first) }
  if (operator === 'like') {
    if (!path.like || texts[0] === '') return null
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
