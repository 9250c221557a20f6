/** Import as JSON: the job, and how its file becomes records (D80). Pure. */
import { type Problem, problemAt, Refusal } from '../../errors.ts'
import type { Catalog, ResourceSchema } from '../../fields/catalog.ts'
import { isObject, type Json, type JsonObject, pointerStep } from '../../json.ts'
import { isAboutHidden } from '../../records/write/response.ts'
import { type Job, jobJson, type Refused } from '../jobs/job.ts'
import { columnStates, columnsJson, openColumns, withoutGone } from './columns.ts'
import { labelsOf, targetsOf } from './guess.ts'
import { canTell, goneDefaults, goneTarget, type ImportPlan, planOf, untold } from './plan.ts'
import { importedSchema } from './step.ts'
import { type Choices, valuesToMap } from './values.ts'

/** The refused rows of a file, each with its line, which is in its problems. */
export function withLines({ phase }: Job, refused: readonly Refused[]): readonly Refused[] {
  if (phase === 'revert') return refused
  const lineOf = ([first]: readonly Json[]) => (isObject(first) ? (first.line as number | undefined) : null)
  return refused.map(one => ({ ...one, line: lineOf(one.problems) ?? null }))
}

/** `choices`: the records that texts of the file may mean. */
export function importJson(
  job: Job,
  problems: readonly Refused[],
  catalog: Catalog,
  choices: Choices,
): JsonObject {
  const schema = importedSchema(catalog.resources.get(job.resource)!)
  const plan = planFor(job, schema, catalog)
  const { format, source = {}, mapping, values, defaults, formats, duplicates } = plan
  const columns = job.columns ?? []
  const texts = new Map(
    columns.flatMap(({ texts }, column) => (texts ? [[column, texts as string[]] as const] : [])),
  )
  return {
    ...jobJson(job, problems),
    ...{ format, source },
    columns: columnsJson(job, columnStates(job, plan, labelsOf(catalog, schema))),
    ...{ mapping, values, defaults, formats, duplicates },
    targets: targetsOf(catalog, schema),
    values_to_map: valuesToMap(catalog, schema, mapping, texts, choices),
  } as unknown as JsonObject
}

/**
 * Throws `validation_failed` if columns are open, or fields of values for all rows are gone, with a problem
 * for each, or if rows can't be matched by the field of the plan.
 */
export function requireAnswers(job: Job, catalog: Catalog): void {
  const schema = importedSchema(catalog.resources.get(job.resource)!)
  const plan = planFor(job, schema, catalog)
  const labels = labelsOf(catalog, schema)
  const open = openColumns(columnStates(job, plan, labels))
  const isTold = canTell(schema, plan.duplicates)
  const others = isTold ? [] : [problemAt('/duplicates/by', 'invalid_value', untold)]
  const problems = [...open, ...goneDefaults(planOf(job), labels).map(goneValue(plan)), ...others]
  const columns = open.length ? 'Say first what the columns become.' : goneTarget.value
  if (problems.length) throw new Refusal('validation_failed', isTold ? columns : untold, problems)
}

/** The problem of a value for all rows whose field is gone. `shown`: the plan as the role sees it. */
function goneValue(shown: ImportPlan): (target: string) => Problem {
  return target => {
    // A field that the role hides is not named (D64).
    const isNamed = Object.hasOwn(shown.defaults ?? {}, target)
    const path = isNamed ? `/defaults/${pointerStep(target)}` : '/defaults'
    const message = isNamed
      ? `There is no ${target} any more, of which all rows get a value.`
      : goneTarget.value
    const hint = isNamed
      ? `Send defaults with {${JSON.stringify(target)}: null} to leave it out.`
      : 'Upload the file again, or ask an administrator to leave the value out.'
    return { ...problemAt(path, 'unknown_field', message), hint }
  }
}

/** The plan of an import without the fields that the role no longer sees (D64). */
function planFor(job: Job, schema: ResourceSchema, catalog: Catalog): ImportPlan {
  // An import that has begun has had its answers.
  const isAsked = job.state === 'waiting'
  const targets = labelsOf(catalog, schema)
  const { duplicates, ...plan } = isAsked ? withoutGone(planOf(job), targets) : planOf(job)
  const isVisible = (target: string) =>
    !isAboutHidden(schema, catalog, { field: null, path: `/${target.replaceAll('.', '/')}` })
  const visibleOnly = <T>(by: { readonly [target: string]: T }) =>
    Object.fromEntries(Object.entries(by).filter(([target]) => isVisible(target)))
  const { by, action } = duplicates
  return {
    ...plan,
    mapping: plan.mapping.filter(({ field }) => isVisible(field)),
    unmapped: (plan.unmapped ?? []).map(one =>
      one.field !== null && isVisible(one.field) ? one : { ...one, field: null },
    ),
    values: visibleOnly(plan.values),
    defaults: visibleOnly(plan.defaults ?? {}),
    duplicates: { by: by !== null && isVisible(by) ? by : null, action },
  }
}
