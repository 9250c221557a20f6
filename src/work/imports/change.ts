/** Changes of the plan of an import (D80). Pure: reports every problem of a change. */
import { type ProblemCode, Problems, problemAt, Refusal } from '../../errors.ts'
import { isBlank } from '../../fields/blank.ts'
import { type Catalog, type ResourceSchema, shownField } from '../../fields/catalog.ts'
import { isStorable } from '../../fields/code-points.ts'
import { columnsMax } from '../../files/read-limits.ts'
import { dateOrders } from '../../files/texts.ts'
import { isObject, type Json, type JsonObject, pointerStep } from '../../json.ts'
import { NameLookup } from '../../records/name-lookup.ts'
import type { Job } from '../jobs/job.ts'
import { confirmed, withoutGone } from './columns.ts'
import { judgedDefaults } from './defaults.ts'
import { targetsOf } from './guess.ts'
import { actions, type ImportPlan, planOf } from './plan.ts'

/** Maximum length, as JSON, of what the texts of a file stand for, of all fields together: that of a body. */
const valuesMax = 1_048_576

/** Members of a plan that can be changed. */
export const planMembers = ['mapping', 'confirm', 'values', 'defaults', 'duplicates', 'formats']

/**
 * The plan with the changes of the body. Throws `validation_failed` with every problem. `names`: those that
 * the values for all rows may contain.
 */
export function changedPlan(
  job: Job,
  body: Json,
  schema: ResourceSchema,
  catalog: Catalog,
  names: NameLookup = new NameLookup(),
): ImportPlan {
  const problems = new Problems()
  const wrong: AddProblem = (path, code, message) => problems.add(() => problemAt(path, code, message))
  if (!isObject(body)) {
    wrong('', 'wrong_type', 'The body must be an object.')
    throw new Refusal('validation_failed', 'The import was not changed.', problems)
  }
  refuseUnknown(body, planMembers, '', wrong)
  const targets = new Set(targetsOf(catalog, schema).map(({ field }) => field))
  const before = withoutGone(planOf(job), targets)
  const { mapping, confirm = false, values, defaults, duplicates, formats } = body
  if (typeof confirm !== 'boolean') wrong('/confirm', 'wrong_type', 'confirm must be true or false.')
  const change: Change = { job, schema, before, targets, wrong }
  const judged = (sent: Json) =>
    judgedDefaults(withoutRemoved(sent, before.defaults), schema, catalog, names, problems)
  const plan = {
    ...before,
    ...(mapping !== undefined && mappingOf(mapping, change)),
    ...(values !== undefined && { values: merged(before.values, valuesOf(values, change), values) }),
    ...(defaults !== undefined && { defaults: merged(before.defaults, judged(defaults), defaults) }),
    ...(duplicates !== undefined && { duplicates: duplicatesOf(duplicates, change) }),
    ...(formats !== undefined && { formats: formatsOf(formats, change) }),
  }
  if (values !== undefined && JSON.stringify(plan.values).length > valuesMax)
    wrong('/values', 'too_long', `values have at most ${valuesMax} characters in all, as JSON.`)
  if (problems.count) throw new Refusal('validation_failed', 'The import was not changed.', problems)
  return confirm ? confirmed(plan) : plan
}

/** The values for all rows without those that go: their fields may be gone, too. */
function withoutRemoved(sent: Json, before: ImportPlan['defaults'] = {}): Json {
  if (!isObject(sent)) return sent
  const kept = Object.entries(sent).filter(([name, value]) => !isBlank(value) || !Object.hasOwn(before, name))
  return Object.fromEntries(kept)
}

/** Merges like PATCH: members that are not sent stay. `judged`: the valid ones of those sent. */
function merged<T>(
  before: { readonly [name: string]: T } = {},
  judged: { readonly [name: string]: T },
  sent: Json,
): { readonly [name: string]: T } {
  const kept = Object.entries(before).filter(([name]) => !isObject(sent) || !Object.hasOwn(sent, name))
  return { ...Object.fromEntries(kept), ...judged }
}

type AddProblem = (path: string, code: ProblemCode, message: string) => void

/** A change of the plan `before`. */
type Change = {
  readonly job: Job
  readonly schema: ResourceSchema
  readonly before: ImportPlan
  readonly targets: ReadonlySet<string>
  readonly wrong: AddProblem
}

function refuseUnknown(sent: Json, known: readonly string[], path: string, wrong: AddProblem): void {
  if (!isObject(sent)) return
  for (const name of Object.keys(sent).filter(one => !known.includes(one))) {
    const message = `There is no member "${name}". There are: ${known.join(', ')}.`
    wrong(`${path}/${pointerStep(name)}`, 'unknown_field', message)
  }
}

/**
 * The new mapping. Columns that are missing from it are left out; an open column stays open until it is in
 * it. Null restores the guess.
 */
