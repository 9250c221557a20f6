/** The documentation (D140) as pages of the web UI: without a session, by a session and by a token. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { assertAccessible, focusIn, heard, openContext, openUi, visit } from '../support/ui.ts'

const service = await startService()
const { url, token, call, known } = service
const skip = noBrowser

const desk = { width: 1440, height: 900 }
const phone = { width: 390, height: 844 }

/** A page for a reader who has not signed in. `end` fails on errors of the console. */
async function asGuest(path: string, viewport = desk) {
  const context = await openContext({ viewport })
  const page = await context.newPage()
  const errors = heard(page)
  await page.goto(url + path)
  await heading(page)
  const end = async () => {
    await context.close()
    assert.deepEqual(errors, [])
  }
  return { page, end }
}

/** The heading of a page that has been loaded. */
async function heading(page: Page, name?: string) {
  const found = page.locator('main h1:not([data-waiting])', name ? { hasText: name } : {})
  await found.waitFor()
  return found
}

test('every link leads to a page, and every anchor to a place in it', { skip }, async () => {
  const { page, end } = await asGuest('/docs')
  await page.getByRole('navigation').getByRole('link', { name: 'Errors' }).waitFor()
  const anchors = new Map<string, Set<string>>()
  const links: { from: string; path: string; anchor: string }[] = []
  const waiting = ['/docs']
  for (let path = waiting.shift(); path; path = waiting.shift()) {
    if (anchors.has(path)) continue
    if (anchors.size > 0) await visit(page, path)
    const { ids, hrefs } = await page.evaluate(() => ({
      ids: [...document.querySelectorAll('main [id]')].map(({ id }) => id),
      hrefs: [...document.querySelectorAll('main a, nav a')].map(link => link.getAttribute('href')!),
    }))
    assert.equal(new Set(ids).size, ids.length, `${path}: an id twice`)
    assert.equal(await page.getByText('The documentation has no such page.').count(), 0, path)
    anchors.set(path, new Set(ids))
    for (const href of new Set(hrefs)) {
      const { origin, pathname, hash } = new URL(href, url + path)
      if (origin !== url || !pathname.startsWith('/docs')) continue
      links.push({ from: path, path: pathname, anchor: decodeURIComponent(hash.slice(1)) })
      waiting.push(pathname)
    }
  }
  assert.ok(anchors.size > 50, String(anchors.size))
  const dead = links.filter(({ path, anchor }) => anchor && !anchors.get(path)!.has(anchor))
  assert.deepEqual(dead, [])
  // `type` of a problem, and addresses that others may have noted.
  for (const [path, anchor] of [
    ['/docs/errors', 'validation_failed'],
    ['/docs/errors', 'problem-required_when_won'],
    ['/docs/decisions', 'D140'],
    ['/docs/reference', 'pipeline_stage'],
    ['/docs/reference', 'deal_list'],
    ...['sign_in', 'own_settings', 'form', 'option'].map(name => ['/docs/reference/schemas', name]),
  ])
    assert.ok(anchors.get(path!)?.has(anchor!), `${path}#${anchor}`)
  await end()
})

test('the number of a decision leads to it, from a guide and back', { skip }, async () => {
  const { page, end } = await asGuest('/docs/the-document-for-programs')
  await page.getByRole('link', { name: 'D90' }).click()
  await heading(page, 'Decisions')
  const decision = page.locator('#D90')
  await focusIn(decision)
  assert.match((await decision.textContent())!, /^D90 · The service describes itself/)
  const { y } = (await decision.boundingBox())!
  assert.ok(y >= 0 && y < 200, String(y))
  await page.goBack()
  await heading(page, 'The document for programs')
  assert.equal(await page.title(), 'The document for programs · Dealwright')
  await page.goto(`${url}/docs/nothing`)
  await page.getByText('The documentation has no such page.').waitFor()
  await page.context().close()
  void end
})

