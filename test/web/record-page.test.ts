/**
 * The page of a record is designed (D159): its facts, what is next, people, money, and the rest by sections;
 * on a phone the timeline first, and a bar at the foot.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Field } from '../../web/src/api/api.ts'
import { designedSections, headlineOf } from '../../web/src/records/record/design.ts'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { messageOf, openUi } from '../support/ui.ts'

const service = await startService()
const { call, known, made } = service
const skip = noBrowser

const phone = { width: 390, height: 844 }
const touch = { hasTouch: true, isMobile: true }
const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString()
const makeDeal = async (title: string, more: Parameters<typeof dealBody>[1] = {}): Promise<number> =>
  (await made('deal', dealBody(known, { title, pipeline_stage: known.stages.New!, ...more }))).id
const next = (page: Page) => page.getByRole('region', { name: 'What is next' })
const bar = (page: Page) => page.getByRole('region', { name: 'Actions' })
const stored = async (id: number) => (await call('GET', `${v1}/deal/${id}`)).body.data
const activities = async (id: number, more = '') =>
  (await call('GET', `${v1}/activity/view/list?filter=${encodeURIComponent(`deal:eq(${id})${more}`)}`)).body
    .data

/** A contact that can be called and written to. */
const reachable = () =>
  made('contact', {
    last_name: 'Reachable',
    phones: [{ phone_type: 3, phone_number: '+1 (555) 01-77' }],
    emails: [{ email_type: 1, email_value: 'reach@example.com' }],
  })

test('people and money come first, and a section that an account calls the same joins them', () => {
  const field = (internal_name: string, section: string, is_active = true) =>
    ({ internal_name, section, is_active }) as Field
  const sections = [
    [field('title', 'Basic'), field('company', 'Basic'), field('deal_value', 'Basic')],
    [field('cf_buyer', 'People'), field('cf_more', 'Own')],
  ]
  const shown = designedSections('deal', sections).map(one => [
    one[0]!.section,
    ...one.map(({ internal_name }) => internal_name),
  ])
  assert.deepEqual(shown, [
    ['People', 'company', 'cf_buyer'],
    ['Money', 'deal_value'],
    ['Basic', 'title'],
    ['Own', 'cf_more'],
  ])
  assert.deepEqual(
    designedSections('contact', sections).map(one => one[0]!.section),
    ['Basic', 'People', 'Own'],
  )
  const facts = headlineOf('deal', [field('company', 'Basic'), field('deal_value', 'Basic', false)])
  assert.deepEqual(
    facts.map(({ internal_name }) => internal_name),
    ['company'],
  )
})

test('the page of a deal has its facts, people and money before the rest, and its ID behind Details', {
  skip,
}, async () => {
  const contact = await reachable()
  const deal = await makeDeal('Designed', {
    primary_contact: contact.id,
    deal_value: { currency: 'USD', value: 1234 },
    expected_close_date: '2031-05-01',
    cf_custom_text_field: 'seen by sections',
  })
  const size = { width: 1440, height: 900 }
  const { page, accessible, end } = await openUi(service, `/deals/${deal}`, { size })
  await next(page).getByText('Nothing planned').waitFor()
  const facts = page.locator('main dl').first()
  assert.match((await facts.textContent())!, /Deal value\$1,234.*Expected close date.*May 1, 2031.*Reachable/)
  const titles = page.locator('main details h2')
  assert.deepEqual((await titles.allTextContents()).slice(0, 3), ['People', 'Money', 'Basic information'])
  assert.equal((await titles.allTextContents()).at(-1), 'Details')
  await page.getByText('seen by sections').waitFor()
  const call = page.getByRole('link', { name: '+1 (555) 01-77' })
  assert.equal(await call.getAttribute('href'), 'tel:+15550177')
  const write = page.getByRole('link', { name: 'reach@example.com' })
  assert.equal(await write.getAttribute('href'), 'mailto:reach@example.com')
  const version = page.locator('[data-field="version"]')
  assert.equal(await version.isVisible(), false)
  await page.locator('summary').filter({ hasText: 'Details' }).focus()
  await page.keyboard.press('Enter')
  await version.waitFor()
  assert.equal(await page.locator('[data-field="id"]').isVisible(), true)
  await accessible('the page of a deal with its details')
  // A fact that is another record leads to it.
  await facts.getByRole('link', { name: 'Reachable' }).click()
  await page.getByRole('heading', { level: 1, name: 'Reachable' }).waitFor()
  await end()
})

