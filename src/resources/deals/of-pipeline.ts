/** Shared by boards and funnels: the request for a pipeline, and its stages (D129, D131). Pure. */
import { type Pipeline, type ResourceSchema, type Stage, shownMembers } from '../../fields/catalog.ts'
import type { Field, Schema } from '../../fields/field.ts'
import { optionOperand } from '../../fields/kinds/dropdown.ts'
import { orNull } from '../../fields/kinds/schemas.ts'
import type { JsonObject } from '../../json.ts'
import type { QueryContext } from '../../lists/list-request.ts'
import { addProblem, single } from '../../lists/parameters.ts'
import { type ReportParameter, requireShown } from '../../lists/report.ts'
import type { Caller } from '../../rights/visibility.ts'

export type OfPipeline = {
  /** null: the account has none */
  readonly pipeline: Pipeline | null
  /** in their order */
  readonly stages: readonly Stage[]
  /** the field of a deal that holds its stage */
  readonly stageField: Field
}

export const pipelineParameter: ReportParameter = {
  description: "The pipeline, by its id or name; default: the account's first.",
  schema: { type: 'string' },
}

/** The members of a stage in the catalog; a role may hide some of them. */
export const stageMembers: { readonly [member: string]: Schema } = {
  ...{ id: { type: 'integer' }, name: { type: 'string' }, position: { type: 'integer' } },
  ...{ kind: { enum: ['open', 'won', 'lost'] }, probability: { type: 'number' } },
  rotting_days: orNull({ type: 'integer' }),
}

/** The fields of a deal whose names a pipeline with its stages shows. */
export function namedByStages({ byName }: ResourceSchema): readonly Field[] {
  return [byName.get('pipeline')!, byName.get('pipeline_stage')!]
}

/** The pipeline that a parameter names as filters do, or the account's first. */
export function ofPipeline(context: QueryContext): OfPipeline {
  const { catalog, schema } = context
  const stageField = schema.byName.get('pipeline_stage')!
  // If the role hides one of these fields, no pipeline is looked for: a problem would show its name.
  const hidden = namedByStages(schema).find(({ is_hidden }) => is_hidden)
  if (hidden) requireShown(context, 'pipeline', hidden.internal_name)
  const pipeline = hidden ? null : pipelineOf(context)
  const stages = [...catalog.stages.values()].filter(stage => stage.pipeline === pipeline?.id)
  return { pipeline, stages: inOrder(stages), stageField }
}

export function shownPipeline({ pipeline }: OfPipeline): JsonObject | null {
  return pipeline && { id: pipeline.id, name: pipeline.name }
}

/** A stage without the members that the role hides (D64). */
export function shownStage({ pipeline: _, ...stage }: Stage, { catalog }: Caller): JsonObject {
  return shownMembers(stage, catalog.resources.get('pipeline_stage')!)
}

function pipelineOf(context: QueryContext): Pipeline | null {
  const { catalog, problems, schema } = context
  const text = single(context, 'pipeline')
  if (text === null) return inOrder([...catalog.pipelines.values()])[0] ?? null
  const found = optionOperand(text, schema.byName.get('pipeline')!)
  if ('message' in found) {
    addProblem(problems, 'pipeline', 'invalid_value', `${found.message}.`, { hint: found.hint })
    return null
  }
  return catalog.pipelines.get(Number(found[0]))!
}

/** Pipelines or stages in the order that administrators gave them. */
export function inOrder<T extends { readonly position: number; readonly id: number }>(
  all: readonly T[],
): T[] {
  return all.toSorted((one, other) => one.position - other.position || one.id - other.id)
}