test('the reference shows the account of who has signed in, and sends requests as them', {
  skip,
}, async () => {
  const { page, end } = await openUi(service, '/docs/reference/deal')
  await page.getByText('This is your account').waitFor()
  assert.ok((await page.getByText('cf_custom_text_field').count()) > 0)
  const list = page.locator('#deal_list')
  await list.locator('summary').first().click()
  await list.getByRole('button', { name: 'Try it' }).click()
  await list.getByLabel('pageSize').fill('1')
  await list.getByLabel('fields').fill('title')
  await list.getByRole('button', { name: 'Send' }).click()
  await list.getByText('Status 200').waitFor()

  const create = page.locator('#deal_create')
  await create.locator('summary').first().click()
  await create.getByRole('button', { name: 'Try it' }).click()
  const body = create.getByLabel('Body')
  await body.fill('{"title"')
  await create.getByRole('button', { name: 'Send' }).click()
  await create.getByRole('alert').filter({ hasText: 'The body is not valid JSON' }).waitFor()
  await body.fill('{"title": "No more than that"}')
  await create.getByRole('button', { name: 'Send' }).click()
  await create.getByText('Status 422').waitFor()
  const title = 'Sent by the reference'
  await body.fill(JSON.stringify(dealBody(known, { title })))
  await create.getByRole('button', { name: 'Send' }).click()
  // It is a dry run until one says otherwise.
  await create.getByText('Status 201').waitFor()
  const found = async () =>
    (await call('GET', `${v1}/deal/view/list?filter=title:eq(${encodeURIComponent(title)})`)).body.meta.total
  assert.equal(await found(), 0)
  await create.getByLabel('Dry run').uncheck()
  // Pressed twice, it is sent once.
  const { promise, resolve } = Promise.withResolvers<void>()
  const isCreated = (url: URL) => url.pathname.endsWith('/deal')
  await page.route(isCreated, route => promise.then(() => route.fallback()))
  await create.getByRole('button', { name: 'Send' }).dblclick()
  const answered = page.waitForResponse(answer => isCreated(new URL(answer.url())))
  resolve()
  await (await answered).finished()
  await create.getByRole('button', { name: 'Send', disabled: false }).waitFor()
  // The page shows the answer of the dry run until then.
  await eventually(async () => (await found()) === 1, 'a deal that was sent')
  await assertAccessible(page, 'a request that was sent')
  await end(/status of 422/)
})

test('the reference of a role has no fields that the role hides', { skip }, async () => {
  const scopes = ['deal:read', 'contact:read']
  const role = await call('POST', `${v1}/role`, {
    name: 'No notes',
    scopes,
    hidden_fields: ['deal.description'],
  })
  assert.equal(role.status, 201, role.text)
  const user = await call('POST', `${v1}/user`, {
    ...{ name: 'Dora Docs', email: 'dora@example.com', role: role.body.data.id },
  })
  const { page, end } = await openUi(service, '/docs/reference/deal', { user: user.body.data.id })
  await page.getByText('Requests are sent as Dora Docs').waitFor()
  const fields = page.getByRole('row')
  assert.equal(await fields.filter({ hasText: /^description/ }).count(), 0)
  assert.ok((await fields.filter({ hasText: /^title/ }).count()) > 0)
  assert.equal(await page.locator('#deal_create').count(), 0)
  await end()
})

