/** The pages of the documentation (D140), as they are served and as a browser shows them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorTable } from '../../src/errors.ts'
import { noBrowser, withBrowser } from '../support/chromium.ts'
import { startService } from '../support/service.ts'

const { url, token } = await startService()
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
    // What is elsewhere is not ours to ask.
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

test(
  'the reference shows the account of a token and sends requests, on a desk and on a phone',
  {
    skip: noBrowser,
  },
  () =>
    withBrowser(async browser => {
      for (const viewport of [
        { width: 1280, height: 900 },
        { width: 390, height: 800 },
      ]) {
        const shown = await browser.newPage({ viewport })
        const faults: string[] = []
        shown.on('pageerror', error => faults.push(error.message))
        shown.on('console', message => message.type() === 'error' && faults.push(message.text()))
        await shown.goto(`${url}/docs/reference`)
        assert.equal(await shown.getByText('cf_custom_text_field').count(), 0)
        await shown.getByLabel('Token').fill(token)
        await shown.getByRole('button', { name: 'Show my account' }).click()
        await shown.getByText('Your account:').waitFor()
        assert.ok((await shown.getByText('cf_custom_text_field').count()) > 0)
        const list = shown.locator('#deal_list')
        await list.locator('summary').first().click()
        await list.getByLabel('Query').fill('pageSize=1&fields=title')
        await list.getByRole('button', { name: 'Send' }).click()
        await list.getByText('200 OK').waitFor()
        assert.ok(Number(await shown.evaluate('document.documentElement.scrollWidth')) <= viewport.width)
        assert.deepEqual(faults, [])
        await shown.close()
      }
    }),
)
