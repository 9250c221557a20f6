/**
 * Names that stand for ids (D75). Parsing a request collects its names and does no I/O. Few statements look
 * them up, and then the request is parsed again, with the results; likewise the records that defaults name
 * (D6). A request without names costs nothing. Knows no particular resource.
 */
import type { CallerParams } from '../fields/caller-params.ts'
import { type ResourceSchema, shownField } from '../fields/catalog.ts'
import { storedRow } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import { whereRecordsAre } from '../fields/kinds/how-to-write.ts'
import { shownName } from '../fields/kinds/reference.ts'
import { kinds } from '../fields/kinds.ts'
import { comparedName } from '../fields/name.ts'
import { pluralOf } from '../fields/synonyms.ts'
import { type Caller, callerParamsOf, unlimited, visible } from '../rights/visibility.ts'
import { ask, type Sql, sql } from '../sql.ts'
import { mapYielding } from '../waiting/yielding.ts'
import { fullNames, isFullName, likeNames } from './like-names.ts'
import {
  canBeName,
  candidatesMax,
  fullName,
  keyOf,
  type Match,
  NameLookup,
  type NameQuery,
  namesMax,
} from './name-lookup.ts'
import { readReferences, referenceStatesIn } from './references.ts'
import type { Reader } from './store.ts'

/** More names than these are many: the best index for them depends on the number of records. */
const manyNames = 20

/** The caller. `includesInactive`: names may mean inactive records, too. */
export type NamingCaller = Caller & { readonly includesInactive?: true }

/**
 * Resolves the names of a request. Calls `parse` twice if there are names, and ignores a refusal of the first
 * time. Throws `forbidden` without the scope to read what is named (D65).
 */
export async function resolveNames<T>(
  db: Reader,
  caller: NamingCaller,
  parse: (names: NameLookup) => T,
): Promise<T> {
  const [resolved] = await resolveNamesOfEach(db, caller, [parse])
  if ('error' in resolved!) throw resolved.error
  return resolved!.value
}

/** The result of a request once its names are resolved, or the error; and the names. */
export type Resolved<T> = ({ readonly value: T } | { readonly error: unknown }) & {
  readonly names: readonly NameQuery[]
}

/** The same for several requests, whose names one statement looks up. */
export async function resolveNamesOfEach<T>(
  db: Reader,
  caller: NamingCaller,
  parsers: readonly ((names: NameLookup) => T)[],
): Promise<Resolved<T>[]> {
  const first = await mapYielding(parsers, parse => {
    const lookup = new NameLookup()
    const resolved = resolvedBy(parse, lookup)
    const { asked, defaults, areTooMany } = lookup
    if (asked.length + defaults.length === 0 || areTooMany) return { parse, lookup, resolved }
    const allowed = resolvedBy(() => needToRead(caller, asked), lookup)
    return { parse, lookup, resolved: 'error' in allowed ? allowed : null }
  })
  const open = first.flatMap(({ resolved, lookup }) => (resolved ? [] : [lookup]))
  if (open.length === 0) return first.map(({ resolved }) => resolved!)
  const asked = open.flatMap(one => one.asked)
  const answers = await recordsByName(db, caller, asked)
  const defaults = open.flatMap(one => one.defaults)
  const referenceState = referenceStatesIn(
    await readReferences(db, unlimited(callerParamsOf(caller)), defaults),
  )
  // Only problems contain similar names, and of several records, one with a problem is saved again alone.
  const near = parsers.length === 1 ? await nearNames(db, caller, asked, answers) : new Map()
  return mapYielding(
    first,
    ({ parse, lookup, resolved }) =>
      resolved ?? resolvedBy(parse, new NameLookup({ answers, referenceState, near, known: lookup.asked })),
  )
}

function resolvedBy<T>(parse: (names: NameLookup) => T, lookup: NameLookup): Resolved<T> {
  try {
    const value = parse(lookup)
    return { value, names: lookup.asked }
  } catch (error) {
    return { error, names: lookup.asked }
  }
}

/** Throws `forbidden` unless the caller may read the records of these names (D65). */
function needToRead({ rights }: NamingCaller, asked: readonly NameQuery[]): void {
  for (const { resource } of asked) rights?.need(`${resource}:read`)
}

