/** The calendar (D160): by mouse, by keys alone, by touch; who sees which entries; very many of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../src/json.ts'
import { noBrowser } from '../support/chromium.ts'
import { startService, v1 } from '../support/service.ts'
import { focusIn, messageOf, openUi } from '../support/ui.ts'

const service = await startService({ sampleData: false })
const { call, get, made } = service
const skip = noBrowser
assert.equal((await call('PATCH', `${v1}/account`, { time_zone: 'Europe/Berlin' })).status, 200)
assert.equal((await call('PATCH', `${v1}/me`, { locale: 'en-GB' })).status, 200)
const contact = (await made('contact', { first_name: 'Ada', last_name: 'Example' })).id

/** A week from Monday on, which no other test has. */
let weeks = 0
const newWeek = (): string[] => {
  const monday = new Date(Date.UTC(2027, 5, 7 + 7 * weeks++))
  return Array.from({ length: 7 }, (_, day) =>
    new Date(monday.getTime() + day * 86_400_000).toISOString().slice(0, 10),
  )
}
const activity = (subject: string, due_at: string, more: JsonObject = {}) =>
  made('activity', { kind: 'Meeting', subject, due_at, contact, owner: 1, ...more })
const read = async (id: number) => {
  const { due_at, duration } = (await get(`${v1}/activity/${id}`)).body.data
  return [due_at.slice(0, 16), duration]
}
const entry = (page: Page, title: string) => page.locator('a[data-entry]').filter({ hasText: title })
const hours = (page: Page, day: string) => page.locator(`[data-day="${day}"][data-hours]`)
const whole = (page: Page, day: string) => page.locator(`[data-day="${day}"]:not([data-hours])`)
const form = (page: Page) => page.getByRole('dialog', { name: 'New activity' })
const moved = (page: Page, title: string) => messageOf(page, `Moved “${title}” to`)

