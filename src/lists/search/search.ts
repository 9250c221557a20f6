/**
 * Searches records of several resources by their names, e-mails, phone numbers, codes and indexed custom
 * texts (D86): its parameters, and its hits. Knows no HTTP and no resource.
 */
import type { ProblemCode } from '../../errors.ts'
import type { ResourceSchema } from '../../fields/catalog.ts'
import { codePoints } from '../../fields/code-points.ts'
import type { Schema } from '../../fields/field.ts'
import { openObject, orNull, text } from '../../fields/kinds/schemas.ts'
import { suggestion } from '../../fields/nearest.ts'
import { type Json, parseJson } from '../../json.ts'
import type { Reader } from '../../records/store.ts'
import { type Caller, callerParamsOf } from '../../rights/visibility.ts'
import { ask } from '../../sql.ts'
import { mapYielding } from '../../waiting/yielding.ts'
import {
  addProblem,
  beginQuery,
  listed,
  type Parameters,
  single,
  textProblem,
  throwProblems,
  wholeNumber,
} from '../parameters.ts'
import { type SearchedText, searchedTexts, searchSql } from './statement.ts'
import { fitOf, type SearchWord, searchWordsOf, textWithWord, wordsOf } from './words.ts'

export type SearchRequest = {
  readonly wanted: SearchWord
  readonly resources: readonly string[]
  readonly pageSize: number
}

const shortest = 2
/** Scripts in which one character may be a word. */
const isWord = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
const longest = 200
const wordsMax = 10
const pageSizeDefault = 20
const pageSizeMax = 50

/**
 * Reads a search of `known` resources. Throws `unknown_parameter` or `malformed_query` with every problem.
 */
export function readSearchQuery(parameters: Parameters, known: readonly string[]): SearchRequest {
  const query = beginQuery(parameters, ['q', 'resources', 'pageSize'])
  const { problems } = query
  const text = single(query, 'q')?.trim() ?? ''
  const problem = textProblem('q', text, longest) ?? wordsProblem(text)
  if (problem) addProblem(problems, 'q', ...problem)
  const resources = listed(query, 'resources') ?? known
  for (const name of resources.filter(name => !known.includes(name))) {
    const hint = () => suggestion(name, known, `Those that are searched: ${known.join(', ')}.`)
    addProblem(problems, 'resources', 'unknown_resource', `"${name}" is not searched.`, { hint })
  }
  const pageSize = wholeNumber(query, ['pageSize'], pageSizeDefault, pageSizeMax)
  throwProblems(problems, 'The search could not be read.')
  return { wanted: searchWordsOf(text), resources, pageSize }
}

/** The code and message of the problem of the words; null: there is none. */
function wordsProblem(text: string): readonly [ProblemCode, string] | null {
  const words = wordsOf(text).length
  if (words === 0) return ['required', 'q must be given: the text to look for.']
  if (codePoints(text) < shortest && !isWord.test(text))
    return ['too_short', `q has at least ${shortest} characters.`]
  return words > wordsMax ? ['too_many', `q has at most ${wordsMax} words.`] : null
}

export type Hit = {
  readonly resource: string
  readonly id: number
  readonly name: string
  /** the text that contains the words, if that is not the name; else another text of the record, or null */
  readonly detail: string | null
}

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
  const found = await mapYielding(rows, ({ resource, id, texts }) => {
    const known = searchedTexts(caller.catalog.resources.get(resource!)!).texts
    return rankedHit(wanted, resource!, Number(id), known, parseJson(texts!) as Json[])
  })
  const ranked = found.flat().sort((one, other) => one.fit - other.fit || other.hit.id - one.hit.id)
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
