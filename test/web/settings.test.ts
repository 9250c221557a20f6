/** The settings in a browser: an administrator sets up fields, stages, users and tokens. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import {
  assertAccessible,
  focusIn,
  heard,
  openContext,
  openUi,
  resize,
  visit,
  widths,
} from '../support/ui.ts'

const service = await startService()
const { call, known } = service
const skip = noBrowser

const dialog = (page: Page) => page.getByRole('dialog')
const said = (page: Page, text: string | RegExp) => page.getByRole('log').getByText(text).waitFor()

/** Fills the form of a new field; `fill` sets the inputs of its type. */
async function addField(page: Page, label: string, type: string, options?: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a field' }).click()
  await dialog(page).getByRole('textbox', { name: 'Label' }).fill(label)
  await dialog(page).getByLabel('Field type').selectOption({ label: type })
  if (options) await dialog(page).getByLabel('Options, one a line').fill(options)
  await dialog(page).getByRole('region', { name: 'Preview' }).waitFor()
  await dialog(page).getByRole('button', { name: 'Add the field' }).click()
  await said(page, `Added the field “${label}”`)
}

test('a list of the settings has more records than one page of the service', { skip }, async () => {
  const operations = Array.from({ length: 505 }, (_, index) => ({
    op: 'create',
    data: { name: `Zz many ${String(index).padStart(3, '0')}` },
  }))
  for (const half of [operations.slice(0, 300), operations.slice(300)])
    assert.equal((await call('POST', `${v1}/tag/batch`, { operations: half })).body.meta.failed, 0)
  const { page, end } = await openUi(service, '/settings/tags')
  await page.getByText('Zz many 504').first().waitFor()
  await end()
})

test('fields of several types are in the list and in the form at once', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/settings/fields')
  await page.getByRole('list', { name: 'Fields of Basic information' }).waitFor()
  const made = [
    ['Contract number', 'Text'],
    ['Seats', 'Number'],
    ['Plan', 'Dropdown', 'Small\nLarge'],
    ['Go live', 'Date'],
    ['Sponsor', 'User'],
  ] as const
  for (const [label, type, options] of made) await addField(page, label, type, options)
  const list = page.getByRole('list', { name: 'Fields of Custom fields' })
  for (const [label] of made) await list.getByText(label, { exact: true }).waitFor()
  await accessible('fields')
  // The form of a new deal has them without a reload.
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('c')
  await dialog(page).getByRole('checkbox', { name: 'All fields' }).check()
  await dialog(page).getByRole('textbox', { name: 'Contract number' }).waitFor()
  await dialog(page).getByText('Plan', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  // A refusal is shown at its field, in the service's words.
  await page.getByRole('button', { name: 'Add a field' }).click()
  await dialog(page).getByRole('textbox', { name: 'Label' }).fill('Seats')
  await dialog(page).getByRole('button', { name: 'Add the field' }).click()
  const label = dialog(page).getByRole('textbox', { name: 'Label' })
  await dialog(page)
    .getByText(/another field/)
    .first()
    .waitFor()
  assert.equal(await label.getAttribute('aria-invalid'), 'true')
  await accessible('the form of a field, refused')
  await page.keyboard.press('Escape')
  const { body } = await call('GET', `${v1}/field/list?source=deal`)
  const names = body.data.fields.flat().map((field: { field_name: string }) => field.field_name)
  for (const [name] of made) assert.ok(names.includes(name), name)
  await end(/409/)
})

test('a field goes to another place by buttons, and back by Undo', { skip }, async () => {
  const { page, end } = await openUi(service, '/settings/fields?source=company')
  const order = async () => {
    const { body } = await call('GET', `${v1}/field/form?source=company`)
    return body.data.flatMap(({ fields }: { fields: string[] }) => fields)
  }
  const before = await order()
  const down = page.getByRole('button', { name: 'Move Name down' })
  await down.focus()
  await page.keyboard.press('Enter')
  await said(page, /“Name” is field \d+ of/)
  assert.equal(await down.evaluate(button => button === document.activeElement), true)
  assert.notDeepEqual(await order(), before)
  await page.getByRole('button', { name: 'Undo' }).click()
  await said(page, 'The form was restored')
  assert.deepEqual(await order(), before)
  // Of quick moves the last one counts, however late the first is saved.
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route('**/field/form?*', route => promise.then(() => route.fallback()), { times: 1 })
  await down.press('Enter')
  await down.press('Enter')
  resolve()
  await eventually(
    async () => (await order()).indexOf('name') === before.indexOf('name') + 2,
    'the last order',
  )
  await end()
})

