/** The pages of the documentation (D140), as they are served. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorTable } from '../../src/errors.ts'
import { startService } from '../support/service.ts'

const { url } = await startService()
const page = async (path: string) => {
  const reply = await fetch(url + path)
  return { status: reply.status, headers: reply.headers, text: await reply.text() }
}

test('every page is there without a token, and every link of a page leads somewhere', async () => {
  const seen = new Map<string, string>()
  const waiting = ['/docs']
  for (let path = waiting.pop(); path; path = waiting.pop()) {
    if (seen.has(path)) continue
    const { status, text } = await page(path)
    assert.equal(status, 200, path)
    seen.set(path, text)
    if (!path.startsWith('/docs')) continue
    // External links are not checked.
    for (const [, link] of text.matchAll(/(?:href|src)="(?!https:)([^"#]*)(?:#[^"]*)?"/g))
      if (link) waiting.push(link)
  }
  for (const path of [
    '/docs/your-first-deal-in-five-minutes',
    '/docs/lists',
    '/docs/receiving-webhooks',
    '/docs/errors',
    '/docs/reference',
  ])
    assert.ok(seen.has(path), path)
  for (const [path, text] of seen)
    for (const [, target, anchor] of text.matchAll(/href="(\/docs[^"#]*)#([^"]+)"/g))
      assert.match(seen.get(target!)!, new RegExp(` id="${anchor}"`), `${path} → ${target}#${anchor}`)
  assert.equal((await page('/docs/nothing')).status, 404)
})

test('every error and every problem has an entry that says what to do', async () => {
  const { text } = await page('/docs/errors')
  for (const [slug, { code }] of Object.entries(errorTable))
    assert.match(text, new RegExp(`<tr id="${slug}">\\s*<td>${code}</td>`))
  assert.match(text, /<tr id="problem-required_when_won">/)
})

test('the pages load nothing from elsewhere', async () => {
  const { headers, text } = await page('/docs/reference')
  const policy = headers.get('content-security-policy')!
  assert.match(policy, /^default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';/)
  assert.doesNotMatch(text, /(?:src|href)="(?:https?:)?\/\//)
})
