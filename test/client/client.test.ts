/** The client package (D139), against the service, as integrators use it. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import {
  Dealwright,
  type DealwrightError,
  NotFound,
  RateLimited,
  Unauthenticated,
  Unavailable,
  ValidationFailed,
  VersionConflict,
} from '../../client/src/client.ts'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { baseCatalog } from '../../src/http/openapi/document.ts'
import { resourceNamesOf, typesOf } from '../../src/http/openapi/typescript.ts'
import { resources } from '../../src/resources/resources.ts'
import { noBrowser, withBrowser } from '../support/chromium.ts'
import { compile, examples, installClient } from '../support/client-package.ts'
import { startService, v1 } from '../support/service.ts'

const root = join(import.meta.dirname, '../..')
const { project, built, tsc } = installClient()
const pages = createServer((request, response) => {
  const file = join(built, request.url!.slice(1))
  const types: { [extension: string]: string } = { '.js': 'text/javascript', '': 'text/html' }
  const isThere = extname(file) === '.js' && existsSync(file)
  response.writeHead(200, { 'content-type': types[isThere ? '.js' : '']! })
  response.end(isThere ? readFileSync(file) : '<!doctype html><title>Page</title>')
})
pages.listen(0, '127.0.0.1')
await once(pages, 'listening')
after(() => pages.close())
const origin = `http://127.0.0.1:${(pages.address() as { port: number }).port}`

const { url, token, known, db, call } = await startService({ corsOrigins: [origin] })
const dealwright = new Dealwright({ url, token })
const needed = {
  pipeline: known.pipeline,
  pipeline_stage: known.stages.New!,
  primary_contact: known.contact,
  sales_owner: known.owner,
}

test('its types are those of the service', () => {
  const written = (file: string) => readFileSync(join(root, 'client/src', file), 'utf8')
  assert.ok(written('schemas.ts') === typesOf(baseCatalog), '`npm run openapi` writes them')
  assert.equal(written('resource-names.ts'), resourceNamesOf(baseCatalog))
})

test('create, list, close and sync', async () => {
  const deal = await dealwright.deal.create({
    ...needed,
    title: 'Client 1',
    deal_value: { currency: 'EUR', value: 5 },
  })
  assert.equal(deal.title, 'Client 1')
  for (let count = 2; count <= 5; count++)
    await dealwright.deal.create({ ...needed, title: `Client ${count}` })
  const titles: string[] = []
  const query = { filter: 'title:like(Client )', sort: 'title:asc', pageSize: 2 }
  for await (const { title } of dealwright.deal.list(query)) titles.push(title!)
  assert.deepEqual(
    titles,
    [1, 2, 3, 4, 5].map(count => `Client ${count}`),
  )

  const closing = { pipeline_stage: known.stages.Won!, deal_closed_on: '2026-03-31' }
  const error = await dealwright.deal.update(deal, closing).catch((error: DealwrightError) => error)
  assert.ok(error instanceof ValidationFailed)
  assert.deepEqual([error.status, error.code, error.problems[0]?.field], [422, 2001, 'won_reason'])
  const reason = Object.keys(known.options.won_reason!)[0]!
  const won = await dealwright.deal.update(deal, { ...closing, won_reason: reason })
  assert.equal(won.status, 2)
  await assert.rejects(dealwright.deal.update(deal, { title: 'Stale' }), VersionConflict)
  assert.equal(
    (await dealwright.deal.update(deal.id!, { title: 'Whatever it was' })).title,
    'Whatever it was',
  )

  const first = await dealwright.deal.getIfChanged(deal.id!, null)
  assert.equal(await dealwright.deal.getIfChanged(deal.id!, first!.etag), null)
  const changedSince = [`updated_at:gte(${won.updated_at})`, 'title:notnull(true)']
  const page = await dealwright.deal.page({ filter: changedSince, count: 'exact' })
  assert.equal(page.meta.total, 1)

  await dealwright.deal.delete(deal.id!)
  await assert.rejects(dealwright.deal.get(deal.id!), NotFound)
  assert.equal((await dealwright.deal.restore(deal.id!)).id, deal.id)
})

test('an answer that is no JSON is its text, and a refusal is there as a whole', async () => {
  const query = { filter: 'title:eq(Client 2)', fields: 'title' }
  const csv = await dealwright.request('GET', `${v1}/deal/export`, { query, headers: { accept: 'text/csv' } })
  assert.match(String(csv.body), /^id,title\r\n\d+,Client 2\r\n$/)
  const error = await dealwright.deal.get(999_999).catch((error: DealwrightError) => error)
  assert.ok(error instanceof NotFound)
  assert.deepEqual([error.body?.type, error.body?.status], ['/docs/errors#record_not_found', 404])
})

test('who asks, anything else, and a token that is none', async () => {
  assert.equal((await dealwright.me()).account.id, 1)
  const { body } = await dealwright.request('GET', '/rest/api/v1/deal/aggregate', {
    query: { group_by: 'status' },
  })
  assert.ok(Array.isArray((body as { data: unknown }).data))
  await assert.rejects(new Dealwright({ url, token: 'none' }).me(), Unauthenticated)
})

test('a request is sent again when it can be, as the same request, and ends when it is aborted', async () => {
  let failures = 0
  const keys: string[] = []
  const answers = ['break', 503, 429]
  const shaky: typeof fetch = async (input, init) => {
    keys.push(new Headers(init!.headers).get('idempotency-key')!)
    const how = answers[failures++]
    if (how === undefined) return fetch(input, init)
    // The first was carried out, and its answer lost.
    if (how === 'break') await fetch(input, init)
    if (how === 'break') throw new TypeError('The connection broke')
    return new Response('', { status: how as number, headers: { 'retry-after': '0' } })
  }
  const patient = new Dealwright({ url, token, fetch: shaky })
  await patient.tag.create({ name: 'Only once' })
  assert.deepEqual([keys.length, new Set(keys).size], [4, 1])
  const { meta } = await dealwright.tag.page({ filter: 'name:eq(Only once)' })
  assert.equal(meta.total, 1)

  const busy = (status: number) => async () => new Response('', { status, headers: { 'retry-after': '0' } })
  const tired = (status: number) => new Dealwright({ url, token, retries: 1, fetch: busy(status) })
  await assert.rejects(tired(429).deal.get(1), RateLimited)
  await assert.rejects(tired(503).deal.get(1), Unavailable)
  const leaving = new AbortController()
  const asked = new Dealwright({ url, token, fetch: busy(503), retries: 1000 }).deal.get(1, {
    signal: leaving.signal,
  })
  leaving.abort(new Error('Left'))
  await assert.rejects(asked, { message: 'Left' })
})

const strictly = {
  compilerOptions: {
    ...{ target: 'es2022', module: 'nodenext', strict: true, noUncheckedIndexedAccess: true },
    ...{ exactOptionalPropertyTypes: true, types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
  },
  include: ['*.ts'],
}

/** A program with the account's types, if it has none yet. */
function owned(example: string): string {
  if (example.includes('<Schemas>')) return example
  const typed = example.replaceAll('new Dealwright(', 'new Dealwright<Schemas>(')
  return `import type { Schemas } from './schemas.js'\n${typed}`
}

