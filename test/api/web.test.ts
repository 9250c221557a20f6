/** How the service serves the web UI (D132): the page, its files, and what pages may load. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { webDirectory } from '../../src/http/web.ts'
import { startService } from '../support/service.ts'

const { url, token } = await startService({ sampleData: false })
const forPages = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(url + path, { method, headers, redirect: 'manual' })

test('an address of a page gets the page, which may load nothing from elsewhere', async () => {
  for (const path of ['/', '/board?filter=status:eq(Open)', '/deals/477', '/settings/users', '/a/b/c/d']) {
    const reply = await ask(path, forPages)
    assert.equal(reply.status, 200, path)
    assert.match(reply.headers.get('content-type')!, /^text\/html/)
    assert.equal(reply.headers.get('cache-control'), 'no-cache')
    const policy = reply.headers.get('content-security-policy')!
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self' 'sha256-[\w+/=]+'/)
    assert.doesNotMatch(policy, /unsafe|https?:|\*/)
    assert.equal(reply.headers.get('x-frame-options'), 'DENY')
    const text = await reply.text()
    assert.match(text, /<div id="root">/)
    assert.doesNotMatch(text, /<script>|<style|https?:\/\//)
  }
})

test('programs are told as before that there is nothing', async () => {
  for (const path of ['/nothing', '/rest/api/v1/nothing', '/assets/nothing.js', '/docs/nothing']) {
    const reply = await ask(path, { authorization: `Bearer ${token}` })
    assert.equal(reply.status, 404, path)
    assert.match(reply.headers.get('content-type')!, /problem\+json/)
  }
  for (const path of ['/rest/api/v1/nothing', '/assets/nothing.js'])
    assert.equal((await ask(path, forPages)).status, 404, path)
  assert.equal((await ask('/deals/477', forPages, 'POST')).status, 404)
  for (const path of ['/../package.json', '/%2e%2e/package.json', '/assets/..%2f..%2f..%2fpackage.json'])
    assert.doesNotMatch(await (await ask(path)).text(), /"dependencies"/, path)
})

test('addresses are told apart as the routes do, and odd headers are no fault', async () => {
  for (const path of ['/%72est/api/v1/nothing', '/%61ssets/nothing.js'])
    assert.equal((await ask(path, forPages)).status, 404, path)
  for (const path of ['/restaurant', '/docsx'])
    assert.match((await ask(path, forPages)).headers.get('content-type')!, /html/, path)
  const [script] = readdirSync(`${webDirectory}/assets`).filter(name => name.endsWith('.js'))
  for (const path of ['/', '/deals/1', '/favicon.svg', `/assets/${script}`]) {
    for (const range of ['bytes=99999999-', 'bytes=5-1', 'bytes=abc', 'bytes=0-10'])
      assert.equal((await ask(path, { ...forPages, range })).status, 200, `${path} ${range}`)
    assert.equal((await ask(path, { ...forPages, 'if-match': '"x"' })).status, 412, path)
    const early = { ...forPages, 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }
    assert.equal((await ask(path, early)).status, 412, path)
  }
})

test('files are kept for a year, and are the same in each encoding', async () => {
  const names = readdirSync(`${webDirectory}/assets`).filter(name => /\.(js|css)$/.test(name))
  assert.ok(names.length > 10)
  for (const name of names) {
    const [plain, gzip, br] = await Promise.all(
      ['identity', 'gzip', 'br'].map(encoding => raw(`/assets/${name}`, encoding)),
    )
    assert.equal(plain!.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(plain!.headers.get('x-content-type-options'), 'nosniff')
    assert.deepEqual(gunzipSync(gzip!.bytes), plain!.bytes, name)
    assert.deepEqual(brotliDecompressSync(br!.bytes), plain!.bytes, name)
  }
})

/** The encoded bytes of an answer: `fetch` would decode them. */
async function raw(path: string, encoding: string) {
  const { request } = await import('node:http')
  return new Promise<{ headers: Headers; bytes: Buffer }>((resolve, reject) => {
    request(url + path, { headers: { 'accept-encoding': encoding } }, reply => {
      const headers = new Headers(reply.headers as Record<string, string>)
      buffer(reply).then(bytes => resolve({ headers, bytes }), reject)
    })
      .on('error', reject)
      .end()
  })
}

test('the ways to sign in are said to everybody', async () => {
  const reply = await ask('/rest/api/v1/session/ways')
  assert.deepEqual(await reply.json(), { code: 0, data: { password: true, openid: false } })
})
