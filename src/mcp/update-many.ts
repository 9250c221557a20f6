/** A change of all records that meet conditions, all or none (D147). */
import type { ResourceSchema } from '../fields/catalog.ts'
import { pluralOf } from '../fields/synonyms.ts'
import type { JsonObject } from '../json.ts'
import type { Api } from './api.ts'
import { filtersFor, itemsOf } from './find.ts'
import { ToolRefusal } from './refusal.ts'
import { fieldParameters, nameOf } from './rows.ts'
import { callText, schemaOf, unchanged, warningsOf } from './tool.ts'
import type { Plan } from './two-steps.ts'
import { differences, hasSame, pinned } from './values.ts'

/** A batch has at most so many operations (D78), and a change that waits so many characters. */
const [recordsMax, lengthMax] = [500, 500_000]
const [examplesMax, problemsMax] = [3, 5]

/** Values of these fields that depend on the record. */
export type OwnValues = {
  readonly fields: readonly string[]
  readonly of: (record: JsonObject) => JsonObject
}

/**
 * The change of all records that meet the conditions. Throws ToolRefusal if there are none or too many, if
 * one would be refused, or if nothing would change.
 */
export async function planMany(
  api: Api,
  resource: string,
  where: readonly string[],
  values: JsonObject,
  own: OwnValues | null,
): Promise<Plan> {
  if (where.length === 0) throw new ToolRefusal('where needs a condition: all records are too many.')
  const schema = schemaOf(api, resource)
  const { filter, notes } = await filtersFor(api, resource, where)
  const names = [...Object.keys(values), ...(own?.fields ?? [])]
  const records = await recordsOf(api, resource, filter, schema, names)
  const changed = records.map(record => ({ record, body: { ...values, ...own?.of(record) } }))
  const results = await judge(api, resource, changed)
  const judged = results.map(({ data }) => data as JsonObject)
  const warnings = [...new Set(results.flatMap(warningsOf))].slice(0, examplesMax)
  const touched = changed.flatMap(({ record, body }, index) => {
    const after = judged[index]!
    const isTouched = names.some(name => schema.byName.has(name) && !hasSame(record, after, name))
    return isTouched ? [{ record, body: pinned(body, after, schema), after }] : []
  })
  if (touched.length === 0) throw unchanged(`all ${records.length} have these values already`, warnings)
  const operations = touched.map(({ record, body }) => operationOf(record, body))
  const count = `${operations.length} ${operations.length === 1 ? resource : pluralOf(resource)}`
  const examples = touched.slice(0, examplesMax)
  const shown = await shownChanges(api, resource, examples, schema)
  return {
    calls: [{ operation: `${resource}_batch`, body: { operations, atomic: true } }],
    ...{ would: `change ${count}`, done: `changed ${count}` },
    shown: { [operations.length > examplesMax ? 'examples' : 'records']: shown },
    isOfMany: operations.length > 1,
    notes: [
      ...notes,
      ...warnings,
      ...(touched.length < records.length
        ? [`${records.length - touched.length} more meet the conditions and have these values already.`]
        : []),
    ],
  }
}

function operationOf(record: JsonObject, data: JsonObject): JsonObject {
  return { op: 'update', id: record.id!, if_match: record.version!, data }
}

/** The records that meet the conditions, with the values to change. Throws if they are none or too many. */
async function recordsOf(
  api: Api,
  resource: string,
  filter: readonly string[],
  schema: ResourceSchema,
  names: readonly string[],
): Promise<JsonObject[]> {
  const shown = names.flatMap(name => schema.byName.get(name) ?? []).filter(({ is_hidden }) => !is_hidden)
  const parameters = fieldParameters(shown, schema, api.caller.rights)
  const more = resource === 'deal' ? ',pipeline' : ''
  const answer = await api.call({
    operation: `${resource}_search`,
    body: {
      ...{ filter: [...filter], pageSize: recordsMax, count: 'exact' },
      ...{ ...parameters, fields: `${parameters.fields},version${more}` },
    },
  })
  const { total } = answer.meta as { total: number }
  if (total > recordsMax)
    throw new ToolRefusal(
      `${total} records meet the conditions; a change has at most ${recordsMax}: add a condition.`,
    )
  if (total === 0)
    throw new ToolRefusal('No record meets the conditions.', [], callText('list', { resource, where: ['…'] }))
  return itemsOf(answer)
}

type Changed = { readonly record: JsonObject; readonly body: JsonObject }

/** The answers to the changes. Throws with the problems of those that are refused. */
async function judge(api: Api, resource: string, changed: readonly Changed[]): Promise<JsonObject[]> {
  const operations = changed.map(({ record, body }) => operationOf(record, body))
  if (JSON.stringify(operations).length > lengthMax)
    throw new ToolRefusal('The change is too large: fewer records, or shorter values.')
  const answer = await api.call({ operation: `${resource}_batch`, body: { operations }, isDry: true })
  const results = itemsOf(answer)
  const wrong = results.flatMap((result, index) => {
    if (Number(result.status) < 400) return []
    const { errors, detail } = result as { errors?: { message: string; hint?: string }[]; detail: string }
    const [first] = errors ?? []
    const hint = first?.hint
    return [
      {
        at: `${resource} ${String(changed[index]!.record.id)}`,
        message: first?.message ?? detail,
        ...(hint ? { hint } : {}),
      },
    ]
  })
  if (wrong.length)
    throw new ToolRefusal(
      `${wrong.length} of ${results.length} records would be refused, so none is changed.`,
      wrong.slice(0, problemsMax),
    )
  return results
}

type Touched = Changed & { readonly after: JsonObject }

/** The examples, each judged alone, so that names stand behind ids. */
async function shownChanges(
  api: Api,
  resource: string,
  examples: readonly Touched[],
  schema: ResourceSchema,
): Promise<JsonObject[]> {
  const shown: JsonObject[] = []
  for (const { record, body } of examples) {
    const sent = Object.keys(body).flatMap(name => schema.byName.get(name) ?? [])
    const { expand } = fieldParameters(sent, schema, api.caller.rights)
    const judged = await api.call({
      ...{ operation: `${resource}_update`, id: Number(record.id), body, isDry: true },
      query: expand ? { expand } : {},
    })
    const after = judged.data as JsonObject
    const only = Object.fromEntries(Object.keys(record).map(name => [name, after[name] ?? null]))
    const all = { ...only, _expanded: after._expanded ?? {} }
    shown.push({
      id: record.id!,
      name: nameOf(record, schema),
      changes: differences(record, all, schema, Object.keys(body)),
    })
  }
  return shown
}