test('a deleted field is restored', { skip }, async () => {
  const made = await call('POST', `${v1}/field`, {
    source: 'product',
    field_name: 'Shelf',
    type: 'SINGLE_STRING',
  })
  assert.equal(made.status, 201)
  const { page, accessible, end } = await openUi(service, '/settings/fields?source=product')
  await page.getByRole('button', { name: 'Delete Shelf' }).click()
  await page
    .getByRole('alertdialog')
    .getByText(/thirty days/)
    .waitFor()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('list', { name: 'Deleted fields' }).getByText('Shelf').waitFor()
  // Until it closes, the page behind it is inert.
  await page.getByRole('alertdialog').waitFor({ state: 'detached' })
  await accessible('fields with deleted ones')
  await page.getByRole('button', { name: 'Restore Shelf' }).click()
  // Others' changes of it stay, and those of the same settings are said first.
  await page.getByRole('button', { name: 'Edit Shelf' }).click()
  const label = dialog(page).getByRole('textbox', { name: 'Label' })
  await label.fill('Shelf number')
  const path = `${v1}/field/${made.body.data.id}`
  assert.equal((await call('PATCH', path, { is_required: true })).status, 200)
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await said(page, 'Saved the field “Shelf number”')
  await page.getByRole('button', { name: 'Edit Shelf number' }).click()
  await label.fill('Mine')
  assert.equal((await call('PATCH', path, { field_name: 'Theirs' })).status, 200)
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await dialog(page)
    .getByText(/Somebody else has changed the same settings/)
    .waitFor()
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await said(page, 'Saved the field “Mine”')
  await page.getByRole('button', { name: 'Edit Mine' }).waitFor()
  await end(/status of 412/)
})

test('options are added, renamed and deactivated', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/settings/fields')
  await page.getByRole('button', { name: 'Options of Source' }).click()
  await dialog(page).getByRole('textbox', { name: 'New option' }).fill('Trade fair')
  await page.keyboard.press('Enter')
  await said(page, 'Added the option “Trade fair”')
  const name = dialog(page).getByRole('textbox', { name: 'Name of option Trade fair' })
  await name.fill('Fair')
  await name.press('Enter')
  await said(page, 'The option is called “Fair” now')
  await dialog(page).getByRole('button', { name: 'Deactivate: Fair' }).click()
  await dialog(page).getByRole('button', { name: 'Activate: Fair' }).waitFor()
  await accessible('options')
  await end()
})

test('an option that is out of use is filtered by, and stays in a condition that is changed', {
  skip,
}, async () => {
  const asked = { source: 'deal', field_name: 'Sent by', type: 'DROPDOWN', options: ['Letter', 'Fax', 'Web'] }
  const { id, internal_name: name, options } = (await call('POST', `${v1}/field`, asked)).body.data
  const [letter, fax, web] = options.map((option: { id: number }) => option.id)
  const body = dealBody(known, { title: 'Faxed', [name]: fax })
  assert.equal((await call('POST', `${v1}/deal`, body)).status, 201)
  assert.equal((await call('PATCH', `${v1}/field/${id}/option/${fax}`, { is_active: false })).status, 200)
  const { page, accessible, end } = await openUi(service, '/deals')
  const filtered = (text: string) => page.waitForURL(url => url.searchParams.get('filter') === text)
  const editor = page.getByRole('dialog', { name: /condition$/ })
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('searchbox', { name: 'Field to filter by' }).fill('Sent by')
  await page.getByRole('option', { name: 'Sent by' }).click()
  await editor.getByRole('combobox', { name: 'Sent by' }).selectOption({ label: 'Fax (inactive)' })
  await editor.getByRole('button', { name: 'Apply' }).click()
  await filtered(`${name}:eq(${fax})`)
  await page.getByRole('link', { name: 'Faxed' }).waitFor()
  await page.getByRole('button', { name: 'Sent by is Fax (inactive)', exact: true }).waitFor()

  // One that is gone stays, too.
  await page.goto(
    `${service.url}/deals?${new URLSearchParams({ filter: `${name}:in(999999,${fax},${web})` })}`,
  )
  await page.getByRole('button', { name: /^Sent by is any of No. 999999, Fax \(inactive\), Web/ }).click()
  await editor.getByRole('checkbox', { name: 'Fax (inactive)', checked: true }).waitFor()
  await editor.getByRole('checkbox', { name: 'No. 999999', checked: true }).waitFor()
  await accessible('a condition with options that are out of use')
  await editor.getByRole('checkbox', { name: 'Letter' }).check()
  await editor.getByRole('checkbox', { name: 'Web' }).uncheck()
  await editor.getByRole('button', { name: 'Apply' }).click()
  await filtered(`${name}:in(${letter},${fax},999999)`)
  await end(/status of 4/)
})