/** Records with names similar to the first of those that nobody has. */
async function nearNames(
  db: Reader,
  caller: NamingCaller,
  asked: readonly NameQuery[],
  answers: ReadonlyMap<string, readonly Match[]>,
): Promise<ReadonlyMap<string, readonly Match[]>> {
  const unknown = asked.filter(one => one.by === null && answers.get(keyOf(one))?.length === 0)
  const near = new Map<string, readonly Match[]>()
  for (const one of unknown.slice(0, similarMax))
    near.set(keyOf(one), await likeNames(db, caller, one.resource, one.text))
  return near
}

/**
 * The records that match each name of a list; without similar names, which only a problem contains. Throws
 * `forbidden` like `resolveNames`.
 */
export async function matchesOfNames(
  db: Reader,
  caller: NamingCaller,
  all: readonly NameQuery[],
): Promise<(readonly Match[])[]> {
  needToRead(caller, all)
  const possible = all.filter(({ text }) => canBeName(text))
  const answers = await recordsByName(db, caller, possible)
  return all.map(one => answers.get(keyOf(one)) ?? [])
}

/** Number of unknown names of a request for which similar ones are sought. */
const similarMax = 3

/** The problem with a name that `matches` have; null if exactly one has it. */
export function nameProblem(
  resource: string,
  text: string,
  matches: readonly Match[],
  near: readonly Match[] = [],
) {
  if (matches.length === 1) return null
  const name = JSON.stringify(text)
  if (matches.length === 0) {
    const help = near.length ? { candidates: near } : { hint: whereRecordsAre(resource) }
    return {
      code: 'reference_not_found' as const,
      message: `is ${name}, but there is no such ${resource}`,
      ...help,
    }
  }
  const count = matches.length > candidatesMax ? `more than ${candidatesMax}` : matches.length
  return {
    code: 'ambiguous_reference' as const,
    message: `is ${name}, which is the name of ${count} ${pluralOf(resource)}; give one by its id`,
    candidates: matches.slice(0, candidatesMax),
  }
}

/** The field `name` if it can name records of the resource and the caller sees it; else null. */
export function namingField(schema: ResourceSchema, name: string): Field | null {
  const isNaming = schema.resource.namedBy?.includes(name) && shownField(schema, name) !== null
  return isNaming ? schema.byName.get(name)! : null
}

/**
 * The condition that the row `alias` has one of the names `texts`, SQL of an array of results of
 * `comparedName`.
 */
export function hasName(field: Field, alias: Sql, texts: Sql): Sql {
  const names = namesOf(field, alias)
  if (names) return sql`${names} && ${texts}`
  const { sql: value } = kinds[field.type].term(field, kinds[field.type].unique!.member)!
  return sql`compared_name(${value(storedRow(alias))}) COLLATE "C" = ANY(${texts})`
}

/** SQL of the names of the row `alias` as an array; null for a field of one value. */
function namesOf(field: Field, alias: Sql): Sql | null {
  const { alike, multi } = kinds[field.type].term(field, kinds[field.type].unique!.member)!
  return alike && multi ? alike.sql(storedRow(alias)) : null
}

/** The records that match each name, by its key in a lookup: one statement for a thousand names. */
async function recordsByName(
  db: Reader,
  caller: NamingCaller,
  names: readonly NameQuery[],
): Promise<Map<string, readonly Match[]>> {
  const all = [...new Map(names.map(name => [keyOf(name), name])).values()]
  const asked = all.splice(0, namesMax)
  const others = all.length ? await recordsByName(db, caller, all) : []
  const params = callerParamsOf(caller)
  const numbered = asked.map((name, place) => ({ ...name, place }))
  const selects = [...Map.groupBy(numbered, name => name.resource)].flatMap(([resource, names]) =>
    tiersOf(db, caller, params, caller.catalog.resources.get(resource)!, names),
  )
  const isMany = asked.length > manyNames
  const rows = selects.length ? await ask(db, sql.join(selects, sql`\nUNION ALL\n`), isMany) : []
  const byPlace = Map.groupBy(rows, row => Number(row.place))
  return new Map([
    ...others,
    ...asked.map(({ resource, by, text }, place): [string, readonly Match[]] => {
      const found = byPlace.get(place) ?? []
      const best = Math.min(...found.map(row => Number(row.tier)))
      const matches = found
        .filter(row => Number(row.tier) === best)
        .map(row => ({ id: Number(row.id), name: row.name! }))
        .sort((one, other) => one.id - other.id)
      return [keyOf({ resource, by, text }), matches]
    }),
  ])
}

