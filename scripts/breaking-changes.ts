/**
 * Describes the changes of an OpenAPI document that break clients of the one before (D91): removed parts,
 * inputs that are no longer accepted, and outputs that differ. Additions break nothing.
 */

// biome-ignore lint/suspicious/noExplicitAny: a document is JSON
type Node = any

/** The changes from `before` to `after` that break clients, each a sentence; additions are none. */
export function breakingChanges(before: Node, after: Node): string[] {
  const told: string[] = []
  for (const [path, methods] of entries(before.paths)) {
    if (!after.paths[path]) told.push(`The path ${path} went away.`)
    else
      for (const [method, operation] of entries(methods)) {
        const name = `${method.toUpperCase()} ${path}`
        const now = after.paths[path][method]
        if (!now) told.push(`${name} went away.`)
        else told.push(...operationChanges(name, { before, after }, operation, now))
      }
  }
  return [...new Set(told)]
}

type Documents = { readonly before: Node; readonly after: Node }

function operationChanges(name: string, documents: Documents, was: Node, is: Node): string[] {
  const told: string[] = []
  if (was.operationId !== is.operationId)
    told.push(`${name} is no longer called ${was.operationId}, but ${is.operationId}.`)
  const [were, are] = [was, is].map(({ parameters = [] }, index) => {
    const document = index ? documents.after : documents.before
    return new Map(parameters.map((one: Node) => [keyOf(resolved(one, document)), resolved(one, document)]))
  }) as [Map<string, Node>, Map<string, Node>]
  for (const [key, one] of were) {
    const now = are.get(key)
    if (!now) told.push(`${name}: the parameter ${one.name} went away.`)
    else {
      if (now.required && !one.required) told.push(`${name}: the parameter ${one.name} is now required.`)
      told.push(...narrowed(`${name}: the parameter ${one.name}`, documents, one.schema, now.schema))
    }
  }
  for (const [key, one] of are)
    if (one.required && !were.has(key)) told.push(`${name}: the new parameter ${one.name} is required.`)
  told.push(...bodyChanges(name, documents, was.requestBody, is.requestBody))
  for (const [status, answer] of entries(was.responses)) {
    const now = is.responses[status]
    if (!now) told.push(`${name} no longer answers ${status}.`)
    else told.push(...answerChanges(`${name}, ${status}`, documents, answer, now))
  }
  return told
}

function keyOf({ name, in: place }: Node): string {
  return `${place} ${name}`
}

function bodyChanges(name: string, documents: Documents, was: Node, is: Node): string[] {
  if (!was) return is?.required ? [`${name} now needs a body.`] : []
  if (!is) return [`${name} no longer takes a body.`]
  const told = is.required && !was.required ? [`${name} now needs a body.`] : []
  return [...told, ...narrowed(`${name}: the body`, documents, schemaOf(was), schemaOf(is))]
}

function answerChanges(name: string, documents: Documents, was: Node, is: Node): string[] {
  const [one, other] = [resolved(was, documents.before), resolved(is, documents.after)]
  const gone = Object.keys(one.headers ?? {}).filter(header => !other.headers?.[header])
  const told = gone.map(header => `${name}: the header ${header} went away.`)
  for (const type of Object.keys(one.content ?? {}))
    if (!other.content?.[type]) told.push(`${name} is no longer ${type}.`)
  if (told.length || !one.content) return told
  return widened(name, documents, schemaOf(one), schemaOf(other))
}

function schemaOf({ content }: Node): Node {
  return (Object.values(content)[0] as Node).schema
}

/** Inputs: all that was accepted must be accepted. */
function narrowed(name: string, documents: Documents, was: Node, is: Node): string[] {
  return compared(name, documents, was, is, 'sent', new Set())
}

/** Outputs: nothing may be answered that the old document excluded. */
function widened(name: string, documents: Documents, was: Node, is: Node): string[] {
  return compared(name, documents, was, is, 'read', new Set())
}

function compared(
  name: string,
  documents: Documents,
  was: Node,
  is: Node,
  how: 'sent' | 'read',
  seen: Set<string>,
): string[] {
  const pair = `${was?.$ref} ${is?.$ref}`
  if (was?.$ref && is?.$ref && seen.has(pair)) return []
  const inner = was?.$ref ? new Set([...seen, pair]) : seen
  const [one, other] = [merged(was, documents.before), merged(is, documents.after)]
  const at: At = (part, before, after) => compared(name + part, documents, before, after, how, inner)
  if (one.anyOf || other.anyOf) return alternativeChanges(one, other, how, at)
  return [
    ...typeChanges(name, one, other, how),
    ...valueChanges(name, one, other, how),
    ...(how === 'sent' ? boundChanges(name, one, other) : []),
    ...memberChanges(name, one, other, how, at),
    ...(one.items && other.items ? at('[]', one.items, other.items) : []),
  ]
}

