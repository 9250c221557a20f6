/** The options of `dealwright import` for the columns of a file, and their output. */
import type { Catalog, ResourceSchema } from '../fields/catalog.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../json.ts'
import { changedPlan, planMembers } from '../work/imports/change.ts'
import { type ColumnState, columnStates } from '../work/imports/columns.ts'
import { labelsOf } from '../work/imports/guess.ts'
import { type ImportPlan, planOf } from '../work/imports/plan.ts'
import type { Job } from '../work/jobs/job.ts'
import { type CommandArguments, CommandRefusal } from './command.ts'
import { printableText } from './printable.ts'

/** The plan with the options applied: a map, the columns to leave out, and yes to all guesses. */
export function plannedBy(
  args: CommandArguments,
  job: Job,
  schema: ResourceSchema,
  catalog: Catalog,
): ImportPlan {
  const planned = (plan: ImportPlan, body: JsonObject) =>
    changedPlan({ ...job, plan: plan as unknown as JsonObject }, body, schema, catalog)
  let plan = planOf(job)
  if (args.map !== undefined) plan = planned(plan, mapOf(args.map, job))
  const names = args['leave-out']?.split('\0') ?? []
  if (names.length) {
    const out = names.map(name => columnOf(name, job))
    const kept = plan.mapping.filter(({ column }) => !out.includes(column))
    plan = planned(plan, { mapping: [...kept, ...out.map(column => ({ column, field: null }))] })
  }
  return args.yes === undefined ? plan : planned(plan, { confirm: true })
}

export function statesOf(job: Job, plan: ImportPlan, schema: ResourceSchema, catalog: Catalog) {
  return columnStates(job, plan, labelsOf(catalog, schema))
}

/** A line per column: its field, or the reason why it has none. */
export function linesOf(states: readonly ColumnState[]): string[] {
  return states.map(({ name, state, field, reason, guess }) => {
    if (state === 'mapped') return printableText`  ${name} → ${field!}`
    const words = state === 'open' ? 'OPEN' : 'left out'
    const about = [...(reason ? [reason] : []), ...(guess ? [`With --yes: ${guess}.`] : [])]
    return printableText`  ${name}: ${[words, ...about].join(' · ')}`
  })
}

/** The columns for programs. */
export function columnsData(states: readonly ColumnState[]): Json {
  return states.map(one => ({ ...one }))
}

/** A map: the body of PATCH of an import, or an object of columns' names and their fields. */
function mapOf(text: string, job: Job): JsonObject {
  let map: Json
  try {
    map = parseJson(text)
  } catch (error) {
    throw new CommandRefusal(`The map is not JSON: ${(error as Error).message}.`)
  }
  if (!isObject(map)) throw new CommandRefusal('The map must be an object.')
  if (planMembers.some(name => name in map)) return map
  const fields = new Map(Object.entries(map).map(([name, field]) => [columnOf(name, job), field]))
  // Columns that the map lacks are left out.
  const mapping = (job.columns ?? []).map((_, column) => ({ column, field: fields.get(column) ?? null }))
  return { mapping }
}

function columnOf(name: string, { columns }: Job): number {
  const column = (columns ?? []).findIndex(one => one.name === name)
  if (column < 0) throw new CommandRefusal(`The file has no column ${JSON.stringify(name)}.`)
  return column
}
