/**
 * Reads the parameters of sums (D55, D85): `group_by`, fields with one id and dates by unit of time, and
 * `measures`, the number of records, and sums, averages, medians and bounds of their numbers and amounts.
 * Knows no resource and no statement.
 */
import type { Hint, ProblemCode } from '../errors.ts'
import type { Catalog, ResourceSchema } from '../fields/catalog.ts'
import { column, type Row, recordRow } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { suggestion } from '../fields/nearest.ts'
import { isExpandable } from '../records/expand.ts'
import type { Reader } from '../records/store.ts'
import type { Caller } from '../rights/visibility.ts'
import { param, type Sql, sql } from '../sql.ts'
import type { Groups } from './aggregate.ts'
import type { QueryContext, Selection } from './list-request.ts'
import { addProblem, listed } from './parameters.ts'
import { fieldNames, selectionOf } from './query.ts'
import { fieldNamed } from './resolve.ts'

export type GroupKey = {
  /** as requested: `expected_close_date:month` */
  readonly text: string
  readonly field: Field
  /** SQL of the value, over the row `r` */
  readonly sql: Sql
  /** true if the value is an id with a name */
  readonly isNamed: boolean
}

/** A number of a record, or an amount, as SQL over the row `r`. */
export type Measured = {
  readonly amount: Sql
  /** null for a number */
  readonly currency: Sql | null
  /** the amount in the base currency, from the rate of its currency; null if the caller may not see it */
  readonly inBase: ((rate: Sql) => Sql) | null
}

export type Measure =
  | { readonly text: 'count'; readonly of: null }
  | {
      /** as requested: `sum:deal_value` */
      readonly text: string
      readonly of: Measured
      readonly aggregateSql: (value: Sql) => Sql
    }

export const counting: Measure = { text: 'count', of: null }

/** Parts of records, such as the lines of a deal, that are summed up when grouped by `key`. */
export type Parts = {
  readonly key: GroupKey
  /** SQL after the records `r` that joins their parts */
  readonly join: Sql
  readonly measured: { readonly [name: string]: Measured }
}

/** A resource's additions to the sums of its fields. */
export type AggregateOptions = {
  /** null if the caller may not see the parts */
  parts(schema: ResourceSchema, catalog: Catalog): Parts | null
  readonly inBase: InBase
  /** The groups if no measures are requested, in a form of the resource's own; absent: they are counted. */
  defaultGroups?(db: Reader, caller: Caller, request: AggregateRequest): Promise<Groups>
}

/** A resource's own base value of a field's amount; undefined: that of the field. */
type InBase = (
  field: Field,
  schema: ResourceSchema,
  of: { readonly amount: Sql; readonly currency: Sql },
) => Measured['inBase'] | undefined

/** A resource without parts, whose amounts have no base value of their own. */
export const plainSums: AggregateOptions = { parts: () => null, inBase: () => undefined }

export type AggregateRequest = Selection & {
  readonly keys: readonly GroupKey[]
  /** the fields of the keys that are ids with names */
  readonly expand: readonly Field[]
  /** null: the default measures of the resource */
  readonly measures: readonly Measure[] | null
  /** set if parts of records are summed up, not records */
  readonly parts: Parts | null
}

/** Reads the parameters of sums, and adds their problems. */
export function aggregateRequestOf(context: QueryContext, options: AggregateOptions): AggregateRequest {
  const selection = selectionOf(context)
  const known = options.parts(context.schema, context.catalog)
  const grouped = namesIn('group_by', context)
  const keys = grouped === null ? [] : groupKeysOf(grouped, known ? [known.key] : [], context)
  const parts = known && keys.includes(known.key) ? known : null
  const measured = namesIn('measures', context)
  const measures =
    measured === null
      ? ofParts(parts)
      : measuresOf(measured, parts?.measured ?? null, options.inBase, context)
  const expand = keys.flatMap(({ isNamed, field }) => (isNamed ? [field] : []))
  return { ...selection, keys, expand, measures, parts }
}

/** The names in a parameter; null if it is absent. */
function namesIn(parameter: string, context: QueryContext): string[] | null {
  const { parameters, problems } = context
  const names = listed(context, parameter)
  if (names === null && parameters.get(parameter)?.length === 1)
    addProblem(problems, parameter, 'invalid_value', `${parameter} names nothing.`)
  return names
}

/** Weeks begin on Monday. */
const units = ['day', 'week', 'month', 'quarter', 'year'] as const
const keysMax = 3

/** The keys of these names; `own`: keys of the resource that are no fields. */
function groupKeysOf(names: readonly string[], own: readonly GroupKey[], context: QueryContext): GroupKey[] {
  if (names.length > keysMax) {
    addProblem(context.problems, 'group_by', 'too_many', `group_by takes at most ${keysMax} fields.`)
    return []
  }
  return names.flatMap(name => own.find(key => key.text === name) ?? groupKeyOf(name, context) ?? [])
}

function groupKeyOf(text: string, context: QueryContext): GroupKey | null {
  const { schema, catalog, problems } = context
  const [name, unit, ...more] = text.split(':') as [string, string?, ...string[]]
  const field = fieldNamed(name, 'group_by', context)
  if (!field) return null
  const refused = (code: ProblemCode, message: string, hint: Hint) => {
    addProblem(problems, 'group_by', code, message, { field: name, hint })
    return null
  }
  if (kinds[field.type].dateSql) {
    const known = units.find(one => one === unit)
    if (known && more.length === 0) return dateKey(text, field, known, catalog)
    const hint = () => suggestion(unit ?? '', units, `The units: ${units.join(', ')}.`)
    if (unit !== undefined) return refused('invalid_value', `There is no unit of time "${unit}".`, hint)
    return refused('not_groupable', `${name} needs a unit of time, such as ${name}:month.`, hint)
  }
  if (!isGroupable(field)) {
    const message = `Records can't be grouped by ${name}: it doesn't hold one id with a name.`
    const hint = `Those that can: ${fieldNames(schema, isGroupable)}; dates with a unit of time.`
    return refused('not_groupable', message, hint)
  }
  if (unit === undefined) return idKey(field, text, catalog)
  return refused('invalid_value', `${name} has no units of time.`, `Use ${name} alone.`)
}

