/** Comments use the field's words. `npm run comments` draws some at random, to be read and judged. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commented, commentsOf } from './sources.ts'

/** Forms that hide the subject of a sentence, or describe a technique instead of naming it. */
const refused: readonly RegExp[] = [
  /^(?:What|Who|Whose|Whom|Whether|The same of|The same,)(?=\W)/,
  /\b(?:of then|by itself|as (?:it|they) (?:was|were)|told|in vain|who asks|somebody)\b/,
  /\b(?:is|are) (?:given|kept)\b/,
  /\bif not said\b/,
]

/** Names of code, which a comment may quote: `told`, or the file told.ts. */
const names = /`[^`]*`|[\w/-]+\.tsx?\b/g

/** Where such a word is the right one: "path: form" → the reason. */
const exceptions: { readonly [place: string]: string } = {}

const found = commented().flatMap(({ path, text }) =>
  commentsOf(text).flatMap(comment =>
    refused.flatMap(form => {
      const words = form.exec(comment.text.replace(names, '``'))?.[0]
      return words === undefined ? [] : [{ ...comment, place: `${path}: ${words}`, path, words }]
    }),
  ),
)

test('comments are said in the field’s words', () => {
  const offenders = found
    .filter(({ place }) => !(place in exceptions))
    .map(({ path, line, words, text }) => `${path}:${line}: “${words}” in “${text}”`)
  assert.deepEqual(offenders, [])
})

test('no exception is left over', () => {
  const places = new Set(found.map(({ place }) => place))
  assert.deepEqual(
    Object.keys(exceptions).filter(place => !places.has(place)),
    [],
  )
})
