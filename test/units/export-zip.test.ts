/** A ZIP archive written as a stream: its failures and its end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zipped } from '../../src/files/write-zip.ts'

test('what an entry throws is thrown, after the bytes before it', async () => {
  async function* content() {
    yield Buffer.from('text')
    throw new Error('the records are gone')
  }
  await assert.rejects(
    Array.fromAsync(zipped([{ name: 'a', content: content() }])),
    /^Error: the records are gone$/,
  )
})

test('entries are ended with their archive', { timeout: 60_000 }, async () => {
  await new Promise<void>(resolve => {
    async function* endless() {
      try {
        for (let count = 0; ; count++) yield Buffer.from(String(count).repeat(10_000))
      } finally {
        resolve()
      }
    }
    const archive = zipped([{ name: 'a', content: endless() }])
    // The head of the entry, and then some of its content.
    void archive
      .next()
      .then(() => archive.next())
      .then(() => archive.return(undefined))
  })
})

test('the same entries make the same bytes', async () => {
  const bytes = async () => {
    const content = (async function* () {
      yield Buffer.from('text')
    })()
    return Buffer.concat(await Array.fromAsync(zipped([{ name: 'a', content }])))
  }
  const first = await bytes()
  assert.deepEqual(await bytes(), first)
  assert.equal(first.toString('latin1', 0, 4), 'PK\x03\x04')
})