type Numbered = NameQuery & { readonly place: number }

/**
 * SELECTs of the records that match names of one resource, in tiers: a string of digits is an id first, then
 * the fields follow in the order of `namedBy`.
 */
function tiersOf(
  { isDistributed }: Reader,
  { includesInactive }: NamingCaller,
  params: CallerParams,
  schema: ResourceSchema,
  names: readonly Numbered[],
): Sql[] {
  const { name: resource, namedBy = [], inUse, isPerson, shownAs } = schema.resource
  const x = sql`x`
  const shown = shownName({ related_name: schema.resource.shownAs }, sql`x.`)
  const live = sql`${visible(resource, params, x)} AND x.deleted_at IS NULL`
  const given = (of: readonly Numbered[], textsOf = (text: string) => [comparedName(text)]) =>
    JSON.stringify(of.flatMap(({ place, text }) => textsOf(text).map(one => ({ place, text: one }))))
  // The fence (OFFSET 0) keeps the planner from walking all records in the order of their ids.
  const select = (tier: number, of: readonly Numbered[], is: Sql, texts = given(of)) => sql`(
SELECT n.place::text AS place, ${sql.text(String(tier))} AS tier, x.id::text AS id, x.name
FROM jsonb_to_recordset(${texts}::jsonb) n (place int, text text), LATERAL (
  SELECT y.id, y.name FROM (
    SELECT x.id, ${shown} AS name FROM ${sql.id(resource)} x WHERE ${live} AND ${is} OFFSET 0) y
  ORDER BY y.id LIMIT ${sql.integer(candidatesMax + 1)}) x)`
  // Fenced, too, so that the GIN index is used however few records there seem to be. One scan for all names,
  // because each scan reads the index's pending list. The account is a condition outside of the fence: within
  // it, PostgreSQL would prefer an index of the account. On a cluster it is within, too, which would ask all
  // nodes otherwise (D178).
  const own = isDistributed ? sql`x.account_id = ${params.account}::bigint AND ` : sql.none
  const ofSeveral = (tier: number, of: readonly Numbered[], field: Field, isUsed: Sql) => {
    const all = sql`ARRAY(SELECT m.text FROM jsonb_to_recordset(${given(of)}::jsonb) m (text text))`
    return sql`(
SELECT y.place::text AS place, ${sql.text(String(tier))} AS tier, y.id::text AS id, y.name FROM (
  SELECT n.place, x.id, ${shown} AS name, row_number() OVER (PARTITION BY n.place ORDER BY x.id) AS nth
  FROM (SELECT * FROM ${sql.id(resource)} x WHERE ${own}${hasName(field, x, all)} OFFSET 0) x
    CROSS JOIN LATERAL (SELECT DISTINCT k.text FROM unnest(${namesOf(field, x)}) k (text)) k
    JOIN jsonb_to_recordset(${given(of)}::jsonb) n (place int, text text) ON n.text = k.text
  WHERE ${live}${isUsed}) y
WHERE y.nth <= ${sql.integer(candidatesMax + 1)})`
  }
  const ids = names.filter(({ text, by }) => by === null && /^\s*\d{1,15}\s*$/.test(text))
  const people = names.filter(({ by }) => by === null || by === fullName)
  const isShown = shownAs.every(name => shownField(schema, name))
  const isUsed = inUse && !includesInactive ? sql` AND x.${sql.id(inUse)} = 1` : sql.none
  return [
    ...(ids.length ? [select(0, ids, sql`x.id = n.text::bigint`)] : []),
    ...namedBy.flatMap((name, index) => {
      const field = namingField(schema, name)
      const of = names.filter(({ by }) => by === null || by === name)
      if (!field || of.length === 0) return []
      if (namesOf(field, x)) return [ofSeveral(index + 1, of, field, isUsed)]
      return [select(index + 1, of, sql`${hasName(field, x, sql`ARRAY[n.text]`)}${isUsed}`)]
    }),
    ...(isPerson && people.length && isShown
      ? [select(namedBy.length + 1, people, sql`${isFullName(schema, x)}${isUsed}`, given(people, fullNames))]
      : []),
  ]
}