test('the next step is done by a press or by keys, the following one appears, and the focus stays', {
  skip,
}, async () => {
  const deal = await makeDeal('Stepwise')
  await made('activity', { kind: 'Call', subject: 'Ring them', deal, due_at: hours(-3) })
  await made('activity', { kind: 'Meeting', subject: 'See them', deal, due_at: hours(24 * 40) })
  const { page, accessible, end } = await openUi(service, `/deals/${deal}`)
  const strip = next(page)
  await strip.getByRole('link', { name: 'Ring them' }).waitFor()
  assert.equal(await strip.locator('[data-next]').getAttribute('data-next'), 'overdue')
  assert.match((await strip.textContent())!, /^Overdue: Ring them.*and 1 more/)
  await accessible('a deal with an overdue step')
  await strip.getByRole('button', { name: 'Done' }).click()
  await strip.getByRole('link', { name: 'See them' }).waitFor()
  assert.equal(await strip.locator('[data-next]').getAttribute('data-next'), 'later')
  await page.waitForFunction(() => document.activeElement?.ariaLabel === 'What is next')
  await strip.getByRole('button', { name: 'Done' }).focus()
  await page.keyboard.press('Enter')
  await strip.locator('[data-next="none"]').waitFor()
  await page.waitForFunction(() => document.activeElement?.ariaLabel === 'What is next')
  assert.equal((await activities(deal, ',done_at:isnull(false)')).length, 2)
  await messageOf(page, 'See them').getByRole('button', { name: 'Undo' }).click()
  await strip.getByRole('link', { name: 'See them' }).waitFor()
  await strip.getByRole('button', { name: 'Plan the next step' }).press('Enter')
  await page.getByRole('dialog', { name: 'Plan the next step' }).waitFor()
  await end()
})

test('nothing planned is no warning where a deal is closed, or for a contact', { skip }, async () => {
  const { id: contact } = await reachable()
  const deal = await makeDeal('Closed and calm', {
    pipeline_stage: known.stages.Won!,
    won_reason: Object.values(known.options.won_reason!)[0]!,
    deal_closed_on: '2026-03-04',
  })
  const { page, accessible, end } = await openUi(service, `/deals/${deal}`)
  for (const path of [`/deals/${deal}`, `/contacts/${contact}`]) {
    await page.goto(service.url + path)
    await next(page).getByText('Nothing planned').waitFor()
    await page.waitForLoadState('networkidle')
    assert.equal(await next(page).locator('[data-next]').count(), 0, path)
  }
  await accessible('a contact with nothing planned')
  await end()
})

test('a phone has the timeline first, and logs, plans, moves and calls from the bar by touch', {
  skip,
}, async () => {
  const contact = await reachable()
  const deal = await makeDeal('In the hand', { primary_contact: contact.id })
  const { page, accessible, end } = await openUi(service, `/deals/${deal}`, { size: phone, context: touch })
  const tabs = page.getByRole('tab')
  await tabs.first().waitFor()
  assert.deepEqual(await tabs.allTextContents(), ['Timeline', 'Overview', 'Products'])
  assert.equal(await tabs.first().getAttribute('aria-selected'), 'true')
  const box = (await bar(page).boundingBox())!
  assert.equal(Math.round(box.y + box.height), phone.height)
  await bar(page).getByRole('link', { name: /^Call/ }).waitFor()
  await accessible('a deal on a phone')
  const calls = bar(page).getByRole('link', { name: 'Call +1 (555) 01-77' })
  assert.equal(await calls.getAttribute('href'), 'tel:+15550177')
  const press = (name: string) => bar(page).getByRole('button', { name }).tap()
  await press('Log')
  const log = page.getByRole('dialog', { name: 'Log a call' })
  await log.getByRole('button', { name: 'Log call' }).tap()
  await log.waitFor({ state: 'detached' })
  assert.equal((await activities(deal)).length, 1)
  await press('Next step')
  const plan = page.getByRole('dialog', { name: 'Plan the next step' })
  await plan.getByRole('button', { name: 'Cancel' }).tap()
  await plan.waitFor({ state: 'detached' })
  await press('Move')
  await page.getByRole('menu').waitFor()
  await accessible('the stages in the bar of a phone')
  await page.getByRole('menuitem', { name: 'Qualified' }).tap()
  await page.getByText('Moved to Qualified.').waitFor()
  await page.getByText(/^Stage: Qualified since /).waitFor()
  assert.equal((await stored(deal)).pipeline_stage, known.stages.Qualified)
  await press('Move')
  await page.getByRole('menuitem', { name: /^Won/ }).tap()
  await page.getByRole('dialog', { name: 'Mark as won' }).waitFor()
  await end()
})

