/** The reference of the documentation (D140), as a browser shows it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noBrowser } from '../support/chromium.ts'
import { startService } from '../support/service.ts'
import { assertAccessible, sharedBrowser } from '../support/ui.ts'

const { url, token } = await startService()

test('the reference shows the account of a token and sends requests, on a desk and on a phone', {
  skip: noBrowser,
}, async () => {
  const browser = await sharedBrowser()

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
})

test('the pages are beside the text on a desk, and a menu on a phone', { skip: noBrowser }, async () => {
  const shown = await (await sharedBrowser()).newPage({ viewport: { width: 390, height: 844 } })
  const menu = shown.getByRole('button', { name: 'Pages' })
  const pages = shown.getByRole('navigation', { name: 'Documentation' })
  for (const path of ['/docs', '/docs/errors', '/docs/reference']) {
    await shown.goto(url + path)
    const { y } = (await shown.getByRole('heading', { level: 1 }).boundingBox())!
    assert.ok(y < 200, `${path}: ${y}`)
    assert.equal(await pages.getByRole('link', { name: 'Errors' }).isVisible(), false)
  }
  await menu.focus()
  await shown.keyboard.press('Enter')
  await pages.getByRole('link', { name: 'Errors' }).waitFor()
  await assertAccessible(shown, 'the menu of the documentation')
  // A link within the page closes it, too.
  await pages.getByRole('link', { name: 'webhook', exact: true }).click()
  await pages.getByRole('link', { name: 'Errors' }).waitFor({ state: 'hidden' })
  await menu.click()
  await pages.getByRole('link', { name: 'Errors' }).click()
  await shown.getByRole('heading', { level: 1, name: 'Errors' }).waitFor()
  await shown.setViewportSize({ width: 1440, height: 900 })
  assert.equal(await menu.isVisible(), false)
  assert.ok(await pages.getByRole('link', { name: 'Errors' }).isVisible())
  await shown.close()
})
