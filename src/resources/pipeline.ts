/**
 * The pipeline and its stages (D19, D37, D158). Fields as data. A stage's kind defines its meaning, and never
 * changes. Pure.
 */
import { authorFields, defineFields, field, idField, nameField, recordFields } from '../fields/define.ts'
import type { Draft, Resource } from '../fields/resource.ts'
import { isFieldOf } from '../fields/unknown-field.ts'
import { isSameJson } from '../json.ts'

const place = { min: 1, max: 1_000_000, max_decimals: 0 }

export const pipeline: Resource = {
  name: 'pipeline',
  source: { id: 8, name: 'Pipeline' },
  shownAs: ['name'],
  unique: { pipeline_name: 'name' },
  options: ({ pipelines }) => pipelines.map(each => ({ ...each, is_active: true })),
  isConfiguration: true,
  parts: ['pipeline_stage'],
  fields: defineFields('pipeline', {
    'Basic information': [
      idField(801),
      nameField(802, { is_unique: true }),
      field(803, 'position', 'Position', 'SINGLE_NUMBER', { config: place }),
      field(804, 'is_default', 'Default', 'DROPDOWN', { options: ['Yes', 'No'] }),
      field(813, 'card_fields', 'Fields on cards', 'STRING_LIST', {
        config: { max_limit: 4 },
        help: 'The fields of a deal that its card on a board shows besides its title; empty: the usual ones.',
      }),
    ],
    Record: [...authorFields(805), ...recordFields(809)],
  }),
  quota: { count: 100, what: 'pipelines of an account' },
  applyRules: draft => {
    const { after, catalog } = draft
    checkCardFields(draft)
    after.position ??= 1 + Math.max(0, ...[...catalog.pipelines.values()].map(other => other.position))
    after.is_default ??= 2
  },
}

/** Fields of a deal that are there and are no title. Unchanged ones stay, though one may be deleted since. */
function checkCardFields(draft: Draft): void {
  const { after, before, catalog, problem } = draft
  if (isSameJson(before?.card_fields ?? null, after.card_fields ?? null)) return
  const schema = catalog.resources.get('deal')!
  for (const [index, name] of ((after.card_fields ?? []) as string[]).entries()) {
    const at = `/${index}`
    if (isFieldOf(schema, name, draft, 'card_fields', at) && name === 'title')
      problem('card_fields', 'contradiction', 'is "title", which every card shows', { at })
  }
}

export const pipelineStage: Resource = {
  name: 'pipeline_stage',
  source: { id: 9, name: 'Stage' },
  shownAs: ['name'],
  unique: { stage_name: 'name' },
  options: ({ stages }) =>
    stages.map(stage => ({ ...stage, within: stage.pipeline, is_active: true, is_default: false })),
  isConfiguration: true,
  fields: defineFields('pipeline_stage', {
    'Basic information': [
      idField(901),
      field(902, 'pipeline', 'Pipeline', 'DROPDOWN', { is_required: true, related: 'pipeline' }),
      nameField(903),
      field(904, 'position', 'Position', 'SINGLE_NUMBER', { config: place }),
      field(905, 'kind', 'Kind', 'DROPDOWN', { options: ['Open', 'Won', 'Lost'], default_value: 1 }),
      field(906, 'probability', 'Probability', 'SINGLE_NUMBER', {
        config: { min: 0, max: 100, max_decimals: 0 },
      }),
      field(907, 'rotting_days', 'Rotting days', 'SINGLE_NUMBER', {
        config: { min: 1, max: 36_500, max_decimals: 0 },
      }),
    ],
    Record: [...authorFields(908), ...recordFields(912)],
  }),
  quota: { count: 100, of: 'pipeline', what: 'stages of a pipeline' },
  applyRules: applyStageRules,
}

/**
 * The probability of stages of the kind Won and Lost, 100 and 0 per cent; they have no rotting days (D21).
 */
const certain = new Map([
  [2, 100],
  [3, 0],
])

function applyStageRules(draft: Draft): void {
  const { after, before, catalog, problem } = draft
  for (const fixed of ['pipeline', 'kind']) {
    if (before && before[fixed] !== after[fixed]) {
      problem(fixed, 'immutable', "can't be changed: it decides what the deals of the stage mean", {
        hint: 'Make a new stage and move the deals.',
      })
    }
  }
  const others = [...catalog.stages.values()].filter(stage => stage.pipeline === after.pipeline)
  after.position ??= 1 + Math.max(0, ...others.map(stage => stage.position))
  after.kind ??= 1
  const probability = certain.get(after.kind as number)
  if (probability !== undefined) {
    fix(draft, 'probability', probability)
    fix(draft, 'rotting_days', null)
  }
  after.probability ??= 0
}

/** Sets a member that the kind decides on, and warns of another value that was sent (D4). */
function fix({ after, sent, warn }: Draft, name: string, value: number | null): void {
  const isOther = sent.has(name) && after[name] !== null && !isSameJson(after[name]!, value)
  after[name] = value
  if (!isOther) return
  const is = value === null ? 'no value' : `the value ${value}`
  const message = `The kind of the stage gives ${name} ${is}; what was sent is ignored.`
  warn({ field: name, code: 'read_only', message })
}
