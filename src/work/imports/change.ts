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
  const wrong = (path: string, code: ProblemCode, message: string) =>
    problems.add(() => problemAt(path, code, message))
  if (!isObject(body)) {
    wrong('', 'wrong_type', 'The body must be an object.')
    throw new Refusal('validation_failed', 'The import was not changed.', problems)
  }
  refuseUnknown(body, planMembers, '', wrong)
  const targets = new Set(targetsOf(catalog, schema).map(({ field }) => field))
  const before = withoutGone(planOf(job), targets)
  const { mapping, confirm = false, values, defaults, duplicates, formats } = body
  if (typeof confirm !== 'boolean') wrong('/confirm', 'wrong_type', 'confirm must be true or false.')
  const judged = (sent: Json) =>
    judgedDefaults(withoutRemoved(sent, before.defaults), schema, catalog, names, problems)
  const plan = {
    ...before,
    ...(mapping === undefined ? {} : mappingOf(mapping, job, before, targets, wrong)),
    ...(values === undefined
      ? {}
      : { values: merged(before.values, valuesOf(values, targets, wrong), values) }),
    ...(defaults === undefined ? {} : { defaults: merged(before.defaults, judged(defaults), defaults) }),
    ...(duplicates === undefined
      ? {}
      : { duplicates: duplicatesOf(duplicates, before.duplicates, schema, wrong) }),
    ...(formats === undefined ? {} : { formats: formatsOf(formats, before.formats, wrong) }),
  }
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

function refuseUnknown(sent: Json, known: readonly string[], path: string, addProblem: AddProblem): void {
  if (!isObject(sent)) return
  for (const name of Object.keys(sent).filter(one => !known.includes(one)))
    addProblem(
      `${path}/${pointerStep(name)}`,
      'unknown_field',
      `There is no member "${name}". There are: ${known.join(', ')}.`,
    )
}

/**
 * The new mapping. Columns that are missing from it are left out; an open column stays open until it is in
 * it. Null restores the guess.
 */
function mappingOf(
  sent: Json,
  job: Job,
  { guess, unmapped: before = [] }: ImportPlan,
  targets: ReadonlySet<string>,
  addProblem: AddProblem,
): Pick<ImportPlan, 'mapping' | 'unmapped'> {
  if (sent === null && guess) return withoutGone(guess, targets)
  if (!Array.isArray(sent)) {
    addProblem('/mapping', 'wrong_type', 'mapping must be a list of objects with column and field.')
    return { mapping: [] }
  }
  if (sent.length > columnsMax) {
    addProblem('/mapping', 'too_many', `mapping must have at most ${columnsMax} entries.`)
    return { mapping: [] }
  }
  const named = new Set(sent.map(one => (isObject(one) ? one.column : null)))
  const mapping = sent.flatMap((one, index) => {
    const { column, field } = isObject(one) ? one : {}
    const path = `/mapping/${index}`
    refuseUnknown(one, ['column', 'field'], path, addProblem)
    const isColumn =
      typeof column === 'number' && Number.isInteger(column) && job.columns?.[column] !== undefined
    if (!isColumn)
      addProblem(`${path}/column`, 'invalid_value', 'column must be the number of a column, from 0.')
    if (field === null) return []
    if (typeof field !== 'string' || !targets.has(field)) {
      addProblem(`${path}/field`, 'unknown_field', 'field must be one of the targets of the import, or null.')
      return []
    }
    return isColumn ? [{ column, field }] : []
  })
  const doubles = mapping.filter(
    ({ field }, index) => mapping.findIndex(one => one.field === field) !== index,
  )
  for (const { field } of doubles)
    addProblem('/mapping', 'contradiction', `Two columns are mapped to ${field}.`)
  const unmapped = before.filter(({ column }) => !named.has(column))
  return { mapping, unmapped }
}

function valuesOf(sent: Json, targets: ReadonlySet<string>, addProblem: AddProblem): ImportPlan['values'] {
  if (isObject(sent) && Object.values(sent).every(isObject)) {
    for (const field of Object.keys(sent).filter(one => !targets.has(one)))
      addProblem(
        `/values/${pointerStep(field)}`,
        'unknown_field',
        `${field} is none of the targets of the import.`,
      )
    for (const [field, chosen] of Object.entries(sent as { [field: string]: JsonObject }))
      for (const [text, value] of Object.entries(chosen))
        if (![field, text, value].every(isChoice))
          addProblem(
            `/values/${pointerStep(field)}/${pointerStep(text)}`,
            'invalid_value',
            'A text stands for a text, a whole number, true, false or null; texts have no NUL or half a pair.',
          )
    return sent as unknown as ImportPlan['values']
  }
  addProblem(
    '/values',
    'wrong_type',
    'values must have an object for each field, from text to what it stands for.',
  )
  return {}
}

/** True if a value can name an option or a record: a name or an id. */
function isChoice(value: Json): boolean {
  if (typeof value === 'string') return isStorable(value)
  return value === null || typeof value === 'boolean' || Number.isSafeInteger(value)
}

function duplicatesOf(
  sent: Json,
  before: ImportPlan['duplicates'],
  schema: ResourceSchema,
  addProblem: AddProblem,
): ImportPlan['duplicates'] {
  if (!isObject(sent))
    addProblem('/duplicates', 'wrong_type', 'duplicates must be an object with by and action.')
  refuseUnknown(sent, ['by', 'action'], '/duplicates', addProblem)
  const { by = before.by, action = before.action } = isObject(sent) ? sent : {}
  const field = typeof by === 'string' ? shownField(schema, by) : null
  const isUsable = field?.is_unique && !field.is_read_only
  if (by !== null && !isUsable)
    addProblem('/duplicates/by', 'invalid_value', 'by must be a unique field that you may write, or null.')
  const known = actions.find(one => one === action)
  if (!known)
    addProblem('/duplicates/action', 'invalid_value', `action must be one of ${actions.join(', ')}.`)
  if (by === null && known && known !== 'create')
    addProblem('/duplicates/by', 'required', `by must name the unique field by which to ${known}.`)
  return { by: field?.internal_name ?? null, action: known ?? 'create' }
}

function formatsOf(sent: Json, before: ImportPlan['formats'], addProblem: AddProblem): ImportPlan['formats'] {
  if (!isObject(sent))
    addProblem('/formats', 'wrong_type', 'formats must be an object with date and decimal.')
  refuseUnknown(sent, ['date', 'decimal'], '/formats', addProblem)
  const { date = before.date ?? null, decimal = before.decimal ?? null } = isObject(sent) ? sent : {}
  const order = dateOrders.find(one => one === date)
  const mark = (['.', ','] as const).find(one => one === decimal)
  if (date !== null && !order)
    addProblem('/formats/date', 'invalid_value', `date must be one of ${dateOrders.join(', ')}.`)
  if (decimal !== null && !mark)
    addProblem('/formats/decimal', 'invalid_value', 'decimal must be . or a comma.')
  // `unclear` describes the file, so a chosen format doesn't change it.
  const { unclear } = before
  return {
    ...(order ? { date: order } : {}),
    ...(mark ? { decimal: mark } : {}),
    ...(unclear ? { unclear } : {}),
  }
}
