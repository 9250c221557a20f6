/** Logging a call in three presses, with its next step (D157): by mouse, by keys alone, by touch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import type { Json } from '../../src/json.ts'
import { nextMonday } from '../../web/src/activities/next-days.ts'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { focusIn, openUi } from '../support/ui.ts'

const service = await startService()
const { call, get, known, made } = service
const skip = noBrowser

const makeDeal = async (title: string): Promise<number> =>
  (await made('deal', dealBody(known, { title, pipeline_stage: known.stages.New! }))).id

type Activity = { [field: string]: unknown }

const activitiesOf = async (about: string, id: number): Promise<Activity[]> =>
  (await get(`${v1}/activity/view/list?filter=${about}:eq(${id})&sort=id:asc`)).body.data

const card = (page: Page, title: string) => page.getByRole('listitem').filter({ hasText: title })
const form = (page: Page, name = 'Log a call') => page.getByRole('dialog', { name })

/** Chips are labels over their radios. */
const chip = (page: Page, name: string) => page.getByRole('dialog').getByText(name, { exact: true })

test('a call is logged on its card in three presses, with the mouse, and is undone', { skip }, async () => {
  const deal = await makeDeal('Logged by mouse')
  const { page, accessible, end } = await openUi(service, '/board')
  await card(page, 'Logged by mouse').hover()
  await page.getByRole('button', { name: 'Log a call about Logged by mouse' }).click()
  await form(page).waitFor()
  await accessible('the form that logs a call')
  await chip(page, 'No answer').click()
  await page.getByRole('button', { name: 'Log call' }).click()
  await page.getByText('Logged “Call: No answer”.').waitFor()
  const [done, ...others] = await activitiesOf('deal', deal)
  assert.deepEqual([done!.kind, done!.outcome, done!.notes, others.length], [1, 'No answer', null, 0])
  assert.equal(done!.contact, known.contact, 'the timeline of the contact has it, too')
  assert.ok(Math.abs(Date.parse(String(done!.done_at)) - Date.now()) < 600_000)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('It is not logged any more.').waitFor()
  assert.deepEqual(await activitiesOf('deal', deal), [])
  await end()
})

test('keys alone log a call with what was said and what is next, both or neither', { skip }, async () => {
  const deal = await makeDeal('Logged by keys')
  const { page, accessible, end } = await openUi(service, `/board?filter=title:eq(Logged by keys)`)
  await page.getByRole('link', { name: 'Logged by keys' }).focus()
  await page.keyboard.press('l')
  await focusIn(form(page).getByRole('radio', { name: 'None' }).first())
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Tab')
  await page.keyboard.type('They ask for an offer until Friday')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowRight')
  await form(page).getByLabel('Day of the next step').waitFor()
  await accessible('a call with a next step')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Logged “They ask for an offer until Friday”. Next: “Follow-up call”.').waitFor()
  await form(page).waitFor({ state: 'detached' })
  const [done, next] = await activitiesOf('deal', deal)
  assert.deepEqual([done!.subject, done!.outcome], ['They ask for an offer until Friday', 'Reached'])
  assert.deepEqual([next!.kind, next!.subject, next!.done_at, next!.deal], [1, 'Follow-up call', null, deal])
  assert.equal((await get(`${v1}/deal/${deal}`)).body.data.upcoming_activities, 1)
  // Undo by its key takes back both.
  await page.keyboard.press('Control+z')
  await page.getByText('It is not logged any more.').waitFor()
  assert.deepEqual(await activitiesOf('deal', deal), [])
  // A note has its own key.
  await page.getByRole('link', { name: 'Logged by keys' }).focus()
  await page.keyboard.press('n')
  await focusIn(form(page, 'Write a note').getByRole('textbox', { name: 'Note' }))
  await page.keyboard.type('First line\nand a second')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Logged “First line”.').waitFor()
  const [note] = await activitiesOf('deal', deal)
  assert.deepEqual([note!.kind, note!.subject, note!.notes], [5, 'First line', 'First line\nand a second'])
  await end()
})