test('the name of an option is saved once, and one that is refused is said after the dialog', {
  skip,
}, async () => {
  const { page, end } = await openUi(service, '/settings/fields')
  const open = () => page.getByRole('button', { name: 'Options of Source' }).click()
  const add = async (name: string) => {
    await dialog(page).getByRole('textbox', { name: 'New option' }).fill(name)
    await page.keyboard.press('Enter')
    await said(page, `Added the option “${name}”`)
  }
  await open()
  for (const name of ['First of two', 'Second of two']) await add(name)
  const sent: unknown[] = []
  const held = Promise.withResolvers<void>()
  await page.route('**/field/*/option/*', async route => {
    sent.push(route.request().postDataJSON())
    await held.promise
    await route.continue()
  })
  const second = dialog(page).getByRole('textbox', { name: 'Name of option Second of two' })
  await second.fill('Renamed')
  await second.press('Enter')
  await second.press('Tab')
  await second.fill('Renamed and more')
  held.resolve()
  await said(page, 'The option is called “Renamed” now')
  assert.deepEqual(sent, [{ name: 'Renamed' }])
  const renamed = dialog(page).getByRole('textbox', { name: 'Name of option Renamed' })
  assert.equal(await renamed.inputValue(), 'Renamed and more')
  await renamed.fill('First of two')
  await dialog(page).getByRole('button', { name: 'Close' }).click()
  await said(page, /^Not saved: /)
  await end(/status of 4/)
})

test('a stage is added, moved by keyboard, and deleted with a move of its deals', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/settings/pipelines')
  await page.getByRole('button', { name: 'Add a stage' }).click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Pilot')
  await dialog(page).getByRole('textbox', { name: 'Probability in %' }).fill('40')
  await accessible('the form of a stage')
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).click()
  await said(page, 'Added the stage “Pilot”')
  const order = async () => {
    const { body } = await call('GET', `${v1}/pipeline_stage/view/list?sort=position:asc`)
    return body.data.map(({ name }: { name: string }) => name)
  }
  assert.deepEqual(await order(), ['New', 'Qualified', 'Proposal', 'Negotiation', 'Pilot', 'Won', 'Lost'])
  const up = page.getByRole('button', { name: 'Move Pilot up' })
  await up.focus()
  await page.keyboard.press('Enter')
  await said(page, '“Pilot” is stage 4 of 7 now')
  assert.deepEqual(await order(), ['New', 'Qualified', 'Proposal', 'Pilot', 'Negotiation', 'Won', 'Lost'])
  assert.equal(await up.evaluate(button => button === document.activeElement), true)
  const { body } = await call('GET', `${v1}/pipeline_stage/view/list?filter=name:eq(Pilot)`)
  const stage = body.data[0].id
  const path = `${v1}/pipeline_stage/${stage}`
  const edit = async (name: string) => {
    await page.getByRole('button', { name: 'Edit Pilot' }).click()
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill(name)
  }
  // Others' changes of other members stay, and one of the same is not overwritten.
  await edit('Pilot phase')
  assert.equal((await call('PATCH', path, { probability: 60 })).status, 200)
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await said(page, 'Saved the stage “Pilot phase”')
  assert.equal((await call('GET', path)).body.data.probability, 60)
  await edit('Pilot project')
  assert.equal((await call('PATCH', path, { name: 'Pilot' })).status, 200)
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await dialog(page).getByText('Somebody else has changed the same fields meanwhile.').waitFor()
  assert.equal((await call('GET', path)).body.data.name, 'Pilot')
  page.once('dialog', question => void question.accept())
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  const deal = await call('POST', `${v1}/deal`, dealBody(known, { pipeline_stage: stage }))
  assert.equal(deal.status, 201, deal.text)
  await page.getByRole('listitem').filter({ hasText: 'Pilot' }).getByText('1 deal').waitFor()
  await page.getByRole('button', { name: 'Delete Pilot' }).click()
  await page.getByLabel('Move its 1 deal to').selectOption({ label: 'Negotiation' })
  await accessible('a stage to be deleted')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await said(page, 'Deleted “Pilot” and moved its 1 deal')
  const moved = await call('GET', `${v1}/deal/${deal.body.data.id}`)
  assert.equal(moved.body.data.pipeline_stage, known.stages.Negotiation)
  // The only stage of a kind stays while it has deals, with the reason.
  await page.getByRole('button', { name: 'Delete Won' }).click()
  const confirm = page.getByRole('alertdialog')
  await confirm.getByText(/^No other stage means Won\. Its \d+ deals need one/).waitFor()
  await confirm.getByRole('button', { name: 'Delete' }).and(page.locator('[aria-disabled=true]')).waitFor()
  await accessible('a stage that can’t be deleted')
  await confirm.getByRole('button', { name: 'Cancel' }).click()
  await confirm.waitFor({ state: 'detached' })
  await accessible('pipelines')
  await end(/409|400|412/)
})

