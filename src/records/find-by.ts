/**
 * `find_by` of a nested record (D75): links the live record that has its e-mail or name; if there is none,
 * creates one. Pure: names.ts looks up.
 */
import type { ProblemCode } from '../errors.ts'
import { isBlank } from '../fields/blank.ts'
import type { WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { comparedName } from '../fields/name.ts'
import { asText, type JsonObject } from '../json.ts'
import { visible } from '../rights/visibility.ts'
import { type Sql, sql } from '../sql.ts'
import { type Match, tooManyNames } from './name-lookup.ts'
import { hasName, namingField } from './names.ts'
import { type ParseState, parseContextOf } from './parse.ts'

/** The value that a lookup compares, and its matches; without `find_by`, no field. */
export type FindBy = {
  readonly field: Field | null
  readonly texts: readonly string[]
  /** the texts as sent, for messages */
  readonly shown: string
  /** null until they are looked up */
  readonly matches: readonly Match[] | null
}

const noFindBy: FindBy = { field: null, texts: [], shown: '', matches: [] }

/** The lookup that `payload` requests; undefined after a problem. */
export function findByOf(
  payload: JsonObject,
  schema: ResourceSchema,
  path: string,
  state: ParseState,
): FindBy | undefined {
  const { find_by } = payload
  if (find_by === undefined) return noFindBy
  const { name: resource, namedBy = [] } = schema.resource
  const refuse = (code: ProblemCode, at: string, message: string) =>
    state.problems.add(() => ({ field: 'find_by', path: path + at, code, message }))
  const name = namedBy.find(known => known === find_by || known === `${asText(find_by)}s`)
  const field = name === undefined ? null : namingField(schema, name)
  if (!field) {
    const known = namedBy.map(one => `"${one.replace(/s$/, '')}"`).join(' or ')
    refuse('invalid_value', '/find_by', `find_by finds a ${resource} by ${known || 'nothing'}.`)
    return undefined
  }
  const { internal_name, type } = field
  const sent = payload[internal_name] ?? null
  if (isBlank(sent)) {
    refuse('required', `/${internal_name}`, `find_by needs ${internal_name}.`)
    return undefined
  }
  // A record that is created is parsed as a whole, and warns then.
  const context = parseContextOf(field, `${path}/${internal_name}`, { ...state, warnings: [] })
  const value = kinds[type].parse(sent, context, null)
  if (value === undefined) return undefined
  const sentTexts = kinds[type].unique!.texts(value)
  const texts = sentTexts.map(comparedName)
  const all = texts.map(text => state.names?.matches(resource, text, internal_name) ?? null)
  if (state.names?.areTooMany) return context.problem('too_many', tooManyNames)
  const lookup = { field, texts, shown: sentTexts.join(', ') }
  if (all.includes(null)) return { ...lookup, matches: null }
  const byId = new Map(all.flatMap(matches => matches!).map(match => [match.id, match]))
  return { ...lookup, matches: [...byId.values()] }
}

/** The condition that no record visible to the author matches the lookup. */
export function isAbsent(
  params: WriteParams,
  { resource: { name } }: ResourceSchema,
  { field, texts }: FindBy,
): Sql[] {
  if (!field) return []
  const names = sql`ARRAY(SELECT jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb))`
  const isLive = sql`${visible(name, params, sql`x`)} AND x.deleted_at IS NULL`
  return [
    sql`NOT EXISTS (
    SELECT 1 FROM ${sql.id(name)} x WHERE ${isLive} AND ${hasName(field, sql`x`, names)})`,
  ]
}