test('a call is logged on a phone by three taps', { skip }, async () => {
  const deal = await makeDeal('Logged by touch')
  const context = { hasTouch: true, isMobile: true }
  const size = { width: 390, height: 844 }
  const { page, accessible, end } = await openUi(service, '/board', { size, context })
  await page.getByRole('button', { name: 'Log a call about Logged by touch' }).tap()
  await form(page).waitFor()
  await accessible('the form that logs a call, on a phone')
  await chip(page, 'Left a message').tap()
  const save = page.getByRole('button', { name: 'Log call' })
  const { y, height } = (await save.boundingBox())!
  assert.ok(y + height <= 844, 'it is in view')
  await save.tap()
  await page.getByText('Logged “Call: Left a message”.').waitFor()
  assert.deepEqual(
    (await activitiesOf('deal', deal)).map(({ outcome }) => outcome),
    ['Left a message'],
  )
  await end()
})

test('what was planned is what was done: its form says so, and changes that activity', { skip }, async () => {
  const deal = await makeDeal('Planned and done')
  const planned = await made('activity', {
    ...{ kind: 'Call', subject: 'Ask for the contract', notes: 'By Maya', deal },
    due_at: new Date(Date.now() - 3_600_000).toISOString(),
  })
  const { page, end } = await openUi(service, `/deals/${deal}`)
  await page.getByRole('button', { name: 'Log a call' }).click()
  const was = form(page).getByRole('checkbox', { name: /This was “Ask for the contract”/ })
  await was.waitFor()
  assert.equal(await was.isChecked(), true)
  await form(page).getByRole('textbox', { name: 'What was said' }).fill('It is signed')
  await page.keyboard.press('Enter')
  await page.getByText('Logged “Ask for the contract”.').waitFor()
  const [only, ...others] = await activitiesOf('deal', deal)
  assert.deepEqual([only!.id, only!.notes, others.length], [planned.id, 'By Maya\nIt is signed', 0])
  assert.notEqual(only!.done_at, null)
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('It is not logged any more.').waitFor()
  const [again] = await activitiesOf('deal', deal)
  assert.deepEqual([again!.done_at, again!.notes], [null, 'By Maya'])
  await end()
})

