/**
 * Translates filters of other systems into ours: OData, SQL and SOQL, PostgREST, Directus, Strapi, Stripe and
 * HubSpot. For hints only; nothing is accepted in these forms. A filter that is not surely understood has no
 * translation. Pure.
 */
import { printFilter, unprintable } from '../../client/src/filter.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { kinds } from '../fields/kinds.ts'
import { ourOperator } from '../fields/synonyms.ts'
import { type Operator, operators } from '../fields/term.ts'
import { meantField } from '../fields/unknown-field.ts'
import { asText, isObject, type Json, jsonIn } from '../json.ts'

/** Translates a whole text: JSON, `status eq 'Open'`, `amount > 5 AND …`, `status:eq:Open`, `status=Open` */
export function filterMeant(text: string, schema: ResourceSchema): string | null {
  const json = /^\s*[[{]/.test(text) ? jsonIn(text) : undefined
  if (json !== undefined) return ofJson(json, schema)
  const where = /\bwhere\b(.*?)(?:\border by\b|\blimit\b|$)/is.exec(text)?.[1] ?? text
  for (const [word, between] of Object.entries(connectives)) {
    const parts = where.split(between)
    if (parts.length === 1 && word === 'or') continue
    const filter = joined(word, conditionsOf(parts, schema))
    if (filter) return filter
  }
  return null
}

/** Translates a name and its value: status=Open, filter[title][_eq]=x, amount__gt=5, title=eq.x */
export function conditionMeant(name: string, value: string, schema: ResourceSchema): string | null {
  const dotted = /^\((.+)\)$/s.exec(value)
  if (dotted && (name === 'or' || name === 'and')) {
    const parts = dotted[1]!.split(/,(?![^(]*\))/)
    return joined(name, conditionsOf(parts, schema))
  }
  const steps = (name.match(/[^[\].]+/g) ?? []).flatMap(step => step.split('__'))
  const own = steps.filter((step, at) => !(at === 0 ? wheres : groupings).test(step))
  const last = own.length > 1 ? operatorOf(own.at(-1)!) : undefined
  const field = meantField((last ? own.slice(0, -1) : own).join('_'), schema)
  if (field) return last ? condition(field, last, value, schema) : ofValue(field, value, schema)
  const bound = /^(.+)_(since|after|before|until|from|to|min|max|gte?|lte?|ne|contains)$/i.exec(own.join('_'))
  const bounded = bound && meantField(bound[1]!, schema)
  if (!bounded) return null
  const word = bound[2]!.toLowerCase()
  return condition(bounded, bounds[word] ?? operatorOf(word)!, value, schema)
}

const wheres = /^(\$?filters?|where|_?(and|or))$/
const groupings = /^(\d+|[_$]?and)$/
/** Words after a field's name that have these meanings there only. */
const bounds: { readonly [word: string]: Operator } = { until: 'lte', from: 'gte', to: 'lte' }
const connectives = { and: /\s+and\s+|\s*&&?\s*/i, or: /\s+or\s+|\s*\|\|\s*/i }
const signs: { readonly [sign: string]: Operator } = {
  ...{ '=': 'eq', '==': 'eq', ':': 'eq', '!=': 'neq', '<>': 'neq', '>': 'gt', '>=': 'gte', '<': 'lt' },
  ...{ '<=': 'lte', '~': 'like' },
}

/** The filter of several conditions; null if there are none, or one has no translation. */
function joined(word: string, conditions: readonly (string | null)[]): string | null {
  if (conditions.length === 0 || conditions.includes(null)) return null
  if (conditions.length === 1) return conditions[0]!
  return word === 'or' ? `or(${conditions.join()})` : conditions.join()
}

function operatorOf(word: string): Operator | undefined {
  const bare = word.toLowerCase().replace(/^[_$]/, '')
  return operators.find(one => one === bare) ?? (ourOperator(bare) as Operator | undefined)
}

function conditionsOf(parts: readonly string[], schema: ResourceSchema): (string | null)[] {
  return parts.map(part => ofInfix(part, schema))
}

function ofInfix(text: string, schema: ResourceSchema): string | null {
  const byWord =
    /^\s*\(?([\w.]+)(?:\s*[:.]\s*|\s+)(is\s+not|not\s+in|\w+)(?:\s*[:.=]\s*|\s+)(.+?)\s*$/is.exec(text)
  const [, ours, itsOperator = '', operand] = /^\s*([\w.]+)\s*:\s*(\w+)\s*\(([^()]*)\)?\s*$/.exec(text) ?? []
  const known = operatorOf(itsOperator)
  if (ours) {
    const its = meantField(ours, schema)
    return its && known && operand ? condition(its, known, operand, schema) : null
  }
  const bySign = /^\s*([\w.]+)\s*(==|!=|<>|>=|<=|=|>|<|:|~)\s*(.+?)\s*$/s.exec(text)
  const operator = byWord ? operatorOf(byWord[2]!) : bySign ? signs[bySign[2]!] : undefined
  const [, name, , value] = (operator && byWord) || bySign || []
  const field = name && meantField(name, schema)
  if (!field || !value || /^\w+\(|\s(and|or)\s/i.test(value)) return null
  return condition(field, operator ?? signs[bySign![2]!]!, value, schema)
}

/** PostgREST has the operator in the value: eq.Open, in.(3,4), is.null, not.is.null */
function ofValue(field: string, value: string, schema: ResourceSchema): string | null {
  const [, isNot, word, rest] = /^(not\.)?(\w+)\.(.+)$/s.exec(value) ?? []
  const operator = word && operatorOf(word)
  if (!operator || /^\d+$/.test(word)) return condition(field, 'eq', value, schema)
  const positive = condition(field, operator, rest!, schema)
  return isNot && positive ? negated(positive) : positive
}

function negated(positive: string): string {
  return positive.includes(':isnull(') ? positive.replace(':isnull(', ':notnull(') : `not(${positive})`
}

/** A condition in our form; null if there is none with such a value. */
function condition(
  field: string,
  operator: Operator,
  value: string,
  { byName }: ResourceSchema,
): string | null {
  const bare = value.trim().replace(/^\((.*)\)$/s, (_, inner) => inner)
  const isList = ['in', 'nin', 'between'].includes(operator)
  if (!isList && /^null$/i.test(bare)) return `${field}:${operator === 'neq' ? 'notnull' : 'isnull'}(true)`
  if (operator === 'isnull' || operator === 'notnull' || operator === 'exists')
    return `${field}:${operator}(${bare === 'false' ? 'false' : 'true'})`
  const isMoment = kinds[byName.get(field)!.type].dateSql !== undefined
  const values = (isList ? bare.split(',') : [bare]).map(text => {
    const unquoted = text.trim().replace(/^(['"])(.*)\1$/s, (_, _quote, inner) => inner)
    // Stripe and others count seconds.
    if (isMoment && /^\d{10}$/.test(unquoted)) return new Date(Number(unquoted) * 1000).toISOString()
    return (operator === 'like' ? unquoted.replace(/^[%*]+|[%*]+$/g, '') : unquoted) || 'value'
  })
  const meant = { type: 'condition', field, operator, values } as const
  return unprintable(meant) ? null : printFilter([meant])
}

/** {"status": {"_eq": "Open"}}, {"_and": […]}, {"propertyName": "x", "operator": "EQ", "value": 1} */
function ofJson(json: Json, schema: ResourceSchema, word = 'and'): string | null {
  if (Array.isArray(json)) {
    const all = json.map(one => ofJson(one, schema))
    return joined(word, all)
  }
  if (!isObject(json)) return null
  const name = ['propertyName', 'field', 'property', 'attribute'].find(one => typeof json[one] === 'string')
  if (name) {
    const field = meantField(asText(json[name]), schema)
    const operator = operatorOf(asText(json.operator ?? json.op ?? 'eq'))
    const value = json.value ?? json.values ?? ''
    return field && operator ? condition(field, operator, operandText(value), schema) : null
  }
  const all = Object.entries(json).map(([key, value]) => {
    if (/^([_$]?(and|or)|filters|filterGroups|conditions)$/i.test(key))
      return ofJson(value, schema, /or|groups/i.test(key) ? 'or' : 'and')
    const field = meantField(key, schema)
    if (!field) return null
    if (!isObject(value))
      return condition(field, Array.isArray(value) ? 'in' : 'eq', operandText(value), schema)
    const conditions = Object.entries(value).map(([theirs, operand]) => {
      const operator = operatorOf(theirs)
      return operator ? condition(field, operator, operandText(operand), schema) : null
    })
    return joined('and', conditions)
  })
  return joined('and', all)
}

/** A value as an operand; several are joined by commas. */
function operandText(value: Json): string {
  return Array.isArray(value) ? value.map(asText).join() : asText(value)
}
