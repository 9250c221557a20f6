/**
 * Problems in people's words: the service uses internal names; here fields have the labels of the loaded
 * field lists, and options their names without ids.
 */

type Problem = {
  readonly field?: string | null | undefined
  readonly path?: string | undefined
  readonly message: string
  readonly hint?: string | undefined
}
type Place = Pick<Problem, 'path' | 'field'>
type Listed = {
  readonly internal_name: string
  readonly field_name: string
  readonly related_field?: { readonly source: string } | null
}

/** resource → internal name → the field */
const lists = new Map<string, ReadonlyMap<string, Listed>>()

/** Notes the labels of a field list. */
export function rememberLabels(resource: string, fields: readonly Listed[]): void {
  lists.set(resource, new Map(fields.map(field => [field.internal_name, field])))
}

/** The label of a field; of another resource's if the resource isn't known or has none of that name. */
export function labelOf(name: string, resource?: string): string | undefined {
  const own = lists.get(resource ?? '')?.get(name)
  return (own ?? [...lists.values()].find(list => list.has(name))?.get(name))?.field_name
}

/** The label of a problem's field; that of a nested record follows the label of the field that holds it. */
function labelWithin(name: string, problem: Place, resource?: string): string | undefined {
  const outer = stepsOf(problem)[0]
  const holder = outer && outer !== name ? lists.get(resource ?? '')?.get(outer) : undefined
  const label = labelOf(name, holder?.related_field?.source ?? resource)
  return holder && label !== undefined ? `${holder.field_name}: ${label}` : label
}

/** The text of a warning, whose message does not name its field. */
export function warningText(warning: Place & { readonly message: string }, resource?: string): string {
  const name = warning.field ?? ''
  return `${labelWithin(name, warning, resource) ?? name}: ${warning.message}`
}

/** The field at the beginning of a message: `title`, `emails[0].email_value`. */
const subject = /^([a-z]\w*)((?:\.\w+|\[\d+\])*)(?= )/

/** The text of a problem with its hint, beginning with the field's label. */
export function problemText(problem: Problem, resource?: string): string {
  const found = subject.exec(problem.message)
  const message = found ? named(found, problem, resource) : problem.message
  return [message, problem.hint && withoutIds(problem.hint)].filter(Boolean).join(' ')
}

function named([whole, name = '', rest = '']: RegExpExecArray, problem: Problem, resource?: string): string {
  const after = problem.message.slice(whole.length)
  const label = labelWithin(name, problem, resource)
  return label === undefined ? problem.message : `${label}${partsOf(rest)}${after}`
}

/** The names in the path of a problem: of the fields and their members, without indexes of lists. */
export function stepsOf({ path = '', field }: Place): readonly string[] {
  const steps = path.split('/').slice(1)
  const names = steps.filter(step => !/^\d+$/.test(step))
  return names.length ? names : field ? [field] : []
}

/** `[0].email_value` → " no. 1": the member with the value itself is not named. */
function partsOf(rest: string): string {
  return rest
    .replace(/\.(?:value|email_value|phone_number)$/, '')
    .replace(/\[(\d+)\]/g, (_, index) => ` no. ${Number(index) + 1}`)
    .replace(/\.(\w+)/g, (_, member) => `, ${member.replaceAll('_', ' ')}`)
}

/** "Options: 1024 Price, 1025 Timing." → "Options: Price, Timing." */
function withoutIds(hint: string): string {
  return /^[A-Z][a-z ]+: \d+ \S/.test(hint) ? hint.replace(/(^[A-Z][a-z ]+: |, )\d+ (?=\S)/g, '$1') : hint
}
