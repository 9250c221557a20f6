/** An import as it is answered: the job, and how its file becomes records (D80). Pure. */
import type { Catalog } from '../fields/catalog.ts'
import { type Job, jobJson, type Refused } from '../jobs/job.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { type Choice, targetsOf, valuesToMap } from './guess.ts'
import { planOf } from './plan.ts'
import { importedFields } from './step.ts'

/** The rows of a file that were refused, each with its line, which its problems have. */
export function withLines({ phase }: Job, refused: readonly Refused[]): readonly Refused[] {
  if (phase === 'revert') return refused
  const lineOf = ([first]: readonly Json[]) => (isObject(first) ? (first.line as number | undefined) : null)
  return refused.map(one => ({ ...one, line: lineOf(one.problems) ?? null }))
}

/** `people`: the users that texts of the file may mean. */
export function importJson(
  job: Job,
  problems: readonly Refused[],
  catalog: Catalog,
  people: readonly Choice[],
): JsonObject {
  const { format, mapping = [], values = {}, defaults = {}, formats = {}, duplicates } = planOf(job)
  const resource = catalog.resources.get(job.resource)
  const fields = resource && importedFields(resource)
  const columns = job.columns ?? []
  const texts = new Map(
    columns.flatMap(({ texts }, column) => (texts ? [[column, texts as string[]] as const] : [])),
  )
  return {
    ...jobJson(job, problems),
    format,
    columns: columns.map(({ name, samples }) => ({ name: name!, samples: samples! })),
    mapping: mapping as never,
    values: values as never,
    defaults,
    formats: formats as never,
    duplicates: (duplicates ?? null) as never,
    targets: (fields ? targetsOf(catalog, fields) : []) as never,
    values_to_map: (fields ? valuesToMap(catalog, fields, mapping, texts, people) : []) as never,
  }
}
