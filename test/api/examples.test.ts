/** The examples of docs/api and the curl lines of the documents work as documented. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startService } from '../support/service.ts'

const { call } = await startService()
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

type Example = { method: string; path: string; status: number; body: string }

test('every example of docs/api/README.md is answered with its status', async () => {
  const examples = [...read('docs/api/README.md').matchAll(/```http\n([\s\S]*?)```/g)].flatMap(match =>
    examplesOf(match[1]!),
  )
  assert.ok(examples.length > 30)
  const seen = new Map<string, number | string>([['today', new Date().toISOString().slice(0, 10)]])
  for (const { method, path, status, body } of examples) {
    const real = path.replace(/\{(\w+)\}/g, (_, name: string) => String(seen.get(name)))
    const sent = body.replace(/"\{(\w+)\}"/g, (_, name: string) => JSON.stringify(seen.get(name)))
    const reply = await call(method, real.replaceAll(' ', '%20').replaceAll('"', '%22'), sent || undefined)
    assert.equal(reply.status, status, `${method} ${real}: ${reply.text}`)
    const [, name] = /([^/?]+)(?:\?.*)?$/.exec(path)!
    if (status === 201) seen.set(name!, reply.body.data.link ?? reply.body.data.id)
    if (path.includes('/history')) seen.set('seq', reply.body.data[0].seq)
    if (reply.body?.meta?.nextCursor) seen.set('cursor', reply.body.meta.nextCursor)
  }
})

function examplesOf(block: string): Example[] {
  const starts = [...block.matchAll(/^([A-Z]+) (.+) → (\d+)$/gm)]
  return starts.map((start, index) => {
    const body = block.slice(start.index + start[0].length, starts[index + 1]?.index).trim()
    return { method: start[1]!, path: start[2]!, status: Number(start[3]), body }
  })
}

// Sent by fetch, as the suite must run without curl: the line is parsed.
test('the curl lines of README.md and docs/api/README.md work as printed', async () => {
  // The others need secrets or ids from earlier answers.
  const lines = ['README.md', 'docs/api/README.md']
    .flatMap(path => read(path).split('\n'))
    .filter(line => line.startsWith('curl ') && line.includes('admin-token') && !/\bID\b/.test(line))
  assert.equal(lines.length, 5)
  for (const line of lines) {
    const [, path] = /https?:\/\/127\.0\.0\.1:3000([^"\s]+)"?$/.exec(line)!
    const body = / -d '([^']+)'/.exec(line)?.[1]
    assert.match(line, /-H "Authorization: Bearer \$\(cat data\/admin-token\)"/)
    const reply = await call(body ? 'POST' : 'GET', path!, body)
    assert.equal(reply.body.code, 0, reply.text)
  }
})
