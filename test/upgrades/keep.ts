/**
 * Keeps a database of a version, made by that version itself, with what it answers about it (D154):
 * `node test/upgrades/keep.ts CHECKOUT NAME` writes test/upgrades/NAME. CHECKOUT is a folder with the version
 * and its packages. Its sample data is changed a little: there are a new deal, changes and a deletion.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import type { Answers } from './answers.ts'

const [checkout, name] = process.argv.slice(2)
if (!checkout || !name) throw new Error('Usage: node test/upgrades/keep.ts CHECKOUT NAME')

const base = '/rest/api/v1'
/** Tokens are left out: they tell when they were used last. */
const resources = [
  ...['deal', 'product', 'contact', 'company', 'tag', 'territory', 'user', 'pipeline', 'pipeline_stage'],
  ...['currency', 'role', 'activity', 'view', 'webhook'],
]
const pageSize = 100

type Page = { readonly data: readonly { readonly [member: string]: unknown }[] }
type Call = (method: string, path: string, body?: object) => Promise<unknown>

const folder = resolve('test/upgrades', name)
const home = mkdtempSync(join(tmpdir(), 'dealwright-keep-'))
const options = { cwd: checkout, env: { PATH: process.env.PATH, DATA_DIR: join(home, 'data'), PORT: '0' } }
const program = ['bin/dealwright.js']
mkdirSync(folder)
try {
  const service = spawn(process.execPath, program, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  const { url, token } = await welcome(service.stdout)
  const call = caller(url, token)
  await workOn(call)
  const kept: Answers = { token, answers: await answersOf(call) }
  writeFileSync(join(folder, 'answers.json.gz'), gzipSync(JSON.stringify(kept)))
  service.kill()
  await once(service, 'exit')
  const file = join(folder, 'database.backup')
  execFileSync(process.execPath, [...program, 'backup', file], { ...options, stdio: 'inherit' })
} finally {
  rmSync(home, { recursive: true, force: true })
}

/** Reads the welcome of a first start; early versions had no `--json`. */
async function welcome(output: Readable): Promise<{ readonly url: string; readonly token: string }> {
  let said = ''
  for await (const text of output.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += text
    const [url] = /http:\/\/[\d.]+:\d+/.exec(said) ?? []
    const [token] = /dw_1_\S+(?=\s)/.exec(said) ?? []
    if (!url || !token) continue
    output.resume()
    return { url, token }
  }
  throw new Error(`The service did not start: ${said}`)
}

async function workOn(call: Call): Promise<void> {
  const { data } = (await call('GET', `${base}/deal/view/list?pageSize=5&sort=id:asc`)) as Page
  const [first, second, third, fourth] = data
  const { pipeline, pipeline_stage, primary_contact, sales_owner } = first!
  const whole = { pipeline, pipeline_stage, primary_contact, sales_owner }
  const metadata = { notes: ['ä', 1.5, null] }
  await call('POST', `${base}/deal`, { ...whole, title: 'Kept by the version before', metadata })
  await call('PATCH', `${base}/deal/${second!.id}`, { title: 'Renamed — ünïcode 😀' })
  await call('PATCH', `${base}/deal/${third!.id}`, { deal_value: { currency: 'EUR', value: 12345678.91 } })
  await call('DELETE', `${base}/deal/${fourth!.id}`)
}

/** Asks for every list, some records and their histories, and sums. Leaves out what the version lacks. */
async function answersOf(call: Call): Promise<Answers['answers']> {
  const answers: { [path: string]: unknown } = {}
  const ask = async (path: string) => {
    const body = await call('GET', path)
    if (body !== null) answers[path] = body
    return body as Page | null
  }
  for (const resource of resources) {
    const list = `${base}/${resource}/view/list?sort=id:asc`
    for (let page = 1; ; page++) {
      const found = await ask(`${list}&pageSize=${pageSize}&page=${page}`)
      if (!found || found.data.length < pageSize) break
    }
    const some = (await call('GET', `${list}&pageSize=3`)) as Page | null
    for (const { id } of some?.data ?? []) {
      await ask(`${base}/${resource}/${id}`)
      await ask(`${base}/${resource}/${id}/history`)
    }
  }
  for (const group of ['pipeline_stage', 'sales_owner', 'status'])
    await ask(`${base}/deal/aggregate?group_by=${group}`)
  await ask(`${base}/deal/view/list?filter=status:eq(Open)&sort=deal_value:desc,id:asc`)
  return answers
}

/** A function that asks the service; null for a path that it does not know. Throws other refusals. */
function caller(url: string, token: string): Call {
  return async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (method === 'GET' && response.status === 404) return null
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }
}
