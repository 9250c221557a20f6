/**
 * The records that rows of an import name with `find_by` (D75): found or made for all rows of a step at once,
 * instead of one by one. What can't be told here, such as a name that several have, stays in the row as it
 * is: whoever writes the row judges it then.
 */
import type { ResourceFields } from '../fields/catalog.ts'
import { comparedName } from '../fields/name.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { carryOutBatch } from '../records/batch.ts'
import { withoutFindBy } from '../records/find-by.ts'
import { type Holder, namingField, withNames } from '../records/names.ts'
import type { Context } from '../records/save.ts'
import type { Queryable } from '../records/store.ts'
import { allows } from '../rights/scopes.ts'

/** A place in the body of a row where a record is named, and by what. */
export type Named = {
  /** the place of the row in its file */
  readonly row: number
  /** in how many other nested records it stands */
  readonly depth: number
  readonly resource: string
  readonly field: string
  readonly text: string
  readonly payload: JsonObject
  put(id: number): void
}

/** How many names are looked up by one statement. */
const namesAtOnce = 900

/**
 * Puts ids in the place of nested records, the innermost first. Answers of each record that was made the
 * places of the rows that name it.
 */
export async function linkRelated(
  tx: Queryable,
  named: readonly Named[],
  context: Context,
  oldest: Date,
): Promise<readonly (readonly number[])[]> {
  const made: (readonly number[])[] = []
  const byDepth = [...Map.groupBy(named, ({ depth }) => depth)].sort(([one], [other]) => other - one)
  for (const [, all] of byDepth)
    for (const [resource, some] of Map.groupBy(all, one => one.resource))
      made.push(...(await link(tx, context.catalog.resources.get(resource)!, some, context, oldest)))
  return made
}

/** The records that a row names. */
export function namedIn(row: number, body: JsonObject, fields: ResourceFields, context: Context): Named[] {
  const named: Named[] = []
  collect({ row, depth: 0 }, body, fields, context, named)
  return named
}

function collect(
  at: Pick<Named, 'row' | 'depth'>,
  body: JsonObject,
  fields: ResourceFields,
  context: Context,
  all: Named[],
): void {
  for (const [name, value] of Object.entries(body)) {
    const resource = fields.byName.get(name)?.related
    const inner = resource ? context.catalog.resources.get(resource) : undefined
    if (!inner) continue
    const items = Array.isArray(value) ? value : [value]
    for (const [index, item] of items.entries()) {
      if (!isObject(item)) continue
      const put = (id: number) => {
        if (Array.isArray(value)) value[index] = id
        else body[name] = id
      }
      collect({ ...at, depth: at.depth + 1 }, item, inner, context, all)
      const one = namedBy(item, inner)
      if (one) all.push({ ...at, ...one, payload: item, put })
    }
  }
}

/** By what a nested record is named; null where that is nothing, or more than one text. */
function namedBy(
  payload: JsonObject,
  fields: ResourceFields,
): Pick<Named, 'resource' | 'field' | 'text'> | null {
  const { find_by } = payload
  const { name: resource, namedBy = [] } = fields.resource
  const name = namedBy.find(known => known === find_by || known === `${find_by}s`)
  if (!name || !namingField(fields, name)) return null
  const sent = [payload[name] ?? null].flat() as Json[]
  const [first = null] = sent
  const text = isObject(first) ? (first.email_value ?? null) : first
  if (sent.length !== 1 || typeof text !== 'string' || text.trim() === '') return null
  return { resource, field: name, text }
}

async function link(
  tx: Queryable,
  fields: ResourceFields,
  all: readonly Named[],
  context: Context,
  oldest: Date,
): Promise<readonly (readonly number[])[]> {
  const byName = [...Map.groupBy(all, ({ field, text }) => `${field} ${comparedName(text)}`).values()]
  const absent: (readonly Named[])[] = []
  for (let start = 0; start < byName.length; start += namesAtOnce) {
    const some = byName.slice(start, start + namesAtOnce)
    const found = await holdersOf(tx, some, context)
    for (const [index, named] of some.entries()) {
      const [only, ...others] = found[index]!
      if (!only) absent.push(named)
      else if (others.length === 0) for (const { put } of named) put(only.id)
    }
  }
  const { name } = fields.resource
  if (absent.length === 0 || !context.rights || !allows(context.rights.scopes, `${name}:write`)) return []
  const operations = absent.map(([first]) => ({
    ...({ op: 'create', id: null, told: null, precondition: null } as const),
    body: withoutFindBy(first!.payload),
  }))
  const outcomes = await carryOutBatch(tx, fields, operations, { ...context, keeps: [] }, oldest)
  return outcomes.flatMap((outcome, index) => {
    if (!('saved' in outcome)) return []
    for (const { put } of absent[index]!) put(outcome.saved.id)
    return [absent[index]!.map(({ row }) => row)]
  })
}

function holdersOf(
  tx: Queryable,
  some: readonly (readonly Named[])[],
  context: Context,
): Promise<(readonly Holder[])[]> {
  return withNames(tx, context, names =>
    some.map(([first]) => names.holders(first!.resource, first!.text, first!.field) ?? []),
  )
}
