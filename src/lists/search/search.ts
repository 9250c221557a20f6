/**
 * Searches records of several resources by their names, e-mails, phone numbers, codes and indexed custom
 * texts (D86). Knows no HTTP and no resource.
 */
import type { ResourceSchema } from '../../fields/catalog.ts'
import type { Schema } from '../../fields/field.ts'
import { openObject, orNull } from '../../fields/kinds/schemas.ts'
import { type Json, parseJson } from '../../json.ts'
import type { Reader } from '../../records/store.ts'
import { type Caller, callerParamsOf } from '../../rights/visibility.ts'
import { ask } from '../../sql.ts'
import type { SearchRequest } from './query.ts'
import { searchSql } from './statement.ts'
import { type SearchedText, searchedTexts } from './texts.ts'
import { fitOf, type SearchWord, textWithWord } from './words.ts'

export type Hit = {
  readonly resource: string
  readonly id: number
  readonly name: string
  /** the text that contains the words, if that is not the name; else another text of the record, or null */
  readonly detail: string | null
}

const text = { type: 'string' }
export const hitSchema: Schema = openObject({
  ...{ resource: text, id: { type: 'integer' }, name: orNull(text), detail: orNull(text) },
})

/** The names of the resources that can be searched. */
export function searchable(resources: ReadonlyMap<string, ResourceSchema>): string[] {
  return [...resources.values()]
    .filter(({ resource }) => resource.searched)
    .map(({ resource }) => resource.name)
}

/** The best hits first, and of equal ones the newest; `hasMore`: true if there are more. */
export async function search(
  db: Reader,
  caller: Caller,
  { wanted, resources, pageSize }: SearchRequest,
): Promise<{ hits: Hit[]; hasMore: boolean }> {
  const sought = resources.map(name => caller.catalog.resources.get(name)!)
  if (sought.length === 0) return { hits: [], hasMore: false }
  const rows = await ask(db, searchSql(sought, callerParamsOf(caller), wanted), true)
  const ranked = rows
    .flatMap(({ resource, id, texts }) => {
      const known = searchedTexts(caller.catalog.resources.get(resource!)!).texts
      return rankedHit(wanted, resource!, Number(id), known, parseJson(texts!) as Json[])
    })
    .sort((one, other) => one.fit - other.fit || other.hit.id - one.hit.id)
  return { hits: ranked.slice(0, pageSize).map(({ hit }) => hit), hasMore: ranked.length > pageSize }
}

function rankedHit(
  wanted: SearchWord,
  resource: string,
  id: number,
  known: readonly SearchedText[],
  values: readonly Json[],
): { readonly fit: number; readonly hit: Hit } | [] {
  const textsOf = (isWanted: (text: SearchedText) => boolean) =>
    known.flatMap((text, index) => (isWanted(text) ? text.searched.texts(values[index]!) : []))
  const name = textsOf(({ isName }) => isName).join(' ')
  const [texts, others] = [textsOf(({ searched }) => !searched.isOfDigits), textsOf(({ isName }) => !isName)]
  const fit = fitOf(
    wanted,
    [name, ...texts],
    textsOf(({ searched }) => searched.isOfDigits === true),
  )
  // The index also holds the marks around the texts.
  if (fit === null) return []
  const detail = textWithWord(wanted, name, others) ?? others[0] ?? null
  return { fit, hit: { resource, id, name, detail } }
}