test('of stages that are moved quickly each is where it was put', { skip }, async () => {
  const { page, end } = await openUi(service, '/settings/pipelines')
  const path = `${v1}/pipeline_stage/view/list?sort=position:asc&filter=pipeline:eq(${known.pipeline})`
  const stages = async (): Promise<{ id: number; name: string }[]> => (await call('GET', path)).body.data
  const order = async () => (await stages()).map(({ name }) => name)
  const before = await stages()
  const [a, b, c, d, ...others] = before.map(({ name }) => name)
  const pressed = Promise.withResolvers<void>()
  await page.route('**/pipeline_stage/*', async route => {
    await pressed.promise
    await route.fallback()
  })
  for (const move of [`${a} down`, `${d} up`, `${b} down`])
    await page.getByRole('button', { name: `Move ${move}` }).press('Enter')
  pressed.resolve()
  await said(page, `“${b}” is stage 2 of ${4 + others.length} now`)
  assert.deepEqual(await order(), [a, b, d, c, ...others])
  for (const [index, { id }] of before.entries())
    await call('PATCH', `${v1}/pipeline_stage/${id}`, { position: index + 1 })
  await end()
})

test('a stage is dragged to another place', { skip }, async () => {
  const { page, end } = await openUi(service, '/settings/pipelines')
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  await row('Qualified').waitFor()
  const from = (await row('Qualified').boundingBox())!
  const to = (await row('Proposal').boundingBox())!
  await page.mouse.move(from.x + 24, from.y + from.height / 2)
  await page.mouse.down()
  await page.mouse.move(to.x + 24, to.y + to.height - 4, { steps: 6 })
  await page.mouse.up()
  await said(page, '“Qualified” is stage 3 of 6 now')
  await page.getByRole('button', { name: 'Undo' }).click()
  await said(page, '“Qualified” is stage 2 of 6 now')
  await end()
})

test('a rate is the number that its reader writes', { skip }, async () => {
  for (const [locale, id, code, typed, rate] of [
    ['en-US', 410, 'KRW', '1,605', 1605],
    ['de-DE', 360, 'IDR', '16.250', 16250],
  ] as const) {
    const { page, end } = await openUi(service, '/settings/currencies', { context: { locale } })
    await page.getByRole('button', { name: 'Add a rate' }).click()
    await dialog(page).getByRole('combobox', { name: 'Currency' }).selectOption(String(id))
    await dialog(page)
      .getByRole('textbox', { name: `What 1 ${code} is worth in USD` })
      .fill(typed)
    await dialog(page).getByRole('button', { name: 'Add', exact: true }).click()
    await said(page, `${code} has a rate now`)
    assert.equal((await call('GET', `${v1}/currency/${id}`)).body.data.rate, rate)
    await call('PATCH', `${v1}/currency/${id}`, { rate: null })
    await end()
  }
})

test('one pipeline is the default, in which new deals begin', { skip }, async () => {
  const { id } = (await call('POST', `${v1}/pipeline`, { name: 'Renewals' })).body.data
  const { page, end } = await openUi(service, `/settings/pipelines?id=${id}`)
  const defaults = async () => {
    const { body } = await call('GET', `${v1}/pipeline/view/list?filter=is_default:eq(Yes)`)
    return body.data.map((pipeline: { name: string }) => pipeline.name)
  }
  for (const name of ['Renewals', 'Sales pipeline']) {
    await page.getByRole('link', { name }).click()
    await page.getByRole('button', { name: 'Make default' }).click()
    await said(page, `New deals begin in “${name}”`)
    assert.deepEqual(await defaults(), [name])
    await page.keyboard.press('c')
    const form = page.getByRole('dialog', { name: 'New deal' })
    await form.getByRole('radio', { name, exact: true, checked: true }).waitFor()
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })
  }
  await call('DELETE', `${v1}/pipeline/${id}`)
  await end()
})