test('meetings and e-mails are logged about contacts and companies, and from the palette', {
  skip,
}, async () => {
  const contact = await made('contact', { last_name: 'Loggable' })
  const company = await made('company', { name: 'Loggable Ltd' })
  const { page, end } = await openUi(service, `/contacts/${contact.id}`)
  await page.getByRole('button', { name: 'Log a meeting' }).click()
  await chip(page, 'Decision made').click()
  await page.getByRole('button', { name: 'Log meeting' }).click()
  await page.getByText('Logged “Meeting: Decision made”.').waitFor()
  assert.deepEqual(
    (await activitiesOf('contact', contact.id)).map(({ kind }) => kind),
    [2],
  )
  await page.goto(`${service.url}/companies/${company.id}`)
  await page.getByRole('button', { name: 'Log an e-mail' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox').fill('log e-mail')
  await page.keyboard.press('Enter')
  await form(page, 'Log an e-mail').waitFor()
  await page.getByRole('button', { name: 'Log e-mail' }).click()
  await page.getByText('Logged “E-mail”.').waitFor()
  assert.deepEqual(
    (await activitiesOf('company', company.id)).map(({ kind }) => kind),
    [4],
  )
  await end()
})

test('an activity is about something: without a subject the forms ask for one', { skip }, async () => {
  const deal = await makeDeal('Found for a call')
  const { page, accessible, end } = await openUi(service, '/today')
  await page.getByRole('button', { name: 'Log a call', exact: true }).click()
  await page.getByRole('button', { name: 'Log call' }).click()
  await page.getByText('Choose what this is about.').waitFor()
  await accessible('a call about nothing')
  const which = form(page).getByRole('combobox', { name: 'Which' })
  await which.fill('Found for a call')
  await page.getByRole('option', { name: /Found for a call/ }).click()
  await form(page).getByRole('textbox', { name: 'What was said' }).fill('All is well')
  await page.getByRole('button', { name: 'Log call' }).click()
  await page.getByText('Logged “All is well”.').waitFor()
  assert.deepEqual(
    (await activitiesOf('deal', deal)).map(({ subject }) => subject),
    ['All is well'],
  )
  await page.getByRole('button', { name: 'New activity' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New activity' })
  await dialog.getByRole('radio', { name: 'Task' }).check()
  await dialog.getByRole('textbox', { name: 'Subject' }).fill('About nothing')
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await dialog.getByText('Choose a deal, a contact or a company that this is about.').first().waitFor()
  await end()
})

test('L logs a call from any card, whatever stands beside it', { skip }, async () => {
  await makeDeal('Keyed apart 1')
  const beside = dealBody(known, { title: 'Keyed apart 2', pipeline_stage: known.stages.Proposal! })
  await call('POST', `${v1}/deal`, beside)
  const { page, end } = await openUi(service, '/board?filter=title:like(Keyed apart)')
  await page.getByRole('link', { name: 'Keyed apart 2' }).waitFor()
  await page.getByRole('link', { name: 'Keyed apart 1' }).focus()
  await page.keyboard.press('l')
  await form(page).getByText('Keyed apart 1').waitFor()
  await end()
})

test('what is done today leaves the focus on the next row', { skip }, async () => {
  const { body } = await call('POST', `${v1}/user`, { name: 'Doro Done', email: 'doro@example.com' })
  const user = body.data.id
  for (const [at, subject] of ['First', 'Second', 'Third'].entries())
    await made('activity', { subject, owner: user, kind: 1, due_at: `2027-01-0${at + 1}T10:00:00Z` })
  const { page, end } = await openUi(service, '/today', { user })
  const box = (name: string) => page.getByRole('checkbox', { name: `Done: ${name}` })
  await box('First').focus()
  for (const [done, next] of [
    ['First', 'Second'],
    ['Second', 'Third'],
  ] as const) {
    await page.keyboard.press('x')
    await page.getByText(`Done: “${done}”.`).waitFor()
    await focusIn(box(next))
    await page.getByRole('region', { name: 'Done today' }).getByText(done).waitFor()
    await focusIn(box(next))
  }
  await page.keyboard.press('x')
  await page.getByText('Done: “Third”.').waitFor()
  await focusIn(page.getByRole('main'))
  await end()
})

test('an activity of today is logged from its row, and what is next is asked', { skip }, async () => {
  const deal = await makeDeal('Done today')
  const at = new Date(Date.now() - 60_000).toISOString()
  await made('activity', { kind: 'Meeting', subject: 'Visit them', deal, due_at: at })
  await made('activity', { kind: 'Task', subject: 'Send the slides', deal, due_at: at })
  const { page, accessible, end } = await openUi(service, '/today')
  await page.getByRole('checkbox', { name: 'Done: Visit them' }).focus()
  await page.keyboard.press('l')
  await form(page, 'Log a meeting').getByText('Done today').waitFor()
  await page.getByRole('button', { name: 'Log meeting' }).click()
  await page.getByText('Logged “Visit them”.').waitFor()
  await page.getByRole('checkbox', { name: 'Done: Send the slides' }).check()
  const next = page.getByRole('dialog', { name: 'What is next?' })
  await next.getByText('Next Monday').click()
  await next.getByLabel('Reminder of the next step').selectOption('Remind me 10 minutes before')
  await accessible('what is next')
  await next.getByRole('button', { name: 'Plan it' }).click()
  await page.getByText('Planned “Follow-up call”.').waitFor()
  const { next_activity_date } = (await get(`${v1}/deal/${deal}`)).body.data
  assert.equal(next_activity_date, nextMonday(new Date().toISOString().slice(0, 10)))
  const planned = await get(`${v1}/activity/view/list?filter=deal:eq(${deal}),done_at:isnull(true)`)
  assert.equal(planned.body.data[0].reminder, 10)
  await end()
})

test('a day of the next step is one of the person, also on the nights on which clocks change', {
  skip,
}, async () => {
  assert.equal((await call('PATCH', `${v1}/account`, { time_zone: 'Europe/Berlin' })).status, 200)
  const body = {
    name: 'Aroha',
    email: 'aroha@example.com',
    role: 'Administrator',
    time_zone: 'Pacific/Auckland',
  }
  const { id: user } = await made('user', body)
  const { page, end } = await openUi(service, '/today', { user })
  // Where → now, the choice, and nine in the morning there, as a moment.
  const nights = [
    // Clocks go forward in Auckland at two in the night, while it is the day before in Berlin.
    ['2026-09-26T10:00:00Z', 'Tomorrow', '2026-09-26T20:00:00.000Z'],
    ['2026-04-04T09:00:00Z', 'Tomorrow', '2026-04-04T21:00:00.000Z'],
    // Monday in Auckland is Sunday in Berlin.
    ['2026-10-25T12:30:00Z', 'Next Monday', '2026-11-01T20:00:00.000Z'],
  ] as const
  for (const [now, choice, due] of nights) {
    const deal = await makeDeal(`Planned at ${now}`)
    await page.clock.setFixedTime(now)
    await page.goto(`${service.url}/deals/${deal}`)
    await page.getByRole('button', { name: 'Log a call' }).click()
    await chip(page, choice).click()
    await page.getByRole('button', { name: 'Log call' }).click()
    await page.getByText('Logged “Call”. Next: “Follow-up call”.').waitFor()
    const found = await activitiesOf('deal', deal)
    assert.equal(found.at(-1)!.due_at, due, `${now} ${choice}`)
  }
  await end()
})

test('activities of a colleague who has left are not taken for one’s own', { skip }, async () => {
  const { id } = await made('user', { name: 'Left Already', email: 'left@example.com' })
  await call('PATCH', `${v1}/user/${id}`, { is_active: false })
  const { page, end } = await openUi(service, `/today?owner=${id}`)
  const whose = page.getByLabel('Whose activities')
  await whose.getByRole('option', { name: 'Left Already' }).waitFor({ state: 'attached' })
  assert.equal(await whose.inputValue(), String(id))
  await whose.selectOption({ label: 'Mine' })
  await page.waitForURL(url => !url.searchParams.has('owner'))
  await end()
})

test('who may not write activities is told why, and has no button on cards', { skip }, async () => {
  const deal = await makeDeal('Only read')
  const body = { name: 'Log Reader', email: 'log.reader@example.com', role: 'Read only' }
  const { id: user } = await made('user', body)
  const { page, accessible, end } = await openUi(service, '/board', { user })
  await card(page, 'Only read').waitFor()
  assert.equal(await page.locator('[data-log]').count(), 0)
  await page.goto(`${service.url}/deals/${deal}`)
  const button = page.getByRole('button', { name: 'Log a call' })
  await button.waitFor()
  assert.equal(await button.getAttribute('aria-disabled'), 'true')
  await accessible('a deal that is only read')
  await end()
})

/** Lets writes of a path be carried out, and loses their answers. */
async function loseAnswers(page: Page, path: string): Promise<() => Promise<void>> {
  const lose = async (route: Route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    await route.fetch()
    await route.abort()
  }
  await page.route(path, lose)
  return () => page.unroute(path, lose)
}

test('after a lost answer a call and its next step are logged once, and so is a note', { skip }, async () => {
  const deal = await makeDeal('Logged once')
  const planned = await made('activity', {
    ...{ kind: 'Call', subject: 'Planned for once', deal },
    due_at: new Date(Date.now() - 3_600_000).toISOString(),
  })
  const { page, end } = await openUi(service, `/deals/${deal}`)
  const found = await loseAnswers(page, '**/activity/batch')
  await page.getByRole('button', { name: 'Log a call' }).click()
  await form(page)
    .getByRole('checkbox', { name: /This was “Planned for once”/ })
    .waitFor()
  await form(page).getByRole('textbox', { name: 'What was said' }).fill('Yes, on Monday')
  await chip(page, 'Tomorrow').click()
  await page.getByRole('button', { name: 'Log call' }).click()
  await form(page).getByText('It is not known whether this was done.').waitFor()
  await found()
  // By now the page knows that it is done.
  await form(page).getByRole('checkbox').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Log call' }).click()
  await page.getByText('Logged “Planned for once”. Next: “Follow-up call”.').waitFor()
  const [first, next, ...others] = await activitiesOf('deal', deal)
  assert.deepEqual([first!.id, first!.notes, next!.done_at], [planned.id, 'Yes, on Monday', null])
  assert.deepEqual(others, [])
  const foundNote = await loseAnswers(page, '**/rest/api/v1/activity')
  const note = page.getByRole('textbox', { name: 'Note' })
  await note.fill('Noted once')
  await page.getByRole('button', { name: 'Add note' }).click()
  await page.getByText('It is not known whether this was done.').waitFor()
  await foundNote()
  await page.getByRole('button', { name: 'Add note' }).click()
  await page.getByText('Note added.').waitFor()
  assert.equal(await note.inputValue(), '')
  assert.equal((await activitiesOf('deal', deal)).length, 3)
  await end(/ERR_FAILED/)
})

test('a note that is typed on while it is saved keeps what came after', { skip }, async () => {
  const deal = await makeDeal('Typed on')
  const { page, end } = await openUi(service, `/deals/${deal}`)
  const held = Promise.withResolvers<void>()
  await page.route('**/rest/api/v1/activity', async route => {
    await held.promise
    await route.continue()
  })
  const note = page.getByRole('textbox', { name: 'Note' })
  await note.fill('First')
  await page.keyboard.press('Control+Enter')
  await note.press('End')
  await page.keyboard.type(' and second')
  held.resolve()
  await page.getByText('Note added.').waitFor()
  assert.equal(await note.inputValue(), 'First and second')
  assert.deepEqual(
    (await activitiesOf('deal', deal)).map(({ subject }) => subject),
    ['First'],
  )
  await end()
})

test('what was planned is logged as it is by then: changed, or done by somebody else', { skip }, async () => {
  const deal = await makeDeal('Changed meanwhile')
  const due_at = new Date(Date.now() - 3_600_000).toISOString()
  const plan = (subject: string) => made('activity', { kind: 'Call', subject, deal, due_at })
  const log = async (page: Page, { id, subject }: Activity, theirs: Json, said: string) => {
    await page.goto(`${service.url}/deals/${deal}`)
    await page.getByRole('button', { name: 'Log a call' }).click()
    await form(page)
      .getByRole('checkbox', { name: String(subject) })
      .waitFor()
    assert.equal((await call('PATCH', `${v1}/activity/${id}`, theirs)).status, 200)
    await form(page).getByRole('textbox', { name: 'What was said' }).fill(said)
    await page.keyboard.press('Enter')
  }
  const { page, end } = await openUi(service, '/today')
  // The page does not hear of changes.
  await page.route('**/event?after=*', route => route.abort())
  const hers = await plan('Changed by Maya')
  await log(page, hers, { notes: 'Her notes' }, 'My words')
  await page.getByText('Logged “Changed by Maya”.').waitFor()
  const [changed] = await activitiesOf('deal', deal)
  assert.deepEqual([changed!.notes, changed!.done_at === null], ['Her notes\nMy words', false])
  const done = await plan('Done by Maya')
  await log(page, done, { done_at: due_at }, 'I called, too')
  await page
    .getByText('Logged “I called, too”. It is another activity: “Done by Maya” was done before.')
    .waitFor()
  assert.deepEqual(
    (await activitiesOf('deal', deal)).map(({ subject }) => subject),
    ['Changed by Maya', 'Done by Maya', 'I called, too'],
  )
  await end(/ERR_FAILED|412/)
})

test('another text in the box takes the record back that a call is about', { skip }, async () => {
  const deal = await makeDeal('Chosen first')
  await makeDeal('Twins north')
  await makeDeal('Twins south')
  const { page, end } = await openUi(service, '/today')
  await page.getByRole('button', { name: 'Log a call', exact: true }).click()
  const which = form(page).getByRole('combobox', { name: 'Which' })
  await which.fill('Chosen first')
  await page.getByRole('option', { name: /Chosen first/ }).click()
  await which.fill('Twins')
  // A match in the list is none that was chosen.
  await page.getByRole('option', { name: /Twins south/ }).waitFor()
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: 'Log call' }).click()
  await form(page).getByText('Choose what this is about.').waitFor()
  assert.equal(await which.inputValue(), 'Twins')
  assert.deepEqual(await activitiesOf('deal', deal), [])
  await end()
})

test('what was planned is found before a call is logged, and moves no button', { skip }, async () => {
  const deal = await makeDeal('Found late')
  const planned = await made('activity', {
    ...{ kind: 'Call', subject: 'Found in the end', deal },
    due_at: new Date(Date.now() - 3_600_000).toISOString(),
  })
  const { page, end } = await openUi(service, `/deals/${deal}`, {
    context: { reducedMotion: 'reduce' },
  })
  const held = Promise.withResolvers<void>()
  const isSearch = (url: URL) => url.search.includes('kind%3Aeq%28Call%29')
  await page.route(isSearch, async route => {
    await held.promise
    await route.continue()
  })
  await page.getByRole('button', { name: 'Log a call' }).click()
  const save = page.getByRole('button', { name: 'Log call' })
  const before = await save.boundingBox()
  await save.click()
  held.resolve()
  await page.getByText('Logged “Found in the end”.').waitFor()
  const [only, ...others] = await activitiesOf('deal', deal)
  assert.deepEqual([only!.id, only!.done_at === null, others.length], [planned.id, false, 0])
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('It is not logged any more.').waitFor()
  await page.getByRole('button', { name: 'Log a call' }).click()
  await form(page)
    .getByRole('checkbox', { name: /This was “Found in the end”/ })
    .waitFor()
  assert.deepEqual(await save.boundingBox(), before)
  await end()
})

test('forms that log and plan ask before they lose what is chosen', { skip }, async () => {
  const deal = await makeDeal('Not to be lost')
  const { page, end } = await openUi(service, `/deals/${deal}`)
  const asked: string[] = []
  page.on('dialog', question => {
    asked.push(question.message())
    void question.dismiss()
  })
  await page.getByRole('button', { name: 'Log a call' }).click()
  await chip(page, 'No answer').click()
  await page.keyboard.press('Escape')
  await chip(page, 'No answer').click()
  await chip(page, 'Tomorrow').click()
  await page.keyboard.press('Escape')
  await form(page).getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Plan an activity' }).click()
  const plan = form(page, 'Plan the next step')
  await chip(page, 'Tomorrow').click()
  await plan.getByLabel('Subject of the next step').fill('A long subject')
  await page.keyboard.press('Escape')
  assert.deepEqual(asked, Array(3).fill('What you have typed is not saved. Close without it?'))
  await plan.getByRole('button', { name: 'Cancel' }).click()
  await plan.waitFor({ state: 'detached' })
  await end()
})