function rowOf({ account }: Catalog): Row {
  return recordRow(param(String(account.id)))
}

/** The key of a field that groups by its id. */
export function idKey(field: Field, text: string, catalog: Catalog): GroupKey {
  return { text, field, sql: kinds[field.type].term(field, '')!.sql(rowOf(catalog)), isNamed: true }
}

/** True if sums may be grouped by a field's value: one id with a name. */
export function isGroupable(field: Field): boolean {
  return isExpandable(field) && kinds[field.type].term(field, '')?.multi === false
}

/** Groups by the first day of the unit that contains a date. */
function dateKey(text: string, field: Field, unit: (typeof units)[number], catalog: Catalog): GroupKey {
  const timeZone = param(catalog.account.time_zone)
  const day = kinds[field.type].dateSql!(field, timeZone)(rowOf(catalog))
  return { text, field, sql: sql`date_trunc(${sql.text(unit)}, (${day})::timestamp)::date`, isNamed: false }
}

const functions = {
  sum: value => sql`coalesce(sum(${value}), 0)`,
  avg: value => sql`avg(${value})`,
  min: value => sql`min(${value})`,
  max: value => sql`max(${value})`,
  // Exact: the mean of the two middle values.
  median: value => sql`(percentile_disc(0.5) WITHIN GROUP (ORDER BY ${value})
    + percentile_disc(0.5) WITHIN GROUP (ORDER BY ${value} DESC)) * 0.5`,
} as const satisfies { readonly [name: string]: (value: Sql) => Sql }

const measuresMax = 10

/**
 * The measures of these texts. `parts`: the numbers of the parts that are summed up instead of
 * records; null: records are.
 */
function measuresOf(
  texts: readonly string[],
  parts: { readonly [name: string]: Measured } | null,
  inBase: InBase,
  context: QueryContext,
): Measure[] {
  if (texts.length > measuresMax) {
    addProblem(context.problems, 'measures', 'too_many', `measures takes at most ${measuresMax}.`)
    return []
  }
  // Measures of one field share its numbers, which are then grouped by currency once.
  const known = new Map<string, Measured | null>()
  return texts.flatMap(one => {
    if (one === counting.text) return [counting]
    const [name, field = '', ...more] = one.split(':') as [string, string?, ...string[]]
    const aggregateSql = Object.hasOwn(functions, name) ? functions[name as keyof typeof functions] : null
    if (!aggregateSql || field === '' || more.length > 0) {
      const all = [counting.text, ...Object.keys(functions).map(each => `${each}:<field>`)]
      const usual = `The measures: ${all.join(', ')}.`
      const nearest = () => suggestion(name, Object.keys(functions), usual)
      const hint = aggregateSql ? usual : nearest
      addProblem(context.problems, 'measures', 'invalid_value', `There is no measure "${one}".`, { hint })
      return []
    }
    if (!known.has(field))
      known.set(field, parts ? partOf(field, parts, context) : fieldOf(field, inBase, context))
    const of = known.get(field)
    return of ? [{ text: one, of, aggregateSql }] : []
  })
}

/** The default measures of parts: the number of records, and all sums. */
function ofParts(parts: Parts | null): readonly Measure[] | null {
  if (!parts) return null
  const { sum: aggregateSql } = functions
  const sums = Object.entries(parts.measured).map(([name, of]) => ({ text: `sum:${name}`, of, aggregateSql }))
  return [counting, ...sums]
}

function partOf(
  name: string,
  parts: { readonly [name: string]: Measured },
  { problems }: QueryContext,
): Measured | null {
  if (Object.hasOwn(parts, name)) return parts[name]!
  const hint = `Those that can here: ${Object.keys(parts).join(', ')}.`
  const message = `"${name}" can't be measured in these groups.`
  addProblem(problems, 'measures', 'not_measurable', message, { field: name, hint })
  return null
}

/** The number or amount of a field that measures take; undefined: they take none. */
export function measuredOf(field: Field) {
  return field.is_of_store ? undefined : kinds[field.type].measured?.(field)
}

function fieldOf(name: string, inBase: InBase, context: QueryContext): Measured | null {
  const { schema, catalog, problems } = context
  const field = fieldNamed(name, 'measures', context)
  if (!field) return null
  const measured = measuredOf(field)
  if (!measured) {
    const message = `${name} is neither a number nor an amount.`
    addProblem(problems, 'measures', 'not_measurable', message, { field: name })
    return null
  }
  const row = rowOf(catalog)
  const amount = measured.amount(row)
  if (!measured.currency) return { amount, currency: null, inBase: null }
  const currency = measured.currency(row)
  const own = inBase(field, schema, { amount, currency })
  return { amount, currency, inBase: own === undefined ? usualInBase(field, row, amount) : own }
}

/** The stored amount in the base currency if there is one, else the amount at its currency's rate. */
function usualInBase({ in_base }: Field, row: Row, amount: Sql): Measured['inBase'] {
  if (!in_base) return rate => sql`${amount} * ${rate}`
  const kept = column(`${in_base}_value`)(row)
  return () => kept
}
