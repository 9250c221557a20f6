/**
 * Conditions in words → the filter grammar of lists (D146): "pipeline_stage is Proposal", "deal_value over
 * 10000 EUR", "updated_at before 30 days ago". Text in the grammar itself passes unchanged. Sends no request.
 */
import {
  FilterError,
  type FilterNode,
  type Operator,
  printFilter,
  takesList,
} from '../../client/src/filter.ts'
import type { Catalog, ResourceSchema } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { meantField, unknownFieldHint } from '../fields/unknown-field.ts'
import { inOneCurrency, isMeasured, numberMeant } from './amounts.ts'
import { type Days, daysMeant } from './days.ts'
import { phrases, singleBlanks } from './phrases.ts'
import { ToolRefusal } from './refusal.ts'

export type ConditionContext = {
  readonly schema: ResourceSchema
  readonly catalog: Catalog
  /** the caller, whom "me" means */
  readonly actor: number
  /** today in the account's time zone */
  readonly today: string
  /** ids of records, by `nameKey`, for the names that the grammar doesn't take */
  readonly ids: ReadonlyMap<string, number>
}

/** A name whose record must be found first. */
export type UnknownName = { readonly resource: string; readonly name: string }

/** A filter, and what agents should know of how it was read. */
export type Filters = {
  readonly filter: readonly string[]
  readonly notes: readonly string[]
  /** names that `ids` lacks */
  readonly unknown: readonly UnknownName[]
}

/** Throws ToolRefusal, naming the condition that can't be read. */
export function filtersOf(conditions: readonly string[], context: ConditionContext): Filters {
  const [notes, unknown]: [string[], UnknownName[]] = [[], []]
  const found = { notes, unknown }
  const filter = conditions.map(text => {
    if (isGrammar.test(text)) return text
    const words = singleBlanks(text)
    const parts = alternativesIn(words)
    const any = parts.length > 1 ? parts.map(part => nodeOf(part, context, found)) : []
    const isAny = any.length > 1 && any.every(term => term !== null)
    const term = isAny ? ({ type: 'or', of: any } as const) : nodeOf(words, context, found)
    const filter = term && printed(term)
    if (filter === null) throw unread(text, context)
    return filter
  })
  return { filter, notes: [...new Set(notes)], unknown }
}

type Found = { readonly notes: string[]; readonly unknown: UnknownName[] }

export function nameKey({ resource, name }: UnknownName): string {
  return `${resource} ${name.toLowerCase()}`
}

/** True if the grammar doesn't take the name under which records are shown; contacts have e-mails there. */
export function isNamedElsewhere(resource: string, text: string, { resources }: Catalog): boolean {
  const known = resources.get(resource)?.resource
  if (!known || /^\s*\d+\s*$|@/.test(text)) return false
  return !known.shownAs.some(name => known.namedBy?.includes(name)) && !known.options
}

/** The conditions between which "or" stands, outside of quotation marks: an even number of them follows. */
function alternativesIn(text: string): string[] {
  const pieces = text.split('"')
  const isOutside = (index: number) => (pieces.length - 1 - index) % 2 === 0
  const divided = pieces.map((piece, index) => (isOutside(index) ? piece.replaceAll(/ or /gi, '\0') : piece))
  return divided.join('"').split('\0')
}