/** Fills the open form by keys, and saves it: an activity is about a contact or the like (D157). */
async function create(page: Page, subject: string) {
  await form(page).getByRole('textbox', { name: 'Subject' }).fill(subject)
  await form(page).getByRole('combobox', { name: 'Contact' }).focus()
  await page.keyboard.type('Ada')
  await page.getByRole('option', { name: 'Ada Example' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('listbox').waitFor({ state: 'detached' })
  await page.keyboard.press('Control+Enter')
}

/** The point of a time of day in a week. */
async function pointOf(page: Page, day: string, hour: number) {
  const box = (await hours(page, day).boundingBox())!
  return { x: box.x + box.width / 2, y: box.y + (box.height * hour) / 24 }
}

/** Drags with the mouse from one point to another. */
async function drag(page: Page, from: { x: number; y: number }, to: { x: number; y: number }) {
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(from.x + 6, from.y + 6)
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2)
  await page.mouse.move(to.x, to.y)
  await page.mouse.up()
}

/** The point near the beginning of an element. */
async function startOf(locator: ReturnType<typeof entry>) {
  const box = (await locator.boundingBox())!
  return { x: box.x + box.width / 2, y: box.y + 2 }
}

test('the mouse moves entries and draws new ones, in the week and in the month', { skip }, async () => {
  const week = newWeek()
  const { id } = await activity('Dragged', `${week[0]}T08:00:00Z`, { duration: 60 })
  const { page, accessible, end } = await openUi(service, `/calendar?date=${week[0]}`)
  await entry(page, 'Dragged').waitFor()
  await accessible('a week')
  // To Wednesday at half past two.
  await drag(page, await startOf(entry(page, 'Dragged')), await pointOf(page, week[2]!, 14.5))
  await moved(page, 'Dragged').waitFor()
  assert.deepEqual(await read(id), [`${week[2]}T12:30`, 60])
  await moved(page, 'Dragged').getByRole('button', { name: 'Undo' }).click()
  await messageOf(page, 'Moved “Dragged” back.').waitFor()
  assert.deepEqual(await read(id), [`${week[0]}T08:00`, 60])
  // Above the hours it is for the day.
  const above = (await whole(page, week[4]!).boundingBox())!
  await drag(page, await startOf(entry(page, 'Dragged')), { x: above.x + 30, y: above.y + 12 })
  await whole(page, week[4]!).locator('a[data-entry]').waitFor()
  await moved(page, 'Dragged').waitFor()
  assert.deepEqual(await read(id), [`${week[3]}T22:00`, null])
  // Escape ends a drag.
  const from = await startOf(entry(page, 'Dragged'))
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(from.x - 200, from.y + 100, { steps: 3 })
  await page.keyboard.press('Escape')
  await page.mouse.up()
  assert.deepEqual(await read(id), [`${week[3]}T22:00`, null])
  // Over free time something new is drawn.
  await drag(page, await pointOf(page, week[1]!, 10), await pointOf(page, week[1]!, 11.5))
  await create(page, 'Drawn')
  await entry(page, 'Drawn').waitFor()
  const [drawn] = (await get(`${v1}/activity/view/list?filter=subject:eq(Drawn)`)).body.data
  assert.deepEqual(
    [drawn.due_at.slice(0, 16), drawn.duration, drawn.kind, drawn.owner],
    [`${week[1]}T08:00`, 90, 2, 1],
  )
  // In the month an entry keeps its time.
  await page.getByText('Month', { exact: true }).click()
  await page.locator('[data-calendar="month"]').waitFor()
  assert.match(page.url(), /view=month/)
  await entry(page, 'Drawn').waitFor()
  await accessible('a month')
  const cell = (await page.locator(`[data-day="${week[3]}"]`).boundingBox())!
  await drag(page, await startOf(entry(page, 'Drawn')), { x: cell.x + 40, y: cell.y + 60 })
  await moved(page, 'Drawn').waitFor()
  assert.deepEqual(await read(drawn.id), [`${week[3]}T08:00`, 90])
  // A press on an entry opens it.
  await entry(page, 'Drawn').click()
  await page.getByRole('heading', { name: 'Drawn', level: 1 }).waitFor()
  await end()
})

test('keys alone go through the calendar, move, create and open', { skip }, async () => {
  const week = newWeek()
  const { id } = await activity('By keys', `${week[0]}T08:00:00Z`, { duration: 30 })
  await activity('Beside', `${week[1]}T09:00:00Z`, { duration: 30 })
  const { page, accessible, end } = await openUi(service, '/today')
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
  // Both within a second, whatever the answer to the first one takes.
  await Promise.all(['g', 'a'].map(key => page.keyboard.press(key)))
  await page.getByRole('heading', { name: 'Calendar', level: 1 }).waitFor()
  await page.goto(`${service.url}/calendar?date=${week[0]}`)
  await entry(page, 'By keys').waitFor()
  // One tab stop: the first day, as today is in another week.
  const days = page.getByRole('button', { name: /, \d+ activit/ })
  await page.getByRole('button', { name: 'New activity', exact: true }).focus()
  await page.keyboard.press('Tab')
  await focusIn(days.first())
  await page.keyboard.press('ArrowDown')
  await focusIn(entry(page, 'By keys'))
  await page.keyboard.press('ArrowRight')
  await focusIn(entry(page, 'Beside'))
  await page.keyboard.press('ArrowLeft')
  await focusIn(entry(page, 'By keys'))
  await accessible('an entry with the focus')
  // Quickly pressed, it is one move by two days and half an hour, and keeps the focus.
  for (const key of ['ArrowRight', 'ArrowDown', 'ArrowRight', 'ArrowDown'])
    await page.keyboard.press(`Shift+${key}`)
  await hours(page, week[2]!).locator('a[data-entry]').waitFor()
  await focusIn(entry(page, 'By keys'))
  // The page knows the last version before the next move.
  await moved(page, 'By keys').filter({ hasText: '10:30' }).waitFor()
  await page.locator('a[data-entry]', { hasText: 'By keys' }).waitFor()
  assert.equal((await read(id))[0], `${week[2]}T08:30`)
  // Typed exactly, and for the whole day.
  await focusIn(entry(page, 'By keys'))
  await page.keyboard.press('e')
  const dialog = page.getByRole('dialog', { name: 'Move “By keys”' })
  await dialog.getByLabel('Time').fill('')
  await accessible('the dialog that moves')
  await dialog.getByLabel('Day').fill(week[5]!)
  await page.keyboard.press('Enter')
  await whole(page, week[5]!).locator('a[data-entry]').waitFor()
  await messageOf(page, 'Saturday').waitFor()
  assert.deepEqual(await read(id), [`${week[4]}T22:00`, null])
  // Something new on the day with the focus.
  await focusIn(entry(page, 'By keys'))
  await page.keyboard.press('n')
  await create(page, 'Made there')
  await whole(page, week[5]!).locator('a[data-entry]').nth(1).waitFor()
  // Views and weeks.
  await page.keyboard.press('m')
  await page.locator('[data-calendar="month"]').waitFor()
  await page.keyboard.press('w')
  await page.locator('[data-calendar="week"]').waitFor()
  await page.keyboard.press('j')
  await entry(page, 'By keys').waitFor({ state: 'detached' })
  await page.keyboard.press('k')
  await entry(page, 'By keys').focus()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).getByText('Move by a day').waitFor()
  await page.keyboard.press('Escape')
  await entry(page, 'By keys').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'By keys', level: 1 }).waitFor()
  await end()
})