test('a pipeline begins with stages, and may be deleted', { skip }, async () => {
  const { page, end } = await openUi(service, '/settings/pipelines')
  await page.getByRole('button', { name: 'New pipeline' }).click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Partners')
  // After a failure halfway there is one pipeline, and each stage of it once.
  let asked = 0
  await page.route('**/pipeline_stage', route =>
    ++asked === 4 ? route.fulfill({ status: 500, body: '{}' }) : route.fallback(),
  )
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await dialog(page).getByRole('alert').waitFor()
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  const stages = page.getByRole('list', { name: 'Stages of Partners' })
  await stages.getByText('Negotiation').waitFor()
  assert.equal(await stages.getByRole('listitem').count(), 6)
  await page.getByRole('button', { name: 'Delete pipeline' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await said(page, 'Deleted the pipeline “Partners”')
  await page.getByText('Partners', { exact: true }).first().waitFor({ state: 'detached' })
  await end(/status of 500/)
})

test('an invited colleague signs in by the link, and only reads', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/settings/users')
  await page.getByRole('button', { name: 'Invite a user' }).click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Nadia Rahal')
  await dialog(page).getByRole('textbox', { name: 'E-mail' }).fill('nadia@example.com')
  await dialog(page).getByLabel('Role').selectOption({ label: 'Read only' })
  await accessible('the invitation')
  await dialog(page).getByRole('button', { name: 'Invite' }).click()
  const box = dialog(page).getByRole('textbox', { name: 'One-time link' })
  const link = await box.inputValue()
  await accessible('the link')
  await dialog(page).getByRole('button', { name: 'Done' }).click()
  await page.getByRole('table', { name: 'Users' }).getByText('Nadia Rahal').waitFor()
  assert.ok(!(await page.content()).includes(link))

  const context = await openContext({ viewport: { width: 1280, height: 800 } })
  const theirs = await context.newPage()
  const errors = heard(theirs)
  await theirs.goto(link)
  await theirs.getByLabel('New password').fill('seven green kettles sing')
  await theirs.getByRole('button', { name: 'Set the password and sign in' }).click()
  await theirs.getByRole('navigation', { name: 'Main' }).waitFor()
  for (const [path, name] of [
    ['/settings/pipelines', 'New pipeline'],
    ['/settings/fields', 'Add a field'],
    ['/settings/tags', 'New tag'],
    ['/settings/users', 'Invite a user'],
    ['/settings/currencies', 'Add a rate'],
  ] as const) {
    await theirs.goto(service.url + path)
    const button = theirs.getByRole('button', { name })
    await button.waitFor()
    assert.equal(await button.getAttribute('aria-disabled'), 'true', name)
    // The reason is shown on keyboard focus, too.
    await theirs.keyboard.press('Tab')
    await button.focus()
    await theirs
      .getByRole('tooltip')
      .getByText(/Your role may not change this/)
      .waitFor()
    await theirs.keyboard.press('Enter')
    assert.equal(await dialog(theirs).count(), 0)
    await assertAccessible(theirs, `${path}, read only`)
  }
  await theirs.goto(`${service.url}/settings/backup`)
  await theirs.getByText(/Your role may not see this page/).waitFor()
  await context.close()
  assert.deepEqual(errors, [])
  await end()
})

test('a token’s secret is shown once, and works', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/settings/tokens', {
    context: { permissions: ['clipboard-read', 'clipboard-write'] },
  })
  await page.getByRole('button', { name: 'New token' }).click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Web form')
  await dialog(page).getByRole('checkbox', { name: 'Write Deals' }).check()
  await accessible('the form of a token')
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  const secret = await dialog(page).getByRole('textbox', { name: 'Token' }).inputValue()
  // Until it is copied, no way out loses it unasked.
  const asked: string[] = []
  page.on('dialog', question => {
    asked.push(question.message())
    void question.dismiss()
  })
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  const question = 'This is shown only now, and you have not copied it. Close without it?'
  await eventually(async () => asked.length === 2, 'two questions')
  assert.deepEqual(asked.splice(0), [question, question])
  await dialog(page).getByRole('button', { name: 'Copy' }).click()
  await dialog(page).getByRole('button', { name: 'Copied' }).waitFor()
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret)
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  assert.deepEqual(asked, [])
  const mine = await call('GET', `${v1}/me`, undefined, { authorization: `Bearer ${secret}` })
  assert.deepEqual(mine.body.data.scopes.toSorted(), ['deal:read', 'deal:write'])
  await page.reload()
  await page.getByRole('table', { name: 'Tokens' }).getByText('Web form').waitFor()
  assert.ok(!(await page.content()).includes(secret))
  await page.getByRole('button', { name: 'Revoke Web form' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await said(page, 'Revoked the token “Web form”')
  // A token ends within a second (D38).
  const status = async () =>
    (await call('GET', `${v1}/me`, undefined, { authorization: `Bearer ${secret}` })).status
  await eventually(async () => (await status()) === 401, 'an end of the token', 100)
  await end()
})

test('a new role begins with what another may do, and its user can use the pages', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/settings/roles')
  await page.getByRole('button', { name: 'New role' }).click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Field sales')
  assert.equal(await dialog(page).getByRole('checkbox', { name: 'Write Deals' }).isChecked(), true)
  await dialog(page).getByLabel('Sees Activities').selectOption('own')
  await dialog(page).getByLabel('Hidden fields').selectOption({ label: 'Deals · Deal value' })
  await dialog(page).getByRole('button', { name: 'Remove Deals · Deal value' }).waitFor()
  // Another model would take that away: it is asked first.
  const start = dialog(page).getByLabel('Start from')
  page.once('dialog', question => void question.dismiss())
  await start.selectOption({ label: 'Read only' })
  assert.equal(await start.locator('option:checked').textContent(), 'Member')
  await dialog(page).getByRole('button', { name: 'Remove Deals · Deal value' }).waitFor()
  await accessible('the form of a role')
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await said(page, 'Saved the role “Field sales”')
  await page
    .getByRole('row', { name: /Field sales/ })
    .getByText('Deals · Deal value')
    .waitFor()
  const { body } = await call('GET', `${v1}/role/view/list?filter=name:in(Member,Field sales)&sort=id:asc`)
  const [member, role] = body.data
  assert.deepEqual(role.scopes, member.scopes)
  assert.deepEqual(role.visibility, { activity: 'own' })
  assert.deepEqual(role.may_change, { ...member.may_change, activity: 'own' }, 'no wider than what it sees')
  assert.deepEqual(role.hidden_fields, ['deal.deal_value'])
  await end()

  const user = { name: 'Faye Field', email: 'faye@example.com', role: role.id }
  const made = await call('POST', `${v1}/user`, user)
  assert.equal(made.status, 201, made.text)
  const theirs = await openUi(service, '/board', { user: made.body.data.id })
  await theirs.page.getByRole('heading', { name: 'Sales pipeline' }).waitFor()
  await theirs.page.goto(`${service.url}/deals`)
  await theirs.page.getByRole('grid').waitFor()
  // The feed is refused to users who don't see everything (D71).
  await theirs.end(/403.*\/event/)
})

