/** What is exported, as a format reads it: batches of records' texts, or records with their names. */
import type { ResourceFields } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { type Json, type JsonObject, parseJson } from '../json.ts'
import { type Names, namesOf } from '../records/expand.ts'
import type { Reader } from '../records/store.ts'
import type { Viewer } from '../rights/visibility.ts'
import { mapYielding } from '../waiting/yielding.ts'
import type { ExportRequest } from './query.ts'

export type Source = {
  readonly request: ExportRequest
  readonly fields: ResourceFields
  readonly viewer: Viewer
  /** reads at the moment of the records */
  readonly reader: Reader
  /** the records' texts, in order, in UTF-8 */
  readonly batches: AsyncIterable<readonly Uint8Array[]>
}

/** How an id in a field is given: as it is, or as a name. */
export type Naming = (field: Field, id: Json) => Json

/**
 * Makes text of each record, batch by batch, in turns with other requests. `write` gets a record, and how its
 * ids are given: where no name is known, or none that the viewer sees, that is the id.
 */
export async function* written(
  { request: { named }, viewer, reader, batches }: Source,
  write: (record: JsonObject, naming: Naming) => string,
): AsyncGenerator<Uint8Array> {
  const utf8 = new TextDecoder()
  for await (const batch of batches) {
    const records = await mapYielding(batch, line => parseJson(utf8.decode(line)) as JsonObject)
    const naming = named?.length ? byNames(await namesOf(reader, viewer, records, named, true)) : asIs
    const texts = await mapYielding(records, record => write(record, naming))
    yield Buffer.from(texts.join(''))
  }
}

function byNames(names: Names): Naming {
  return (field, id) => {
    const name = names.get(field)?.get(Number(id))?.name ?? null
    // Digits are an id first (D75), so by such a name an import would find another record.
    return name === null || /^\s*\d+\s*$/.test(name) ? id : name
  }
}

function asIs(_field: Field, id: Json): Json {
  return id
}
