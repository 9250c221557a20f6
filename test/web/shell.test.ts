/** What is around the pages stays, whatever a page waits for; and a new page gets the focus. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { startService } from '../support/service.ts'
import { openUi } from '../support/ui.ts'

const service = await startService()
const skip = noBrowser

/** Holds back the answers to requests for a path, until what it answers is called. */
async function held(page: Page, path: RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(path, async route => {
    await promise
    await route.continue()
  })
  return resolve
}

const inNavigation = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name })

const focusOn = (page: Page, heading: string) =>
  page.waitForFunction(
    text => document.activeElement?.matches('h1') && document.activeElement.textContent === text,
    heading,
  )

test('a page that waits leaves the way to the others, and gets the focus when it comes', {
  skip,
}, async () => {
  const { page, accessible, end } = await openUi(service, '/board')
  await page.getByRole('heading', { name: 'Sales pipeline' }).waitFor()
  const release = await held(page, /field\/list\?source=company/)
  await inNavigation(page, 'Companies').click()
  await page.getByRole('heading', { name: 'Loading' }).waitFor()
  await accessible('a page that waits')
  release()
  await focusOn(page, 'Companies')
  assert.equal(await page.locator('#announcer').textContent(), 'Companies')
  for (const name of ['Today', 'Forecast', 'Board', 'Contacts', 'Board']) {
    await inNavigation(page, name).click()
    await focusOn(page, name === 'Board' ? 'Sales pipeline' : name)
    assert.equal(await page.locator('#announcer').textContent(), name === 'Board' ? 'Sales pipeline' : name)
  }
  await inNavigation(page, 'Settings').click()
  await focusOn(page, 'Profile')
  await end()
})

test('offline a page that was never loaded says so, and comes when one is back', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/board')
  await page.getByRole('heading', { name: 'Sales pipeline' }).waitFor()
  // The file of Companies is that of Contacts; its fields are read for it alone.
  await inNavigation(page, 'Contacts').click()
  await focusOn(page, 'Contacts')
  await page.context().setOffline(true)
  for (const name of ['Companies', 'Forecast', 'Today']) {
    await inNavigation(page, name).click()
    await page.locator('main').getByText('You are offline.').first().waitFor()
  }
  await inNavigation(page, 'Companies').click()
  await page.locator('main').getByText('You are offline.').waitFor()
  await accessible('a page that could not be loaded')
  // What opens over a page leaves it there, too.
  await page.keyboard.press('?')
  await page.getByRole('log', { name: 'Messages' }).getByRole('button', { name: 'Dismiss' }).first().click()
  await inNavigation(page, 'Contacts').waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Try again' }).click()
  await focusOn(page, 'Companies')
  await inNavigation(page, 'Today').click()
  await focusOn(page, 'Today')
  await end(/ERR_INTERNET_DISCONNECTED|offline|Failed to fetch/)
})