test('what two administrators have changed of a role is chosen, and not overwritten', { skip }, async () => {
  const name = 'Of two minds'
  const before = { name, scopes: ['deal:read'], hidden_fields: ['deal.deal_value'] }
  const made = await call('POST', `${v1}/role`, before)
  assert.equal(made.status, 201, made.text)
  const path = `${v1}/role/${made.body.data.id}`
  const { page, accessible, end } = await openUi(service, '/settings/roles')
  await page.getByRole('button', { name: `Edit ${name}` }).click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Of one mind')
  await dialog(page).getByRole('button', { name: 'Remove Deals · Deal value' }).click()
  const theirs = { name: 'Theirs', hidden_fields: ['deal.deal_value', 'deal.description'] }
  assert.equal((await call('PATCH', path, theirs)).status, 200)
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  const conflict = page.getByRole('alertdialog', { name: 'Somebody else has changed this' })
  await conflict
    .getByRole('group', { name: /^Name/ })
    .getByRole('radio', { name: /^Yours/ })
    .check()
  await conflict
    .getByRole('group', { name: /^Hidden fields/ })
    .getByRole('radio', { name: /^Theirs/ })
    .check()
  await accessible('a role that two have changed')
  await conflict.getByRole('button', { name: 'Save choices' }).click()
  await said(page, 'Saved the role “Of one mind”')
  const { data } = (await call('GET', path)).body
  assert.deepEqual([data.name, data.hidden_fields], ['Of one mind', theirs.hidden_fields])
  await end(/412/)
})

test('lists that could not be read say so, and are read again', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/settings/profile')
  const lists = [
    ['roles', '**/role/view/list*', page.getByRole('row', { name: /Administrator/ })],
    ['fields', '**/field/list*', page.getByRole('button', { name: 'Edit Title' })],
    ['pipelines', '**/pipeline_stage/view/list*', page.getByRole('button', { name: 'Edit New' })],
    ['profile', '**/session/list', page.getByText('this one')],
  ] as const
  for (const [path, reads, found] of lists) {
    await page.route(reads, route => route.fulfill({ status: 500 }))
    await page.goto(`${service.url}/settings/${path}`)
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor()
    if (path === 'roles') await accessible('a list that could not be read')
    await page.unroute(reads)
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
    await found.first().waitFor()
  }
  await end(/500/)
})

test('a new role waits for those from which it may start', { skip }, async () => {
  const { page, end } = await openUi(service, '/settings/profile')
  await page.route('**/role/view/list*', async route => {
    await new Promise(resolve => setTimeout(resolve, 1000))
    await route.continue()
  })
  await page.getByRole('link', { name: 'Roles', exact: true }).click()
  await page.getByRole('button', { name: 'New role' }).click()
  await dialog(page).getByLabel('Start from').waitFor()
  await end()
})

test('a role that lacks what the pages need is said to, and gets it by a button', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/settings/roles')
  await page.getByRole('button', { name: 'New role' }).click()
  await dialog(page).getByLabel('Start from').selectOption({ label: 'Read only' })
  assert.equal(await dialog(page).getByRole('checkbox', { name: 'Write Deals' }).isChecked(), false)
  assert.equal(await dialog(page).getByRole('checkbox', { name: 'Write Imports' }).count(), 1)
  assert.equal(await dialog(page).getByRole('checkbox', { name: 'Read Imports' }).count(), 0)
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Looks only')
  const fields = dialog(page).getByRole('checkbox', { name: 'Read Fields and forms' })
  await fields.uncheck()
  await dialog(page)
    .getByText(/The pages need to read this, too: Fields and forms\./)
    .waitFor()
  await accessible('a role that lacks something')
  await dialog(page).getByRole('button', { name: 'Add it' }).click()
  assert.equal(await fields.isChecked(), true)
  // The service accepts every field that is offered.
  const offered = (label: string) =>
    dialog(page)
      .getByLabel(label, { exact: true })
      .locator('option')
      .evaluateAll(options => options.map(option => (option as HTMLOptionElement).value).filter(Boolean))
  const hideable = dialog(page).getByLabel('Hidden fields', { exact: true }).locator('option')
  await hideable.and(page.locator('[value="deal.deal_value"]')).waitFor({ state: 'attached' })
  const [hidden, locked] = [await offered('Hidden fields'), await offered('Locked fields')]
  assert.ok(hidden.includes('deal.deal_value') && hidden.includes('deal.created_at'))
  assert.ok(!hidden.includes('deal.title') && !hidden.includes('deal.id'))
  assert.ok(
    locked.includes('deal.title') && !locked.includes('deal.created_at') && !locked.includes('deal.id'),
  )
  for (const [name, fields] of [
    ['hidden_fields', hidden],
    ['locked_fields', locked],
  ] as const) {
    const reply = await call('POST', `${v1}/role`, { name, scopes: ['deal:read'], [name]: fields })
    assert.equal(reply.status, 201, reply.text)
  }
  await page.keyboard.press('Escape')
  await end()
})

