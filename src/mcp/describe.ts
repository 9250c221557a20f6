/** The tool that tells what there is: the caller, the resources, their fields and the choices of a field. */
import { type Catalog, type ResourceSchema, shownField } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { dateIn } from '../fields/iso8601.ts'
import { howToWrite } from '../fields/kinds/how-to-write.ts'
import { kinds } from '../fields/kinds.ts'
import type { Json, JsonObject } from '../json.ts'
import { businessData } from '../resources/resources.ts'
import { mayRead, mayWrite } from '../rights/rights.ts'
import { writesAtOnce } from '../rights/scopes.ts'
import { fitting } from './answer.ts'
import type { Api } from './api.ts'
import { textsOf } from './find.ts'
import { fieldsNamed, readable, seenFields } from './rows.ts'
import { schemaOf, type Tool, type ToolResult } from './tool.ts'

export const describe: Tool = {
  name: 'describe',
  title: 'What there is',
  description:
    'Without arguments: who you act for, what you may do, pipelines and stages. With a resource: its fields. With fields: how to write them and their choices.',
  input: {
    properties: {
      resource: { type: 'string', enum: readable },
      fields: { type: 'array', items: { type: 'string', maxLength: 80 }, maxItems: 10 },
    },
  },
  run: async ({ resource, fields: named }, api) => {
    if (resource === undefined) return overview(api)
    api.caller.rights.need(`${resource}:read`)
    const schema = schemaOf(api, String(resource))
    return named === undefined ? fieldList(schema) : details(fieldsNamed(textsOf(named), schema))
  },
}

/** The operation is "me", which counts the request and judges the token. */
async function overview(api: Api): Promise<ToolResult> {
  const { data } = await api.call({ operation: 'me' })
  const { user, account } = data as { user: JsonObject; account: JsonObject }
  const { catalog, rights } = api.caller
  const base = catalog.currencies.get(catalog.account.base_currency)!.code
  const may = (what: typeof mayRead, of: readonly string[]) =>
    of.filter(name => what({ rights }, name)).join()
  return {
    summary: {
      may_read: may(mayRead, readable),
      may_write: may(mayWrite, businessData) || 'nothing',
      writing: writesAtOnce(rights.scopes)
        ? 'at once; changes of several records in two steps'
        : 'in two steps: the first call answers what would change and a code, the second sends the code',
      ...{ today: dateIn(catalog.account.time_zone, api.now)!, time_zone: catalog.account.time_zone },
      base_currency: base,
    },
    stored: {
      you: `${String(user.name)} <${String(user.email)}>`,
      role: rights.role.name,
      account: account.name!,
      ...(mayRead({ rights }, 'pipeline_stage') ? { pipelines: pipelinesOf(catalog) } : {}),
    },
  }
}

/** Pipelines with their stages in order; won and lost stages say so, unless the role hides it (D64). */
function pipelinesOf({ pipelines, stages, resources }: Catalog): JsonObject {
  const seesKind = shownField(resources.get('pipeline_stage')!, 'kind') !== null
  const shown = [...pipelines.values()].sort((one, other) => one.position - other.position)
  const ofPipeline = (id: number) =>
    [...stages.values()]
      .filter(({ pipeline }) => pipeline === id)
      .sort((one, other) => one.position - other.position)
      .map(({ name, kind }) => (kind === 'open' || !seesKind ? name : `${name} (${kind})`))
  return Object.fromEntries(shown.slice(0, pipelinesMax).map(({ id, name }) => [name, ofPipeline(id)]))
}

const pipelinesMax = 20

/** Every field on one line: its label, and what matters when it is written. */
function fieldList(schema: ResourceSchema): ToolResult {
  const rows = seenFields(schema).map((field): Json[] => [
    field.internal_name,
    field.field_name,
    notesOf(field),
  ])
  const shown = fitting(rows)
  const left = rows.slice(shown.length).map(([name]) => name!)
  return {
    summary: {
      ...(left.length ? { left_out: `${left.length} fields; ask for those that you need by fields` } : {}),
      how: 'describe with fields tells how to write them, and their choices',
    },
    stored: { columns: ['field', 'label', 'notes'], rows: [...shown] },
  }
}

/** The words of conditions that the field takes. */
function wordsOf(operators: readonly string[]): string {
  const words = [
    ...(operators.includes('eq') ? ['is', 'is one of'] : []),
    ...(operators.includes('like') ? ['contains'] : []),
    ...(operators.includes('gt') ? ['over', 'under', 'between'] : []),
    'is empty',
  ]
  return words.join(', ')
}

function notesOf(field: Field): string {
  const { type, is_required, is_read_only, is_unique, related, options } = field
  return [
    related ? `a ${related}` : type.toLowerCase().replaceAll('_', ' '),
    ...(is_required ? ['required'] : []),
    ...(is_read_only ? ['read-only'] : []),
    ...(is_unique ? ['unique'] : []),
    ...(options.length && !related ? [`${options.length} choices`] : []),
  ].join(', ')
}

/** A field has at most a hundred choices in use; more need a list. */
const choicesMax = 100

function details(fields: readonly Field[]): ToolResult {
  const all = fields.map((field): JsonObject => {
    const { internal_name, field_name, help, related, options, config, default_value } = field
    const choices = options.filter(({ is_active }) => is_active).map(({ name }) => name)
    const how = howToWrite(field)
    return {
      ...{ field: internal_name, label: field_name, notes: notesOf(field) },
      ...(help ? { help } : {}),
      ...(choices.length ? { choices: choices.slice(0, choicesMax) } : {}),
      ...(related && !choices.length ? { write: `the name or id of a ${related}` } : {}),
      ...(how && !choices.length && !related ? { write: how } : {}),
      ...(Object.keys(config).length ? { limits: JSON.parse(JSON.stringify(config)) as JsonObject } : {}),
      ...(default_value === null ? {} : { default: default_value }),
      where: wordsOf(kinds[field.type].term(field, '')?.operators ?? []),
    }
  })
  const shown = fitting(all)
  const left = fields.slice(shown.length).map(({ internal_name }) => internal_name)
  return { summary: left.length ? { left_out: left.join() } : {}, stored: { fields: [...shown] } }
}
