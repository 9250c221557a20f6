/** The parameters of a search → its words and resources (D86). Knows no SQL. */
import { codePoints } from '../../fields/code-points.ts'
import { suggestion } from '../../fields/nearest.ts'
import {
  addProblem,
  type Parameters,
  single,
  throwProblems,
  unknownParameters,
  wholeNumber,
} from '../parameters.ts'
import { type SearchWord, searchWordsOf, wordsOf } from './words.ts'

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
  const problems = unknownParameters(parameters, ['q', 'resources', 'pageSize'])
  const text = single(parameters, 'q', problems)?.trim() ?? ''
  const length = codePoints(text)
  if (length > longest)
    addProblem(problems, 'q', 'too_long', `q has at most ${longest} characters, not ${length}.`)
  else if (wordsOf(text).length === 0)
    addProblem(problems, 'q', 'required', 'q must be given: the text to look for.')
  else if (length < shortest && !isWord.test(text))
    addProblem(problems, 'q', 'too_short', `q has at least ${shortest} characters.`)
  else if (text.includes('\0') || !text.isWellFormed())
    addProblem(problems, 'q', 'invalid_characters', 'q must not contain NUL or half of a surrogate pair.')
  else if (wordsOf(text).length > wordsMax)
    addProblem(problems, 'q', 'too_many', `q has at most ${wordsMax} words.`)
  const named = single(parameters, 'resources', problems)
  const resources = named === null ? known : [...new Set(named.split(',').map(name => name.trim()))]
  for (const name of resources.filter(name => !known.includes(name))) {
    const hint = () => suggestion(name, known, `Those that are searched: ${known.join(', ')}.`)
    addProblem(problems, 'resources', 'unknown_resource', `"${name}" is not searched.`, { hint })
  }
  const pageSize = wholeNumber(parameters, ['pageSize'], pageSizeDefault, pageSizeMax, problems)
  throwProblems(problems, 'The search could not be read.')
  return { wanted: searchWordsOf(text), resources, pageSize }
}