test('a webhook tells its secret once, and how its deliveries went', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/settings/webhooks')
  await page.getByRole('button', { name: 'New webhook' }).click()
  await dialog(page).getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9/nobody')
  await dialog(page).getByLabel('Events').selectOption('deal.won')
  await accessible('the form of a webhook')
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  const secret = await dialog(page).getByRole('textbox', { name: 'Secret' }).inputValue()
  assert.match(secret, /^whsec_|\w{20}/)
  await dialog(page).getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await said(page, /The test failed/)
  await page.getByText('webhook.tested').click()
  await page
    .getByText(/1 attempt/)
    .first()
    .waitFor()
  await accessible('a webhook')
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  await end()
})

test('the profile changes language, time zone and password', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/settings')
  // Keys pass over many zones: only the one that is chosen at the end is saved.
  const sent: (string | null)[] = []
  page.on('request', one => one.method() === 'PATCH' && sent.push(one.postData()))
  await page.getByLabel('Language of dates and numbers').selectOption('de-DE')
  await page.getByText('12.345,50 €').waitFor()
  await page.getByLabel('Time zone').selectOption('Africa/Abidjan')
  await page.getByLabel('Time zone').selectOption('Europe/Berlin')
  await page.getByRole('button', { name: 'Save language and time zone' }).click()
  await said(page, 'Dates and numbers saved')
  assert.deepEqual(sent, ['{"locale":"de-DE","time_zone":"Europe/Berlin"}'])
  await page.getByLabel('Current password').fill('not mine')
  await page.getByLabel('New password').fill('forty quiet rivers run')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.locator('[aria-invalid="true"]').waitFor()
  await accessible('profile, refused')
  await page.getByLabel('Current password').fill('four words that nobody knows')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await said(page, 'Password changed. Other sessions have ended.')
  await page.getByLabel('Language of dates and numbers').selectOption('')
  await page.getByLabel('Time zone').selectOption('')
  await page.getByText('€12,345.50').waitFor()
  await page.getByRole('button', { name: 'Save language and time zone' }).press('Enter')
  await page.getByRole('button', { name: 'Save language and time zone', disabled: true }).waitFor()
  await end(/422|401|403/)
})

test('the account gets a name, a time zone, a language and another base currency', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/settings/account')
  await page.getByLabel('Name of the account').fill('Ostrich & Sons')
  await page.getByRole('button', { name: 'Save the name' }).click()
  await said(page, 'Name saved')
  await page.getByLabel('Time zone').selectOption('Europe/Zurich')
  await page.getByLabel('Language of dates and numbers').selectOption('de-CH')
  await page.getByRole('button', { name: 'Save language and time zone' }).click()
  await said(page, 'Dates and numbers saved')
  const isCount = (url: URL) => url.pathname.endsWith('/account') && url.searchParams.has('dry_run')
  await page.route(isCount, route => route.fulfill({ status: 500, body: '{}' }), { times: 1 })
  await page.getByLabel('Base currency').selectOption({ label: 'EUR · Euro' })
  await dialog(page).getByRole('button', { name: 'Try again' }).click()
  await dialog(page).getByText('closed deals keep the rate of the day they were closed').waitFor()
  await accessible('the change of the base currency')
  const asked = async () => (await call('GET', `${v1}/account`)).body.data
  assert.equal((await asked()).base_currency_code, 'USD', 'it is counted first')
  await dialog(page).getByRole('button', { name: 'Change to EUR' }).click()
  await said(page, 'EUR is the base currency now')
  const { id: _, ...saved } = await asked()
  assert.deepEqual(saved, {
    ...{ name: 'Ostrich & Sons', time_zone: 'Europe/Zurich', locale: 'de-CH' },
    ...{ base_currency: 978, base_currency_code: 'EUR' },
  })
  await page.goto(`${service.url}/settings/profile`)
  await page.getByText('Account default (de-CH)').first().waitFor({ state: 'attached' })
  const back = { name: 'Default', time_zone: 'UTC', locale: null, base_currency: 840 }
  assert.equal((await call('PATCH', `${v1}/account`, back)).status, 200)
  await end(/status of 500/)
})

