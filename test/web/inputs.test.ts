/** Inputs of every kind of custom field in a browser; users with other formats of numbers and times. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { focusIn, messageOf, openUi } from '../support/ui.ts'

const service = await startService()
const { call, known, made } = service
const skip = noBrowser

async function makeDeal(title: string): Promise<number> {
  const reply = await call('POST', `${v1}/deal`, dealBody(known, { title }))
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data.id
}

const stored = async (id: number) => (await call('GET', `${v1}/deal/${id}`)).body.data

async function openForm(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit all fields' }).click()
  return page.getByRole('dialog', { name: 'Edit all fields' })
}

async function pick(form: Locator, label: string, text: string): Promise<void> {
  const box = form.getByRole('combobox', { name: label })
  // A list closes when the page under it scrolls, on the next frame.
  await box.scrollIntoViewIfNeeded()
  await box.evaluate(() => new Promise(resolve => requestAnimationFrame(resolve)))
  await box.fill(text)
  await form
    .page()
    .getByRole('option', { name: new RegExp(text) })
    .first()
    .click()
}

test('the focus stays in a field whose entries are removed by keys', { skip }, async () => {
  const id = await makeDeal('Removed by keys')
  const { page, end } = await openUi(service, `/deals/${id}`)
  const form = await openForm(page)
  const mails = form.getByRole('group', { name: 'Custom e-mail field', exact: true })
  await mails.getByRole('textbox').fill('jo@example.com')
  await mails.getByRole('button', { name: 'Remove e-mail 1' }).press('Enter')
  await focusIn(mails.getByRole('button', { name: 'Add e-mail' }))
  const { data } = (await call('GET', `${v1}/tag/view/list`)).body
  const [one, other]: { name: string }[] = data
  for (const { name } of [one!, other!]) await pick(form, 'Add to Tags', name)
  await form.getByRole('button', { name: `Remove ${one!.name}` }).press('Enter')
  await focusIn(form.getByRole('button', { name: `Remove ${other!.name}` }))
  await page.keyboard.press('Enter')
  await focusIn(form.getByRole('combobox', { name: 'Add to Tags' }))
  await end()
})

test('a number in a filter that is no moment leaves the box of its condition empty', { skip }, async () => {
  const { page, end } = await openUi(service, '/deals?filter=created_at:gt(99999999999999999)')
  await page.getByRole('button', { name: /^Created at .*99999999999999999/ }).click()
  const editor = page.getByRole('dialog', { name: 'Change the condition' })
  assert.equal(await editor.locator('input[type=datetime-local]').inputValue(), '')
  await end(/status of 4/)
})

test('every kind of custom field is filled in, saved and shown', { skip }, async () => {
  const id = await makeDeal('Of every kind')
  const { page, accessible, end } = await openUi(service, `/deals/${id}`)
  const form = await openForm(page)
  const box = (name: string) => form.getByRole('textbox', { name, exact: true })
  const group = (name: string) => form.getByRole('group', { name, exact: true })
  await box('Custom text field').fill('A text')
  await box('Custom large text field').fill('Two\nlines')
  await box('Custom number field').fill('-12.5')
  await group('Custom dropdown field').getByRole('radio', { name: 'Gold' }).check()
  await group('Custom multiselect field').getByRole('checkbox').first().check()
  await group('Custom multiselect field').getByRole('checkbox').nth(1).check()
  await group('Custom address field').getByLabel('Street and number').fill('1 Market Street')
  await group('Custom address field').getByLabel('Postal code').fill('06900')
  const owner = (await call('GET', `${v1}/user/${known.owner}`)).body.data.name
  const company = (await call('GET', `${v1}/company/${known.company}`)).body.data.name
  const contact = (await call('GET', `${v1}/contact/${known.contact}`)).body.data.last_name
  const [tag] = (await call('GET', `${v1}/tag/view/list`)).body.data
  await pick(form, 'Custom owner field', owner)
  await pick(form, 'Custom company field', company)
  await pick(form, 'Custom contact field', contact)
  await box('Custom monetary field').fill('99.95')
  await form.getByRole('combobox', { name: 'Custom monetary field, currency' }).selectOption('EUR')
  await box('Custom phone field 1').fill('+1 555 0100')
  await form.getByRole('combobox', { name: 'Custom phone field 1, type' }).selectOption('Mobile')
  await box('Custom e-mail field 1').fill('jo@example.com')
  await form.getByLabel('Custom time field', { exact: true }).fill('09:30')
  await form.getByLabel('Custom date field', { exact: true }).fill('2027-01-31')
  await form.getByLabel('Custom time range field, from').fill('22:00')
  await form.getByLabel('Custom time range field, to').fill('06:00')
  await form.getByLabel('Custom date range field, from').fill('2027-01-01')
  await form.getByLabel('Custom date range field, to').fill('2027-01-31')
  await form.getByLabel('Custom date-time range field, from').fill('2027-01-01T09:00')
  await form.getByLabel('Custom date-time range field, to').fill('2027-01-01T17:00')
  await pick(form, 'Add to Tags', tag.name)
  await form.getByText('Details', { exact: true }).click()
  await box('Metadata').fill('{"notes": {"from": "the fair"}}')
  await accessible('a form with every kind of field')
  await page.keyboard.press('Control+Enter')
  await form.waitFor({ state: 'detached' })
  const deal = await stored(id)
  assert.deepEqual(
    {
      text: deal.cf_custom_text_field,
      large: deal.cf_custom_large_txt_field,
      number: deal.cf_custom_number_field,
      dropdown: deal.cf_custom_dropdown_field,
      several: deal.cf_custom_multiselect_field.length,
      address: deal.cf_custom_address_field,
      money: deal.cf_custom_monetory_field,
      phone: deal.cf_custom_phone_field,
      email: deal.cf_custom_email_field,
      time: deal.cf_custom_time_field,
      date: deal.cf_custom_date_field,
      times: deal.cf_custom_time_range_field,
      dates: deal.cf_custom_date_range_field,
      moments: deal.cf_custom_date_time_range_field,
      tags: deal.tags.length,
      metadata: deal.metadata,
    },
    {
      text: 'A text',
      large: 'Two\nlines',
      number: -12.5,
      dropdown: known.options.cf_custom_dropdown_field?.Gold ?? deal.cf_custom_dropdown_field,
      several: 2,
      address: [{ address_line1: '1 Market Street', zipcode: '06900' }],
      money: { currency: 978, currency_code: 'EUR', value: 99.95 },
      phone: [{ phone_type: 3, phone_number: '+1 555 0100' }],
      email: [{ email_type: 1, email_value: 'jo@example.com' }],
      time: '09:30',
      date: '2027-01-31',
      times: '22:00/06:00',
      dates: { range: { from: '2027-01-01', to: '2027-01-31' } },
      moments: { range: { from: '2027-01-01T09:00:00.000Z', to: '2027-01-01T17:00:00.000Z' } },
      tags: 1,
      metadata: { notes: { from: 'the fair' } },
    },
  )
  const { body } = await call('GET', `${v1}/deal/${id}?expand=cf_custom_owner_field,cf_custom_company_field`)
  const names = body.data._expanded
  assert.equal(names.cf_custom_owner_field.name, owner)
  assert.equal(names.cf_custom_company_field.name, company)
  await page.getByRole('button', { name: 'Edit Custom monetary field: 99.95 EUR' }).waitFor()
  await page.getByRole('button', { name: /Edit Custom time range field: 10:00\sPM – 6:00\sAM/ }).waitFor()
  await end()
})

test('a day in a filter of moments begins at midnight of the reader', { skip }, async () => {
  const person = { name: 'Nele', email: 'nele@example.com', role: 1, time_zone: 'America/New_York' }
  const { id } = await made('user', person)
  const { page, end } = await openUi(service, '/deals?filter=updated_at:gte(2026-01-01)', { user: id })
  await page.getByRole('group', { name: 'Filter' }).getByRole('button', { name: /2026/ }).first().click()
  const moment = page.locator('input[type="datetime-local"]')
  await moment.waitFor()
  assert.equal(await moment.inputValue(), '2026-01-01T00:00')
  await end()
})

test('numbers, dates and times are those of the reader', { skip }, async () => {
  const id = await makeDeal('Auf Deutsch')
  const made = await call('POST', `${v1}/user`, {
    name: 'Greta Reader',
    email: 'greta@example.com',
    role: 1,
    locale: 'de-DE',
    time_zone: 'Pacific/Kiritimati',
  })
  assert.equal(made.status, 201, made.text)
  const { page, end } = await openUi(service, `/deals/${id}`, { user: made.body.data.id })
  const form = await openForm(page)
  await form.getByRole('textbox', { name: 'Deal value', exact: true }).fill('1.234,50')
  await form.getByLabel('Custom date field', { exact: true }).fill('2027-01-31')
  await form.getByLabel('Custom date-time range field, from').fill('2027-01-02T09:00')
  await form.getByLabel('Custom date-time range field, to').fill('2027-01-02T17:00')
  await page.keyboard.press('Control+Enter')
  await form.waitFor({ state: 'detached' })
  const deal = await stored(id)
  assert.equal(deal.deal_value.value, 1234.5)
  assert.equal(deal.cf_custom_date_field, '2027-01-31')
  assert.deepEqual(deal.cf_custom_date_time_range_field.range, {
    from: '2027-01-01T19:00:00.000Z',
    to: '2027-01-02T03:00:00.000Z',
  })
  await page.getByRole('button', { name: /^Edit Deal value: 1\.234,50/ }).waitFor()
  await page
    .getByRole('button', { name: /^Edit Custom date-time range field: 02\.01\.2027, 09:00/ })
    .waitFor()
  await end()
})

test('a reference is changed in place by keys', { skip }, async () => {
  const id = await makeDeal('Handed over')
  const owner = { name: 'Olga Newowner', email: 'olga@example.com', role: 1 }
  const made = await call('POST', `${v1}/user`, owner)
  assert.equal(made.status, 201, made.text)
  const { page, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('button', { name: /^Edit Sales owner/ }).press('Enter')
  const box = page.getByRole('combobox', { name: 'Sales owner' })
  await box.waitFor()
  await page.keyboard.press('Control+A')
  await page.keyboard.type('Olga')
  await page.getByRole('option', { name: 'Olga Newowner' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  assert.equal(await box.inputValue(), 'Olga Newowner')
  await page.keyboard.press('Enter')
  await page.getByText('Saved Sales owner.').waitFor()
  assert.equal((await stored(id)).sales_owner, made.body.data.id)
  await page.getByRole('button', { name: 'Edit Sales owner: Olga Newowner' }).waitFor()
  await end()
})

test('a value in a panel is given up without closing the panel', { skip }, async () => {
  const id = await makeDeal('In a panel')
  const { page, accessible, end } = await openUi(service, `/board?deal=${id}`)
  const panel = page.getByRole('dialog', { name: 'In a panel' })
  await panel.getByRole('tab', { name: 'Overview' }).click()
  await panel.getByRole('button', { name: /^Edit Description/ }).click()
  await panel.getByRole('textbox', { name: 'Description' }).fill('given up')
  await page.keyboard.press('Escape')
  await panel.getByRole('button', { name: 'Edit Description: empty' }).waitFor()
  await panel.getByRole('button', { name: 'Edit Description: empty' }).press('Enter')
  await panel.getByRole('textbox', { name: 'Description' }).fill('kept')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Saved Description.').waitFor()
  await accessible('a deal in a panel')
  assert.equal((await stored(id)).description, 'kept')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await end()
})

test('a press opens the next editor, though the one that it leaves becomes smaller meanwhile', {
  skip,
}, async () => {
  const { page, end } = await openUi(service, `/deals/${await makeDeal('Pressed for long')}`)
  // The lower one of the two moves up as soon as the upper one closes.
  await page.getByRole('button', { name: /^Edit Deal value/ }).click()
  const amount = page.getByRole('textbox', { name: 'Deal value' })
  await amount.waitFor()
  const next = page.getByRole('button', { name: /^Edit Expected close date/ })
  const top = async () => Math.round((await next.boundingBox())!.y)
  await next.hover()
  const before = await top()
  await page.mouse.down()
  await page.evaluate(() => new Promise(done => setTimeout(done, 300)))
  assert.equal(await top(), before)
  await page.mouse.up()
  await amount.waitFor({ state: 'detached' })
  await page.locator('[data-field=expected_close_date] input').first().waitFor()
  await end()
})

test('an amount keeps a currency that is still loading or out of use, and its prices', { skip }, async () => {
  const { id: product } = await made('product', {
    name: 'Crane',
    unit_price: [{ currency: 'CHF', price: 300 }],
  })
  const deal_value = { currency: 'CHF', value: 1000, products: [{ product, quantity: 2 }] }
  const { id } = await made('deal', dealBody(known, { title: 'In francs', deal_value }))
  const { page, end } = await openUi(service, '/deals')
  const inFrancs = async (amount: string): Promise<void> => {
    const value = page.getByRole('textbox', { name: 'Deal value' })
    await value.fill(amount)
    assert.equal(await page.getByRole('textbox', { name: 'Price of Crane' }).inputValue(), '300')
    const currency = page.getByRole('combobox', { name: 'Deal value, currency' })
    assert.equal(await currency.locator('option:checked').innerText(), 'CHF')
    await value.press('Control+Enter')
    await messageOf(page, 'Saved Deal value.').waitFor()
    const { deal_value: saved } = await stored(id)
    assert.deepEqual(
      [saved.currency_code, saved.value, saved.products[0].unit_price],
      ['CHF', Number(amount), 300],
    )
  }
  const products = `${service.url}/deals/${id}?tab=products`
  const cleared = await made('deal', dealBody(known, { deal_value: { currency: 'CHF', value: 5 } }))
  await page.goto(`${service.url}/deals/${cleared.id}?tab=products`)
  const amount = page.getByRole('textbox', { name: 'Deal value' })
  await amount.fill('')
  await amount.fill('7')
  await amount.press('Control+Enter')
  await messageOf(page, 'Saved Deal value.').waitFor()
  const { deal_value: retyped } = await stored(cleared.id)
  assert.deepEqual([retyped.currency_code, retyped.value], ['CHF', 7])
  const held = Promise.withResolvers<void>()
  await page.route('**/currency/view/list?*', route => held.promise.then(() => route.continue()))
  await page.goto(products)
  await inFrancs('1234')
  held.resolve()
  const reply = await call('PATCH', `${v1}/currency/756`, { is_active: 'No' })
  assert.equal(reply.status, 200, reply.text)
  await page.goto(products)
  await page.locator('option').getByText('USD').first().waitFor({ state: 'attached' })
  await inFrancs('1235')
  await end()
})
