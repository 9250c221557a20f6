/**
 * Measures of sums (D85): the number of records, and sums, averages, medians and bounds of their numbers and
 * amounts. Knows no resource and no statement.
 */
import type { ResourceSchema } from '../fields/catalog.ts'
import { column, recordRow } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { suggestion } from '../fields/nearest.ts'
import { unknownFieldHint } from '../fields/unknown-field.ts'
import { type Sql, sql } from '../sql.ts'
import type { ResolveContext } from './operands.ts'
import { addProblem } from './parameters.ts'

/** A number of a record, or an amount, as SQL over the row `r`. */
export type Measured = {
  readonly amount: Sql
  /** null for a number */
  readonly currency: Sql | null
  /** the amount in the base currency, from the rate of its currency; null if the caller may not see it */
  readonly inBase: ((rate: Sql) => Sql) | null
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

export type Measure =
  | { readonly text: 'count'; readonly of: null }
  | {
      /** as requested: `sum:deal_value` */
      readonly text: string
      readonly of: Measured
      readonly fold: (value: Sql) => Sql
    }

export const counting: Measure = { text: 'count', of: null }

const measuresMax = 10

/** A resource's own base value of a field's amount; undefined: that of the field. */
export type InBase = (
  field: Field,
  schema: ResourceSchema,
  of: { readonly amount: Sql; readonly currency: Sql },
) => Measured['inBase'] | undefined

/**
 * The measures that a parameter names. `parts`: the numbers of the parts that are summed up instead of
 * records; null: records are.
 */
export function measuresOf(
  text: string,
  parts: { readonly [name: string]: Measured } | null,
  inBase: InBase,
  context: ResolveContext,
): Measure[] {
  const texts = [...new Set(text.split(',').map(name => name.trim()))]
  if (texts.length > measuresMax) {
    addProblem(context.problems, 'measures', 'too_many', `measures takes at most ${measuresMax}.`)
    return []
  }
  // Measures of one field share its numbers, which are then grouped by currency once.
  const known = new Map<string, Measured | null>()
  return texts.flatMap(one => {
    if (one === counting.text) return [counting]
    const [name, field = '', ...more] = one.split(':') as [string, string?, ...string[]]
    const fold = Object.hasOwn(functions, name) ? functions[name as keyof typeof functions] : null
    if (!fold || field === '' || more.length > 0) {
      const all = [counting.text, ...Object.keys(functions).map(each => `${each}:<field>`)]
      const hint = () => suggestion(name, Object.keys(functions), `The measures: ${all.join(', ')}.`)
      addProblem(context.problems, 'measures', 'invalid_value', `There is no measure "${one}".`, { hint })
      return []
    }
    if (!known.has(field))
      known.set(field, parts ? partOf(field, parts, context) : fieldOf(field, inBase, context))
    const of = known.get(field)
    return of ? [{ text: one, of, fold }] : []
  })
}

/** A default measure: a sum. */
export function sumOf(name: string, of: Measured): Measure {
  return { text: `sum:${name}`, of, fold: functions.sum }
}

function partOf(
  name: string,
  parts: { readonly [name: string]: Measured },
  { problems }: ResolveContext,
): Measured | null {
  if (Object.hasOwn(parts, name)) return parts[name]!
  const hint = `Those that can here: ${Object.keys(parts).join(', ')}.`
  const message = `"${name}" can't be measured in these groups.`
  addProblem(problems, 'measures', 'not_measurable', message, { field: name, hint })
  return null
}

function fieldOf(name: string, inBase: InBase, { schema, problems }: ResolveContext): Measured | null {
  const field = schema.byName.get(name)
  if (!field?.is_active || field.is_hidden) {
    const hint = () => unknownFieldHint(name, schema)
    addProblem(problems, 'measures', 'unknown_field', `There is no field "${name}".`, { field: name, hint })
    return null
  }
  const measured = field.is_of_store ? undefined : kinds[field.type].measured?.(field)
  if (!measured) {
    const message = `${name} is neither a number nor an amount.`
    addProblem(problems, 'measures', 'not_measurable', message, { field: name })
    return null
  }
  const amount = measured.amount(recordRow)
  if (!measured.currency) return { amount, currency: null, inBase: null }
  const currency = measured.currency(recordRow)
  const own = inBase(field, schema, { amount, currency })
  return { amount, currency, inBase: own === undefined ? usualInBase(field, amount) : own }
}

/** The stored amount in the base currency if there is one, else the amount at its currency's rate. */
function usualInBase({ in_base }: Field, amount: Sql): Measured['inBase'] {
  if (!in_base) return rate => sql`${amount} * ${rate}`
  const kept = column(`${in_base}_value`)(recordRow)
  return () => kept
}
