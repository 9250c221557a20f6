/**
 * The inbox (D156) in the browser: mentions by keys and by touch, two people at once, a reminder in an open
 * page, read states, settings, and a role that sees only its own.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { readableText, rememberPerson, storedText } from '../../web/src/activities/mentions.ts'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { focusIn, messageOf, openUi, resize } from '../support/ui.ts'

const service = await startService()
const { call, get, known, made } = service
const skip = noBrowser
const phone = { size: { width: 390, height: 844 }, context: { hasTouch: true, isMobile: true } }

const person = async (name: string, members: { [field: string]: unknown } = {}): Promise<number> =>
  (
    await made('user', {
      name,
      email: `${name.toLowerCase().replace(/\W/g, '.')}@example.com`,
      ...members,
    } as never)
  ).id
const makeDeal = async (title: string, members = {}): Promise<number> =>
  (await made('deal', dealBody(known, { title, ...members }))).id

const note = (page: Page) => page.getByRole('textbox', { name: 'Note' }).first()
const offered = (page: Page) => page.getByRole('listbox', { name: 'People to mention' })
const reminders = (page: Page) => page.getByRole('region', { name: 'Reminders' })
const unreadOf = (page: Page, count: number) => page.getByRole('link', { name: `Inbox ${count} unread` })

test('a text that is edited mentions whom it mentioned, also two people of one name', () => {
  for (const [stored, readable] of [
    ['Ask @{12 Ana Kim}, not @{13 Ana Kim}!', 'Ask @Ana Kim, not @Ana Kim (13)!'],
    ['@{14} is here', '@No. 14 is here'],
    ['No mention: a@b.example {12}', 'No mention: a@b.example {12}'],
    // As a name these would be another's, or nobody's.
    ['@{12 Ana Kim}s turn', '@{12 Ana Kim}s turn'],
    ['@{15 Ana} Kim', '@{15 Ana} Kim'],
  ] as const) {
    assert.equal(readableText(stored), readable)
    const users = (text: string) => [...text.matchAll(/@\{(\d+)/g)].map(([, id]) => id)
    assert.deepEqual(users(storedText(readable)), users(stored))
  }
  assert.equal(rememberPerson(16, 'Br{a}ce'), 'Brace')
  assert.equal(storedText('@Brace'), '@{16 Brace}')
})

test('keys alone mention a person, who sees it at once in a page that is open', { skip }, async () => {
  const priya = await person('Priya Sharma')
  await person('Prisca Kern')
  const deal = await makeDeal('Mentioned by keys')
  const hers = await openUi(service, '/inbox', { user: priya })
  await hers.page.getByText('There is nothing new.').waitFor()
  const { page, accessible, end } = await openUi(service, `/deals/${deal}`)
  await note(page).focus()
  await page.keyboard.type('Ask @pri')
  await offered(page).getByRole('option', { name: 'Priya Sharma' }).waitFor()
  await accessible('people to mention')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.keyboard.type('about the price')
  assert.equal(await note(page).inputValue(), 'Ask @Priya Sharma about the price')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Note added.').waitFor()
  const [activity] = (await get(`${v1}/activity/view/list?filter=deal:eq(${deal})`)).body.data
  assert.deepEqual(
    [activity.subject, activity.notes],
    ['Ask @Priya Sharma about the price', `Ask @{${priya} Priya Sharma} about the price`],
  )
  // Two people at once: her page shows it, and what she reads is read in the service.
  const item = hers.page.getByRole('link', { name: /mentioned you in “Ask @Priya Sharma about the price”/ })
  await item.waitFor()
  await unreadOf(hers.page, 1).waitFor()
  await hers.accessible('the inbox')
  await hers.page.keyboard.press('j')
  await focusIn(item)
  await hers.page.keyboard.press('e')
  await unreadOf(hers.page, 1).waitFor({ state: 'detached' })
  await hers.page.keyboard.press('u')
  await unreadOf(hers.page, 1).waitFor()
  await hers.page.keyboard.press('Enter')
  await hers.page.waitForURL(new RegExp(`/deals/${deal}`))
  await unreadOf(hers.page, 1).waitFor({ state: 'detached' })
  await end()
  await hers.end()
})

test('notes that are edited in place keep their mentions, and get new ones', { skip }, async () => {
  const [ines, otis] = [await person('Ines Wolf'), await person('Otis Wolf')]
  const deal = await makeDeal('Edited in place')
  const notes = `Ask @{${ines} Ines Wolf}`
  const { id } = await made('activity', { kind: 'Note', subject: 'Prices', notes, deal })
  const { page, accessible, end } = await openUi(service, `/activities/${id}`)
  const shown = page.getByRole('button', { name: 'Edit Notes: Ask @Ines Wolf' })
  await shown.focus()
  await page.keyboard.press('Enter')
  const text = page.getByRole('textbox', { name: 'Notes' })
  await focusIn(text)
  assert.equal(await text.inputValue(), 'Ask @Ines Wolf')
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' and @oti')
  await offered(page).getByRole('option', { name: 'Otis Wolf' }).waitFor()
  await accessible('people to mention in notes that are edited in place')
  // Escape closes the list alone.
  await page.keyboard.press('Escape')
  await offered(page).waitFor({ state: 'detached' })
  await page.keyboard.type('s')
  await offered(page).getByRole('option', { name: 'Otis Wolf' }).click()
  assert.equal(await text.inputValue(), 'Ask @Ines Wolf and @Otis Wolf ')
  await page.keyboard.type('today')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Edit Notes: Ask @Ines Wolf and @Otis Wolf today' }).waitFor()
  const stored = (await get(`${v1}/activity/${id}`)).body.data.notes
  assert.equal(stored, `Ask @{${ines} Ines Wolf} and @{${otis} Otis Wolf} today`)
  // So does the cell of a table.
  await page.goto(`${service.url}/activities?columns=subject,notes&filter=id:eq(${id})`)
  await page.getByRole('gridcell', { name: 'Ask @Ines Wolf and @Otis Wolf today' }).dblclick()
  await focusIn(text)
  await page.keyboard.press('Control+End')
  await page.keyboard.type(', @ine')
  await offered(page).getByRole('option', { name: 'Ines Wolf' }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await page.getByRole('gridcell', { name: 'today, @Ines Wolf' }).waitFor()
  await end()
})

test('who may not see the deal is offered by no key, and says so', { skip }, async () => {
  const role = await made('role', {
    name: 'Own deals',
    scopes: ['deal:read', 'deal:write', 'activity:read', 'activity:write', 'contact:read', 'user:read'],
    visibility: { deal: 'own', activity: 'own' },
  })
  const otto = await person('Otto Quinn', { role: role.id })
  const deal = await makeDeal('Not for Otto')
  const { page, accessible, end } = await openUi(service, `/deals/${deal}`)
  await note(page).focus()
  await page.keyboard.type('@otto')
  const option = offered(page).getByRole('option', { name: 'Otto Quinn can’t see this deal' })
  await option.waitFor()
  await accessible('a person who may not see it')
  await page.keyboard.press('Enter')
  assert.equal(await note(page).inputValue(), '@otto')
  // Written as the service takes it, it is refused; nothing reaches him.
  await note(page).fill(`Hello @{${otto} Otto Quinn}`)
  await page.keyboard.press('Control+Enter')
  await page.getByText(/Otto Quinn, who may not see this/).waitFor()
  // He follows no feed, and sees what he was given when he comes to the page.
  const own = await makeDeal('Otto’s own', { sales_owner: otto })
  const his = await openUi(service, '/inbox', { user: otto })
  await his.page.getByRole('link', { name: /gave you “Otto’s own”/ }).waitFor()
  assert.equal(await his.page.locator('[data-item]').count(), 1)
  await unreadOf(his.page, 1).waitFor()
  assert.ok(own > 0)
  await his.end()
  await end(/422/)
})

test('on a phone a person is mentioned by touch', { skip }, async () => {
  const tara = await person('Tara Umber')
  const deal = await makeDeal('Mentioned by touch')
  const { page, accessible, end } = await openUi(service, `/deals/${deal}?tab=timeline`, phone)
  const text = note(page)
  await text.tap()
  await focusIn(text)
  await page.keyboard.type('@tara')
  await offered(page).getByRole('option', { name: 'Tara Umber' }).tap()
  // A tap becomes a click a moment later.
  await offered(page).waitFor({ state: 'hidden' })
  await page.keyboard.type('please call')
  assert.equal(await text.inputValue(), '@Tara Umber please call')
  await accessible('a mention on a phone')
  await page.getByRole('button', { name: /^(Save|Add) note$/ }).tap()
  await messageOf(page, 'Note added.').waitFor()
  await page.getByText('@Tara Umber please call').first().waitFor()
  const { body } = await get(`${v1}/activity/view/list?filter=deal:eq(${deal})`)
  assert.equal(body.data[0].notes, `@{${tara} Tara Umber} please call`)
  const hers = await openUi(service, '/inbox', { user: tara, ...phone })
  await hers.page.getByRole('button', { name: /^Mark as read:/ }).tap()
  await hers.page.getByRole('button', { name: /^Mark as unread:/ }).waitFor()
  await hers.accessible('the inbox on a phone')
  await hers.end()
  await end()
})

test('a reminder shows in every open page, whatever the time zone; it is snoozed and done', {
  skip,
}, async () => {
  const berlin = await call('PATCH', `${v1}/account`, { time_zone: 'Europe/Berlin' })
  assert.equal(berlin.status, 200, berlin.text)
  const ana = await person('Ana Auckland', { time_zone: 'Pacific/Auckland' })
  const one = await openUi(service, '/board', { user: ana })
  const other = await one.page.context().newPage()
  await other.goto(`${service.url}/today`)
  await one.page.getByRole('link', { name: 'Inbox' }).waitFor()
  await other.getByRole('link', { name: 'Inbox' }).waitFor()
  const due_at = new Date(Date.now() + 603_000).toISOString()
  const body = { kind: 'Call', subject: 'Ring the harbour', due_at, reminder: 10, owner: ana }
  const { id } = await made('activity', body)
  for (const page of [one.page, other])
    await reminders(page).getByRole('link', { name: 'Soon: “Ring the harbour”' }).waitFor()
  const said = new Intl.DateTimeFormat('en-US', { timeZone: 'Pacific/Auckland', timeStyle: 'short' })
  const shown = await reminders(one.page).locator('time').textContent()
  assert.ok(shown!.includes(said.format(new Date(due_at)).split(/\s/)[0]!), `${shown}`)
  await one.accessible('a reminder')
  await reminders(one.page).getByRole('button', { name: 'In 10 minutes' }).click()
  await reminders(one.page).waitFor({ state: 'detached' })
  await reminders(other).waitFor({ state: 'detached' })
  // One whose time has passed is due now.
  const past = new Date(Date.now() - 60_000).toISOString()
  const late = await made('activity', { ...body, subject: 'Too late', due_at: past, reminder: 0 })
  await reminders(other).getByRole('link', { name: 'Due: “Too late”' }).waitFor()
  await reminders(other).getByRole('button', { name: 'Done' }).click()
  await reminders(other).waitFor({ state: 'detached' })
  assert.notEqual((await get(`${v1}/activity/${late.id}`)).body.data.done_at, null)
  assert.equal((await get(`${v1}/activity/${id}`)).body.data.done_at, null)
  // On a phone they leave the way to other pages free.
  for (const subject of ['One', 'Two', 'Three'])
    await made('activity', { ...body, subject, due_at: past, reminder: 0 })
  await resize(other, 390)
  await reminders(other).getByText('2 more').filter({ visible: true }).waitFor()
  await other.getByRole('button', { name: 'Navigation' }).click()
  await other.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Inbox' }).waitFor()
  await one.end()
})

test('settings leave kinds out and keep quiet hours; all is read by one key', { skip }, async () => {
  const ben = await person('Ben Quiet')
  for (const title of ['One', 'Two', 'Three']) await makeDeal(title, { sales_owner: ben })
  const { page, accessible, end } = await openUi(service, '/board', { user: ben })
  await unreadOf(page, 3).waitFor()
  // Both within a second, whatever the answer to the first one takes.
  await Promise.all(['g', 'n'].map(key => page.keyboard.press(key)))
  await page.getByRole('heading', { name: 'Today' }).waitFor()
  await page.getByRole('button', { name: 'What the inbox shows' }).click()
  const dialog = page.getByRole('dialog', { name: 'What the inbox shows' })
  await dialog.getByLabel('Assigned').uncheck()
  await dialog.getByLabel('No reminders at certain hours').check()
  await dialog.getByLabel('From').fill('00:00')
  await dialog.getByLabel('To').fill('23:59')
  await accessible('settings of the inbox')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('There is nothing new.').waitFor()
  await page.getByRole('button', { name: 'What the inbox shows' }).click()
  await dialog.getByLabel('Assigned').check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await unreadOf(page, 3).waitFor()
  await dialog.waitFor({ state: 'detached' })
  await page.keyboard.press('a')
  await unreadOf(page, 3).waitFor({ state: 'detached' })
  await page.getByLabel('Unread only').check()
  await page.getByText('There is nothing of this kind.').waitFor()
  await end()
})

test('“Mark all as read” leaves the other kinds alone, and trusts no clock of the browser', {
  skip,
}, async () => {
  const kim = await person('Kim Kinds')
  const deal = await makeDeal('Given to Kim', { sales_owner: kim })
  const due_at = new Date(Date.now() - 60_000).toISOString()
  await made('activity', { kind: 'Call', subject: 'Due for Kim', due_at, owner: kim, deal })
  const { page, end } = await openUi(service, '/inbox', { user: kim })
  // Assigned are the deal and the activity, which is due, too.
  await unreadOf(page, 3).waitFor()
  await page.clock.setFixedTime(Date.now() - 3 * 86_400_000)
  await page.getByLabel('Kind').selectOption('Assigned')
  await page.getByRole('main').getByText('Due: “Due for Kim”').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await unreadOf(page, 1).waitFor()
  await page.getByLabel('Kind').selectOption('Everything')
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await unreadOf(page, 1).waitFor({ state: 'detached' })
  await end()
})

test('a reminder of quiet hours comes when these end', { skip }, async () => {
  const quinn = await person('Quinn Quiet', { time_zone: 'UTC' })
  const { page, end } = await openUi(service, '/inbox', { user: quinn })
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
  await page.getByRole('button', { name: 'What the inbox shows' }).click()
  const dialog = page.getByRole('dialog', { name: 'What the inbox shows' })
  await dialog.getByLabel('No reminders at certain hours').check()
  await dialog.getByLabel('From').fill(at(-120).slice(11, 16))
  await dialog.getByLabel('To').fill(at(5).slice(11, 16))
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.clock.install()
  await page.goto(`${service.url}/inbox`)
  const settings = page.waitForResponse(/inbox\/settings/)
  const body = { kind: 'Call', subject: 'After the quiet', due_at: at(-1), reminder: 0, owner: quinn }
  await made('activity', body)
  await settings
  await page.getByRole('main').getByText('Due: “After the quiet”').waitFor()
  assert.equal(await reminders(page).count(), 0)
  await page.clock.fastForward('06:00')
  await reminders(page).getByRole('link', { name: 'Due: “After the quiet”' }).waitFor()
  await end()
})

test('what came today is of yesterday after midnight, in a page that stays open', { skip }, async () => {
  const nora = await person('Nora Night')
  await makeDeal('Given in the evening', { sales_owner: nora })
  const { page, end } = await openUi(service, '/board', { user: nora })
  await page.clock.install()
  await page.goto(`${service.url}/inbox`)
  const today = page.getByRole('heading', { name: 'Today' })
  await today.waitFor()
  await page.clock.fastForward('24:00:00')
  await today.waitFor({ state: 'detached' })
  await end()
})
