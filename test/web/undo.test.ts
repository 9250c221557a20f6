/** Undo in a browser (D83): in the timeline of a record, with the reasons that prevent it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { openUi } from '../support/ui.ts'

const { call, known, ...service } = await startService()
const served = { ...service, call, known }
const skip = noBrowser

async function done(method: string, path: string, body?: Parameters<typeof call>[2], secret?: string) {
  const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` }
  const reply = await call(method, `${v1}/${path}`, body, headers)
  assert.ok(reply.status < 300, reply.text)
  return reply.body.data
}

test('a change is undone from the timeline by keys, and done again', { skip }, async () => {
  const { id } = await done('POST', 'deal', dealBody(known, { title: 'Before' }))
  await done('PATCH', `deal/${id}`, { title: 'After', description: 'More' })
  const { page, accessible, end } = await openUi(served, `/deals/${id}`)
  const button = page.getByRole('button', { name: 'Undo the change of Title, Description' })
  await button.waitFor()
  await accessible('a timeline with what can be undone')
  await button.focus()
  await page.keyboard.press('Enter')
  await page.getByText('Undone: the change of Title, Description.').waitFor()
  await page.getByRole('heading', { level: 1, name: 'Before' }).waitFor()
  const undone = await done('GET', `deal/${id}`)
  assert.deepEqual([undone.title, undone.description], ['Before', null])
  // The undo is a change of its own, beside the undone one. The focus is unchanged.
  await button.nth(1).waitFor()
  assert.match(await page.evaluate(() => document.activeElement?.ariaLabel ?? ''), /^Undo the change/)
  await page.getByRole('log', { name: 'Messages' }).getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('Done again: the change of Title, Description.').waitFor()
  assert.equal((await done('GET', `deal/${id}`)).title, 'After')
  await end()
})

test('what somebody has changed since is not undone: who it was is told', { skip }, async () => {
  const ana = await done('POST', 'user', { name: 'Ana Lee', email: 'ana@example.com', role: 'Manager' })
  const { token } = await done('POST', 'token', { name: 'Ana', user: ana.id, scopes: ['admin'] })
  const { id } = await done('POST', 'deal', dealBody(known, { title: 'Contested' }))
  await done('PATCH', `deal/${id}`, { description: 'Mine', company: known.company })
  const { page, accessible, end } = await openUi(served, `/deals/${id}`)
  const button = page.getByRole('button', { name: 'Undo the change of Company, Description' })
  await button.waitFor()
  await done('PATCH', `deal/${id}`, { description: 'Hers', company: null }, token)
  // The page may have received the event meanwhile: then the first change is the last in the list.
  await button.last().click()
  const dialog = page.getByRole('alertdialog', { name: 'This has been changed since' })
  await dialog.getByText('Description was made Mine. Ana Lee changed it to Hers').waitFor()
  await dialog.getByText(/^Company was made .+\. Ana Lee changed it to empty/).waitFor()
  await accessible('a change that can not be undone')
  assert.equal((await done('GET', `deal/${id}`)).description, 'Hers')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await done('DELETE', `deal/${id}`, undefined, token)
  // The page may have received the event meanwhile: then only the deletion can be undone.
  await page.getByRole('button', { name: 'Undo the deletion' }).click()
  await page.getByText('Undone: the deletion.').waitFor()
  assert.equal((await done('GET', `deal/${id}`)).deleted_at, null)
  await end(/409|404/)
})

test('a creation is undone after a question that names the record, and a refusal is told', {
  skip,
}, async () => {
  const { id } = await done('POST', 'contact', { last_name: 'By mistake' })
  const deal = await done('POST', 'deal', dealBody(known, { primary_contact: id }))
  const { page, accessible, end } = await openUi(served, `/contacts/${id}`)
  const button = page.getByRole('button', { name: 'Undo the creation' })
  // Its label is a text, not an icon alone.
  assert.match((await button.textContent())!, /Undo the creation/)
  const question = page.getByRole('alertdialog', { name: 'Delete “By mistake”?' })
  await button.click()
  await accessible('the question before a creation is undone')
  await page.keyboard.press('Enter')
  await question.waitFor({ state: 'detached' })
  assert.equal((await call('GET', `${v1}/contact/${id}`)).status, 200)
  await button.click()
  await question.getByRole('button', { name: 'Delete' }).click()
  await page.getByText(/1 deal points to it/).waitFor()
  await done('PATCH', `deal/${deal.id}`, { primary_contact: known.contact })
  await button.click()
  await question.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('This record was deleted. It can be restored for some time.').waitFor()
  assert.equal((await call('GET', `${v1}/contact/${id}`)).status, 404)
  // Undoing a restoration deletes the record again, so it asks for confirmation, too.
  await page.getByRole('button', { name: 'Undo the deletion' }).click()
  await page.getByRole('button', { name: 'Undo the restoration' }).click()
  await question.waitFor()
  await end(/409|404/)
})

test('who may only read is told why nothing can be undone', { skip }, async () => {
  const body = { name: 'Reader', email: 'reader@example.com', role: 'Read only' }
  const reader = await done('POST', 'user', body)
  const { id } = await done('POST', 'deal', dealBody(known))
  const { page, end } = await openUi(served, `/deals/${id}`, { user: reader.id })
  const button = page.getByRole('button', { name: 'Undo the creation' })
  await button.waitFor()
  assert.equal(await button.getAttribute('aria-disabled'), 'true')
  await end()
})
