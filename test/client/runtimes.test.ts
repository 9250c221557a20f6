/** The built client on its supported runtimes (D139). */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { compile, examples, installClient } from '../support/client-package.ts'
import { missing, runtimes } from '../support/runtimes.ts'
import { startService } from '../support/service.ts'

const { project, tsc } = installClient()
writeFileSync(join(project, 'example.ts'), examples[0]!)
const compilerOptions = {
  ...{ target: 'es2022', module: 'nodenext', types: ['node'] },
  typeRoots: [join(import.meta.dirname, '../../node_modules/@types')],
}
writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['example.ts'] }))
compile({ project, tsc })
const { url, token, known } = await startService()
const shaky = createServer((request, response) => void brokenThenServed(request, response))
shaky.listen(0, '127.0.0.1')
await once(shaky, 'listening')
after(() => shaky.close())
const shakyUrl = `http://127.0.0.1:${(shaky.address() as { port: number }).port}`

/** Idempotency-Key → number of its requests. */
const tries = new Map<string, number>()

/** First carries the request out and cuts its answer; then is busy; then answers. */
async function brokenThenServed(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const key = String(request.headers['idempotency-key'])
  const attempt = (tries.get(key) ?? 0) + 1
  tries.set(key, attempt)
  const sent = await request.toArray()
  if (attempt === 2) return void response.writeHead(503, { 'retry-after': '0' }).end()
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
  const reply = await fetch(url + request.url, {
    method: request.method!,
    headers: headers as Record<string, string>,
    body: Buffer.concat(sent),
  })
  const body = Buffer.from(await reply.arrayBuffer())
  response.writeHead(reply.status, { 'content-type': 'application/json', 'content-length': body.length })
  if (attempt > 1) return void response.end(body)
  response.write(body.subarray(0, 10), () => response.destroy())
}

const script = (
  name: string,
) => `import { Dealwright, ValidationFailed, VersionConflict } from '@dealwright/client'
const options = ${JSON.stringify({ url, token })}
const dealwright = new Dealwright(options)
const needed = ${JSON.stringify({
  pipeline: known.pipeline,
  pipeline_stage: known.stages.New!,
  primary_contact: known.contact,
  sales_owner: known.owner,
})}
const deal = await dealwright.deal.create({ ...needed, title: '${name}: 1' })
for (const n of [2, 3]) await dealwright.deal.create({ ...needed, title: \`${name}: \${n}\` })
const titles = []
for await (const { title } of dealwright.deal.list({ filter: 'title:like(${name}:)', sort: 'title:asc', pageSize: 1 }))
  titles.push(title)
await dealwright.deal.update(deal, { description: 'Changed' })
const stale = await dealwright.deal.update(deal, { description: 'Stale' }).catch(error => error)
const refused = await dealwright.deal.create({ title: '' }).catch(error => error)
const { etag } = await dealwright.deal.getIfChanged(deal.id, null)
const isUnchanged = (await dealwright.deal.getIfChanged(deal.id, etag)) === null
const tag = await new Dealwright({ ...options, url: '${shakyUrl}' }).tag.create({ name: '${name}' })
const leaving = new AbortController()
const asked = dealwright.deal.get(deal.id, { signal: leaving.signal }).catch(error => error)
leaving.abort(new Error('Left'))
console.log(JSON.stringify([
  titles,
  stale instanceof VersionConflict,
  refused instanceof ValidationFailed && refused.problems.length,
  isUnchanged,
  tag.name,
  (await asked).message,
]))
`

for (const runtime of runtimes) {
  const { name, variable, args, file } = runtime
  test(`built, the client works in ${name}`, { skip: missing(runtime) }, async () => {
    const entry = join(project, `${variable}.js`)
    writeFileSync(entry, script(name))
    const { stdout } = await promisify(execFile)(file!, [...args, entry], { cwd: project })
    assert.deepEqual(JSON.parse(stdout), [
      [1, 2, 3].map(n => `${name}: ${n}`),
      ...[true, 5, true, name, 'Left'],
    ])
  })
}

for (const runtime of runtimes)
  test(`the README's first example runs in ${runtime.name}`, { skip: missing(runtime) }, async () => {
    const env = { ...process.env, DEALWRIGHT_URL: url, DEALWRIGHT_TOKEN: token }
    const entry = join(project, 'example.js')
    const { stdout } = await promisify(execFile)(runtime.file!, [...runtime.args, entry], { env })
    assert.match(stdout, /\nwon_reason .*\ndeal_closed_on .*\n$/)
  })

test('every request whose answer was cut was sent again, under its key', () => {
  assert.ok([...tries.values()].every(count => count === 3))
})
