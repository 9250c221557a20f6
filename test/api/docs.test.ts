/** The documentation (D140), as the service serves it: Markdown for programs, the web UI for browsers. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { errorTable } from '../../src/errors.ts'
import { startService } from '../support/service.ts'

const { url, token } = await startService()
const page = async (path: string, headers: Record<string, string> = {}) => {
  const reply = await fetch(url + path, { headers })
  return { status: reply.status, headers: reply.headers, text: await reply.text() }
}
const asPage = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('every page is there without a token, and every link of a page leads somewhere', async () => {
  const { tags } = JSON.parse((await page('/openapi.json')).text) as { tags: { name: string }[] }
  const resources = tags.map(({ name }) => `/docs/reference/${name}`)
  const seen = new Map<string, string>()
  const waiting = ['/docs']
  for (let path = waiting.pop(); path; path = waiting.pop()) {
    if (seen.has(path)) continue
    const { status, headers, text } = await page(path)
    assert.equal(status, 200, path)
    seen.set(path, text)
    if (!path.startsWith('/docs')) continue
    assert.equal(headers.get('content-type'), 'text/markdown; charset=utf-8')
    for (const [, target] of text.matchAll(/\]\((?!https:)([^)#]*)(?:#[^)]*)?\)/g)) {
      assert.match(target!, /^\/(docs|openapi\.json)/, `${path} → ${target}`)
      // The web UI makes them of /openapi.json.
      if (target!.startsWith('/docs/reference/')) assert.ok(resources.includes(target!), target)
      else waiting.push(target!)
    }
  }
  for (const path of [
    '/docs/your-first-deal-in-five-minutes',
    '/docs/lists',
    '/docs/receiving-webhooks',
    '/docs/agents',
    '/docs/errors',
    '/docs/decisions',
    '/docs/reference',
  ])
    assert.ok(seen.has(path), path)
  assert.equal((await page('/docs/nothing')).status, 404)
})

test('every error, every problem and every decision has an entry', async () => {
  const { text: errors } = await page('/docs/errors')
  for (const [slug, { code }] of Object.entries(errorTable))
    assert.match(errors, new RegExp(`^\\| ${code} \\| \`${slug}\` \\|`, 'm'))
  assert.match(errors, /^\| `required_when_won` \|/m)
  const { text: decisions } = await page('/docs/decisions')
  const written = globSync('docs/decisions/*.md').flatMap(file => [
    ...readFileSync(file, 'utf8').matchAll(/^\*\*D\d+ · [^*]+\*\*/gm),
  ])
  assert.ok(written.length > 100)
  for (const [line] of written) assert.ok(decisions.includes(line), line)
})

test('a browser gets the web UI at these addresses, and a program the text', async () => {
  for (const path of ['/docs', '/docs/errors', '/docs/lists', '/docs/nothing', '/docs/reference/deal']) {
    const { status, headers, text } = await page(path, asPage)
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8'], path)
    assert.match(text, /<div id="root">/)
    // It loads nothing from elsewhere.
    assert.match(headers.get('content-security-policy')!, /^default-src 'none'; script-src 'self';/)
    assert.doesNotMatch(text, /(?:src|href)="(?:https?:)?\/\//)
  }
  for (const headers of [asPage, {}])
    assert.match((await page('/docs/errors', headers)).headers.get('vary')!, /^accept\b/)
  for (const path of ['/docs/nothing', '/docs/reference/deal'])
    assert.equal((await page(path, { authorization: `Bearer ${token}` })).status, 404, path)
})
