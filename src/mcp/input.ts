/**
 * The arguments of a tool: a JSON Schema with few keywords, and its check. The first mistakes are named at
 * once, each with the right form. Knows no tool.
 */
import { nearest } from '../fields/nearest.ts'
import { isNumber, isObject, type Json, type JsonObject } from '../json.ts'
import { ToolRefusal, type Wrong } from './refusal.ts'

export type Input = {
  readonly type?: 'string' | 'integer' | 'object' | 'array' | 'boolean' | readonly ('string' | 'integer')[]
  readonly description?: string
  readonly enum?: readonly string[]
  readonly items?: Input
  readonly maxItems?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

/** The arguments of a tool: these, and no others. */
export type InputObject = {
  readonly properties: { readonly [name: string]: Input }
  readonly required?: readonly string[]
}

/** Without `maxLength` a text has at most so many characters. */
const longest = 2000
const wrongMax = 8

/** The arguments, without those that are null. Throws ToolRefusal. */
export function checkedInput(given: unknown, tool: string, schema: InputObject): JsonObject {
  if (given !== undefined && given !== null && !isObject(given))
    throw new ToolRefusal('The arguments must be an object.')
  const args = Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== null))
  const names = Object.keys(schema.properties)
  const wrong: Wrong[] = []
  for (const name of schema.required ?? [])
    if (args[name] === undefined) wrong.push({ at: name, message: `${name} must be given.` })
  for (const [name, value] of Object.entries(args)) {
    if (wrong.length >= wrongMax) break
    const input = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (input) judge(value, input, name, wrong)
    else {
      const near = nearest(name, names)
      const hint = near ? `Did you mean ${near}?` : `${tool} takes ${names.join(', ')}.`
      wrong.push({ at: name.slice(0, 80), message: 'There is no such argument.', hint })
    }
  }
  if (wrong.length) throw new ToolRefusal(`The arguments of ${tool} are not right.`, wrong)
  return args
}

function judge(value: Json, input: Input, at: string, wrong: Wrong[]): void {
  const { type, enum: known, items, maxItems = 100, maxLength = longest, minimum, maximum } = input
  const say = (message: string, hint?: string) => wrong.push({ at, message, ...(hint ? { hint } : {}) })
  const types = type === undefined ? null : [type].flat()
  if (types && !types.some(one => isOf(one, value)))
    return void say(`It must be ${types.map(one => articles[one]).join(' or ')}.`)
  if (typeof value === 'string') {
    if (value.length > maxLength) say(`It has at most ${maxLength} characters.`)
    if (known && !known.includes(value)) {
      const near = nearest(value, known)
      say(`It must be one of ${known.join(', ')}.`, near ? `Did you mean ${near}?` : undefined)
    }
  }
  if (typeof value === 'number' && (value < (minimum ?? value) || value > (maximum ?? value)))
    say(`It must be from ${minimum} to ${maximum}.`)
  if (!Array.isArray(value)) return
  if (value.length > maxItems) say(`It has at most ${maxItems} items.`)
  else if (items)
    for (const [index, item] of value.entries())
      if (wrong.length < wrongMax) judge(item, items, `${at}[${index}]`, wrong)
}

const articles = {
  ...{ string: 'a text', integer: 'a whole number', object: 'an object' },
  ...{ array: 'a list', boolean: 'true or false' },
}

function isOf(type: keyof typeof articles, value: Json): boolean {
  switch (type) {
    case 'object':
      return isObject(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return isNumber(value) && Number.isSafeInteger(value)
    default:
      return typeof value === type
  }
}
