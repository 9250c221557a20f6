/**
 * Group keys of sums (D85): fields with one id, and dates by unit of time in the account's time zone. Knows
 * no resource and no statement.
 */
import type { Hint } from '../errors.ts'
import type { Catalog } from '../fields/catalog.ts'
import { recordRow } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { suggestion } from '../fields/nearest.ts'
import { unknownFieldHint } from '../fields/unknown-field.ts'
import type { Json, JsonObject } from '../json.ts'
import { isExpandable, namesOf } from '../records/expand.ts'
import type { Reader } from '../records/store.ts'
import type { Caller } from '../rights/visibility.ts'
import { param, type Sql, sql } from '../sql.ts'
import type { ResolveContext } from './operands.ts'
import { addProblem } from './parameters.ts'
import { namesOf as namesOfFields } from './query.ts'

export type GroupKey = {
  /** as requested: `expected_close_date:month` */
  readonly text: string
  readonly field: Field
  /** SQL of the value, over the row `r` */
  readonly sql: Sql
  /** true if the value is an id with a name */
  readonly isNamed: boolean
}

/** Weeks begin on Monday. */
const units = ['day', 'week', 'month', 'quarter', 'year'] as const
const keysMax = 3

/** The keys in `group_by`; `own`: keys of the resource that are no fields. */
export function groupKeysOf(text: string, own: readonly GroupKey[], context: ResolveContext): GroupKey[] {
  const names = [...new Set(text.split(',').map(name => name.trim()))]
  if (names.length > keysMax) {
    addProblem(context.problems, 'group_by', 'too_many', `group_by takes at most ${keysMax} fields.`)
    return []
  }
  return names.flatMap(name => own.find(key => key.text === name) ?? groupKeyOf(name, context) ?? [])
}

function groupKeyOf(text: string, context: ResolveContext): GroupKey | null {
  const { schema, catalog, problems } = context
  const [name, unit, ...more] = text.split(':') as [string, string?, ...string[]]
  const field = schema.byName.get(name)
  const withHint = (hint: Hint) => ({ field: name, hint })
  if (!field?.is_active || field.is_hidden) {
    const hint = () => unknownFieldHint(name, schema)
    addProblem(problems, 'group_by', 'unknown_field', `There is no field "${name}".`, withHint(hint))
  } else if (kinds[field.type].day) {
    const known = units.find(one => one === unit)
    if (known && more.length === 0) return dateKey(text, field, known, catalog)
    const hint = () => suggestion(unit ?? '', units, `The units: ${units.join(', ')}.`)
    const message = `${name} needs a unit of time, such as ${name}:month.`
    if (unit === undefined) addProblem(problems, 'group_by', 'not_groupable', message, withHint(hint))
    else
      addProblem(problems, 'group_by', 'invalid_value', `There is no unit of time "${unit}".`, withHint(hint))
  } else if (!isGroupable(field)) {
    const hint = `Those that can: ${namesOfFields(schema, isGroupable)}; dates with a unit of time.`
    addProblem(
      problems,
      'group_by',
      'not_groupable',
      `Records can't be grouped by ${name}: it doesn't hold one id with a name.`,
      withHint(hint),
    )
  } else if (unit !== undefined) {
    addProblem(
      problems,
      'group_by',
      'invalid_value',
      `${name} has no units of time.`,
      withHint(`Use ${name} alone.`),
    )
  } else return idKey(field, text)
  return null
}

/** The key of a field that groups by its id. */
export function idKey(field: Field, text: string): GroupKey {
  return { text, field, sql: kinds[field.type].term(field, '')!.sql(recordRow), isNamed: true }
}

/** True if sums may be grouped by a field's value: one id with a name. */
export function isGroupable(field: Field): boolean {
  return isExpandable(field) && kinds[field.type].term(field, '')?.multi === false
}

/** Groups by the first day of the unit that contains a date. */
function dateKey(text: string, field: Field, unit: (typeof units)[number], { account }: Catalog): GroupKey {
  const day = kinds[field.type].day!(field, param(account.time_zone))(recordRow)
  return { text, field, sql: sql`date_trunc(${sql.text(unit)}, (${day})::timestamp)::date`, isNamed: false }
}

/** The fields whose names the groups show. */
export function namedFields(keys: readonly GroupKey[]): Field[] {
  return keys.filter(({ isNamed }) => isNamed).map(({ field }) => field)
}

/**
 * Groups in responses, each from the values of its keys: the value and its name or, with several keys, those
 * of each.
 */
export async function shownGroups(
  db: Reader,
  caller: Caller,
  keys: readonly GroupKey[],
  groups: readonly (readonly Json[])[],
): Promise<JsonObject[]> {
  const records = groups.map(values =>
    Object.fromEntries(keys.map(({ field }, index): [string, Json] => [field.internal_name, values[index]!])),
  )
  const names = await namesOf(db, caller, records, namedFields(keys))
  const one = ({ field }: GroupKey, group: Json) => ({
    group,
    name: names.get(field)?.get(Number(group))?.name ?? null,
  })
  return groups.map(values => {
    if (keys.length === 0) return { group: null, name: null }
    if (keys.length === 1) return one(keys[0]!, values[0]!)
    return { groups: keys.map((key, index) => ({ group_by: key.text, ...one(key, values[index]!) })) }
  })
}