test("the README's examples compile under strict, by an account's own fields too, and run", async () => {
  const field = { source: 'deal', field_name: 'Room', type: 'SINGLE_STRING', config: { max_length: 20 } }
  assert.equal((await call('POST', `${v1}/field`, field)).status, 201)
  const types = typesOf(await loadCatalog(db, resources, 1))
  const own = `import { Dealwright } from '@dealwright/client'
import type { Schemas } from './schemas.js'
const own = new Dealwright<Schemas>({ url: process.env.DEALWRIGHT_URL!, token: process.env.DEALWRIGHT_TOKEN! })
const deal = await own.deal.create({ ...${JSON.stringify({ ...needed, title: 'Own' })}, cf_room: 'Blue' })
const room: string | null | undefined = deal.cf_room
// @ts-expect-error: a text is no number
await own.deal.update(deal, { cf_room: 5 }).catch(() => {})
// @ts-expect-error: there is no such field
own.deal.update(deal, { cf_rom: 'x' }).catch(() => {})
// @ts-expect-error: a new deal needs more
own.deal.create({ title: 'x' }).catch(() => {})
// An option that was added later, and one that was read.
own.deal.update(deal, { source: 4711, cf_custom_dropdown_field: deal.source ?? null }).catch(() => {})
console.log(room)
`
  const [example] = examples
  const files = { 'own.ts': own, 'schemas.ts': types, 'example.ts': example! }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text)
  for (const [index, text] of examples.entries())
    writeFileSync(join(project, `own-example-${index}.ts`), owned(text))
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(strictly))
  for (const looser of ['exactOptionalPropertyTypes', 'noUncheckedIndexedAccess'])
    compile({ project, tsc }, `--${looser}`, 'false', '--noEmit')
  compile({ project, tsc })
  const env = { ...process.env, DEALWRIGHT_URL: url, DEALWRIGHT_TOKEN: token }
  const run = async (name: string) =>
    (await promisify(execFile)(process.execPath, [join(project, name)], { env })).stdout
  assert.match(await run('example.js'), /won_reason won_reason is required[^\n]*\ndeal_closed_on /)
  assert.equal(await run('own.js'), 'Blue\n')
  for (const index of examples.keys()) assert.ok(await run(`own-example-${index}.js`))
})

test(
  'built, it works in a browser, from a page of another origin',
  {
    skip: noBrowser,
  },
  () =>
    withBrowser(async browser => {
      const page = await browser.newPage()
      await page.goto(`${origin}/page`)
      const script = `import('/client.js').then(async ({ Dealwright, VersionConflict }) => {
      const dealwright = new Dealwright(${JSON.stringify({ url, token })})
      const deal = await dealwright.deal.create(${JSON.stringify({ ...needed, title: 'From a page' })})
      await dealwright.deal.update(deal, { title: 'From a browser' })
      const stale = await dealwright.deal.update(deal, { title: 'x' }).catch(error => error)
      const titles = []
      for await (const { title } of dealwright.deal.list({ filter: 'title:like(From a )' })) titles.push(title)
      return [titles, stale instanceof VersionConflict]
    })`
      assert.deepEqual(await page.evaluate(script), [['From a browser'], true])
    }),
)