test('the bar is used by keys, and covers neither the end of the page nor the messages', {
  skip,
}, async () => {
  const deal = await makeDeal('By keys on a small window')
  const { page, accessible, end } = await openUi(service, `/deals/${deal}?tab=overview`, { size: phone })
  await bar(page).getByRole('button', { name: 'Move' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menu').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const message = messageOf(page, /^Moved to /)
  await message.waitFor()
  const top = (await bar(page).boundingBox())!.y
  const shown = (await message.boundingBox())!
  assert.ok(shown.y + shown.height <= top, `${shown.y + shown.height} above ${top}`)
  assert.notEqual((await stored(deal)).pipeline_stage, known.stages.New)
  const last = page.locator('summary').filter({ hasText: 'Details' })
  await page.locator('main').evaluate(main => main.scrollTo(0, main.scrollHeight))
  const end_ = (await last.boundingBox())!
  assert.ok(end_.y + end_.height <= (await bar(page).boundingBox())!.y)
  await accessible('the overview of a deal on a phone')
  await end()
})

test('the page begins the bar below 900 pixels, and products and activities have none', {
  skip,
}, async () => {
  const deal = await makeDeal('Between the widths')
  const { page, end } = await openUi(service, `/deals/${deal}`, { size: { width: 900, height: 800 } })
  await page.getByRole('radiogroup', { name: 'Stage' }).waitFor()
  assert.equal(await bar(page).count(), 0)
  await page.setViewportSize({ width: 899, height: 800 })
  await bar(page).waitFor()
  await page.getByRole('radiogroup', { name: 'Stage' }).waitFor({ state: 'detached' })
  const { id: activity } = await made('activity', { kind: 'Task', subject: 'Alone on its page', deal })
  for (const path of ['/products/148', `/activities/${activity}`]) {
    await page.goto(service.url + path)
    await page.getByRole('tab', { name: 'Timeline', selected: true }).waitFor()
    assert.equal(await bar(page).count(), 0, path)
  }
  await end()
})

test('who may read only sees why the bar does nothing, and who sees less has less', { skip }, async () => {
  const contact = await reachable()
  const deal = await makeDeal('Seen in part', { primary_contact: contact.id })
  const reader = await made('user', { name: 'Rob Reader', email: 'rob@example.com', role: 'Read only' })
  const one = await openUi(service, `/deals/${deal}`, { size: phone, user: reader.id })
  for (const name of ['Log', 'Next step', 'Move']) {
    const button = bar(one.page).getByRole('button', { name })
    await button.waitFor()
    assert.equal(await button.getAttribute('aria-disabled'), 'true', name)
  }
  await one.accessible('a deal on the phone of who may read only')
  await one.end()
  const role = await made('role', {
    name: 'No contacts and no amounts',
    scopes: ['deal:read', 'deal:write', 'field:read', 'pipeline_stage:read'],
    hidden_fields: ['deal.deal_value', 'deal.deal_stage_updated_at'],
  })
  const user = await made('user', { name: 'Lea Less', email: 'lea@example.com', role: role.id })
  const { page, end } = await openUi(service, `/deals/${deal}`, { size: phone, user: user.id })
  const calls = bar(page).getByRole('button', { name: 'Call' })
  await calls.waitFor()
  assert.equal(await calls.getAttribute('aria-disabled'), 'true')
  await page.getByText('Stage: New').waitFor()
  assert.equal(await next(page).count(), 0)
  assert.equal(await page.getByText('Deal value', { exact: true }).count(), 0)
  await end(/403/)
})

test('what could not be read of a record says so, and is read again', { skip }, async () => {
  const contact = await reachable()
  const deal = await makeDeal('Read in parts', { primary_contact: contact.id })
  const { page, accessible, end } = await openUi(service, '/board', { size: phone })
  const lists = /\/(contact|deal|activity)\/view\/list/
  const refuse = () => page.route(lists, route => route.fulfill({ status: 500 }))
  await refuse()
  await page.goto(`${service.url}/deals/${deal}`)
  await next(page).getByText('What is planned could not be read.').waitFor()
  await bar(page).getByRole('button', { name: 'Call' }).focus()
  await page.getByRole('tooltip', { name: 'The contact could not be read.' }).waitFor()
  await accessible('a deal that was read in parts')
  await page.unroute(lists)
  await next(page).getByRole('button', { name: 'Try again' }).click()
  await next(page).getByText('Nothing planned').waitFor()
  await refuse()
  await page.goto(`${service.url}/contacts/${contact.id}?tab=related`)
  const related = page.getByRole('region', { name: /^Deals/ })
  const again = related.getByRole('button', { name: 'Try again' })
  await again.waitFor()
  await page.unroute(lists)
  await again.click()
  await related.getByRole('link', { name: 'Read in parts' }).waitFor()
  await end(/500/)
})

test('who can’t see what points to a record is told so in its related records', { skip }, async () => {
  const role = await made('role', {
    name: 'No pointers',
    scopes: ['deal:read', 'contact:read', 'field:read'],
    hidden_fields: ['deal.primary_contact', 'deal.related_contacts'],
  })
  const user = await made('user', { name: 'Pia Pointless', email: 'pia@example.com', role: role.id })
  const contact = await reachable()
  const path = `/contacts/${contact.id}?tab=related`
  const { page, end } = await openUi(service, path, { user: user.id })
  await page.getByText('Your role can’t see which deals are related.').waitFor()
  await end(/403/)
})
