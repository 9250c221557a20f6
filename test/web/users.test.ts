/** Users and tokens in the settings: the rights to invite others, confirmations, and the focus. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { openUi } from '../support/ui.ts'

const service = await startService()
const { call, db, known } = service
const skip = noBrowser

const dialog = (page: Page) => page.getByRole('dialog')
const said = (page: Page, text: string | RegExp) => page.getByRole('log').getByText(text).waitFor()

async function made(resource: string, body: Parameters<typeof call>[2]): Promise<number> {
  const reply = await call('POST', `${v1}/${resource}`, body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data.id
}

/** Chooses an entry of a user's menu. */
async function choose(page: Page, name: string, entry: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: entry }).click()
}

test('who writes users and is no administrator makes them without a link, and is told so', {
  skip,
}, async () => {
  const member = (await call('GET', `${v1}/role/3`)).body.data
  const role = await made('role', { name: 'Staff', scopes: [...member.scopes, 'user:write'] })
  const user = await made('user', { name: 'Sam Staff', email: 'sam@example.com', role })
  const { page, accessible, end } = await openUi(service, '/settings/users', { user })
  await page.getByRole('button', { name: 'Add a user' }).click()
  await dialog(page)
    .getByText(/Only administrators make links/)
    .waitFor()
  await accessible('a user without an invitation')
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Quinn New')
  await dialog(page).getByRole('textbox', { name: 'E-mail' }).fill('quinn@example.com')
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).click()
  await said(page, 'Quinn New is a user now')
  assert.equal(await page.getByText(/No link was made/).count(), 0)
  await page.getByRole('button', { name: 'Actions for Quinn New' }).click()
  for (const name of [/Link for a new password/, /Another invitation/]) {
    const entry = page.getByRole('menuitem', { name })
    assert.equal(await entry.getAttribute('aria-disabled'), 'true')
    await entry.getByText('administrators only').waitFor()
  }
  await end()
})

test('it is asked first whether a user goes out of use, and to whom what they own goes', {
  skip,
}, async () => {
  const leaver = await made('user', { name: 'Lee Leaver', email: 'lee@example.com' })
  const deal = await made('deal', dealBody(known, { sales_owner: leaver }))
  const { page, accessible, end } = await openUi(service, '/settings/users')
  const isActive = async () => (await call('GET', `${v1}/user/${leaver}`)).body.data.is_active
  const ask = page.getByRole('alertdialog', { name: 'Deactivate Lee Leaver?' })
  await choose(page, 'Lee Leaver', 'Deactivate…')
  await ask.getByText(/tokens for good/).waitFor()
  await accessible('the question before a user goes out of use')
  await ask.getByRole('button', { name: 'Cancel' }).click()
  assert.equal(await isActive(), 1)
  await choose(page, 'Lee Leaver', 'Deactivate…')
  await ask.getByRole('button', { name: 'Deactivate' }).click()
  await said(page, 'Lee Leaver is inactive: their sessions and tokens have ended')
  assert.equal(await isActive(), 2)
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 })
    const badge = page.getByRole('row', { name: /Lee Leaver/ }).getByText('inactive')
    assert.ok(await badge.evaluate(box => box.scrollWidth <= box.clientWidth), `whole at ${width}`)
  }
  await page.setViewportSize({ width: 1280, height: 800 })

  await choose(page, 'Lee Leaver', 'Delete…')
  const question = page.getByRole('alertdialog', { name: 'Delete the user “Lee Leaver”?' })
  await question.getByRole('button', { name: 'Delete' }).click()
  await question
    .getByRole('alert')
    .getByText(/Choose where they go/)
    .waitFor()
  const to = question.getByLabel('Reassign their records to')
  await page.waitForFunction(() => document.activeElement?.tagName === 'SELECT')
  await accessible('the deletion of a user, refused')
  await to.selectOption({ label: (await call('GET', `${v1}/user/1`)).body.data.name })
  await question.getByRole('button', { name: 'Delete' }).click()
  await said(page, 'Deleted Lee Leaver')
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1')
  assert.equal((await call('GET', `${v1}/deal/${deal}`)).body.data.sales_owner, 1)
  await end(/409/)
})

test('the language and the zone of a user are chosen from lists', { skip }, async () => {
  const user = await made('user', { name: 'Lin Wei', email: 'lin@example.com' })
  const { page, accessible, end } = await openUi(service, '/settings/users')
  await choose(page, 'Lin Wei', 'Edit…')
  await dialog(page).getByLabel('Language of dates and numbers').selectOption('de-CH')
  await dialog(page).getByLabel('Time zone').selectOption('Europe/Zurich')
  await accessible('the form of a user')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await said(page, 'Saved Lin Wei')
  await page.waitForFunction(() => document.activeElement?.ariaLabel === 'Actions for Lin Wei')
  const { locale, time_zone } = (await call('GET', `${v1}/user/${user}`)).body.data
  assert.deepEqual([locale, time_zone], ['de-CH', 'Europe/Zurich'])
  await end()
})

test('a token needs a right, says on a phone whose it is, and is revoked by that word', {
  skip,
}, async () => {
  const { page, accessible, end } = await openUi(service, '/settings/tokens')
  const own = (await call('GET', `${v1}/user/1`)).body.data.name
  await page.getByRole('button', { name: 'New token' }).click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Till')
  await dialog(page).getByRole('checkbox', { name: 'Read Deals' }).uncheck()
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await dialog(page)
    .getByRole('alert')
    .getByText(/Choose at least one permission/)
    .waitFor()
  await accessible('a token without a right')
  await dialog(page).getByRole('checkbox', { name: 'Read Products' }).check()
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await dialog(page).getByRole('button', { name: 'Done' }).click()
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('New token'))
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('row', { name: /Till/ }).getByText(`${own} · reads Products · used never`).waitFor()
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('button', { name: 'Revoke Till' }).click()
  const question = page.getByRole('alertdialog', { name: 'Revoke the token “Till”?' })
  await question.getByRole('button', { name: 'Revoke' }).click()
  await said(page, 'Revoked the token “Till”')
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1')
  await end()
})

test('who administers and has no password sets the first one without one', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/settings')
  // A user who came in by the link of a start.
  await db.query('DELETE FROM password WHERE account_id = 1 AND "user" = $1::bigint', [String(known.owner)])
  const [password, email] = ['forty quiet rivers run', 'owner@example.com']
  await page.getByText(/have none yet/).waitFor()
  await accessible('a profile without a password')
  await page.getByLabel('New password').fill(password)
  await page.getByRole('button', { name: 'Change the password' }).click()
  await said(page, /^Password changed/)
  await end()
  assert.equal((await call('POST', `${v1}/session`, { email, password })).status, 201)
})
