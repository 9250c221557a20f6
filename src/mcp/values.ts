/**
 * Values as agents write them: fields by label, records by name; and the differences that a change makes to a
 * record.
 */
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { meantField } from '../fields/unknown-field.ts'
import { isNumber, isObject, type Json, type JsonObject } from '../json.ts'
import { isExpandable } from '../records/expand.ts'
import type { Api } from './api.ts'
import { isNamedElsewhere, nameKey, type UnknownName } from './conditions.ts'
import { idsOf } from './find.ts'
import { ToolRefusal } from './refusal.ts'
import { seenFields, valueIn } from './rows.ts'
import { cut } from './shown.ts'
import { schemaOf } from './tool.ts'

/** More than all fields of a record. */
const valuesMax = 1000

/**
 * The body of a write. Unknown fields stay, so that the service says what is meant. Throws ToolRefusal if two
 * names mean one field: one of the values would be lost.
 */
export async function bodyOf(api: Api, resource: string, values: JsonObject): Promise<JsonObject> {
  const schema = schemaOf(api, resource)
  const { catalog, actor } = api.caller
  if (Object.keys(values).length > valuesMax)
    throw new ToolRefusal(`A call gives at most ${valuesMax} values of a record.`)
  const named = Object.entries(values).map(([name, value]): [Field | undefined, string, Json] => {
    const meant = schema.byName.has(name) ? name : (meantField(name, schema) ?? name)
    return [schema.byName.get(meant), meant, value]
  })
  const seen = new Set<string>()
  const twice = named.filter(([, meant]) => seen.has(meant) || !seen.add(meant))
  if (twice.length)
    throw new ToolRefusal(
      'Two values are of one field.',
      twice.map(([, at]) => ({ at: at.slice(0, 80), message: 'Give it once.' })),
    )
  const unknown = named.flatMap(([field, , value]) => namesIn(field, value).filter(isUnknown))
  function isUnknown({ resource, name }: UnknownName) {
    return isNamedElsewhere(resource, name, catalog)
  }
  const ids = await idsOf(api, unknown)
  const one = (field: Field | undefined, value: Json): Json => {
    if (Array.isArray(value)) return value.map(item => one(field, item))
    if (typeof value !== 'string' || !field?.related) return value
    if (field.related === 'user' && /^(me|myself)$/i.test(value.trim())) return actor
    return ids.get(nameKey({ resource: field.related, name: value })) ?? value
  }
  return Object.fromEntries(named.map(([field, name, value]) => [name, one(field, value)]))
}

function namesIn(field: Field | undefined, value: Json): UnknownName[] {
  if (!field?.related) return []
  const texts = [value].flat().filter(item => typeof item === 'string')
  return texts.map(name => ({ resource: field.related!, name }))
}

/**
 * The body with the ids that its names meant when it was judged: a record that gets the name meanwhile is not
 * what was shown.
 */
export function pinned(body: JsonObject, judged: JsonObject, schema: ResourceSchema): JsonObject {
  const entries = Object.entries(body).map(([name, value]): [string, Json] => {
    const field = schema.byName.get(name)
    const id = judged[name] ?? null
    const isNamed = field && isExpandable(field) && !isNested(value) && id !== null
    return [name, isNamed && !hasNull(id) ? id : value]
  })
  return Object.fromEntries(entries)
}

function isNested(value: Json): boolean {
  return [value].flat().some(item => isObject(item))
}

function hasNull(value: Json): boolean {
  return Array.isArray(value) && value.some(item => !isNumber(item))
}

/** Longer values are cut where a change is shown. */
const valueMax = 300

/** Values that follow every write. */
const followers = new Set(['updated_at', 'updated_by', 'version'])

/**
 * Before and after of each field that a change touches. All that were sent are among them: nobody agrees to
 * what they don't see.
 */
export function differences(
  before: JsonObject,
  after: JsonObject,
  schema: ResourceSchema,
  sent: Iterable<string>,
): JsonObject {
  const all = seenFields(schema).flatMap((field): [string, Json][] => {
    const name = field.internal_name
    if (hasSame(before, after, name)) return []
    const [old, value] = [before, after].map(record => cut(valueIn(record, field), valueMax))
    const isSeen = JSON.stringify(old) !== JSON.stringify(value)
    return [[name, isSeen ? { before: old!, after: value! } : apart(before[name]!, after[name]!)]]
  })
  return sentFirst(all, new Set(sent))
}

/** True if two records have the same whole value, or one that follows every write. */
export function hasSame(one: JsonObject, other: JsonObject, name: string): boolean {
  return followers.has(name) || JSON.stringify(one[name] ?? null) === JSON.stringify(other[name] ?? null)
}

/** Two values that look the same in short, from just before their first difference. */
function apart(old: Json, value: Json): JsonObject {
  const texts = [old, value].map(one => (typeof one === 'string' ? one : JSON.stringify(one ?? null)))
  let at = 0
  while (at < texts[0]!.length && texts[0]![at] === texts[1]![at]) at++
  const from = Math.max(0, at - 40)
  const [before, after] = texts.map(text => cut(`${from ? '…' : ''}${text.slice(from)}`, valueMax))
  return { before: before!, after: after! }
}

/** The fields of a new record that were sent or have a value. */
export function filled(record: JsonObject, schema: ResourceSchema, sent: Iterable<string>): JsonObject {
  const names = new Set(sent)
  const all = seenFields(schema).flatMap((field): [string, Json][] => {
    const { internal_name: name } = field
    const value = cut(valueIn(record, field), valueMax)
    const isFilled = value !== null && !followers.has(name) && !emptyOf.has(JSON.stringify(value))
    return names.has(name) || (isFilled && name !== 'id') ? [[name, value]] : []
  })
  return sentFirst(all, names)
}

const emptyOf = new Set(['0', '""', '{}', '[]'])

/** So many of the fields that follow from others are shown. */
const followingMax = 15

function sentFirst(all: readonly [string, Json][], names: ReadonlySet<string>): JsonObject {
  const following = all.filter(([name]) => !names.has(name))
  const left = following.slice(followingMax).map(([name]) => name)
  return {
    ...Object.fromEntries(all.filter(([name]) => names.has(name))),
    ...Object.fromEntries(following.slice(0, followingMax)),
    ...(left.length ? { and_what_follows: left.join() } : {}),
  }
}
