/** A new account in the browser: ways in for its deals, and five steps (D162). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { startService, v1 } from '../support/service.ts'
import { openUi, settled } from '../support/ui.ts'

const skip = noBrowser
const service = await startService({ sampleData: false })
const { call } = service

const panel = (page: Page) => page.getByRole('region', { name: 'Getting started' })
const counted = (page: Page, done: number) => panel(page).getByText(`${done} of 5 done`).waitFor()

test('an empty account offers a file, sample deals and five steps, by keyboard and on a phone', {
  skip,
}, async () => {
  const { page, accessible, end } = await openUi(service, '/board', { size: { width: 390, height: 780 } })
  await counted(page, 0)
  assert.equal(await panel(page).getByRole('listitem').count(), 5)
  await accessible('the steps of a new account')
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  assert.equal(isWide, false)
  await panel(page).getByRole('button', { name: 'Import a file' }).click()
  await page.getByRole('heading', { level: 1, name: 'Import deals' }).waitFor()
  await page.goBack()

  await panel(page).getByRole('button', { name: 'Try ten sample deals' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'See the deals' }).waitFor()
  const { body } = await call('GET', `${v1}/deal/view/list?expand=company,primary_contact,pipeline_stage`)
  assert.equal(body.meta.total, 10)
  assert.ok(body.data.every((deal: { expected_close_date: string }) => deal.expected_close_date))
  const contacts = await call('GET', `${v1}/contact/view/list`)
  assert.equal(contacts.body.meta.total, 6)

  // It is undone by one press, as any import.
  await page.getByRole('button', { name: 'Undo import' }).click()
  await page.getByRole('button', { name: 'Undo it' }).click()
  await eventually(async () => (await call('GET', `${v1}/deal/view/list`)).body.meta.total === 0, 'no deals')
  await end()
})

test('people who are no administrators are not asked to set the account up', { skip }, async () => {
  const body = { name: 'Sol Reader', email: 'sol@example.com', role: 'Read only' }
  const user = (await call('POST', `${v1}/user`, body)).body.data.id
  const { page, end } = await openUi(service, '/board', { user })
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.locator('[data-column]').first().waitFor()
  assert.equal(await panel(page).count(), 0)
  await page.goto(`${service.url}/today`)
  await settled(page)
  assert.equal(await panel(page).count(), 0)
  await end()
})

test('the steps tick themselves off, and go when all are done or they are hidden', { skip }, async () => {
  const { page, end } = await openUi(service, '/today')
  await counted(page, 1)
  await panel(page).getByRole('link', { name: 'Fit the stages to how you sell' }).click()
  await page.getByRole('heading', { level: 1, name: 'Pipelines and stages' }).waitFor()
  const [stage] = (await call('GET', `${v1}/pipeline_stage/view/list?sort=id:asc`)).body.data
  await call('PATCH', `${v1}/pipeline_stage/${stage.id}`, { name: 'Fresh' })
  await call('PATCH', `${v1}/account`, { name: 'Fjord Sales' })
  await page.goto(`${service.url}/today`)
  await counted(page, 3)
  await call('POST', `${v1}/activity`, { kind: 'Call', subject: 'Say hello' })
  await page.goto(`${service.url}/board`)
  await counted(page, 4)
  await panel(page).getByRole('button', { name: 'Hide' }).click()
  await panel(page).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByText('No deals yet.').waitFor()
  assert.equal(await panel(page).count(), 0)
  await page.goto(`${service.url}/today`)
  await settled(page)
  assert.equal(await panel(page).count(), 0)
  await end()

  const other = await openUi(service, '/today')
  await counted(other.page, 4)
  const contact = await call('POST', `${v1}/contact`, { last_name: 'Berg' })
  const made = await call('POST', `${v1}/deal`, {
    ...{ title: 'First', pipeline: stage.pipeline, pipeline_stage: stage.id, sales_owner: 1 },
    primary_contact: contact.body.data.id,
    deal_value: { value: 1, currency: 'USD' },
  })
  assert.equal(made.status, 201, made.text)
  await other.page.reload()
  await other.page.getByText('Say hello').first().waitFor()
  await panel(other.page).waitFor({ state: 'detached' })
  await other.end()
})