const pages = [
  'profile',
  'tokens',
  'account',
  'pipelines',
  'fields',
  'users',
  'roles',
  'territories',
  'tags',
  'currencies',
  'webhooks',
  'backup',
]

test('who may see one page only sees it without an error, and is told of the others', { skip }, async () => {
  for (const [page, scopes] of [
    ['users', ['user:read', 'field:read']],
    ['tokens', ['token:read', 'field:read']],
    ['webhooks', ['webhook:read', 'field:read']],
    ['currencies', ['currency:read', 'field:read']],
    ['pipelines', ['pipeline_stage:read', 'pipeline:read', 'field:read']],
  ] as const) {
    const role = await call('POST', `${v1}/role`, { name: `Sees ${page}`, scopes: [...scopes, 'event:read'] })
    const user = { name: `Sees ${page}`, email: `${page}@example.com`, role: role.body.data.id }
    const made = await call('POST', `${v1}/user`, user)
    assert.equal(made.status, 201, made.text)
    const options = { user: made.body.data.id }
    const { page: theirs, accessible, end } = await openUi(service, `/settings/${page}`, options)
    await theirs.getByRole('heading', { level: 2, exact: false }).last().waitFor()
    await theirs.waitForLoadState('networkidle')
    await accessible(`${page}, with nothing else`)
    await theirs
      .getByRole('navigation', { name: 'Settings' })
      .getByRole('link', { name: /^Roles/ })
      .click()
    await theirs.getByText('it lacks role:read').waitFor()
    await end()
  }
})

test('every page is accessible and has no sideways scroll, on a desk and on a phone', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/board')
  for (const id of pages) {
    await visit(page, `/settings/${id}`, 'h2')
    await page.locator('.waiting').first().waitFor({ state: 'detached' })
    for (const width of widths) {
      await resize(page, width)
      await accessible(`${id} at ${width}`)
      const [inside, outside] = await page.evaluate(() => [document.body.scrollWidth, innerWidth])
      assert.ok(inside! <= outside!, `${id}: ${inside} > ${outside}`)
    }
  }
  await end()
})

test('dialogs of the settings and of views ask before they lose what is typed', { skip }, async () => {
  const { page, end } = await openUi(service, '/settings/webhooks')
  const asked: string[] = []
  page.on('dialog', question => {
    asked.push(question.message())
    void question.dismiss()
  })
  const first = () => dialog(page).getByRole('textbox').first()
  for (const [path, opener] of [
    ['/settings/webhooks', 'New webhook'],
    ['/settings/roles', 'New role'],
    ['/settings/users', 'Invite a user'],
    ['/settings/fields', 'Add a field'],
    ['/settings/pipelines', 'Add a stage'],
    ['/board?sort=title:asc', 'Save view…'],
  ] as const) {
    await page.goto(service.url + path)
    // Nothing is typed: it closes at once.
    await page.getByRole('button', { name: opener }).click()
    await focusIn(dialog(page))
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: opener }).click()
    await first().fill('half a name')
    await focusIn(dialog(page))
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    assert.equal(await first().inputValue(), 'half a name', path)
    assert.deepEqual(asked.splice(0), Array(2).fill('What you have typed is not saved. Close without it?'))
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    await dialog(page).waitFor({ state: 'detached' })
  }
  // So does Back, and what is saved leads on without a question.
  await page.goto(`${service.url}/settings/users`)
  await page.getByRole('link', { name: 'Roles', exact: true }).click()
  await page.getByRole('button', { name: 'New role' }).click()
  await first().fill('Back again')
  await page.evaluate(() => history.back())
  await eventually(async () => asked.length === 1, 'the question of Back')
  assert.equal(await first().inputValue(), 'Back again')
  assert.deepEqual(asked.splice(0), ['What you have typed is not saved. Close without it?'])
  await dialog(page).getByRole('button', { name: 'Cancel' }).click()
  // Nor does one that the address has opened.
  await page.goto(`${service.url}/settings/roles?new=1`)
  await first().fill('By its address')
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await dialog(page).waitFor({ state: 'detached' })
  assert.deepEqual(asked, [])
  // A note that is half written outlasts a change of page, but no reload and no sign-out.
  await visit(page, `/deals/${(await service.made('deal', dealBody(known))).id}`)
  await page.getByRole('textbox', { name: 'Note' }).fill('Half a note')
  await visit(page, '/settings/users')
  await page.evaluate(() => location.reload())
  await eventually(async () => asked.length === 1, 'the question of a reload')
  await page.getByRole('button', { name: /your account$/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await eventually(async () => asked.length === 2, 'the question of the sign-out')
  assert.equal(asked[1], 'You have changes that are not saved. Sign out without them?')
  await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor()
  await end()
})
