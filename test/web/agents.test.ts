/** Agents in the web UI (D170): a person allows a program, sees what it did, takes it back and stops it. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { connectAgent } from '../support/agent.ts'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { assertAccessible, heard, openContext, openUi } from '../support/ui.ts'

const service = await startService()
const { call, get, known, made, url } = service
const skip = noBrowser

const redirect_uri = 'http://127.0.0.1:5000/callback'
const pair = () => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** The address of the page on which a person allows a program of this name. */
async function asking(client_name: string, challenge: string): Promise<{ path: string; id: string }> {
  const { body } = await call('POST', '/oauth/register', { client_name, redirect_uris: [redirect_uri] })
  const query = new URLSearchParams({
    ...{ client_id: body.client_id, redirect_uri, response_type: 'code', code_challenge: challenge },
    ...{ code_challenge_method: 'S256', state: 'a state', scope: 'read write' },
  })
  return { path: `/connect?${query}`, id: body.client_id }
}

test('a person reads who asks, allows it, and the program gets a code for a token', { skip }, async () => {
  const { verifier, challenge } = pair()
  const { path, id } = await asking('Desk agent', challenge)
  const { page, accessible, end } = await openUi(service, path)
  await page.getByText('Desk agent').waitFor()
  await page.getByText('Nobody vouches for this name.').waitFor()
  await page.getByText('this computer (127.0.0.1)').waitFor()
  await accessible('the page that connects a program')
  await page.route(`${redirect_uri}**`, route => route.fulfill({ body: 'The program has it.' }))
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.getByText('The program has it.').waitFor()
  const answer = new URL(page.url()).searchParams
  assert.equal(answer.get('state'), 'a state')
  const issued = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', client_id: id, redirect_uri },
      ...{ code: answer.get('code')!, code_verifier: verifier },
    }),
  })
  assert.equal(issued.status, 200)
  const { scope } = (await issued.json()) as { scope: string }
  assert.ok(scope.includes('deal:write') && !scope.includes('mcp:write'), scope)
  await end()
})

test('a person who does not allow it sends the program away without a code', { skip }, async () => {
  const { path } = await asking('Pushy agent', pair().challenge)
  const { page, end } = await openUi(service, path)
  await page.route(`${redirect_uri}**`, route => route.fulfill({ body: 'Refused.' }))
  await page.getByRole('button', { name: 'Don’t allow' }).click()
  await page.getByText('Refused.').waitFor()
  const answer = new URL(page.url()).searchParams
  assert.deepEqual([answer.get('error'), answer.get('code')], ['access_denied', null])
  await end()
})

test('who is not signed in comes back to the question after signing in', { skip }, async () => {
  const { path } = await asking('Late agent', pair().challenge)
  const context = await openContext()
  const page = await context.newPage()
  const errors = heard(page)
  await page.goto(url + path)
  await page.waitForURL(/\/sign-in/)
  const to = new URL(new URL(page.url()).searchParams.get('to')!, url)
  assert.equal(to.pathname + to.search, path)
  await assertAccessible(page, 'the sign-in before a program is connected')
  await context.close()
  // The browser tells the answer that led to the sign-in.
  assert.deepEqual(
    errors.filter(error => !/401 \(Unauthorized\) .*\/me$/.test(error)),
    [],
  )
})

test('the settings show an agent and its changes, take one back and stop it', { skip }, async () => {
  const { token } = await made('token', { name: 'For the assistant', scopes: ['admin'] })
  const { carryOut, use } = await connectAgent({ url, token }, '2026-07-28', 'Assistant')
  const deal = await made('deal', { ...dealBody(known), title: 'Roof of the town hall' })
  const done = await carryOut('update', {
    ...{ resource: 'deal', record: deal.id, values: { title: 'Roof of the school' } },
  })
  assert.equal(done.isError, false, done.text)
  const { page, accessible, end } = await openUi(service, '/settings/agents')
  await page.getByRole('heading', { name: 'Assistant' }).waitFor()
  await page.getByText('asks before it writes').first().waitFor()
  await accessible('the agents')
  await page.getByRole('button', { name: 'Undo: Changed 1 deal' }).click()
  await page.getByRole('log').getByText('Undone.').waitFor()
  assert.equal((await get(`${v1}/deal/${deal.id}`)).body.data.title, 'Roof of the town hall')
  await page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'Assistant' }) })
    .getByRole('button', { name: 'Stop' })
    .click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('log').getByText('Stopped the agent “Assistant”').waitFor()
  service.aSecondGoesBy()
  await assert.rejects(use('describe'))
  await end()
})

test('changes of agents that can’t be read say so, and are read again', { skip }, async () => {
  const { token } = await made('token', { name: 'For another', scopes: ['admin'] })
  const { carryOut } = await connectAgent({ url, token }, '2026-07-28', 'Unseen')
  const deal = await made('deal', { ...dealBody(known), title: 'Unseen roof' })
  const done = await carryOut('update', {
    ...{ resource: 'deal', record: deal.id, values: { title: 'Seen roof' } },
  })
  assert.equal(done.isError, false, done.text)
  const { page, end } = await openUi(service, '/settings/profile')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const isOfAgents = (url: URL) => url.pathname.endsWith('/event') && url.searchParams.get('origin') === 'mcp'
  await page.route(isOfAgents, route => route.fulfill({ status: 500, body: '{}' }), { times: 1 })
  await page.goto(`${service.url}/settings/agents`)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Changed 1 deal').first().waitFor()
  await end(/status of 500/)
})