function mappingOf(sent: Json, change: Change): Pick<ImportPlan, 'mapping' | 'unmapped'> {
  const { job, before, targets, wrong } = change
  if (sent === null && before.guess) return withoutGone(before.guess, targets)
  if (!Array.isArray(sent)) {
    wrong('/mapping', 'wrong_type', 'mapping must be a list of objects with column and field.')
    return { mapping: [] }
  }
  if (sent.length > columnsMax) {
    wrong('/mapping', 'too_many', `mapping must have at most ${columnsMax} entries.`)
    return { mapping: [] }
  }
  const named = new Set(sent.map(one => (isObject(one) ? one.column : null)))
  const mapping = sent.flatMap((one, index) => {
    const { column, field } = isObject(one) ? one : {}
    const path = `/mapping/${index}`
    refuseUnknown(one, ['column', 'field'], path, wrong)
    const isColumn =
      typeof column === 'number' && Number.isInteger(column) && job.columns?.[column] !== undefined
    if (!isColumn) wrong(`${path}/column`, 'invalid_value', 'column must be the number of a column, from 0.')
    if (field === null) return []
    if (typeof field !== 'string' || !targets.has(field)) {
      wrong(`${path}/field`, 'unknown_field', 'field must be one of the targets of the import, or null.')
      return []
    }
    return isColumn ? [{ column, field }] : []
  })
  const doubles = mapping.filter(
    ({ field }, index) => mapping.findIndex(one => one.field === field) !== index,
  )
  for (const { field } of doubles) wrong('/mapping', 'contradiction', `Two columns are mapped to ${field}.`)
  const unmapped = (before.unmapped ?? []).filter(({ column }) => !named.has(column))
  return { mapping, unmapped }
}

function valuesOf(sent: Json, { targets, wrong }: Change): ImportPlan['values'] {
  if (!isObject(sent) || !Object.values(sent).every(isObject)) {
    const message = 'values must have an object for each field, from text to what it stands for.'
    wrong('/values', 'wrong_type', message)
    return {}
  }
  const pathOf = (field: string) => `/values/${pointerStep(field)}`
  for (const field of Object.keys(sent).filter(one => !targets.has(one)))
    wrong(pathOf(field), 'unknown_field', `${field} is none of the targets of the import.`)
  for (const [field, chosen] of Object.entries(sent as { [field: string]: JsonObject }))
    for (const [text, value] of Object.entries(chosen))
      if (![field, text, value].every(isChoice))
        wrong(`${pathOf(field)}/${pointerStep(text)}`, 'invalid_value', choiceMessage)
  return sent as unknown as ImportPlan['values']
}

const choiceMessage =
  'A text stands for a text, a whole number, true, false or null; texts have no NUL or half a pair.'

/** True if a value can name an option or a record: a name or an id. */
function isChoice(value: Json): boolean {
  if (typeof value === 'string') return isStorable(value)
  return value === null || typeof value === 'boolean' || Number.isSafeInteger(value)
}

function duplicatesOf(sent: Json, { schema, before, wrong }: Change): ImportPlan['duplicates'] {
  if (!isObject(sent)) wrong('/duplicates', 'wrong_type', 'duplicates must be an object with by and action.')
  refuseUnknown(sent, ['by', 'action'], '/duplicates', wrong)
  const { by, action } = { ...before.duplicates, ...(isObject(sent) && sent) }
  const field = typeof by === 'string' ? shownField(schema, by) : null
  const isUsable = field?.is_unique && !field.is_read_only
  if (by !== null && !isUsable)
    wrong('/duplicates/by', 'invalid_value', 'by must be a unique field that you may write, or null.')
  const known = actions.find(one => one === action)
  if (!known) wrong('/duplicates/action', 'invalid_value', `action must be one of ${actions.join(', ')}.`)
  if (by === null && known && known !== 'create')
    wrong('/duplicates/by', 'required', `by must name the unique field by which to ${known}.`)
  return { by: field?.internal_name ?? null, action: known ?? 'create' }
}

function formatsOf(sent: Json, { before: { formats: before }, wrong }: Change): ImportPlan['formats'] {
  if (!isObject(sent)) wrong('/formats', 'wrong_type', 'formats must be an object with date and decimal.')
  refuseUnknown(sent, ['date', 'decimal'], '/formats', wrong)
  const { date = before.date ?? null, decimal = before.decimal ?? null } = isObject(sent) ? sent : {}
  const order = dateOrders.find(one => one === date)
  const mark = (['.', ','] as const).find(one => one === decimal)
  if (date !== null && !order)
    wrong('/formats/date', 'invalid_value', `date must be one of ${dateOrders.join(', ')}.`)
  if (decimal !== null && !mark) wrong('/formats/decimal', 'invalid_value', 'decimal must be . or a comma.')
  // `unclear` describes the file, so a chosen format doesn't change it.
  const { unclear } = before
  return {
    ...(order ? { date: order } : {}),
    ...(mark ? { decimal: mark } : {}),
    ...(unclear ? { unclear } : {}),
  }
}
