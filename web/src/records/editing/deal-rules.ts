/** The rules of deals that a form applies while it is filled in; the service enforces them (D19, D20). */
import type { AnyRecord, Field, Me } from '../../api/api.ts'
import { defaultPipeline, type Pipeline, type Stage } from '../../api/queries.ts'
import { stageKinds } from '../../api/stage-kind.ts'
import { isEmpty, isWritable, type Values } from './draft.ts'

/** The fields of a closing. */
const ending: readonly string[] = ['won_reason', 'lost_reason', 'deal_closed_on']

/** The fields that a deal must have because of its other values (rules 2, 3 and 5). */
export function conditionallyRequired(
  resource: string,
  values: Values,
  stages: readonly Stage[],
): readonly string[] {
  if (resource !== 'deal') return []
  const stage = stages.find(({ id }) => id === values.pipeline_stage)
  return [
    ...(stage?.kind === stageKinds.won ? ['won_reason', 'deal_closed_on'] : []),
    ...(stage?.kind === stageKinds.lost ? ['lost_reason', 'deal_closed_on'] : []),
    ...(isEmpty(values.forecast_category) ? [] : ['expected_close_date']),
  ]
}

/** The initial values of a new record: prefill, defaults, and for a deal its owner, pipeline and stage. */
export function initialValues(
  resource: string,
  prefill: Values,
  fields: readonly Field[],
  known: { me: Me; pipelines: readonly Pipeline[]; stages: readonly Stage[] },
): Values {
  const defaults = fields
    .filter(field => isWritable(field) && !isEmpty(field.default_value))
    .map(field => [field.internal_name, field.default_value])
  const values: { [field: string]: unknown } = { ...Object.fromEntries(defaults), ...prefill }
  if (resource === 'activity') return { owner: known.me.user.id, ...values }
  if (resource !== 'deal') return values
  values.sales_owner ??= known.me.user.id
  const stage = known.stages.find(({ id }) => id === values.pipeline_stage)
  values.pipeline ??= stage?.pipeline ?? defaultPipeline(known.pipelines)?.id
  return withStage(values, known.stages)
}

/** A stage of another pipeline is replaced by the first open one of the deal's own. */
export function withStage(values: Values, stages: readonly Stage[]): Values {
  const own = stages.filter(({ pipeline }) => pipeline === values.pipeline)
  if (own.length === 0 || own.some(({ id }) => id === values.pipeline_stage)) return values
  const first = own.find(({ kind }) => kind === stageKinds.open) ?? own[0]
  return { ...values, pipeline_stage: first?.id }
}

/** Changes of a deal with a stage of the chosen pipeline: the service refuses that of another (D19). */
export function withOwnStage(record: Values, changes: Values, stages: readonly Stage[]): Values {
  return { ...changes, pipeline_stage: withStage({ ...record, ...changes }, stages).pipeline_stage }
}

/** The stages of a change that needs confirmation: it closes a deal, closes it otherwise, or reopens it. */
export function stageTransition(
  record: Values,
  changes: Values,
  stages: readonly Stage[],
): { readonly from: Stage | undefined; readonly to: Stage } | undefined {
  const to = stages.find(({ id }) => id === changes.pipeline_stage)
  const from = stages.find(({ id }) => id === record.pipeline_stage)
  return to && to.kind !== (from?.kind ?? stageKinds.open) ? { from, to } : undefined
}

type Reopening = { readonly record: AnyRecord; readonly from: Stage | undefined; readonly to: Stage }

/** Those of some changes that reopen a deal. A stage's text is that of the deal's own pipeline (D57). */
export function reopenings(
  changes: readonly { readonly record: AnyRecord; readonly values: Values }[],
  stages: readonly Stage[],
): readonly Reopening[] {
  return changes.flatMap(({ record, values }) => {
    const from = stages.find(({ id }) => id === record.pipeline_stage)
    const pipeline = values.pipeline ?? from?.pipeline
    const typed = String(values.pipeline_stage).toLocaleLowerCase()
    const named = stages.find(one => one.pipeline === pipeline && one.name.toLocaleLowerCase() === typed)
    const id = typeof values.pipeline_stage === 'string' ? named?.id : values.pipeline_stage
    const transition = stageTransition(record, { pipeline_stage: id }, stages)
    return transition?.to.kind === stageKinds.open ? [{ record, ...transition }] : []
  })
}

/** The values of a deal's copy: all writable fields without its closing. */
export function copyOf(record: Values, fields: readonly Field[], stages: readonly Stage[]): Values {
  const kept = fields
    .filter(isWritable)
    .map(({ internal_name }) => internal_name)
    .filter(name => !ending.includes(name) && !isEmpty(record[name]))
  const copy = Object.fromEntries(kept.map(name => [name, record[name]]))
  const stage = stages.find(({ id }) => id === record.pipeline_stage)
  const isOpen = stage?.kind === stageKinds.open
  return withStage(
    { ...copy, ...(isOpen ? {} : { pipeline_stage: undefined }), title: `${record.title} (copy)` },
    stages,
  )
}
