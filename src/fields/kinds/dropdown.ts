/** DROPDOWN: one option, stored as its id, sent as id or name (D10). */
import { isRawNumber, type Json } from '../../json.ts'
import { sql } from '../../sql.ts'
import { memoize } from '../../waiting/memoize.ts'
import type { Expression } from '../columns.ts'
import type { Field, Kind, Option, ParseContext, Schemas } from '../field.ts'
import { comparedName } from '../name.ts'
import { suggestion } from '../nearest.ts'
import { equality, type OperandProblem, type Order } from '../term.ts'
import { simpleKind } from './simple.ts'

const option = simpleKind({
  column: 'bigint',
  type: 'bigint',
  operators: equality,
  parse: (input, context, current) => checkedOption(input, context, current === null ? [] : [current]),
  schema: optionSchemas,
  operand: (value, field) => optionOperand(value, field),
  order: optionOrder,
})

export const dropdown: Kind = { ...option, hasOptions: true }

/**
 * The id of the option that `input` names; undefined after a problem. An inactive option is refused unless
 * the record already has it. `hint`: that for an unknown option; default: the options.
 */
export function checkedOption(
  input: Json,
  context: ParseContext,
  stored: readonly Json[],
  at = '',
  hint?: () => string,
): number | undefined {
  const { options } = context.field
  const accepted = (option: Option) => option.is_active || stored.includes(option.id)
  const value = yesOrNo(input, options)
  if (typeof value !== 'number' && typeof value !== 'string') {
    return context.problem('wrong_type', 'must be the id (number) or the name (string) of an option', { at })
  }
  const isNear = nearness(context)
  const option = findOption(value, options, choice => accepted(choice) && isNear(choice))
  if (!option) {
    return context.problem('unknown_option', `is ${JSON.stringify(value)}, but there is no such option`, {
      at,
      hint: hint ?? (() => optionHint(String(value), options)),
    })
  }
  if (!accepted(option)) {
    return context.problem('inactive_option', `is the option "${option.name}", which is no longer in use`, {
      at,
      hint: () => optionHint('', options),
    })
  }
  // A pipeline or a stage is a record, which a concurrent request may be deleting.
  if (context.field.related) context.reference(context.field.related, option.id, at)
  return option.id
}

/**
 * The ids of the options, also inactive ones that a record may have; or a name in any spelling. Without
 * options, only the type of ids is known.
 */
export function optionSchemas({ options, related }: Field): Schemas {
  const sent = 'An option: its id or its name.'
  if (options.length === 0)
    return { input: { type: ['integer', 'string'], description: sent }, output: { type: 'integer' } }
  const description = options.map(({ id, name }) => `${id} ${name}`).join(', ')
  const ids = { type: 'integer', enum: options.map(({ id }) => id), description }
  const yesAndNo = [true, false].filter(value => typeof yesOrNo(value, options) === 'number')
  const input = [ids, { type: 'string' }, ...(yesAndNo.length ? [{ enum: yesAndNo }] : [])]
  // A record may still have a related record that was deleted.
  return { input: { anyOf: input, description: sent }, output: related === null ? ids : { type: 'integer' } }
}

/** Options preferred among those of the same name: the stages of the record's own pipeline. */
function nearness({
  field: { within, resource },
  beside,
  catalog,
}: ParseContext): (option: Option) => boolean {
  const value = within === null ? null : beside(within)
  if (typeof value !== 'number' && typeof value !== 'string') return () => true
  const outer = findOption(value, catalog.resources.get(resource)!.byName.get(within!)!.options)
  return option => option.within === outer?.id
}

type Choice = { readonly id: number; readonly name: string }

/**
 * The choices of a list by their ids, and by their compared names. Computed once for each list, because many
 * records are checked against it.
 */
const idsOf = memoize(
  (options: readonly Choice[]): ReadonlyMap<number, Choice> =>
    new Map(options.map(option => [option.id, option])),
)
const namesOf = memoize(
  (options: readonly Choice[]): ReadonlyMap<string, readonly Choice[]> =>
    Map.groupBy(options, option => comparedName(option.name)),
)

