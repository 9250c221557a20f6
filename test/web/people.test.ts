/** Users of the UI: signing in and out, a role that only reads, an account with two hundred fields. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noBrowser } from '../support/chromium.ts'
import { startService, v1 } from '../support/service.ts'
import { assertAccessible, heard, openContext, openUi } from '../support/ui.ts'

const service = await startService()
const { call, url, known } = service
const skip = noBrowser
const password = 'four words that nobody knows'

async function made(resource: string, body: object): Promise<number> {
  const reply = await call('POST', `${v1}/${resource}`, body as never)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data.id
}

async function linkFor(user: number): Promise<string> {
  const reply = await call('POST', `${v1}/user/${user}/link`, { purpose: 'reset' })
  assert.equal(reply.status, 201, reply.text)
  return new URL(reply.body.data.url).hash
}

test('a link, then a password, lead in; signing out leads out', { skip }, async () => {
  const user = await made('user', { name: 'Ana Lima', email: 'ana@example.com' })
  const context = await openContext()
  const page = await context.newPage()
  const errors = heard(page)
  await page.goto(`${url}/deals?filter=status:eq(Open)`)
  await page.getByRole('heading', { name: 'Sign in to Dealwright' }).waitFor()
  await assertAccessible(page, 'sign-in')

  await page.goto(`${url}/sign-in${await linkFor(user)}`)
  await page.getByRole('heading', { name: 'Welcome to Dealwright' }).waitFor()
  // The secret is removed from the address.
  await page.waitForURL(({ hash }) => hash === '')
  await page.getByLabel('New password').fill('short')
  await page.getByRole('button', { name: 'Set the password and sign in' }).click()
  await page
    .getByRole('alert')
    .getByText(/12 characters/)
    .waitFor()
  await assertAccessible(page, 'sign-in by a link, refused')
  await page.getByLabel('New password').fill(password)
  await page.getByRole('button', { name: 'Set the password and sign in' }).click()
  await page.getByRole('heading', { name: 'Sales pipeline' }).waitFor()

  await page.getByRole('button', { name: /Ana Lima/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('Password').waitFor()
  await page.goto(`${url}/sign-in?to=https://example.com/`)
  await page.getByLabel('E-mail').fill('ana@example.com')
  await page.getByLabel('Password').fill('another password')
  await page.keyboard.press('Enter')
  await page
    .getByRole('alert')
    .getByText(/password/i)
    .waitFor()
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sales pipeline' }).waitFor()
  assert.equal(new URL(page.url()).origin, url, 'an address of elsewhere is not followed')
  await context.close()
  assert.deepEqual(
    errors.filter(error => !/status of (401|422)/.test(error)),
    [],
  )
})

test('the address one asked for is where signing in leads', { skip }, async () => {
  const user = await made('user', { name: 'Ben', email: 'ben@example.com' })
  await call('POST', `${v1}/session`, { link: (await linkFor(user)).slice('#link='.length), password })
  const context = await openContext()
  const page = await context.newPage()
  await page.goto(`${url}/deals?filter=status:eq(Won)`)
  await page.getByLabel('E-mail').fill('ben@example.com')
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Deals' }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('filter'), 'status:eq(Won)')
  await context.close()
})

test('who only reads can change nothing, and is told why', { skip }, async () => {
  const roles = await call('GET', `${v1}/role/view/list?filter=name:eq(Read only)`)
  const user = await made('user', {
    name: 'Reader',
    email: 'reader@example.com',
    role: roles.body.data[0].id,
  })
  const { page, accessible, end } = await openUi(service, '/board', { user })
  await page.getByRole('heading', { name: 'Sales pipeline' }).waitFor()
  const card = page.getByRole('region', { name: 'New', exact: true }).getByRole('link').first()
  await card.waitFor()
  const title = await card.textContent()
  await card.focus()
  await page.keyboard.press('Shift+ArrowRight')
  await page
    .getByText(/Your role may not change this/)
    .first()
    .waitFor()
  const box = (await card.boundingBox())!
  await page.mouse.move(box.x + 50, box.y + 20)
  await page.mouse.down()
  await page.mouse.move(box.x + 400, box.y + 60, { steps: 6 })
  await page.mouse.up()
  assert.equal(await card.textContent(), title)
  assert.equal(
    await page.getByRole('button', { name: 'New deal', exact: true }).getAttribute('aria-disabled'),
    'true',
  )
  await accessible('the board of a reader')
  await end()
})

test('two hundred custom fields: the deal, its form and the columns show all', { skip }, async () => {
  for (let index = 0; index < 183; index++)
    await made('field', { source: 'deal', field_name: `Extra ${index}`, type: 'SINGLE_STRING' })
  const deal = await made('deal', {
    title: 'Many fields',
    pipeline: known.pipeline,
    pipeline_stage: known.stages.New!,
    primary_contact: known.contact,
    sales_owner: known.owner,
    cf_extra_182: 'the last one',
  })
  const { page, accessible, end } = await openUi(service, `/deals/${deal}`)
  await page.getByRole('heading', { name: 'Many fields' }).waitFor()
  await page.getByText('the last one').waitFor()
  await accessible('a deal with two hundred custom fields')
  await page.goto(`${url}/deals?columns=title,cf_extra_182`)
  await page.getByRole('gridcell', { name: 'the last one' }).waitFor()
  await end()
})

test('the page that is not there, and a record that is not there, say so', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/deals/999999')
  await page.getByRole('heading', { name: 'No such deal' }).waitFor()
  await accessible('a record that is not there')
  await page.goto(`${url}/nothing/here/at/all`)
  await page.getByText('There is no page at this address.').waitFor()
  // Within the pages there is a way on, and nothing is an error.
  for (const path of ['/nonsense', '/jobs/abc', '/import/abc', '/deals/abc']) {
    await page.goto(url + path)
    await page.getByText('There is no page at this address.').waitFor()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Go to the board' }).count(), 1)
  }
  await accessible('an address without a page')
  await end(/999999/)
})
