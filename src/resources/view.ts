/**
 * The saved view: a named filter, order and columns for records of one resource, private or shared with
 * everybody (D130). Fields as data, and the rules that span them. Pure.
 */
import { Problems } from '../errors.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { authorFields, defineFields, field, idField, nameField, recordFields } from '../fields/define.ts'
import type { Values } from '../fields/field.ts'
import { choiceHint } from '../fields/kinds/dropdown.ts'
import type { Draft, Resource } from '../fields/resource.ts'
import { isFieldOf } from '../fields/unknown-field.ts'
import { asText, isSameJson } from '../json.ts'
import { selectionOf, sortKeysOf } from '../lists/query.ts'
import { resolveSort } from '../lists/resolve.ts'
import { withOptionIds } from '../lists/stored-filter.ts'
import { NameLookup } from '../records/name-lookup.ts'

/** The options of `source`: the resources that views can show. Append only: a view stores the place. */
const sources = ['deal', 'product', 'contact', 'company', 'activity']
const mode = { table: 1, board: 2 }
const shared = { yes: 1, no: 2 }
const texts = { min_length: 1, max_length: 4000 }

export const view: Resource = {
  name: 'view',
  source: { id: 15, name: 'View' },
  shownAs: ['name'],
  ownership: { owner: 'created_by', sharedBy: 'is_shared' },
  quota: { count: 200, of: 'created_by', what: 'views of a user' },
  fields: defineFields('view', {
    'Basic information': [
      idField(671),
      nameField(672),
      field(673, 'source', 'Shows', 'DROPDOWN', { is_required: true, options: sources }),
      field(674, 'mode', 'Mode', 'DROPDOWN', { options: ['Table', 'Board'], is_filled: true }),
      field(675, 'filter', 'Filter', 'TEXT', { config: texts }),
      field(676, 'sort', 'Sort', 'TEXT', { config: texts }),
      field(677, 'columns', 'Columns', 'COLUMN_LIST'),
      field(678, 'pipeline', 'Pipeline of the board', 'SINGLE_NUMBER', {
        config: { min: 0, max_decimals: 0 },
      }),
      field(679, 'is_shared', 'Shared', 'DROPDOWN', { options: ['Yes', 'No'], is_filled: true }),
      field(680, 'position', 'Position', 'SINGLE_NUMBER', {
        config: { min: 1, max: 1_000_000, max_decimals: 0 },
      }),
    ],
    Record: [...authorFields(681), ...recordFields(685)],
  }),
  applyRules: draft => {
    const { after, problem } = draft
    after.mode ??= mode.table
    after.is_shared ??= shared.no
    const source = sources[(after.source as number) - 1]
    if (source === undefined) return
    if (after.mode === mode.board && source !== 'deal')
      problem('mode', 'contradiction', 'is Board, which shows deals only', {
        because: 'source',
        hint: 'Send "mode": "Table" or "source": "deal".',
      })
    checkQuery(draft, draft.catalog.resources.get(source)!)
    checkColumns(draft, draft.catalog.resources.get(source)!)
    checkPipeline(draft)
  },
}

/**
 * True if one of these fields is new or has changed. Unchanged ones stay, though a field that they name may
 * be deleted.
 */
function isNew({ before, after }: Draft, ...names: readonly (keyof Values)[]): boolean {
  return !before || ['source', ...names].some(name => !isSameJson(before[name]!, after[name]!))
}

/** Validates filter and sort like a list, except for the names in them (D75). */
function checkQuery(draft: Draft, schema: ResourceSchema): void {
  const { after, catalog, problem } = draft
  for (const name of ['filter', 'sort'] as const) {
    const text = after[name]
    if (typeof text !== 'string' || !isNew(draft, name)) continue
    const [parameters, problems] = [new Map([[name, [text]]]), new Problems()]
    const context = { parameters, schema, catalog, problems, names: new NameLookup() }
    if (name === 'filter') selectionOf(context)
    else resolveSort(sortKeysOf(text, context), context, false)
    for (const { code, message, hint } of problems.listed)
      problem(name, code, message.replace(/\.$/, ''), hint === undefined ? {} : { hint })
    if (name === 'filter') after.filter = withOptionIds(text, schema, catalog)
  }
}

function checkColumns(draft: Draft, schema: ResourceSchema): void {
  const { after, problem } = draft
  if (!isNew(draft, 'columns')) return
  const seen = new Set<string>()
  for (const [index, { field: name }] of (after.columns as { field: string }[]).entries()) {
    const at = `/${index}/field`
    if (isFieldOf(schema, name, draft, 'columns', at) && seen.has(name))
      problem('columns', 'contradiction', `is "${name}", which has a column already`, { at })
    seen.add(name)
  }
}

/** The pipeline is no reference: a view must not keep it from being deleted. */
function checkPipeline(draft: Draft): void {
  const { after, catalog, problem } = draft
  const { pipeline } = after
  if (pipeline === null || !isNew(draft, 'pipeline', 'mode')) return
  const isHidden = catalog.resources.get('deal')!.byName.get('pipeline')!.is_hidden
  const hint = isHidden ? {} : { hint: choiceHint('The pipelines', [...catalog.pipelines.values()]) }
  if (after.mode !== mode.board)
    problem('pipeline', 'contradiction', 'is for boards', {
      because: 'mode',
      hint: 'Send "mode": "Board", or "pipeline": null.',
    })
  else if (isHidden || !catalog.pipelines.has(pipeline as number))
    problem('pipeline', 'reference_not_found', `is ${asText(pipeline)}, but there is no such pipeline`, hint)
}