const isGrammar = /^\s*(?:[\p{L}_][\p{L}\p{N}_.-]*\s*:\s*[a-z]+|and|or|not)\(/iu

/** The name of a field has at most so many words. */
const namedBy = 6

function nodeOf(text: string, context: ConditionContext, found: Found): FilterNode | null {
  const words = text.split(' ')
  for (let count = Math.min(namedBy, words.length - 1); count > 0; count--) {
    const name = words.slice(0, count).join(' ')
    const path = pathOf(name, context)
    const rest = words.slice(count).join(' ')
    const term = path && conditionOf(path, rest, context, found)
    if (term) return term
  }
  // Without blanks: deal_value>10000
  const [, name, rest] = /^([\w.]+) ?([<>=!~≠≤≥:].*)$/s.exec(text) ?? []
  const path = name && pathOf(name, context)
  return path ? conditionOf(path, rest!.trim(), context, found) : null
}

type Path = { readonly name: string; readonly field: Field | null }

/** The field that words name, or a field of a record that it points to: company.name */
function pathOf(name: string, { schema, catalog }: ConditionContext): Path | null {
  const [first = '', ...steps] = name.split('.')
  const own = meantField(first, schema)
  if (!own) return null
  const field = schema.byName.get(own)!
  if (steps.length === 0) return { name: own, field }
  const other = field.related ? catalog.resources.get(field.related) : undefined
  const its = other && steps.length === 1 ? meantField(steps[0]!, other) : undefined
  if (its) return { name: `${own}.${its}`, field: other!.byName.get(its)! }
  // A member: deal_value.currency
  return /^\w+(\.\w+)*$/.test(steps.join('.')) ? { name: `${own}.${steps.join('.')}`, field: null } : null
}

function conditionOf(path: Path, text: string, context: ConditionContext, found: Found): FilterNode | null {
  const rest = text.replace(/(?<=^(is|are|was|were|does|do))n['’]t\b/i, ' not')
  const lower = rest.toLowerCase()
  const phrase = phrases.find(({ words }) => words.test(lower))
  if (!phrase?.operator) return null
  const value = rest.slice(phrase.words.exec(lower)![0].length).trim()
  const { field, name } = path
  const { operator } = phrase
  const of = (made: Operator, ...values: string[]): FilterNode => ({
    type: 'condition',
    field: name,
    operator: made,
    values,
  })
  if (operator === 'isnull' || operator === 'notnull') return of(operator, 'true')
  if (value === '') return null
  if (field && isOfDays(field)) return ofDays(of, operator, value, context)
  if (operator === 'older' || operator === 'newer') return null
  const read = (text: string) => operandOf(unquoted(text), path, context, found)
  const together = (texts: readonly string[]) => (isMeasured(field) ? inOneCurrency(texts) : texts)
  if (operator === 'like' || operator === 'unlike') {
    const like = takesText(field) ? of('like', unquoted(value)) : of('in', ...listed(value).map(read))
    return operator === 'like' ? like : { type: 'not', of: [like] }
  }
  if (operator === 'between' || operator === 'from') {
    const ends = endsIn(value, / (?:and|to|–|-) /i)
    return ends ? of('between', ...together(ends).map(read)) : null
  }
  if (takesList(operator)) return of(operator, ...together(listed(value)).map(read))
  const several = isChoice(field) && !hasOption(field, value) ? listed(value) : [value]
  if (several.length > 1 && (operator === 'eq' || operator === 'neq'))
    return of(operator === 'eq' ? 'in' : 'nin', ...several.map(read))
  return of(operator, read(value))
}

/** A condition on a day. Words may mean several: "is this month". */
function ofDays(
  of: (operator: Operator, ...values: string[]) => FilterNode,
  operator: Exclude<(typeof phrases)[number]['operator'], null>,
  value: string,
  { today }: ConditionContext,
): FilterNode | null {
  if (operator === 'older' || operator === 'newer') {
    const days = daysMeant(`${value.replace(/ ago$/i, '')} ago`, today)
    return days && of(operator === 'older' ? 'lt' : 'gt', days[0])
  }
  const days = daysOrMoment(unquoted(value), today)
  switch (operator) {
    case 'eq':
    case 'in':
    case 'like':
      return days ? within(of, days) : isoDays(value) && of('in', ...isoDays(value)!)
    case 'neq':
    case 'nin':
      return days && { type: 'not', of: [within(of, days)] }
    case 'gt':
      return days && of(operator, days[1])
    case 'lte':
      return days && of(operator, days[1])
    case 'from':
    case 'between': {
      const ends = endsIn(value, / (?:and|to|until|–) /i) ?? []
      const [from, to] = ends.map(end => daysOrMoment(end, today))
      if (from && to) return of('between', from[0], to[1])
      if (operator === 'from') return days && of('gte', days[0])
      return days && within(of, days)
    }
    default:
      return days && operator !== 'unlike' ? of(operator, days[0]) : null
  }
}

/** The two ends of a range: the texts around the first `between`, or around two dots or a comma. */
function endsIn(text: string, between: RegExp): readonly string[] | null {
  for (const sign of [between, /\.\./, /,/]) {
    const found = sign.exec(text)
    if (!found) continue
    const ends = [text.slice(0, found.index), text.slice(found.index + found[0].length)].map(end =>
      end.trim(),
    )
    if (!ends.includes('')) return ends
  }
  return null
}

/** Several days or moments in ISO 8601; null for anything else. */
function isoDays(text: string): string[] | null {
  const days = listed(text)
  return days.length > 1 && days.every(day => /^\d{4}-\d{2}-\d{2}/.test(day)) ? days : null
}

function within(
  of: (operator: Operator, ...values: string[]) => FilterNode,
  [first, last]: Days,
): FilterNode {
  return first === last ? of('eq', first) : of('between', first, last)
}

/** The days that words mean; a moment in ISO 8601 is itself. */
function daysOrMoment(text: string, today: string): Days | null {
  return /^\d{4}-\d{2}-\d{2}T/.test(text) ? [text, text] : daysMeant(text, today)
}

function isOfDays({ type }: Field): boolean {
  return kinds[type].dateSql !== undefined
}

function takesText(field: Field | null): boolean {
  const operators = field && kinds[field.type].term(field, '')?.operators
  return operators?.includes('like') ?? true
}

/** True for a field whose values are names: options and related records. */
function isChoice(field: Field | null): field is Field {
  return field !== null && (field.related !== null || kinds[field.type].hasOptions === true)
}

function hasOption({ options }: Field, name: string): boolean {
  return options.some(option => option.name.toLowerCase() === unquoted(name).toLowerCase())
}

function unquoted(text: string): string {
  return /^(["'“‘«])(.*)["'”’»]$/s.exec(text.trim())?.[2] ?? text.trim()
}

/** "a, b or c" → a, b, c. Text in double quotes is one value. */
function listed(text: string): string[] {
  const inner = /^[[(](.*)[\])]$/s.exec(text)?.[1] ?? text
  const parts = inner.match(/"[^"]*"|(?:(?! (?:or|and) | ?[,;]).)+/gis) ?? []
  return parts.map(part => unquoted(part.trim().replace(/^(?:or|and) /i, ''))).filter(Boolean)
}

/** A value as the grammar takes it: "me" as the caller's id, an amount in the base currency. */
function operandOf(text: string, { field }: Path, context: ConditionContext, found: Found): string {
  const { catalog, actor, ids } = context
  if (field?.related === 'user' && /^(me|myself|mine)$/i.test(text)) return String(actor)
  if (field?.related && isNamedElsewhere(field.related, text, catalog)) {
    const id = ids.get(nameKey({ resource: field.related, name: text }))
    if (id === undefined) found.unknown.push({ resource: field.related, name: text })
    return String(id ?? 0)
  }
  return isMeasured(field) ? numberMeant(text, field, catalog, found.notes) : text
}

/** Null if the grammar can't hold a value: unbalanced parentheses, or none. */
function printed(term: FilterNode): string | null {
  try {
    return printFilter([term])
  } catch (error) {
    if (error instanceof FilterError) return null
    throw error
  }
}

const how =
  'Write a field, words such as is, is not, contains, over, under, before, after, between or is empty, and a value. A day is "today", "30 days ago", "this month" or "2026-03-31".'

function unread(text: string, { schema }: ConditionContext): ToolRefusal {
  const first = text.trim().split(/[\s:=<>!]/, 1)[0]!
  const hint = meantField(first, schema) ? how : unknownFieldHint(first, schema)
  return new ToolRefusal(`This condition could not be read: ${JSON.stringify(text.slice(0, 200))}.`, [
    { at: 'where', message: `No condition: ${text.slice(0, 80)}`, hint },
  ])
}
