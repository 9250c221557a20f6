/**
 * The main journeys after an installation of the service: its pages, deals with exact numbers, an
 * import, a search and a sign-in. For programs that are not this checkout: a package, an image.
 */
import assert from 'node:assert/strict'
import { eventually } from './eventually.ts'
import type { Running } from './running-service.ts'

const v1 = '/rest/api/v1'
export const password = 'a phrase that nobody guesses'

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the journey is about
async function bodyOf(response: Response, status: number): Promise<any> {
  const text = await response.text()
  assert.equal(response.status, status, text)
  return JSON.parse(text)
}

/** Carries them out on a service with sample data. */
export async function walkThrough(service: Running): Promise<void> {
  await readPages(service)
  const deal = await changeDeal(service)
  await importRows(service)
  const found = await bodyOf(await service.get(`${v1}/search?q=Ein%20Handel`), 200)
  assert.ok(JSON.stringify(found.data).includes(`"id":${deal}`))
  await setPassword(service)
}

async function readPages(service: Running): Promise<void> {
  for (const path of ['/', '/deals', '/docs', '/docs/errors', '/docs/reference']) {
    const page = await service.get(path, { accept: 'text/html' })
    assert.equal(page.status, 200, path)
    assert.match(await page.text(), /<!doctype html>/i)
  }
  const page = await (await service.get('/', { accept: 'text/html' })).text()
  const [script] = /\/assets\/[\w.-]+\.js/.exec(page)!
  assert.equal((await service.get(script)).status, 200)
  const { data } = await bodyOf(await service.get(`${v1}/deal/view/board`), 200)
  assert.ok(JSON.stringify(data).length > 1000, 'the board is populated')
}

async function changeDeal(service: Running): Promise<number> {
  const [model] = (await bodyOf(await service.get(`${v1}/deal/view/list?pageSize=1`), 200)).data
  const { pipeline, pipeline_stage, primary_contact, sales_owner } = model
  const body = { title: 'Ein Handel', pipeline, pipeline_stage, primary_contact, sales_owner }
  const exact = '12345678901234567.25'
  const text = JSON.stringify({ ...body, metadata: { exact: '?' } }).replace('"?"', exact)
  const created = await fetch(`${service.url}${v1}/deal`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: text,
  })
  const answer = await created.text()
  assert.equal(created.status, 201, answer)
  assert.ok(answer.includes(exact), 'a number keeps its digits')
  const { id, version } = JSON.parse(answer).data
  const headers = { 'if-match': `"${version}"`, 'content-type': 'application/json' }
  const authorization = `Bearer ${service.token}`
  const changed = await fetch(`${service.url}${v1}/deal/${id}`, {
    method: 'PATCH',
    headers: { ...headers, authorization },
    body: '{"title":"Ein Handel, geändert"}',
  })
  assert.equal((await bodyOf(changed, 200)).data.title, 'Ein Handel, geändert')
  return id
}

async function importRows(service: Running): Promise<void> {
  const sent = await fetch(`${service.url}${v1}/import?resource=company&format=csv&name=companies.csv`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'text/csv' },
    body: 'name\nErste GmbH\nZweite GmbH\n',
  })
  const { id } = (await bodyOf(sent, 201)).data
  await bodyOf(await service.post(`${v1}/import/${id}/run`, {}), 200)
  const job = await eventually(
    async () => {
      const { data } = await bodyOf(await service.get(`${v1}/import/${id}`), 200)
      return !['running', 'waiting'].includes(data.state) && data
    },
    'an end of the import',
    100,
  )
  assert.deepEqual([job.state, job.created], ['done', 2], JSON.stringify(job))
}

/** By a link, as an administrator hands it out. */
async function setPassword(service: Running): Promise<void> {
  const { data: me } = await bodyOf(await service.get(`${v1}/me`), 200)
  const link = await service.post(`${v1}/user/${me.user.id}/link`, { purpose: 'reset' })
  const { url } = (await bodyOf(link, 201)).data
  await bodyOf(await signIn(service, { link: url, password }), 201)
  await bodyOf(await signIn(service, { email: me.user.email, password }), 201)
  await bodyOf(await signIn(service, { email: me.user.email, password: `${password}!` }), 401)
}

/** Signs in without a token. */
export function signIn({ url }: Pick<Running, 'url'>, body: object): Promise<Response> {
  return fetch(`${url}${v1}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}
