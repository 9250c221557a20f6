/** The input of a format: batches of records' texts, or records with their names. */
import type { Field } from '../../fields/field.ts'
import { writtenId } from '../../fields/kinds/dropdown.ts'
import { kinds } from '../../fields/kinds.ts'
import { type Json, type JsonObject, parseJson } from '../../json.ts'
import { type NamesByField, namesOf } from '../../records/expand.ts'
import type { Reader } from '../../records/store.ts'
import type { Caller } from '../../rights/visibility.ts'
import { mapYielding } from '../../waiting/yielding.ts'
import type { ExportRequest } from './query.ts'

export type Source = {
  readonly request: ExportRequest
  readonly caller: Caller
  /** reads within the snapshot of the records */
  readonly reader: Reader
  /** the records' texts, in order, in UTF-8 */
  readonly batches: AsyncIterable<readonly Uint8Array[]>
}

/** Renders an id in a field: unchanged, or as a name. */
export type Naming = (field: Field, id: Json) => Json

/**
 * Renders each record, batch by batch, yielding to other requests. `write` gets a record, and a function for
 * its ids: it returns the id if no name is known or visible to the caller.
 */
export async function* renderRecords(
  { request: { named }, caller, reader, batches }: Source,
  write: (record: JsonObject, naming: Naming) => string,
): AsyncGenerator<Uint8Array> {
  const utf8 = new TextDecoder()
  for await (const batch of batches) {
    const records = await mapYielding(batch, line => parseJson(utf8.decode(line)) as JsonObject)
    const asIs: Naming = (_field, id) => id
    const naming = named?.length ? byNames(await namesOf(reader, caller, records, named, true)) : asIs
    const texts = await mapYielding(records, record => write(record, naming))
    yield Buffer.from(texts.join(''))
  }
}

function byNames(names: NamesByField): Naming {
  return (field, id) => {
    const name = names.get(field)?.get(Number(id))?.name ?? null
    return (kinds[field.type].hasOptions ? isOptionName(name, field, id) : isUsable(name)) ? name : id
  }
}

/** True if an import finds an option by its name: it takes the id of another one for that (D80). */
function isOptionName(name: Json, { options }: Field, id: Json): boolean {
  return typeof name === 'string' && [undefined, Number(id)].includes(writtenId(name.trim(), options))
}

/** True if an import finds a record by its name: one of digits alone would be taken for an id (D75). */
export function isUsable(name: Json): boolean {
  return typeof name === 'string' && !/^\s*\d+\s*$/.test(name)
}