test('a finger moves an entry after a hold, and a phone has a list with a dialog', { skip }, async () => {
  const week = newWeek()
  const { id } = await activity('By touch', `${week[0]}T10:00:00Z`, { duration: 60 })
  const context = { hasTouch: true, isMobile: true }
  const path = `/calendar?date=${week[0]}`
  const tablet = await openUi(service, path, { size: { width: 1000, height: 900 }, context })
  await entry(tablet.page, 'By touch').waitFor()
  const client = await tablet.page.context().newCDPSession(tablet.page)
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x = 0, y = 0) =>
    client.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] })
  const from = await startOf(entry(tablet.page, 'By touch'))
  const to = await pointOf(tablet.page, week[1]!, 9)
  await touch('touchStart', from.x, from.y)
  await tablet.page.locator('.lifted').waitFor()
  for (let step = 1; step <= 6; step++)
    await touch('touchMove', from.x + ((to.x - from.x) * step) / 6, from.y + ((to.y - from.y) * step) / 6)
  await touch('touchEnd')
  await moved(tablet.page, 'By touch').waitFor()
  assert.deepEqual(await read(id), [`${week[1]}T07:00`, 60])
  await tablet.end()

  const { page, accessible, end } = await openUi(service, path, {
    ...{ size: { width: 390, height: 844 }, context },
  })
  await entry(page, 'By touch').waitFor()
  await accessible('the week on a phone')
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 390))
  await page.getByRole('button', { name: 'Move “By touch”' }).tap()
  const dialog = page.getByRole('dialog', { name: 'Move “By touch”' })
  await dialog.getByLabel('Day').fill(week[3]!)
  await dialog.getByLabel('Time').fill('16:15')
  await dialog.getByRole('button', { name: 'Move', exact: true }).tap()
  await moved(page, 'By touch').waitFor()
  assert.deepEqual(await read(id), [`${week[3]}T14:15`, 60])
  await page.getByText('Month', { exact: true }).tap()
  await page.locator('[data-calendar="month"]').waitFor()
  await entry(page, 'By touch').waitFor()
  await accessible('the month on a phone')
  await end()
})

/** A user with a role of their own. */
async function person(name: string, role: JsonObject, user: JsonObject = {}): Promise<number> {
  const scopes = ['activity', 'contact', 'field', 'user'].map(one => `${one}:read`)
  const { id } = await made('role', { name, scopes: [...scopes, 'activity:write'], ...role })
  return (await made('user', { name, email: `${name.toLowerCase()}@example.com`, role: id, ...user })).id
}

test('meetings at the same time stand side by side and say so', { skip }, async () => {
  const week = newWeek()
  await activity('First', `${week[1]}T08:00:00Z`, { duration: 60 })
  await activity('Second', `${week[1]}T08:30:00Z`, { duration: 60 })
  const { page, accessible, end } = await openUi(service, `/calendar?date=${week[0]}`)
  await entry(page, 'First').filter({ hasText: 'Clashes with “Second”' }).waitFor()
  await entry(page, 'Second').filter({ hasText: 'Clashes with “First”' }).waitFor()
  const boxes = await page
    .locator('a[data-entry]')
    .evaluateAll(all =>
      all.map(one => one.getBoundingClientRect()).map(({ left, right }) => [left, right] as const),
    )
  assert.equal(boxes.length, 2)
  const [left, right] = boxes.sort((one, other) => one[0] - other[0])
  assert.ok(left![1] <= right![0] + 1, 'neither covers the other')
  await accessible('a clash')
  await end()
})

test('all that is for a whole day is reached in its week, by keys', { skip }, async () => {
  const week = newWeek()
  for (let index = 1; index <= 7; index++) await activity(`Fair ${index}`, `${week[0]}T22:00:00Z`)
  const { page, accessible, end } = await openUi(service, `/calendar?date=${week[0]}`)
  await whole(page, week[1]!).getByRole('button', { name: 'and 3 others' }).press('Enter')
  await page.getByRole('link', { name: /^Fair 7/ }).waitFor()
  await focusIn(whole(page, week[1]!).getByRole('listitem').nth(4))
  await accessible('all of a whole day')
  await end()
})

