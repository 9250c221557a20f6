/** JSON lines: one record a line, as in a GET response (D81). */
import type { Field } from '../../fields/field.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { isShownWhole, shownMembers } from '../../records/rendered-record.ts'
import { isUsable, type Naming, renderRecords, type Source } from './source.ts'

const lineFeed = Uint8Array.of(10)

/** The lines of all records. Usually their bytes pass through unread. */
export async function* jsonLines(source: Source): AsyncGenerator<Uint8Array> {
  const { batches, request } = source
  const { named } = request
  const { schema, only } = request.list
  const lined = schema.fields.filter(field => field.lines_of !== null)
  if (!named?.length && isShownWhole(schema, only)) {
    for await (const batch of batches) yield Buffer.concat(batch.flatMap(line => [line, lineFeed]))
    return
  }
  yield* renderRecords(source, (record, naming) => {
    const members = shownMembers(schema, record, only)
    const texts = named ? withNamedLines(withNames(members, named, naming), lined) : members
    return `${JSON.stringify(texts)}\n`
  })
}

/** The record with product names in its lines, which store them (D23), in place of ids. */
function withNamedLines(record: JsonObject, lined: readonly Field[]): JsonObject {
  const changed = lined.flatMap(({ internal_name: name, lines_of }): [string, Json][] => {
    const value = record[name]
    if (!isObject(value) || !Array.isArray(value.products) || !lines_of) return []
    const lines = value.products.map(line =>
      isObject(line) && isUsable(line.name ?? null) ? { ...line, [lines_of]: line.name! } : line,
    )
    return [[name, { ...value, products: lines }]]
  })
  return { ...record, ...Object.fromEntries(changed) }
}

/** The record with names in place of ids. */
function withNames(record: JsonObject, named: readonly Field[], naming: Naming): JsonObject {
  const changed: JsonObject = {}
  for (const field of named) {
    const value: Json | undefined = record[field.internal_name]
    if (value === undefined || value === null) continue
    changed[field.internal_name] = Array.isArray(value)
      ? value.map(id => naming(field, id))
      : naming(field, value)
  }
  return { ...record, ...changed }
}
