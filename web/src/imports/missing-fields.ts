/** Finds what an import lacks: answers, and required fields that it doesn't fill. Pure. */
import type { Field } from '../api/api.ts'
import type { Column, Import } from './import.ts'

type Needed = Pick<
  Field,
  'internal_name' | 'field_name' | 'is_active' | 'is_required' | 'is_read_only' | 'default_value'
>
type Given = Pick<Import, 'mapping' | 'targets' | 'defaults'>

/** The required fields with neither a column nor a value for all rows. */
export function missingFields<F extends Needed>(
  { mapping, targets, defaults }: Given,
  fields: readonly F[],
): readonly F[] {
  const required = new Set(targets.filter(({ isRequired }) => isRequired).map(({ field }) => field))
  const own = givenIn({ mapping, defaults })
  const wholeName = own.has('name') && !fields.some(({ internal_name }) => internal_name === 'name')
  return fields
    .filter(({ is_active, is_required, is_read_only }) => is_active && is_required && !is_read_only)
    .filter(({ internal_name: name }) => required.size === 0 || required.has(name))
    .filter(({ default_value }) => default_value === null || default_value === undefined)
    .filter(({ internal_name: name }) => !own.has(name) && !(wholeName && /^(first|last)_name$/.test(name)))
}

/** The labels of the missing required fields: the service would refuse each row. */
export function missingLabels(job: Given, fields: readonly Needed[]): readonly string[] {
  return missingFields(job, fields).map(({ field_name }) => field_name)
}

/** The columns that are neither mapped nor left out. */
export function unmappedColumns({ columns }: Pick<Import, 'columns'>): readonly Column[] {
  return columns.filter(({ state }) => state === 'open')
}

/** The targets of default values whose fields are gone: the service refuses the import while it has them. */
export function goneDefaults({ defaults, targets }: Given): readonly string[] {
  const there = new Set(targets.map(({ field }) => field))
  return Object.keys(defaults).filter(target => defaults[target] !== null && !there.has(target))
}

/** The label of a field that may be gone; its name if no list knows it. */
export function labelIn(target: string, fields: readonly Needed[]): string {
  return fields.find(({ internal_name }) => internal_name === target)?.field_name ?? target
}

/** Reason why an import can't begin, or undefined: it lacks an answer. */
export function unansweredIn(
  job: Given & Pick<Import, 'columns'>,
  fields: readonly Needed[],
): string | undefined {
  const open = unmappedColumns(job).map(({ name }) => name)
  if (open.length)
    return `${open.join(', ')}: map ${open.length === 1 ? 'this column' : 'these columns'} first.`
  const gone = goneDefaults(job).map(target => labelIn(target, fields))
  return gone.length ? `Leave out the default value of ${gone.join(', ')} first: it has no field.` : undefined
}

/** The currencies of amounts whose columns have numbers alone. */
export function openCurrencies({ mapping, targets }: Given): readonly string[] {
  const mapped = new Set(mapping.map(({ field }) => field))
  const wanted = [...mapped]
    .filter(field => field.endsWith('.value'))
    .map(field => `${fieldOf(field)}.currency`)
  return wanted.filter(target => !mapped.has(target) && targets.some(({ field }) => field === target))
}

/** Defaults of required fields without a column that have one option only, such as the only pipeline. */
export function onlyChoices({ mapping, targets, defaults }: Given): Import['defaults'] {
  const own = givenIn({ mapping, defaults })
  const found = targets.filter(
    ({ field, isRequired, options }) => isRequired && options?.length === 1 && !own.has(field),
  )
  return Object.fromEntries(found.map(({ field, options }) => [field, options![0]!.id]))
}

/** The fields with a column, wholly or in part, or a value for all rows. */
function givenIn({ mapping, defaults }: Pick<Given, 'mapping' | 'defaults'>): ReadonlySet<string> {
  return new Set([...mapping.map(({ field }) => field), ...Object.keys(defaults)].map(fieldOf))
}

function fieldOf(target: string): string {
  return target.split('.')[0]!
}