test('a role sees its own, and what it may not move goes back with a message', { skip }, async () => {
  const week = newWeek()
  const own = await person('Own', { visibility: { activity: 'own' } })
  const [theirs, mine] = [`Theirs ${week[0]}`, `Mine ${week[0]}`]
  const { id } = await activity(theirs, `${week[0]}T08:00:00Z`, { duration: 60 })
  await activity(mine, `${week[1]}T08:00:00Z`, { duration: 60, owner: own })
  const limited = await openUi(service, `/calendar?date=${week[0]}&owner=all`, { user: own })
  await entry(limited.page, mine).waitFor()
  assert.equal(await entry(limited.page, theirs).count(), 0)
  // Their role makes no tokens.
  assert.equal(
    await limited.page.getByRole('button', { name: 'Subscribe' }).getAttribute('aria-disabled'),
    'true',
  )
  await limited.accessible('a calendar of everybody')
  await limited.end()

  const reader = await person('Reader', { may_change: { activity: 'own' } })
  const { page, end } = await openUi(service, `/calendar?date=${week[0]}&owner=all`, { user: reader })
  await entry(page, theirs).waitFor()
  await entry(page, theirs).focus()
  await page.keyboard.press('Shift+ArrowRight')
  await messageOf(page, `“${theirs}” was not moved.`).waitFor()
  await hours(page, week[0]!).locator('a[data-entry]', { hasText: theirs }).waitFor()
  assert.deepEqual(await read(id), [`${week[0]}T08:00`, 60])
  await end(/403/)
})

test('a person in Auckland sees and moves in their own time, also as clocks change', { skip }, async () => {
  const kiwi = await person('Kiwi', {}, { time_zone: 'Pacific/Auckland', locale: 'en-NZ' })
  // Clocks in Auckland go forward on 2027-09-26 and back on 2027-04-04; in Berlin on other days.
  const { id } = await activity('Early', '2027-09-24T21:00:00Z', { duration: 60, owner: kiwi })
  const { page, end } = await openUi(service, '/calendar?date=2027-09-25', { user: kiwi })
  await hours(page, '2027-09-25').locator('a[data-entry]').filter({ hasText: '9:00' }).waitFor()
  await page.getByText('Clocks go forward').waitFor()
  await entry(page, 'Early').focus()
  await page.keyboard.press('Shift+ArrowRight')
  await moved(page, 'Early').waitFor()
  // At nine of a day that is an hour shorter.
  assert.deepEqual(await read(id), ['2027-09-25T20:00', 60])
  await hours(page, '2027-09-26').locator('a[data-entry]').filter({ hasText: '9:00' }).waitFor()
  await end()
  // The same moment in Berlin, in the evening of the day before.
  const berlin = await openUi(service, `/calendar?date=2027-09-25&owner=${kiwi}`)
  await hours(berlin.page, '2027-09-25').locator('a[data-entry]').filter({ hasText: '22:00' }).waitFor()
  await berlin.page.goto(`${service.url}/calendar?date=2027-10-31`)
  await berlin.page.getByText('Clocks go back').waitFor()
  await berlin.end()
})