/**
 * The option that a request names (D10). A number is an id. A string is a name in any spelling; if no option
 * has that name and it is all digits, it is an id. Among options of one name, an accepted one takes
 * precedence.
 */
export function findOption<O extends Choice>(
  value: number | string,
  options: readonly O[],
  accepted: (option: O) => boolean = () => true,
): O | undefined {
  if (typeof value === 'number') return withId(value, options)
  const name = comparedName(value)
  const named = byName(options).get(name)
  if (named) return named.find(accepted) ?? named[0]
  return /^\d{1,15}$/.test(name) ? withId(Number(name), options) : undefined
}

function withId<O extends Choice>(id: number, options: readonly O[]): O | undefined {
  return idsOf(options).get(id) as O | undefined
}

function byName<O extends Choice>(options: readonly O[]): ReadonlyMap<string, readonly O[]> {
  return namesOf(options) as ReadonlyMap<string, readonly O[]>
}

/** The id that a text writes as the service does, if it is that of an option; else undefined. */
export function writtenId(text: string, options: readonly Choice[]): number | undefined {
  return String(Number(text)) === text ? withId(Number(text), options)?.id : undefined
}

/**
 * The text of an operand → the option of that id, as stored filters say it (D130); if there is none, the ids
 * of all options of that name, because every pipeline may have its "Won" (D57).
 */
export function optionOperand(
  text: string,
  { internal_name, options }: Field,
): readonly string[] | OperandProblem {
  const name = comparedName(text)
  if (writtenId(name, options) !== undefined) return [name]
  const isYes = yesOrNo(booleans.get(name) ?? null, options)
  const found =
    byName(options).get(name) ??
    [findOption(typeof isYes === 'number' ? isYes : text, options)].filter(option => option !== undefined)
  if (found.length) return found.map(({ id }) => String(id))
  return { message: `${internal_name} has no option "${text}"`, hint: () => optionHint(text, options) }
}

/**
 * Options sort by their position (D29), and a value that is no longer an option comes last, such as the
 * deleted stage of a deleted deal. Mostly the ids of the options are in that order, too: then records that
 * are not deleted sort by the option's id alone.
 */
function optionOrder(column: Expression, { options, is_filled: isFilled }: Field): Order {
  const values = options.map(option => option.id)
  // Ids of the catalog are numbers, so they may stand in the text of a statement.
  const all = sql.text(`{${values.join(',')}}`)
  const ranked: Order = {
    sql: row => sql`array_position(${all}::bigint[], ${column(row)}::bigint)`,
    type: 'bigint',
    ranked: { column, values },
  }
  const isById = values.every((id, index) => index === 0 || id > values[index - 1]!)
  return isById ? { ...ranked, ofLive: { sql: column, type: 'bigint', isFilled } } : ranked
}

/** A sentence with the ids and names of the choices, ten at most. */
export function choiceHint(
  what: string,
  all: readonly { readonly id: number; readonly name: string }[],
): string {
  // Blanks around or inside a name are insignificant (D127), and would break the sentence.
  const shown = all.slice(0, 10).map(({ id, name }) => `${id} ${name.trim().replace(/\s+/g, ' ')}`)
  const list = `${what}: ${shown.join(', ')}${all.length > 10 ? ', …' : ''}`
  // A name may end with a full stop.
  return list.replace(/\.?$/, '.')
}

export function optionHint(text: string, options: readonly Option[]): string {
  const active = options.filter(option => option.is_active)
  const all = active.length ? choiceHint('Options', active) : 'The field has no options yet.'
  const names = active.map(option => option.name)
  return suggestion(text, names, all)
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

/** true and false mean Yes and No if these are the options (D26). No option has an id beyond 2^53. */
function yesOrNo(input: Json, options: readonly Option[]): Json {
  if (typeof input === 'boolean')
    return options.find(option => option.name === (input ? 'Yes' : 'No'))?.id ?? input
  return isRawNumber(input) ? input.rawJSON : input
}