type At = (part: string, before: Node, after: Node) => string[]

/** An expected value must be one of the alternatives: reports how the nearest one differs. */
function alternativeChanges(was: Node, is: Node, how: 'sent' | 'read', at: At): string[] {
  const [expected, offered] = how === 'sent' ? [was, is] : [is, was]
  return alternativesOf(expected).flatMap(one => {
    const changes = alternativesOf(offered).map(other =>
      how === 'sent' ? at('', one, other) : at('', other, one),
    )
    return changes.toSorted((a, b) => a.length - b.length)[0] ?? []
  })
}

function alternativesOf({ anyOf, ...own }: Node): Node[] {
  if (anyOf) return anyOf.flatMap((one: Node) => alternativesOf({ ...own, ...one }))
  return Array.isArray(own.type) ? own.type.map((type: string) => ({ ...own, type })) : [own]
}

/** A schema with its references resolved, and all its parts merged. */
export function merged(schema: Node, document: Node): Node {
  if (!schema?.$ref && !schema?.allOf) return schema ?? {}
  const { $ref, allOf = [], ...own } = schema
  const parts: Node[] = [...($ref ? [resolved({ $ref }, document)] : []), ...allOf]
  const all: Node[] = [...parts.map(part => merged(part, document)), own]
  const properties = Object.assign({}, ...all.map(part => part.properties))
  const required = all.flatMap(part => part.required ?? [])
  return {
    ...Object.assign({}, ...all),
    ...(Object.keys(properties).length ? { properties } : {}),
    ...(required.length ? { required } : {}),
  }
}

function resolved(node: Node, document: Node): Node {
  if (!node?.$ref) return node
  return node.$ref
    .slice(2)
    .split('/')
    .reduce((at: Node, step: string) => at[step], document)
}

function typesOf({ type }: Node): string[] | null {
  if (type === undefined) return null
  const types: string[] = [type].flat()
  return types.includes('number') ? [...types, 'integer'] : types
}

function typeChanges(name: string, was: Node, is: Node, how: 'sent' | 'read'): string[] {
  const [before, after] = how === 'sent' ? [typesOf(was), typesOf(is)] : [typesOf(is), typesOf(was)]
  if (!after || before?.every(type => after.includes(type))) return []
  const [old, now] = [was, is].map(({ type }) =>
    type === undefined ? 'anything' : [type].flat().join(' or '),
  )
  return [`${name} was ${old} and is ${now}.`]
}

function valueChanges(name: string, was: Node, is: Node, how: 'sent' | 'read'): string[] {
  const [before, after]: [unknown[] | undefined, unknown[] | undefined] = [valuesOf(was), valuesOf(is)]
  if (!before) return after && how === 'sent' ? [`${name} takes certain values only.`] : []
  const gone = after ? before.filter(value => !after.includes(value)) : []
  return gone.map(value => `${name}: the value ${JSON.stringify(value)} went away.`)
}

function valuesOf(schema: Node): unknown[] | undefined {
  return schema.enum ?? ('const' in schema ? [schema.const] : undefined)
}

const lower = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems']
const upper = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems']

function boundChanges(name: string, was: Node, is: Node): string[] {
  const narrower = (keyword: string) => {
    if (is[keyword] === undefined || is[keyword] === was[keyword]) return false
    if (was[keyword] === undefined) return true
    return lower.includes(keyword) ? is[keyword] > was[keyword] : is[keyword] < was[keyword]
  }
  const told = [...lower, ...upper].filter(narrower).map(keyword => {
    const before = was[keyword] === undefined ? 'nothing' : was[keyword]
    return `${name} got narrower: ${keyword} was ${before} and is ${is[keyword]}.`
  })
  const isOther = is.pattern !== undefined && is.pattern !== was.pattern
  return isOther ? [...told, `${name} got narrower: it has another pattern.`] : told
}

function memberChanges(name: string, was: Node, is: Node, how: 'sent' | 'read', at: At): string[] {
  const [before, after] = [was.properties ?? {}, is.properties ?? {}]
  const required = { before: new Set(was.required ?? []), after: new Set(is.required ?? []) }
  const told: string[] = []
  for (const member of Object.keys(before)) {
    if (!(member in after)) told.push(`${name}: the field ${member} went away.`)
    else told.push(...at(`.${member}`, before[member], after[member]))
    if (how === 'read' && required.before.has(member) && !required.after.has(member) && member in after)
      told.push(`${name}: the field ${member} may be absent.`)
  }
  if (how === 'sent')
    for (const member of required.after)
      if (!required.before.has(member)) told.push(`${name}: the field ${member} is now required.`)
  if (how === 'sent' && is.additionalProperties === false && was.additionalProperties !== false)
    told.push(`${name} takes no other fields any more.`)
  return told
}

function entries(of: Node): [string, Node][] {
  return Object.entries(of ?? {})
}