test('a secret address is made and shown once, and its feed can be revoked', { skip }, async () => {
  const week = newWeek()
  await activity('In the feed', new Date(Date.now() + 86_400_000).toISOString(), { duration: 60 })
  const { page, accessible, end } = await openUi(service, `/calendar?date=${week[0]}`)
  await page.getByRole('button', { name: 'Subscribe' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('My phone')
  await accessible('the dialog that subscribes')
  await dialog.getByRole('button', { name: 'Make the address' }).click()
  const address = await dialog.getByRole('textbox', { name: 'Address' }).inputValue()
  await accessible('the address')
  const feed = await fetch(address)
  assert.equal(feed.headers.get('content-type'), 'text/calendar; charset=utf-8')
  assert.match(await feed.text(), /SUMMARY:In the feed/)
  // It was not copied: leaving it is asked first.
  page.once('dialog', question => void question.accept())
  await dialog.getByRole('link', { name: 'Settings, Tokens' }).click()
  const row = page.getByRole('row').filter({ hasText: 'My phone' })
  await row.getByText('reads a calendar feed').last().waitFor()
  await page.getByRole('button', { name: 'Revoke My phone' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await messageOf(page, 'Revoked the token “My phone”').waitFor()
  service.aSecondGoesBy()
  assert.equal((await fetch(address)).status, 404)
  await end()
})

test('of ten thousand activities only those in view are read and drawn', { skip }, async () => {
  const busy = await person('Busy', {})
  // Forty a day, from 2028-03-01 on.
  const begin = Date.parse('2028-03-01T06:00:00Z')
  const operations = Array.from({ length: 10_000 }, (_, nth) => ({
    op: 'create',
    data: {
      ...{ kind: 'Task', subject: `Task ${nth}`, owner: busy, contact, duration: 15 },
      due_at: new Date(begin + Math.floor(nth / 40) * 86_400_000 + (nth % 40) * 900_000).toISOString(),
    },
  }))
  for (let at = 0; at < operations.length; at += 500) {
    const body = { operations: operations.slice(at, at + 500) }
    assert.equal((await call('POST', `${v1}/activity/batch`, body)).status, 200)
  }
  const { page, end } = await openUi(service, `/calendar?date=2028-04-12&owner=${busy}`)
  const asked: string[] = []
  page.on('request', request => {
    if (request.url().includes('/activity/view/list')) asked.push(request.url())
  })
  await page.locator('a[data-entry]').nth(279).waitFor()
  assert.equal(await page.locator('a[data-entry]').count(), 280)
  const elements = () => page.evaluate(() => document.querySelectorAll('*').length)
  assert.ok((await elements()) < 3500, `${await elements()} elements`)
  asked.length = 0
  await page.keyboard.press('m')
  await page.getByRole('button', { name: '+37 more on Wednesday' }).first().waitFor()
  assert.equal(await page.locator('a[data-entry]').count(), 42 * 3)
  // 43 days of 40 are four pages of 500.
  assert.equal(asked.length, 4)
  assert.ok((await elements()) < 3500, `${await elements()} elements`)
  // A day with more than its lines leads to its week.
  await page.getByRole('button', { name: '+37 more on Wednesday, 19 April 2028' }).click()
  await page.locator('[data-calendar="week"]').waitFor()
  await hours(page, '2028-04-19').locator('a[data-entry]').first().waitFor()
  await end()
})

test('a month with more than is read says what is missing', { skip }, async () => {
  const crowd = await person('Crowd', {})
  const operations = Array.from({ length: 2100 }, (_, nth) => ({
    op: 'create',
    data: {
      ...{ kind: 'Task', subject: `Many ${nth}`, owner: crowd, contact },
      due_at: new Date(Date.parse('2029-05-02T06:00:00Z') + nth * 600_000).toISOString(),
    },
  }))
  for (let at = 0; at < operations.length; at += 500)
    await call('POST', `${v1}/activity/batch`, { operations: operations.slice(at, at + 500) })
  const path = `/calendar?view=month&date=2029-05-12&owner=${crowd}`
  const { page, accessible, end } = await openUi(service, path)
  await page.getByText('The first 2,000 of 2,100 activities are shown, up to').waitFor()
  await accessible('a month that is cut')
  await page.goto(`${service.url}/calendar?date=2029-05-04&owner=${crowd}`)
  await page
    .getByText(/^and \d+ others$/)
    .first()
    .waitFor()
  await end()
})

test('an entry of several days says until when it goes on, and not that it begins at midnight', {
  skip,
}, async () => {
  const [first, second, third] = newWeek() as [string, string, string]
  // From 10:00 to 12:00 two days later.
  await activity('Long fair', `${first}T08:00:00Z`, { duration: 3000 })
  const { page, end } = await openUi(service, `/calendar?date=${first}`)
  const shown = (day: string) => entry(page, 'Long fair').and(page.locator(`[data-stop$=" ${day}"]`))
  await shown(third).waitFor()
  assert.equal(await shown(first).locator('[data-time]').textContent(), '10:00')
  assert.equal((await shown(first).getAttribute('title'))!.split('\n')[0], 'From 10:00')
  assert.equal(await shown(second).locator('[data-time]').count(), 0)
  assert.equal((await shown(second).getAttribute('title'))!.split('\n')[0], 'Whole day')
  assert.equal(await shown(third).locator('[data-time]').textContent(), 'until 12:00')
  assert.equal((await shown(third).getAttribute('title'))!.split('\n')[0], 'Until 12:00')
  await end()
})
