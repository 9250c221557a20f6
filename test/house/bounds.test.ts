/** What takes more time than its text is long is done in one place, which judges the length first. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sources } from './sources.ts'

const owners: readonly { readonly what: RegExp; readonly only: string }[] = [
  // Putting the marks of a letter in order takes the square of their number.
  { what: /\.normalize\(/, only: 'src/fields/name.ts' },
]

test('what takes the square of a length has one owner', () => {
  const others = owners.flatMap(({ what, only }) =>
    sources('src/**/*.ts')
      .filter(file => file.path !== only && what.test(file.text))
      .map(file => `${file.path}: ${what}`),
  )
  assert.deepEqual(others, [])
})
