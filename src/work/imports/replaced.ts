/**
 * Entries that records had in a list before an import replaced it (D80). A column with a whole list replaces
 * the stored one: the lost prices, numbers and tags are counted, so that a dry run reports them.
 */
import type { Values } from '../../fields/field.ts'
import { comparedName } from '../../fields/name.ts'
import { asText, isObject, type Json, type JsonObject, parseJson } from '../../json.ts'
import { recordsToChange } from '../../records/store.ts'
import type { Work } from '../../records/work.ts'
import { mayRead } from '../../rights/rights.ts'
import { ask } from '../../sql.ts'
import { digitsOf, type EntryFields } from './entries.ts'

/** The rows about a record, and its lists before the first row that replaces them. */
type ReplacedLists = { readonly places: Set<number>; readonly lists: Map<string, readonly string[]> }

/** Records the stored lists that rows replace. */
export class Formers {
  readonly #byRecord = new Map<number, ReplacedLists>()

  /** `row`: the content of the row at this place, and the fields of which it has single entries. */
  note(place: number, before: Values, row: { readonly body: JsonObject; readonly told: EntryFields }): void {
    const id = Number(before.id)
    const { places, lists } = this.#byRecord.get(id) ?? { places: new Set(), lists: new Map() }
    for (const name of Object.keys(row.body)) {
      const entries = row.told.has(name) || lists.has(name) ? [] : entriesOf(before[name] ?? null)
      if (entries.length > 0) lists.set(name, entries)
    }
    if (lists.size > 0) this.#byRecord.set(id, { places: places.add(place), lists })
  }

  /** Number of entries that the imported rows removed, by field. */
  async gone(work: Work, imported: ReadonlySet<number>): Promise<ReadonlyMap<string, number>> {
    const all = [...this.#byRecord].filter(([, { places }]) => [...places].some(place => imported.has(place)))
    const gone = new Map<string, number>()
    // The former state of a record is only for those who may read it.
    if (all.length === 0 || !mayRead(work.context, work.schema.resource.name)) return gone
    const ids = all.map(([id]) => id)
    const rows = await ask(work.db, recordsToChange(work, ids))
    for (const { id, record } of rows) {
      const after = parseJson(record!) as JsonObject
      for (const [name, entries] of this.#byRecord.get(Number(id))!.lists) {
        const left = new Set(entriesOf(after[name] ?? null))
        const count = entries.filter(entry => !left.has(entry)).length
        if (count > 0) gone.set(name, (gone.get(name) ?? 0) + count)
      }
    }
    return gone
  }
}

/** Keys of the entries of a list; none for other values. The product lines of an amount are a list, too. */
function entriesOf(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf)
  return isObject(value) && Array.isArray(value.products) ? value.products.flatMap(keysOf) : []
}

/** Key: an e-mail's address, a phone's digits, a price's currency, an address's parts. */
function keysOf(entry: Json): string[] {
  if (!isObject(entry)) return [JSON.stringify(entry)]
  const { email_value, phone_number, currency, product } = entry
  if (email_value !== undefined) return [comparedName(asText(email_value))]
  if (phone_number !== undefined) return [digitsOf(entry)]
  const id = currency ?? product
  if (id !== undefined) return [JSON.stringify(id)]
  return Object.keys(entry).filter(name => entry[name] !== null)
}