for (const [name, viewport] of [
  ['a desk', desk],
  ['a phone', phone],
] as const)
  test(`a token shows its account and sends requests, on ${name}`, { skip }, async () => {
    const { page, end } = await asGuest('/docs/reference/deal#deal_list', viewport)
    const list = page.locator('#deal_list')
    // The anchor has opened it.
    const tryIt = list.getByRole('button', { name: 'Try it' })
    await tryIt.waitFor()
    assert.equal(await tryIt.getAttribute('aria-disabled'), 'true')
    assert.equal(await page.getByText('cf_custom_text_field').count(), 0)
    // The focus is never lost with what replaces itself.
    await page.getByRole('button', { name: 'Use a token' }).press('Enter')
    await focusIn(page.getByLabel('Token'))
    await page.getByRole('button', { name: 'Cancel' }).press('Enter')
    await focusIn(page.getByRole('button', { name: 'Use a token' }))
    await page.keyboard.press('Enter')
    await page.getByLabel('Token').fill('nonsense')
    await page.keyboard.press('Enter')
    await page.getByText('The token is unknown, expired or revoked').waitFor()
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Use the token' }).click()
    await page.getByText('as your token may use it').waitFor()
    assert.ok((await page.getByText('cf_custom_text_field').count()) > 0)
    await tryIt.press('Enter')
    await focusIn(list.getByRole('textbox').first())
    await list.getByLabel('pageSize').fill('1')
    await list.getByRole('button', { name: 'Send' }).click()
    await list.getByText('Status 200').waitFor()
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= viewport.width)
    await page.reload()
    await page.getByText('as your token may use it').waitFor()
    await page.getByRole('button', { name: 'Forget the token' }).click()
    await page.getByText('This is the service itself').waitFor()
    await page.context().close()
    void end
  })

test('the pages are beside the text on a desk, and a menu on a phone', { skip }, async () => {
  const { page, end } = await asGuest('/docs', phone)
  const menu = page.getByRole('button', { name: 'Pages' })
  const pages = page.getByRole('navigation', { name: 'Documentation' })
  for (const path of [
    '/docs',
    '/docs/errors',
    '/docs/reference',
    '/docs/decisions',
    '/docs/reference/deal',
  ]) {
    await page.goto(url + path)
    const { y } = (await (await heading(page)).boundingBox())!
    assert.ok(y < 200, `${path}: ${y}`)
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= phone.width, path)
    assert.equal(await pages.getByRole('link', { name: 'Errors' }).isVisible(), false)
  }
  await menu.focus()
  await page.keyboard.press('Enter')
  await pages.getByRole('link', { name: 'Errors' }).waitFor()
  await assertAccessible(page, 'the menu of the documentation')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Escape')
  await pages.getByRole('link', { name: 'Errors' }).waitFor({ state: 'hidden' })
  await focusIn(menu)
  await menu.click()
  await pages.getByRole('link', { name: 'Errors' }).click()
  await focusIn(await heading(page, 'Errors'))
  assert.equal(await pages.getByRole('link', { name: 'Errors' }).isVisible(), false)
  await page.setViewportSize(desk)
  assert.equal(await menu.isVisible(), false)
  // A link to the application loads nothing before it is pressed: a guest's requests are refused.
  await pages.getByRole('link', { name: 'Open Dealwright' }).hover()
  await page.waitForTimeout(300)
  const current = pages.getByRole('link', { name: 'Errors' })
  assert.equal(await current.getAttribute('aria-current'), 'page')
  await end()
})

test('every kind of page is accessible', { skip }, async () => {
  const { page, end } = await asGuest('/docs')
  for (const path of [
    '/docs',
    '/docs/lists',
    '/docs/errors#in_use',
    '/docs/decisions#D140',
    '/docs/reference',
    '/docs/reference/territory#territory_create',
    '/docs/reference/schemas',
  ]) {
    if (path !== '/docs') await visit(page, path)
    await assertAccessible(page, path)
  }
  await page.goto(`${url}/docs/lists`)
  await heading(page)
  await page.keyboard.press('Tab')
  await focusIn(page.getByRole('link', { name: 'Skip to the content' }))
  await end()
})

test('the UI leads to the documentation, and the documentation back', { skip }, async () => {
  const { page, end } = await openUi(service, '/settings/tokens')
  await page.getByRole('link', { name: 'How programs use a token' }).click()
  await heading(page, 'Roles, users and tokens')
  await page.getByRole('link', { name: 'Open Dealwright' }).click()
  await page.getByRole('button', { name: /, your account$/ }).click()
  await page.getByRole('menuitem', { name: 'Documentation' }).click()
  await heading(page, 'The interface by example')
  await end()
})
