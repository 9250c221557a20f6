/**
 * Resolves the records that rows of an import name with `find_by` (D75): finds or creates them for all rows
 * of a step at once, not one by one. A name that is unclear here, such as an ambiguous one, stays in the row:
 * the write of the row validates it.
 */
import { isBlank } from '../../fields/blank.ts'
import { type ResourceSchema, shownField } from '../../fields/catalog.ts'
import { comparedName } from '../../fields/name.ts'
import { asText, isObject, type Json, type JsonObject, parseJson } from '../../json.ts'
import { namesakesSql } from '../../records/like-names.ts'
import { candidatesMax, fullName, type Match } from '../../records/name-lookup.ts'
import { matchesOfNames, namingField } from '../../records/names.ts'
import { isKnownMember } from '../../records/parse.ts'
import { recordsToChange } from '../../records/store.ts'
import { type Work, workOn } from '../../records/work.ts'
import { carryOutLocked } from '../../records/write/batch.ts'
import { allows } from '../../rights/scopes.ts'
import { callerParamsOf } from '../../rights/visibility.ts'
import { ask } from '../../sql.ts'
import { extras, notTaken } from './not-taken.ts'

/** A place in the body of a row that names a record, and the name. */
export type Named = {
  /** the place of the row in its file */
  readonly row: number
  /** number of other nested records around it */
  readonly depth: number
  /** the field of the row's own record that contains it */
  readonly own: string
  readonly resource: string
  /** the field that names it, or `fullName` */
  readonly field: string
  readonly text: string
  readonly payload: JsonObject
  /** an id, or a text that the row's validation resolves */
  put(value: number | string): void
}

/** A value that a linked record did not get: `member` of the record in the field `own`. */
export type Lost = { readonly row: number; readonly own: string; readonly member: string }

export type LinkResult = {
  /** for each created record, the places of the rows that name it */
  readonly made: readonly (readonly number[])[]
  readonly lost: readonly Lost[]
}

/** Replaces nested records by ids, the innermost first. */
export async function linkRelated(work: Work, named: readonly Named[], oldest: Date): Promise<LinkResult> {
  const all: LinkResult[] = []
  const left = new Set(named)
  const depths = [...new Set(named.map(({ depth }) => depth))].sort((one, other) => other - one)
  for (const depth of depths) {
    const same = [...left].filter(one => one.depth === depth)
    for (const resource of new Set(same.map(one => one.resource))) {
      const linking = workOn(work.db, work.context, resource)
      // A person's company is usually that of the row: both are looked up at once.
      const some = [...left].filter(
        one =>
          one.resource === resource && (one.depth === depth || !holdsRecords(one.payload, linking.schema)),
      )
      for (const one of some) left.delete(one)
      all.push(await link(linking, some, oldest))
    }
  }
  return { made: all.flatMap(({ made }) => made), lost: all.flatMap(({ lost }) => lost) }
}

/** True if a payload contains nested records without ids. */
function holdsRecords(payload: JsonObject, { byName }: ResourceSchema): boolean {
  return Object.entries(payload).some(
    ([name, value]) => byName.get(name)?.related && typeof value === 'object' && value !== null,
  )
}

/** The records that a row names, each after those within it; `outer`: the field and depth of `body`. */
export function namedIn(
  work: Work,
  row: number,
  body: JsonObject,
  outer: { readonly own?: string; readonly depth: number } = { depth: 0 },
): Named[] {
  const { schema, context } = work
  return Object.entries(body).flatMap(([name, value]) => {
    const resource = shownField(schema, name)?.related
    const inner = resource ? context.catalog.resources.get(resource) : undefined
    if (!inner) return []
    const { own = name, depth } = outer
    const items = Array.isArray(value) ? value : [value]
    return items.flatMap((item, index): Named[] => {
      if (!isObject(item)) return []
      const put = (idOrName: number | string) => {
        if (Array.isArray(value)) value[index] = idOrName
        else body[name] = idOrName
      }
      const within = namedIn({ ...work, schema: inner }, row, item, { own, depth: depth + 1 })
      const one = namedBy(item, inner)
      return one ? [...within, { row, depth, own, ...one, payload: item, put }] : within
    })
  })
}

/**
 * The name of a nested record; null if there is none, or several texts. So is that of one with a member that
 * the importer does not see: nothing of it is compared with a stored record, which would reveal what the role
 * hides (D64).
 */
function namedBy(
  payload: JsonObject,
  schema: ResourceSchema,
): Pick<Named, 'resource' | 'field' | 'text'> | null {
  if (!Object.keys(payload).every(name => isKnownMember(name, schema))) return null
  const { find_by } = payload
  const { name: resource, namedBy = [], shownAs, isPerson } = schema.resource
  const hasOther = namedBy.some(known => !isBlank(payload[known] ?? null))
  if (isPerson && find_by === undefined && !hasOther) {
    const texts = shownAs.map(one => payload[one] ?? '').filter(one => one !== '')
    const isText = texts.length > 0 && texts.every(one => typeof one === 'string')
    return isText ? { resource, field: fullName, text: texts.join(' ') } : null
  }
  const name = namedBy.find(known => known === find_by || known === `${asText(find_by)}s`)
  if (!name || !namingField(schema, name)) return null
  const sent = [payload[name] ?? null].flat() as Json[]
  const [first = null] = sent
  const text = isObject(first) ? (first.email_value ?? null) : first
  if (sent.length !== 1 || typeof text !== 'string' || text.trim() === '') return null
  return { resource, field: name, text }
}

