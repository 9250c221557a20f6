/** Records in a browser: read, edited in place, merged, and the user's to-do list. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Route } from 'playwright-core'
import { actorName } from '../../web/src/records/timeline/actor.ts'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { focusIn, loaded, messageOf, openUi, visit } from '../support/ui.ts'

const service = await startService()
const { call, known } = service
const skip = noBrowser

async function made(resource: string, body: Parameters<typeof call>[2]) {
  const reply = await call('POST', `${v1}/${resource}`, body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data
}

const makeDeal = (title: string, more: Parameters<typeof dealBody>[1] = {}) =>
  made('deal', dealBody(known, { title, ...more }))

async function stored(resource: string, id: number) {
  return (await call('GET', `${v1}/${resource}/${id}`)).body.data
}

test('a value is changed in place by keys, and the change is undone', { skip }, async () => {
  const { id } = await makeDeal('Changed in place', { description: 'before' })
  const { page, accessible, end } = await openUi(service, `/deals/${id}`)
  const button = page.getByRole('button', { name: 'Edit Description: before' })
  await button.waitFor()
  await accessible('the page of a deal')
  await button.focus()
  await page.keyboard.press('Enter')
  const input = page.getByRole('textbox', { name: 'Description' })
  await input.fill('after')
  await accessible('a value that is changed in place')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Saved Description.').waitFor()
  assert.equal((await stored('deal', id)).description, 'after')
  await page.getByRole('button', { name: 'Edit Description: after' }).waitFor()
  // The focus returns to the button.
  await page.waitForFunction(() => document.activeElement?.ariaLabel === 'Edit Description: after')
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('Undone: Description.').waitFor()
  assert.equal((await stored('deal', id)).description, 'before')
  await page.getByRole('button', { name: 'Edit Description: before' }).click()
  await input.fill('given up')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Edit Description: before' }).waitFor()
  assert.equal((await stored('deal', id)).description, 'before')
  await end()
})

test('undo in a text is that of the text, and not of what was saved before', { skip }, async () => {
  const { id } = await makeDeal('Text undone', { description: 'before' })
  const { page, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('button', { name: 'Edit Description: before' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('after')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Saved Description.').waitFor()
  const note = page.getByRole('textbox', { name: 'Note' })
  await note.click()
  await page.keyboard.press('t')
  await page.keyboard.press('Control+z')
  assert.equal(await note.inputValue(), '')
  await page.keyboard.press('Control+Shift+z')
  assert.equal(await note.inputValue(), 't')
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Search and commands' })
  await focusIn(palette.getByPlaceholder(/^Search deals/))
  await page.keyboard.press('Escape')
  await palette.waitFor({ state: 'detached' })
  assert.equal((await stored('deal', id)).description, 'after')
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('Control+Shift+z')
  await page.keyboard.press('Control+z')
  await page.getByText('Undone: Description.').waitFor()
  assert.equal((await stored('deal', id)).description, 'before')
  await end()
})

test('a value that is left is saved, and a bad one says the words of the service', { skip }, async () => {
  const { id } = await makeDeal('Refused in place')
  const { page, accessible, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('button', { name: 'Edit Description: empty' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('left behind')
  await page.getByRole('heading', { level: 1 }).click()
  await page.getByText('Saved Description.').waitFor()
  assert.equal((await stored('deal', id)).description, 'left behind')
  await page.getByRole('button', { name: /^Edit Custom monetary field/ }).click()
  const amount = page.getByRole('textbox', { name: 'Custom monetary field', exact: true })
  await amount.fill('12.345')
  await page.keyboard.press('Enter')
  await page.getByText('Must have at most 2 decimals; it is never rounded.').waitFor()
  await accessible('a refused value')
  assert.equal((await stored('deal', id)).cf_custom_monetory_field, undefined)
  await page.keyboard.press('Escape')
  // Only the service knows that the category needs a date (rule 5).
  await page.getByRole('button', { name: /^Edit Forecast category/ }).click()
  await page.getByRole('combobox', { name: 'Forecast category' }).selectOption({ label: 'Commit' })
  await page.keyboard.press('Enter')
  await page.getByText(/is required when a forecast category is selected/).waitFor()
  await end(/422/)
})

test('a change that is refused after its page was left says so', { skip }, async () => {
  const { id } = await makeDeal('Left too early', { description: 'first' })
  const { page, end } = await openUi(service, `/deals/${id}`)
  const leave = async (tab: string | null, refusal: RegExp, answer: (route: Route) => Promise<void>) => {
    const held = Promise.withResolvers<void>()
    await page.route(`**/deal/${id}?**`, route =>
      route.request().method() === 'PATCH' ? held.promise.then(() => answer(route)) : route.continue(),
    )
    await page.getByRole('button', { name: /^Edit Description/ }).click()
    await page.getByRole('textbox', { name: 'Description' }).fill('mine')
    await page.getByRole('textbox', { name: 'Description' }).press('Control+Enter')
    await page.getByRole('img', { name: 'Saving' }).waitFor()
    if (tab) await page.getByRole('tab', { name: tab }).click()
    else await page.getByRole('link', { name: 'Companies' }).click()
    await page.getByRole('textbox', { name: 'Description' }).waitFor({ state: 'detached' })
    held.resolve()
    const message = messageOf(page, refusal)
    await message.getByRole('button', { name: 'Dismiss' }).click()
    await message.waitFor({ state: 'detached' })
    await page.unroute(`**/deal/${id}?**`)
  }
  await leave(null, /^Description of Left too early: not saved. Somebody else has changed/, async route => {
    await call('PATCH', `${v1}/deal/${id}`, { description: 'theirs' })
    await route.continue()
  })
  assert.equal((await stored('deal', id)).description, 'theirs')
  await page.setViewportSize({ width: 1000, height: 800 })
  await visit(page, `/deals/${id}`)
  await page.getByRole('tab', { name: 'Overview' }).click()
  await leave('Timeline', /^Description of Left too early: not saved. /, route =>
    route.fulfill({ status: 500, body: '{}' }),
  )
  await end(/412|500/)
})

test('a form that is open keeps what is typed when somebody deletes the record', { skip }, async () => {
  for (const path of [(id: number) => `/deals/${id}`, (id: number) => `/board?deal=${id}`]) {
    const { id } = await makeDeal('Deleted meanwhile')
    const { page, end } = await openUi(service, path(id))
    await page.getByRole('button', { name: 'Actions', exact: true }).last().click()
    await page.getByRole('menuitem', { name: 'Edit all fields' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit all fields' })
    const description = dialog.getByRole('textbox', { name: 'Description' })
    await description.fill('a long text')
    await call('DELETE', `${v1}/deal/${id}`)
    await page.getByText('This record was deleted. It can be restored for some time.').waitFor()
    assert.equal(await description.inputValue(), 'a long text')
    await page.keyboard.press('Control+Enter')
    await dialog.getByText(/There is no deal/).waitFor()
    assert.equal(await description.inputValue(), 'a long text')
    await end(/404|412/)
  }
})

test('what two people have changed is chosen, and nothing else is lost', { skip }, async () => {
  const { id } = await makeDeal('Both changed', { description: 'first' })
  const one = await openUi(service, `/deals/${id}`)
  await one.page.getByRole('button', { name: 'Edit Description: first' }).click()
  await one.page.getByRole('textbox', { name: 'Description' }).fill('mine')
  const other = await one.page.context().newPage()
  await other.goto(`${service.url}/deals/${id}`)
  await other.getByRole('button', { name: 'Edit Description: first' }).click()
  await other.getByRole('textbox', { name: 'Description' }).fill('theirs')
  await other.keyboard.press('Control+Enter')
  await other.getByText('Saved Description.').waitFor()
  await other.close()
  await one.page.getByRole('textbox', { name: 'Description' }).press('Control+Enter')
  const dialog = one.page.getByRole('alertdialog', { name: 'Somebody else has changed this' })
  await dialog.getByRole('radio', { name: 'Yours mine' }).waitFor()
  await one.accessible('the choice between two changes')
  // They are one group: arrows go through it.
  await dialog.getByRole('radio', { name: 'Yours mine' }).press('ArrowDown')
  await dialog.getByRole('radio', { name: 'Theirs theirs', checked: true }).waitFor()
  await one.page.keyboard.press('ArrowUp')
  await dialog.getByRole('button', { name: 'Save choices' }).click()
  await one.page.getByText('Saved Description.').waitFor()
  const after = await stored('deal', id)
  assert.deepEqual([after.description, after.version], ['mine', 3])
  await one.end(/412/)
})

test('who keeps what a colleague has saved has saved nothing, and undoes nothing of theirs', {
  skip,
}, async () => {
  const { id } = await makeDeal('Theirs stays', { description: 'first' })
  const { page, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('button', { name: 'Edit Description: first' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('mine')
  await call('PATCH', `${v1}/deal/${id}`, { description: 'theirs' })
  await page.getByRole('textbox', { name: 'Description' }).press('Control+Enter')
  const dialog = page.getByRole('alertdialog', { name: 'Somebody else has changed this' })
  await dialog.getByRole('radio', { name: 'Theirs theirs' }).check()
  await dialog.getByRole('button', { name: 'Save choices' }).click()
  await messageOf(page, 'Nothing was changed').waitFor()
  assert.equal(await page.getByText('Saved Description.').count(), 0)
  await page.keyboard.press('Control+z')
  await page.getByText('There is nothing to undo.').waitFor()
  const after = await stored('deal', id)
  assert.deepEqual([after.description, after.version], ['theirs', 2])
  await end(/412/)
})

test('what is typed in place while it is saved stays, and going back asks', { skip }, async () => {
  const { id } = await makeDeal('Typed on')
  const { page, end } = await openUi(
    service,
    `/deals?${new URLSearchParams({ filter: 'title:eq(Typed on)' })}`,
  )
  await page.getByRole('link', { name: 'Typed on' }).click()
  const held = Promise.withResolvers<void>()
  await page.route(`**/deal/${id}?**`, route =>
    route.request().method() === 'PATCH' ? held.promise.then(() => route.continue()) : route.continue(),
  )
  await page.getByRole('button', { name: 'Edit Description: empty' }).click()
  const box = page.getByRole('textbox', { name: 'Description' })
  await box.fill('first')
  await box.press('Control+Enter')
  await page.getByRole('img', { name: 'Saving' }).waitFor()
  await box.fill('first and more')
  held.resolve()
  await page.getByText('Saved Description.').waitFor()
  assert.equal(await box.inputValue(), 'first and more')
  const asked = page.waitForEvent('dialog')
  await page.evaluate(() => history.back())
  await (await asked).dismiss()
  assert.equal(await box.inputValue(), 'first and more')
  await box.press('Control+Enter')
  await box.waitFor({ state: 'detached' })
  assert.equal((await stored('deal', id)).description, 'first and more')
  await end()
})

test('changes of different fields both survive without a question', { skip }, async () => {
  const { id } = await makeDeal('Both survive', { description: 'first' })
  const { page, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('button', { name: 'Edit Description: first' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('mine')
  await call('PATCH', `${v1}/deal/${id}`, { title: 'Both survived' })
  await page.getByRole('textbox', { name: 'Description' }).press('Control+Enter')
  await page.getByText('Saved Description.').waitFor()
  const after = await stored('deal', id)
  assert.deepEqual([after.title, after.description], ['Both survived', 'mine'])
  await end(/412/)
})

test('all fields are changed in one form, by one write', { skip }, async () => {
  const { id } = await makeDeal('In one form')
  const { page, accessible, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit all fields' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit all fields' })
  await dialog.getByRole('textbox', { name: 'Custom number field' }).fill('1,234,567,890,123,456')
  await dialog.getByLabel('Custom date field').fill('2027-01-31')
  await dialog.getByRole('textbox', { name: 'Custom phone field 1' }).fill('call me')
  await accessible('the form of all fields')
  await page.keyboard.press('Control+Enter')
  await dialog.getByRole('button', { name: /Custom phone field: Must be a phone number/ }).click()
  const phone = dialog.getByRole('textbox', { name: 'Custom phone field 1' })
  await phone.fill('+1 555 0100')
  // While it is saved nothing can be typed that would be lost.
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(`**/deal/${id}?*`, route => promise.then(() => route.fallback()), { times: 1 })
  await page.keyboard.press('Control+Enter')
  await phone.and(page.locator(':disabled')).waitFor()
  resolve()
  await dialog.waitFor({ state: 'detached' })
  const after = await stored('deal', id)
  assert.deepEqual(
    [after.cf_custom_number_field, after.cf_custom_date_field, after.cf_custom_phone_field, after.version],
    [1234567890123456, '2027-01-31', [{ phone_type: 1, phone_number: '+1 555 0100' }], 2],
  )
  // Two lists may differ in their second entry only.
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit all fields' }).click()
  await dialog.getByRole('button', { name: 'Add phone' }).last().click()
  await dialog.getByRole('textbox', { name: 'Custom phone field 2' }).fill('+1 555 0102')
  const [one, two] = ['+1 555 0100', '+1 555 0101'].map(phone_number => ({ phone_type: 1, phone_number }))
  await call('PATCH', `${v1}/deal/${id}`, { cf_custom_phone_field: [one!, two!] })
  await page.keyboard.press('Control+Enter')
  const choice = page.getByRole('alertdialog', { name: 'Somebody else has changed this' })
  await choice.getByRole('radio', { name: /^Yours.* 0100.* 0102/ }).waitFor()
  await choice.getByRole('radio', { name: /^Theirs.* 0100.* 0101/ }).check()
  await choice.getByRole('button', { name: 'Save choices' }).click()
  await dialog.waitFor({ state: 'detached' })
  await end(/412/)
})

test('a panel that could not be read says why, and reads again', { skip }, async () => {
  const { id } = await makeDeal('Read again')
  const { page, accessible, end } = await openUi(service, '/today')
  const path = new RegExp(`/deal/${id}[?]`)
  await page.route(path, route => route.fulfill({ status: 400, json: { message: 'Not now.', errors: [] } }))
  await page.goto(`${service.url}/board?deal=${id}`)
  const failed = page.getByRole('dialog', { name: 'Something went wrong' })
  await failed.waitFor()
  await accessible('a panel that could not be read')
  await page.unroute(path)
  await failed.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('dialog', { name: 'Read again' }).waitFor()
  await end(/400/)
})

test('the keys of a record act in the panel of the board too', { skip }, async () => {
  const { id } = await makeDeal('In a panel')
  const { page, end } = await openUi(service, `/board?deal=${id}`)
  const panel = page.getByRole('dialog', { name: 'In a panel' })
  await panel.getByRole('tab', { name: 'Overview' }).waitFor()
  await page.keyboard.press('n')
  const note = panel.getByRole('textbox', { name: 'Note' })
  await note.waitFor()
  await page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA')
  await panel.getByRole('tab', { name: 'Timeline' }).focus()
  await page.keyboard.press('e')
  await panel.getByRole('combobox', { name: 'Primary contact' }).waitFor()
  await end()
})

test('without room for two columns the fields are a tab, and a note is one tap away', { skip }, async () => {
  const { id } = await makeDeal('On a phone')
  for (const [width, isTabbed] of [
    [390, true],
    [1024, true],
    [1280, false],
  ] as const) {
    const { page, accessible, end } = await openUi(service, `/deals/${id}`, { size: { width, height: 844 } })
    const tab = (name: string) => page.getByRole('tab', { name })
    await tab('Timeline').waitFor()
    assert.equal(await tab('Overview').count(), isTabbed ? 1 : 0, `${width}`)
    const note = page.getByRole('textbox', { name: 'Note' })
    if (isTabbed) {
      await tab('Overview').click()
      await page.getByRole('button', { name: /^Edit Title/ }).waitFor()
      await accessible(`the fields of a deal at ${width}`)
      // From the end of the fields, too.
      await page.getByRole('button', { name: /^Edit/ }).last().scrollIntoViewIfNeeded()
      const { y } = (await tab('Timeline').boundingBox())!
      assert.ok(y >= 0 && y < 400, `${y}`)
      await tab('Timeline').click()
    }
    await note.waitFor()
    assert.ok((await note.boundingBox())!.y < 400, `${width}`)
    await end()
  }
})

test('a tab is reached by keys, is in the address, and does not lose a note', { skip }, async () => {
  const { id } = await makeDeal('Tabs by keys')
  const { page, end } = await openUi(service, `/deals/${id}`, { size: { width: 390, height: 844 } })
  await page.getByRole('tab', { name: 'Timeline' }).focus()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('button', { name: /^Edit Title/ }).waitFor()
  await page.waitForURL(/tab=overview/)
  await page.keyboard.press('ArrowLeft')
  const note = page.getByRole('textbox', { name: 'Note' })
  await note.fill('Half of a note')
  await page.getByRole('tab', { name: 'Overview' }).click()
  await page.getByRole('button', { name: /^Edit Title/ }).waitFor()
  await page.getByRole('tab', { name: 'Timeline' }).click()
  assert.equal(await note.inputValue(), 'Half of a note')
  await note.press('Control+Enter')
  await page.getByText('Note added.').waitFor()
  assert.equal(await note.inputValue(), '')
  await page.reload()
  await note.waitFor()
  assert.equal(await page.getByRole('tab', { name: 'Timeline' }).getAttribute('aria-selected'), 'true')
  await end()
})

test('the new name of a record shows wherever it is named, whoever has changed it', { skip }, async () => {
  const company = await made('company', { name: 'Oldname Ltd' })
  const { id } = await makeDeal('Names a company', { company: company.id })
  const { page, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('link', { name: 'Oldname Ltd' }).first().click()
  await page.getByRole('button', { name: 'Edit Name: Oldname Ltd' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Newname Ltd')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Saved Name.').waitFor()
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Names a company' }).waitFor()
  await page.getByRole('link', { name: 'Newname Ltd' }).first().waitFor()
  const rename = async (name: string) =>
    assert.equal((await call('PATCH', `${v1}/company/${company.id}`, { name })).status, 200)
  await rename('Theirname Ltd')
  await page.getByRole('link', { name: 'Theirname Ltd' }).first().waitFor()
  await visit(page, `/deals?filter=id:eq(${id})&columns=title,company`)
  await page.getByRole('grid').getByText('Theirname Ltd').waitFor()
  await rename('Latername Ltd')
  await page.getByRole('grid').getByText('Latername Ltd').waitFor()
  await end()
})

test('the end of a session leads to the sign-in, but keeps what is typed', { skip }, async () => {
  const { id } = await makeDeal('Session ended')
  const path = `/deals/${id}`
  const { page, accessible, end } = await openUi(service, path)
  await page.getByRole('heading', { level: 1, name: 'Session ended' }).waitFor()
  await page.getByRole('textbox', { name: 'Note' }).fill('kept')
  await page.context().clearCookies()
  // Changes by others are fetched again.
  await call('PATCH', `${v1}/deal/${id}`, { description: 'new' })
  await page.getByRole('alert').getByText('Your session has ended.').waitFor()
  assert.equal(await page.getByRole('textbox', { name: 'Note' }).inputValue(), 'kept')
  await accessible('a page after the end of its session')
  await page.getByRole('textbox', { name: 'Note' }).fill('')
  await page.getByRole('button', { name: 'Edit Title: Session ended' }).click()
  await page.getByRole('textbox', { name: 'Title' }).fill('Not saved')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Your session has ended. Sign in again.').first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Today' }).click()
  await page.waitForURL(/sign-in[?]to=/)
  await page.getByText('Your session has ended. What you did last was not saved.').waitFor()
  await accessible('a sign-in after the end of a session')
  await end(/401/)
})

test('who is in a dialog when the session ends signs in again in another tab', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/board')
  await page.getByRole('button', { name: 'New deal' }).first().click()
  const form = page.getByRole('dialog', { name: 'New deal' })
  await form.getByRole('textbox', { name: 'Title' }).fill('Typed before')
  await page.context().clearCookies()
  await page.keyboard.press('Control+Enter')
  const link = page.getByRole('alert').getByRole('link', { name: 'sign in again in another tab' })
  await link.waitFor()
  await accessible('a dialog after the end of its session')
  const [tab] = await Promise.all([page.waitForEvent('popup'), link.click()])
  await tab.waitForURL(/sign-in/)
  await tab.close()
  await form.getByRole('button', { name: 'Close' }).click()
  await form.waitFor({ state: 'detached' })
  await end(/401/)
})

test('a hostile title is a text', { skip }, async () => {
  const title = '<img src=x onerror=alert(1)>'
  const { id } = await makeDeal(title)
  const { page, end } = await openUi(service, `/deals/${id}`)
  page.on('dialog', dialog => assert.fail(dialog.message()))
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  await page.getByRole('button', { name: `Edit Title: ${title}` }).waitFor()
  assert.equal(await page.locator('img[src="x"]').count(), 0)
  await end()
})

test('a deal moves by its stages, and closing it asks first', { skip }, async () => {
  const { id } = await makeDeal('Moved by stages', { pipeline_stage: known.stages.New! })
  const { page, end } = await openUi(service, `/deals/${id}`)
  const stages = page.getByRole('radiogroup', { name: 'Stage' })
  await stages.getByRole('radio', { name: 'New' }).focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await page.getByText('Moved to Qualified.').waitFor()
  assert.equal((await stored('deal', id)).pipeline_stage, known.stages.Qualified)
  // The same message is awaited again below.
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await page.keyboard.press('3')
  await page.getByText('Moved to Proposal.').waitFor()
  await page.keyboard.press('2')
  await page.getByText('Moved to Qualified.').waitFor()
  await stages.getByRole('radio', { name: 'Lost' }).click()
  const dialog = page.getByRole('dialog', { name: 'Mark as lost' })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  assert.equal((await stored('deal', id)).pipeline_stage, known.stages.Qualified)
  await stages.getByRole('radio', { name: 'Lost' }).click()
  await dialog.getByLabel('Why was it lost?').selectOption({ index: 1 })
  await dialog.getByRole('button', { name: 'Mark as lost' }).click()
  await page.getByText('Moved to Lost.').waitFor()
  assert.equal((await stored('deal', id)).status, 3)
  await page.getByRole('button', { name: 'Undo', exact: true }).last().click()
  await page.getByText(/^Undone/).waitFor()
  const after = await stored('deal', id)
  assert.deepEqual([after.status, after.lost_reason, after.deal_closed_on], [1, null, null])
  await end()
})

test('a stage that is chosen while the deal moves comes after that', { skip }, async () => {
  const { id } = await makeDeal('Moved twice', { pipeline_stage: known.stages.New! })
  const { page, end } = await openUi(service, `/deals/${id}`)
  const stage = (name: string) => page.getByRole('radiogroup', { name: 'Stage' }).getByRole('radio', { name })
  await stage('New').waitFor()
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(`**/deal/${id}?*`, route => promise.then(() => route.fallback()), { times: 1 })
  await page.keyboard.press('2')
  await stage('Qualified')
    .and(page.getByRole('radio', { checked: true }))
    .waitFor()
  await page.keyboard.press('3')
  resolve()
  await page.getByText('Moved to Qualified.').waitFor()
  await page.getByText('Moved to Proposal.').waitFor()
  assert.equal((await stored('deal', id)).pipeline_stage, known.stages.Proposal)
  await end()
})

test('another pipeline brings a stage of its own, in place, in the form and in a cell', {
  skip,
}, async () => {
  const { id } = await makeDeal('Of two pipelines', { pipeline_stage: known.stages.Proposal! })
  const { name } = await stored('pipeline', known.pipeline)
  const pipeline = await made('pipeline', { name: 'Renewals' })
  const stage = await made('pipeline_stage', { pipeline: pipeline.id, name: 'Due' })
  const places = async () => {
    const deal = await stored('deal', id)
    return [deal.pipeline, deal.pipeline_stage]
  }
  const { page, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('button', { name: `Edit Pipeline: ${name}` }).click()
  const chosen = page.locator('[data-field=pipeline]').getByRole('combobox')
  await chosen.selectOption({ label: 'Renewals' })
  await chosen.press('Enter')
  await messageOf(page, 'Saved Pipeline, Stage.').waitFor()
  assert.deepEqual(await places(), [pipeline.id, stage.id])
  await messageOf(page, 'Saved Pipeline, Stage.').getByRole('button', { name: 'Undo' }).click()
  await messageOf(page, 'Undone: Pipeline, Stage.').waitFor()
  assert.deepEqual(await places(), [known.pipeline, known.stages.Proposal!])

  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit all fields' }).click()
  const form = page.getByRole('dialog', { name: 'Edit all fields' })
  const radio = (label: string) => form.getByRole('radio', { name: label, exact: true })
  await radio('Renewals').check({ force: true })
  await radio('Due').and(page.locator(':checked')).waitFor()
  assert.equal(await form.getByText('(inactive)').count(), 0)
  await radio(name).check({ force: true })
  const stages = form.getByRole('combobox', { name: 'Stage', exact: true })
  await stages.locator('option:checked').getByText('Proposal').waitFor({ state: 'attached' })
  await page.keyboard.press('Escape')

  await page.goto(`${service.url}/deals?filter=id:eq(${id})&columns=title,pipeline`)
  await page.locator('[data-cell="0.2"]').click()
  await page.keyboard.press('Enter')
  const cell = page.getByRole('dialog', { name: 'Pipeline: edit' }).getByRole('combobox')
  await cell.selectOption({ label: 'Renewals' })
  await cell.press('Enter')
  await messageOf(page, 'Pipeline of Of two pipelines is changed.').waitFor()
  assert.deepEqual(await places(), [pipeline.id, stage.id])
  await messageOf(page, 'Pipeline of Of').getByRole('button', { name: 'Undo' }).click()
  await messageOf(page, 'Undone: Pipeline of Of two pipelines.').waitFor()
  assert.deepEqual(await places(), [known.pipeline, known.stages.Proposal!])
  await call('DELETE', `${v1}/pipeline/${pipeline.id}`)
  await end()
})

test('a conflict waits until the closing that is open is answered', { skip }, async () => {
  const { id } = await makeDeal('Asked twice', { description: 'first' })
  const { page, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('button', { name: 'Edit Description: first' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('mine')
  const { promise, resolve } = Promise.withResolvers<void>()
  // Not the read that follows the change of the other.
  await page.route(`**/deal/${id}?*`, route =>
    route.request().method() === 'PATCH' ? promise.then(() => route.fallback()) : route.fallback(),
  )
  await call('PATCH', `${v1}/deal/${id}`, { description: 'theirs' })
  await page.getByRole('textbox', { name: 'Description' }).press('Control+Enter')
  await page
    .getByRole('radiogroup', { name: 'Stage' })
    .getByRole('radio', { name: 'Lost' })
    .click({ force: true })
  const closing = page.getByRole('dialog', { name: 'Mark as lost' })
  await closing.getByLabel('Why was it lost?').selectOption({ index: 1 })
  const refused = page.waitForResponse(answer => answer.status() === 412)
  resolve()
  await refused
  await closing.getByRole('button', { name: 'Mark as lost' }).click()
  const choice = page.getByRole('alertdialog', { name: 'Somebody else has changed this' })
  await choice.getByRole('button', { name: 'Save choices' }).click()
  await page.getByText('Saved Description.').waitFor()
  await page.getByRole('radio', { name: 'Lost', checked: true }).waitFor()
  const { description, status } = await stored('deal', id)
  assert.deepEqual([description, status], ['mine', 3])
  await end(/412/)
})

test('a reopened deal is closed by Undo, as it had ended', { skip }, async () => {
  const won_reason = Object.values(known.options.won_reason!)[0]!
  const ended = { pipeline_stage: known.stages.Won!, won_reason, deal_closed_on: '2026-03-04' }
  const { id, won_time } = await makeDeal('Opened by mistake', ended)
  const { page, accessible, end } = await openUi(service, `/deals/${id}`)
  const reopened = page.getByRole('radiogroup', { name: 'Stage' }).getByRole('radio', { name: 'New' })
  const asked = page.getByRole('alertdialog', { name: 'Reopen this deal?' })
  await reopened.click()
  await asked.getByText('Its won reason and date are removed.').waitFor()
  await accessible('a question before a deal is reopened')
  await asked.getByRole('button', { name: 'Cancel' }).click()
  await asked.waitFor({ state: 'detached' })
  assert.equal((await stored('deal', id)).pipeline_stage, known.stages.Won)
  await reopened.click()
  await asked.getByRole('button', { name: 'Reopen' }).click()
  await page.getByText('Moved to New.').waitFor()
  assert.equal((await stored('deal', id)).deal_closed_on ?? null, null)
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText(/^Undone/).waitFor()
  const after = await stored('deal', id)
  assert.equal(after.won_time, won_time)
  assert.deepEqual(ended, {
    pipeline_stage: after.pipeline_stage,
    won_reason: after.won_reason,
    deal_closed_on: after.deal_closed_on,
  })
  await end()
})

test('an undo that comes too late says so, and a write without an answer does', { skip }, async () => {
  const { id } = await makeDeal('Brought back too late', { description: 'first' })
  const { page, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit all fields' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit all fields' })
  await dialog.getByRole('textbox', { name: 'Description' }).fill('second')
  await page.keyboard.press('Control+Enter')
  await dialog.waitFor({ state: 'detached' })
  await call('PATCH', `${v1}/deal/${id}`, { description: 'theirs' })
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('Somebody else has changed the same fields since, so nothing was undone.').waitFor()
  assert.equal((await stored('deal', id)).description, 'theirs')
  await page.route(`**/deal/${id}?**`, route =>
    route.request().method() === 'PATCH' ? route.abort() : route.continue(),
  )
  await page.getByRole('button', { name: 'Edit Description: theirs' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('unanswered')
  await page.keyboard.press('Control+Enter')
  await page.getByText(/could not be reached. It is not known whether this was done/).waitFor()
  await end(/409|ERR_FAILED/)
})

test('the products of a deal are summed exactly, and saved', { skip }, async () => {
  const { id } = await makeDeal('With products', { deal_value: { currency: 'USD', value: 0 } })
  const { page, accessible, end } = await openUi(service, `/deals/${id}?tab=products`)
  await page.getByRole('button', { name: 'Add products' }).click()
  await page.getByRole('combobox', { name: 'Add a product' }).fill('Audit Trail')
  await page
    .getByRole('option', { name: /Audit Trail/ })
    .first()
    .click()
  await page.getByRole('textbox', { name: 'Quantity of Audit Trail' }).fill('3')
  await page.getByRole('textbox', { name: 'Price of Audit Trail' }).fill('0.10')
  await page.getByRole('textbox', { name: 'Tax % of Audit Trail' }).fill('')
  await page.getByRole('textbox', { name: 'Discount % of Audit Trail' }).fill('')
  await page.getByRole('row', { name: 'Total $0.30' }).waitFor()
  await accessible('the products of a deal')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved Deal value.').waitFor()
  const { deal_value } = await stored('deal', id)
  assert.equal(deal_value.value, 0.3)
  assert.deepEqual([deal_value.products[0].quantity, deal_value.products[0].unit_price], [3, 0.1])
  await end()
})

test('products that are added one right after the other are all kept, with the text beside', {
  skip,
}, async () => {
  const products = []
  for (const name of ['Quickly One', 'Quickly Two'])
    products.push(await made('product', { name, unit_price: [{ currency: 'USD', price: 5 }] }))
  const { id } = await makeDeal('Quick lines', { deal_value: { currency: 'USD', value: 0 } })
  const { page, end } = await openUi(service, `/deals/${id}`)
  // The box of the second product is out of sight: typing scrolls to it, on a slow machine after a frame.
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 6 })
  const held = Promise.withResolvers<void>()
  for (const product of products)
    await page.route(`**/product/${product.id}*`, route => held.promise.then(() => route.continue()))
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit all fields' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit all fields' })
  await dialog.getByRole('button', { name: 'Add products' }).click()
  for (const { name } of products) {
    await dialog.getByRole('combobox', { name: 'Add a product' }).fill(name)
    await page.getByRole('option', { name }).click()
  }
  await dialog.getByRole('textbox', { name: 'Description' }).fill('typed meanwhile')
  await dialog.getByRole('textbox', { name: 'Discount % of Quickly One' }).fill('50')
  held.resolve()
  await dialog.getByRole('row', { name: 'Total $7.50' }).waitFor()
  await page.keyboard.press('Control+Enter')
  await page.getByText(/^Saved .*Deal value/).waitFor()
  const { deal_value, description } = await stored('deal', id)
  assert.deepEqual([deal_value.products.length, deal_value.value, description], [2, 7.5, 'typed meanwhile'])
  await end()
})

test('unsaved products survive another tab, in the panel and on the page', { skip }, async () => {
  await made('product', { name: 'Tabbed Thing', unit_price: [{ currency: 'USD', price: 7 }] })
  const { id } = await makeDeal('Between tabs', { deal_value: { currency: 'USD', value: 0 } })
  const { page, end } = await openUi(service, `/board?deal=${id}`)
  const asked: string[] = []
  page.on('dialog', dialog => {
    asked.push(dialog.message())
    void dialog.dismiss()
  })
  for (const path of [null, `/deals/${id}?tab=products`]) {
    if (path) await page.goto(service.url + path, { waitUntil: 'commit' })
    await page.getByRole('tab', { name: 'Products' }).click()
    await page.getByRole('button', { name: 'Add products' }).click()
    await page.getByRole('combobox', { name: 'Add a product' }).fill('Tabbed Thing')
    await page.getByRole('option', { name: /Tabbed Thing/ }).click()
    await page.getByRole('row', { name: 'Total $7' }).waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page.getByRole('textbox', { name: 'Note' }).waitFor()
    assert.deepEqual(asked, [])
    if (path === null) {
      await page.keyboard.press('Escape')
      await page.getByRole('tab', { name: 'Products' }).click()
      assert.deepEqual(asked.splice(0), ['You have changes that are not saved. Leave without them?'])
      await page.getByRole('row', { name: 'Total $7' }).waitFor()
      await page.getByRole('button', { name: 'Discard' }).click()
    }
  }
  await page.getByRole('tab', { name: 'Products' }).click()
  let writes = 0
  const held = Promise.withResolvers<void>()
  await page.route(`**/deal/${id}?**`, async route => {
    if (route.request().method() === 'PATCH') writes++
    await held.promise
    return route.continue()
  })
  const quantity = page.getByRole('textbox', { name: 'Quantity of Tabbed Thing' })
  await quantity.press('Control+Enter')
  await quantity.press('Control+Enter')
  held.resolve()
  await page.getByText('Saved Deal value.').waitFor()
  assert.deepEqual([writes, (await stored('deal', id)).deal_value.value], [1, 7])
  await end()
})

test('a price that comes after Discard, or after another tab, leaves the later lines', { skip }, async () => {
  const unit_price = [
    { currency: 'USD', price: 7 },
    { currency: 'EUR', price: 6 },
  ]
  const products = []
  for (const name of ['Late Lathe', 'Later Lathe', 'Last Lathe'])
    products.push(await made('product', { name, unit_price }))
  const { id } = await makeDeal('Late prices', { deal_value: { currency: 'USD', value: 0 } })
  const { page, end } = await openUi(service, `/deals/${id}?tab=products`)
  const hold = async (product: number) => {
    const held = Promise.withResolvers<void>()
    await page.route(`**/product/${product}*`, route => held.promise.then(() => route.continue()))
    return async () => {
      const answered = page.waitForResponse(new RegExp(`/product/${product}`))
      held.resolve()
      await (await answered).finished()
      await page.evaluate(() => new Promise(done => setTimeout(done, 200)))
    }
  }
  const box = page.getByRole('combobox', { name: 'Add a product' })
  const discard = page.getByRole('button', { name: 'Discard' })
  const add = async (name: string) => {
    await box.fill(name)
    await page.getByRole('option', { name }).click()
  }
  const release = await hold(products[0].id)
  await page.getByRole('button', { name: 'Add products' }).click()
  await add('Late Lathe')
  await box.fill('half a name')
  await page.keyboard.press('Escape')
  // A press lasts: what leaving the box shows does not move the button away from it.
  await discard.hover()
  await page.mouse.down()
  await page.evaluate(() => new Promise(done => setTimeout(done, 400)))
  await page.mouse.up()
  await release()
  assert.equal(await discard.isDisabled(), true)
  assert.equal(await page.getByRole('textbox', { name: /Late Lathe/ }).count(), 0)

  // The place of the tabs keeps the lines, and so does the price that comes while another tab is open.
  await page.getByRole('button', { name: 'Add products' }).click()
  assert.equal(await box.inputValue(), '')
  const releaseLater = await hold(products[1].id)
  await add('Later Lathe')
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.getByRole('tab', { name: 'Products' }).click()
  await page.getByRole('textbox', { name: 'Quantity of Later Lathe' }).fill('3')
  await releaseLater()
  await page.getByRole('row', { name: 'Total $21' }).waitFor()
  await discard.click()

  // Another currency, too.
  const releaseLast = await hold(products[2].id)
  await page.getByRole('button', { name: 'Add products' }).click()
  await add('Last Lathe')
  await page.getByRole('combobox', { name: /currency/i }).selectOption({ label: 'EUR' })
  await discard.click()
  await releaseLast()
  assert.equal(await discard.isDisabled(), true)
  await end()
})

test('another currency takes the prices of the products, and nothing that was typed', { skip }, async () => {
  const unit_price = [
    { currency: 'USD', price: '19.99', tax: 5 },
    { currency: 'JPY', price: '3000', tax: 10 },
  ]
  const made = await call('POST', `${v1}/product`, { name: 'Two Prices', unit_price })
  assert.equal(made.status, 201, made.text)
  const products = [{ product: made.body.data.id, quantity: 1 }]
  const { id } = await makeDeal('To yen', { deal_value: { currency: 'USD', products } })
  const { page, end } = await openUi(service, `/deals/${id}?tab=products`)
  const box = (name: string) => page.getByRole('textbox', { name: `${name} of Two Prices` })
  await box('Discount %').fill('12')
  await page.getByRole('combobox', { name: 'Deal value, currency' }).selectOption('JPY')
  await page.waitForFunction(
    price => (price as HTMLInputElement).value === '3,000',
    await box('Price').elementHandle(),
  )
  assert.deepEqual(await Promise.all(['Discount %', 'Tax %'].map(name => box(name).inputValue())), [
    '12',
    '10',
  ])
  assert.ok(await page.getByRole('checkbox', { name: 'Value follows the products' }).isChecked())
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved Deal value.').waitFor()
  const { deal_value } = await stored('deal', id)
  assert.deepEqual([deal_value.currency_code, deal_value.value], ['JPY', 2904])
  await end()
})

test('a record is deleted, and comes back', { skip }, async () => {
  const { id } = await makeDeal('Deleted and back')
  const { page, accessible, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByText('Deleted “Deleted and back”.').waitFor()
  await page.goto(`${service.url}/deals/${id}`)
  await page.getByText('This record was deleted. It can be restored for some time.').waitFor()
  await accessible('a deleted record')
  await page.getByRole('button', { name: 'Restore' }).click()
  await page.getByText('Restored “Deleted and back”.').waitFor()
  assert.equal((await stored('deal', id)).deleted_at, null)
  await page.goto(`${service.url}/deals/999999`)
  await page.getByRole('heading', { level: 1, name: 'No such deal' }).waitFor()
  await accessible('a record that is not there')
  await end(/404/)
})

test('the timeline tells who changed what, and takes a note', { skip }, async () => {
  const { id } = await makeDeal('With a timeline', { description: 'old' })
  await call('PATCH', `${v1}/deal/${id}`, { description: 'new', expected_close_date: '2031-05-01' })
  const { page, accessible, end } = await openUi(service, `/deals/${id}`)
  const timeline = page.getByRole('list', { name: 'Timeline' })
  await timeline.getByText(/Description: old.*new/).waitFor()
  await timeline.getByText(/Expected close date: empty.*May 1, 2031/).waitFor()
  assert.doesNotMatch(await timeline.innerText(), /\d{4}-\d\d-\d\d/)
  await page.getByRole('textbox', { name: 'Note' }).fill('They want <b>two</b> references.')
  await page.keyboard.press('Control+Enter')
  await timeline.getByText('They want <b>two</b> references.').waitFor()
  // It is about the primary contact, too, as what a form logs.
  const { data } = (await call('GET', `${v1}/activity/view/list?filter=deal:eq(${id})`)).body
  assert.deepEqual(
    data.map(({ contact }: { contact: number }) => contact),
    [known.contact],
  )
  await accessible('a timeline')
  await end()
})

test('the timeline goes back to the first activity, and says if it could not be read', { skip }, async () => {
  const { id } = await makeDeal('Long told')
  const done = { done_at: '2026-01-02T10:00:00Z' }
  const operations = Array.from({ length: 103 }, (_, at) => ({
    op: 'create',
    data: { kind: 'Call', subject: `Told ${at + 1}`, deal: id, ...(at === 0 ? {} : done) },
  }))
  for (const from of [0, 100]) {
    const reply = await call('POST', `${v1}/activity/batch`, {
      operations: operations.slice(from, from + 100),
    })
    assert.equal(reply.body.meta?.failed, 0, reply.text.slice(0, 500))
  }
  const { page, end } = await openUi(service, `/deals/${id}`)
  const tab = page.getByRole('tabpanel', { name: 'Timeline' })
  // The oldest of all is still to be done.
  await tab.getByRole('link', { name: 'Told 1', exact: true }).waitFor()
  const more = page.getByRole('button', { name: 'Show more' })
  await more.click()
  for (const name of ['Told 2', 'Told 103']) await tab.getByRole('link', { name, exact: true }).waitFor()
  assert.equal(await more.count(), 0)
  const box = tab.getByRole('checkbox', { name: 'Done: Told 1', exact: true })
  await box.focus()
  await page.keyboard.press('Space')
  await page.getByText('Done: “Told 1”.').waitFor()
  await tab.getByText('Planned', { exact: true }).waitFor({ state: 'detached' })
  assert.equal(await page.evaluate(() => document.activeElement?.closest('[role=tabpanel]') !== null), true)
  await page.route('**/activity/view/list?**', route => route.fulfill({ status: 500, body: '{}' }))
  await page.reload()
  await page.getByText('The activities could not be read.').waitFor()
  await page.unroute('**/activity/view/list?**')
  await tab.getByRole('button', { name: 'Try again' }).click()
  await tab.getByRole('link', { name: 'Told 1', exact: true }).waitFor()
  await end(/500/)
})

test('what programs need stands folded at the end of a record and of its form', { skip }, async () => {
  const { id } = await makeDeal('Not technical', { metadata: { from: 'a program' } })
  const { page, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('button', { name: 'Edit Title: Not technical' }).waitFor()
  const edit = page.getByRole('button', { name: /^Edit Metadata/ })
  for (const hidden of [page.getByText('Version', { exact: true }), edit])
    assert.equal(await hidden.isVisible(), false)
  await page.getByText('Details', { exact: true }).click()
  await edit.waitFor()
  await end()
})

test('a telephone number is called without what separates its digits', { skip }, async () => {
  const body = { last_name: 'Callable', phones: [{ phone_type: 3, phone_number: '+1 (555) 01-00' }] }
  const { id } = await made('contact', {
    ...body,
    emails: [{ email_type: 1, email_value: 'a+b%c@example.com' }],
  })
  const { page, end } = await openUi(service, `/contacts/${id}`)
  const href = (name: string) => page.getByRole('link', { name }).first().getAttribute('href')
  assert.equal(await href('+1 (555) 01-00'), 'tel:+15550100')
  assert.equal(await href('a+b%c@example.com'), 'mailto:a%2Bb%25c@example.com')
  await end()
})

test('one goes through the list that one came from', { skip }, async () => {
  const deals = await Promise.all(['a', 'b', 'c'].map(name => makeDeal(`Neighbour ${name}`)))
  const search = new URLSearchParams({ filter: 'title:like(Neighbour )', sort: 'title:asc' })
  const { page, end } = await openUi(service, `/deals/${deals[0].id}?${search}`)
  await page.getByText('1 of 3').waitFor()
  await page.keyboard.press(']')
  await page.waitForFunction(() => document.activeElement?.textContent === 'Neighbour b')
  await page.getByText('2 of 3').waitFor()
  await page.keyboard.press('[')
  await page.getByRole('heading', { level: 1, name: 'Neighbour a' }).waitFor()
  await end()
})

test('what is to be done is done by a key, and the next is asked for', { skip }, async () => {
  const { id } = await makeDeal('With one activity')
  await made('activity', {
    kind: 'Call',
    subject: 'The only call',
    deal: id,
    due_at: '2020-01-01T09:00:00Z',
    owner: 1,
  })
  await made('activity', { kind: 'Call', subject: 'A later call', due_at: '2020-01-02T09:00:00Z', owner: 1 })
  const { page, accessible, end } = await openUi(service, '/today')
  const overdue = page.getByRole('region', { name: /^Overdue/ })
  const box = overdue.getByRole('checkbox', { name: 'Done: The only call' })
  await box.waitFor()
  await accessible('today')
  const isAt = (name: string) =>
    page.waitForFunction(wanted => document.activeElement?.ariaLabel === wanted, `Done: ${name}`)
  await page.keyboard.press('j')
  await isAt('The only call')
  await page.keyboard.press('j')
  await isAt('A later call')
  await page.keyboard.press('k')
  await isAt('The only call')
  await page.keyboard.press('x')
  await page.getByText('Done: “The only call”.').waitFor()
  const dialog = page.getByRole('dialog', { name: 'What is next?' })
  await dialog.getByText('With one activity').waitFor()
  await accessible('the question for the next activity')
  await dialog.getByRole('radio', { name: 'Tomorrow' }).check()
  await dialog.getByLabel('Subject of the next step').fill('The next call')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Planned “The next call”.').waitFor()
  const { body } = await call('GET', `${v1}/activity/view/list?filter=deal:eq(${id}),done_at:isnull(true)`)
  assert.deepEqual(
    body.data.map((one: { subject: string }) => one.subject),
    ['The next call'],
  )
  await end()
})

/** The visible form of an amount; throws if it is cut. */
const formOf = (amount: Locator): Promise<'whole' | 'short'> =>
  amount.evaluate(element => {
    const [short, whole] = [...element.children] as [HTMLElement, HTMLElement]
    const box = element.getBoundingClientRect()
    const isWhole = whole.getBoundingClientRect().top < box.bottom - 1
    const seen = isWhole ? whole : short
    const { left, right } = seen.getBoundingClientRect()
    if (seen.scrollWidth > seen.clientWidth + 1 || left < box.left - 1 || right > box.right + 1)
      throw new Error(`${whole.textContent} is cut`)
    return isWhole ? 'whole' : 'short'
  })

test('an amount is never cut: it stands in short, and says the whole', { skip }, async () => {
  const value = 9_999_999_999_999
  const whole = '$9,999,999,999,999'
  const title = 'As much as there is'
  const reply = await call(
    'POST',
    `${v1}/deal`,
    dealBody(known, { title, deal_value: { currency: 'USD', value } }),
  )
  assert.equal(reply.status, 201, reply.text)
  const of = `filter=title:eq(${title})`
  // The sign of US dollars is that of others, too.
  const coded = whole.replace('$', 'USD\u00a0')
  const { page, end } = await openUi(service, `/deals?${of}`)
  const cell = page.getByRole('gridcell', { name: whole, exact: true })
  assert.equal(await formOf(cell.first().locator('.fitting')), 'short')
  assert.equal(await cell.first().locator('.fitting').getAttribute('title'), '9,999,999,999,999 USD')
  // The sum of the only one, at the foot.
  assert.equal(await formOf(cell.last().locator('.fitting')), 'short')
  assert.equal(await cell.last().locator('.fitting').getAttribute('title'), coded)
  await page.goto(`${service.url}/deals?${of}&columns=title,deal_value:200`)
  assert.equal(await formOf(cell.first().locator('.fitting')), 'whole')
  assert.equal(await formOf(cell.last().locator('.fitting')), 'whole')
  await page.goto(`${service.url}/board?${of}`)
  const card = page.getByRole('link', { name: new RegExp(`^${title}.*${whole.replace('$', '\\$')}`) })
  assert.equal(await card.locator('.tabular').first().getAttribute('title'), coded)
  const ofStage = page.locator('[data-sum="value"] .tabular').first()
  assert.deepEqual((await ofStage.getAttribute('title'))?.split('\n'), [coded, `${coded} in 1 deal`])
  await page.goto(`${service.url}/deals/${reply.body.data.id}`)
  assert.equal(await formOf(page.locator('.fitting', { hasText: whole }).first()), 'whole')
  await end()
  const phone = await openUi(service, `/deals?${of}`, { size: { width: 390, height: 844 } })
  assert.equal(
    await formOf(phone.page.getByRole('listitem').locator('.fitting', { hasText: whole })),
    'whole',
  )
  await phone.end()
})

test('a narrow page does not scroll sideways', { skip }, async () => {
  const { id } = await makeDeal('Very narrow '.repeat(15).trim())
  const size = { width: 320, height: 640 }
  for (const path of [
    `/deals/${id}`,
    `/deals/${id}?tab=products`,
    '/today?owner=all',
    '/contacts/68',
    '/products/148',
  ]) {
    const { page, end } = await openUi(service, path, { size })
    await loaded(page)
    const wide = await page.evaluate(() => {
      const main = document.querySelector('main')!
      return [document.documentElement.scrollWidth, main.scrollWidth - main.clientWidth]
    })
    assert.deepEqual(wide, [320, 0], path)
    await end()
  }
})

test('the timeline says by which token something was done', { skip }, async () => {
  const token = await call('POST', `${v1}/token`, {
    name: 'Night shift',
    scopes: ['deal:read', 'deal:write'],
  })
  assert.equal(token.status, 201, token.text)
  const authorization = `Bearer ${token.body.data.token}`
  const made = await call('POST', `${v1}/deal`, dealBody(known, { title: 'By a program' }), { authorization })
  assert.equal(made.status, 201, made.text)
  const { page, accessible, end } = await openUi(service, `/deals/${made.body.data.id}`)
  const timeline = page.getByRole('list', { name: 'Timeline' })
  await timeline.getByText(/created this by token Night shift/).waitFor()
  await accessible('a change by a token')
  await end()
})

test('what no user did was done by the service', () => {
  assert.equal(actorName({ id: null, name: null }), 'The service')
  assert.equal(actorName({ id: 7, name: null }), 'Somebody')
  assert.equal(actorName({ id: 7, name: 'Ana' }), 'Ana')
})
