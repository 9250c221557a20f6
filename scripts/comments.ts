/**
 * `npm run comments -- --seed 7 --count 80`: draws comments at random and prints each with its file and line,
 * for people to read and judge. The same seed draws the same ones from the same tree.
 */
import { parseArgs } from 'node:util'
import { commented, commentsOf } from '../test/house/sources.ts'
import { random } from '../test/support/generated.ts'

const { values } = parseArgs({
  options: { seed: { type: 'string' }, count: { type: 'string', default: '80' } },
})
const [seed, count] = [Number(values.seed ?? Date.now() % 1_000_000), Number(values.count)]
if (!Number.isInteger(seed) || !Number.isInteger(count) || count < 1)
  throw new Error('--seed takes a whole number, --count a positive one')

const next = random(seed)
const drawn = commented()
  .flatMap(({ path, text }) =>
    commentsOf(text).map(({ line, text: comment }) => `${path}:${line}\n  ${comment}`),
  )
  .map(comment => ({ comment, order: next() }))
  .sort((one, other) => one.order - other.order)
  .slice(0, count)
console.log(`${drawn.map(({ comment }) => comment).join('\n')}\n\n${drawn.length} comments, --seed ${seed}`)
