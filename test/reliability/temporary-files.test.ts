/** If the folder for temporary files is missing or not writable, the operations that need it say so. */
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startService, v1 } from '../support/service.ts'

const { url, token, get } = await startService()
const before = process.env.TMPDIR
process.env.TMPDIR = join(tmpdir(), 'dealwright-is-not-there')
after(() => {
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
})

test('an export is sent all the same', async () => {
  for (const format of ['csv', 'jsonl', 'xlsx'])
    assert.equal((await get(`${v1}/deal/export?format=${format}`)).status, 200, format)
})

test('a workbook is refused, with when to try again', async () => {
  const response = await fetch(`${url}${v1}/import?resource=deal&format=xlsx`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
    body: Buffer.from('PK\x03\x04 and more'),
  })
  const { type, detail } = (await response.json()) as { type: string; detail: string }
  assert.deepEqual([response.status, type], [503, '/docs/errors#storage_unavailable'], detail)
  assert.equal(response.headers.get('retry-after'), '60')
  assert.doesNotMatch(detail, /is-not-there/)
  assert.deepEqual((await get(`${v1}/job`)).body.data, [])
})
