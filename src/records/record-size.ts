/**
 * The bound on what the custom fields of a record hold together (D110). Every list, export and event of the
 * record has all of it.
 */
import { type Problem, problemAt } from '../errors.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { codePoints } from '../fields/code-points.ts'
import type { Values } from '../fields/field.ts'
import type { Json } from '../json.ts'
import { memoize } from '../waiting/memoize.ts'

const hint =
  'Shorten or empty some of the long texts. Those of fields that are out of use, deleted or hidden from you count, too.'

/** in characters of their values, those of JSON text for anything but a text */
const customMax = 262_144

/**
 * The problem of a change after which the record at `path` holds too much; null: it does not, or less than
 * before. `values`: what changes; `before`: the stored record, null on create.
 */
export function sizeProblem(
  schema: ResourceSchema,
  before: Values | null,
  values: Values,
  path: string,
): Problem | null {
  const names = customNames(schema)
  if (!names.some(name => name in values)) return null
  const sizeOf = (record: Values) => names.reduce((sum, name) => sum + lengthOf(record[name] ?? null), 0)
  const size = sizeOf({ ...before, ...values })
  if (size <= customMax || (before && size <= sizeOf(before))) return null
  const message = `The custom fields of a record have at most ${customMax} characters together.`
  return { ...problemAt(path, 'too_long', message), hint }
}

const customNames = memoize(({ whole }: ResourceSchema) =>
  whole.fields.flatMap(field => (field.is_custom ? field.internal_name : [])),
)

function lengthOf(value: Json): number {
  if (value === null) return 0
  return typeof value === 'string' ? codePoints(value) : JSON.stringify(value).length
}