async function link(work: Work, all: readonly Named[], oldest: Date): Promise<LinkResult> {
  const { schema, context } = work
  const { name } = schema.resource
  const keyOf = ({ field, text, payload }: Named) =>
    JSON.stringify([field, comparedName(text), field === fullName ? (payload.company ?? null) : null])
  const byName = [...Map.groupBy(all, keyOf).values()]
  const absent: (readonly Named[])[] = []
  const there = new Map<number, Named[]>()
  const found = byName.length ? await holdersOf(work, byName) : []
  for (const [index, named] of byName.entries()) {
    const [only, ...others] = found[index]!
    if (!only) absent.push(named)
    else if (others.length === 0) {
      for (const { put } of named) put(only.id)
      context.found?.add(name, only.id)
      there.set(only.id, [...(there.get(only.id) ?? []), ...named])
    }
    // An ambiguous name, with which the row is refused.
    else if (named[0]!.field === fullName) for (const { put, text } of named) put(text)
  }
  const lost = await lostOf(work, there)
  if (absent.length === 0 || !context.rights || !allows(context.rights.scopes, `${name}:write`))
    return { made: [], lost }
  const operations = absent.map(([first]) => {
    const { find_by: _, ...body } = first!.payload
    return { op: 'create' as const, id: null, key: null, precondition: null, body }
  })
  const creating = { ...work, context: { ...context, overrides: [] } }
  const outcomes = await carryOutLocked(creating, operations, oldest)
  const made = outcomes.flatMap((outcome, index) => {
    if (!('saved' in outcome)) return []
    for (const { put } of absent[index]!) put(outcome.saved.id)
    context.found?.add(name, outcome.saved.id)
    const [first, ...others] = absent[index]!
    for (const one of others) lost.push(...lostBy(one, first!.payload, schema))
    return [absent[index]!.map(({ row }) => row)]
  })
  return { made, lost }
}

/** Values that existing records did not get. Records are read only if rows contain more than their names. */
async function lostOf(work: Work, there: ReadonlyMap<number, readonly Named[]>): Promise<Lost[]> {
  const { schema } = work
  const more = [...there].filter(([, all]) => all.some(({ payload }) => extras(payload, schema).length > 0))
  if (more.length === 0) return []
  const ids = more.map(([id]) => id)
  const records = await recordsOf(work, ids)
  return [...records].flatMap(([id, record]) => there.get(id)!.flatMap(one => lostBy(one, record, schema)))
}

/** The records with these ids that the importer sees. */
async function recordsOf(work: Work, ids: readonly number[]): Promise<ReadonlyMap<number, JsonObject>> {
  const rows = await ask(work.db, recordsToChange(work, ids))
  return new Map(rows.map(({ id, record }) => [Number(id), parseJson(record!) as JsonObject]))
}

/** A person's company is that of the row, which counts its lost values. */
function lostBy({ row, depth, own, payload }: Named, record: JsonObject, schema: ResourceSchema): Lost[] {
  if (depth > 0) return []
  return notTaken(payload, record, schema).map(member => ({ row, own, member }))
}

/**
 * The records with each of the names. People must belong to the company of the row if it names one; else to
 * no known company.
 */
async function holdersOf(work: Work, some: readonly (readonly Named[])[]): Promise<(readonly Match[])[]> {
  const asked = some.map(([first]) => ({ ...first!, by: first!.field }))
  const found = await matchesOfNames(work.db, work.context, asked)
  const companies = some.map(([first]) =>
    first!.field === fullName ? (first!.payload.company ?? null) : null,
  )
  const many = found.flatMap((matches, index) => {
    const company = companies[index]
    if (typeof company !== 'number' || matches.length <= candidatesMax) return []
    return [{ index, text: some[index]![0]!.text, company }]
  })
  for (const [index, namesakes] of await namesakesOf(work, many)) found[index] = namesakes
  const ids = found.flatMap((matches, index) =>
    companies[index] === null ? [] : matches.map(({ id }) => id),
  )
  if (ids.length === 0) return found
  const records = await recordsOf(work, ids)
  const companyNow = ({ id }: Match) => records.get(id)?.company ?? null
  return found.map((matches, index) => {
    const company = companies[index]
    if (company === null) return matches
    const own = matches.filter(one => companyNow(one) === company)
    return own.length ? own : matches.filter(one => companyNow(one) === null)
  })
}

/** Holders of a company or of none, if a name has more holders than are listed: these may be of others. */
async function namesakesOf(
  { db, schema, context }: Work,
  many: readonly { readonly index: number; readonly text: string; readonly company: number }[],
): Promise<ReadonlyMap<number, readonly Match[]>> {
  if (many.length === 0) return new Map()
  const asked = many.flatMap(({ text, company }) => [
    { text, own: company },
    { text, own: null },
  ])
  const params = callerParamsOf(context)
  const rows = await ask(db, namesakesSql(schema, params, 'company', asked, candidatesMax + 1), true)
  const all = Map.groupBy(rows, ({ place }) => many[Math.floor(Number(place) / 2)]!.index)
  return new Map(
    many.map(({ index }) => [
      index,
      (all.get(index) ?? []).map(({ id, name }) => ({ id: Number(id), name: name! })),
    ]),
  )
}
