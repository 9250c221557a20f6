/**
 * Reverse proxies (D151): the access log, whose addresses count, and the examples of deploy/ in a real nginx
 * and a real Caddy: TLS, server-sent events, large files and the addresses of clients.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { after, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { freePort } from '../../src/http/free-port.ts'
import { answered, eventually } from '../support/eventually.ts'
import { type Running, runService, temporaryFolder } from '../support/running-service.ts'

const v1 = '/rest/api/v1'
const folder = temporaryFolder('proxies')
const settings = { SAMPLE_DATA: '0', LOG_REQUESTS: '1' }
const service = await runService({
  ...{ ...settings, DATA_DIR: join(folder, 'data'), TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT: '100000' },
})

type Line = { readonly [member: string]: unknown }
/** The line of the access log of a request. */
async function lineOf(running: Running, id: string): Promise<Line> {
  await running.logged(new RegExp(`"request":"${id}".*\n`))
  const line = running
    .log()
    .split('\n')
    .find(one => one.includes(`"request":"${id}"`))
  return JSON.parse(line!)
}

test('a line of the access log has the route, who asked, and no value', async () => {
  const headers = { 'x-request-id': 'log-1' }
  await service.get(`${v1}/deal/view/list?filter=title:like(secret)&pageSize=1`, headers)
  const { time, pid, ms, ...line } = await lineOf(service, 'log-1')
  assert.ok(Number(time) > 0 && Number(pid) > 0 && Number(ms) > 0)
  assert.deepEqual(line, {
    ...{ level: 30, request: 'log-1', method: 'GET', route: `${v1}/deal/view/list`, status: 200 },
    ...{ address: '127.0.0.1', account: 1, user: 1, token: service.token.slice(0, 11), msg: 'request' },
  })
  await service.get('/rest/api/v1/deal/4711', { authorization: 'Bearer wrong', 'x-request-id': 'log-2' })
  const refused = await lineOf(service, 'log-2')
  const { status, route, account, user, token } = refused
  assert.deepEqual([status, route, account, user, token], [401, `${v1}/deal/:id`, null, null, null])
  assert.doesNotMatch(service.log(), /secret|4711|wrong/)
})

/** Asks from another address of this machine. Resolves with the status. */
async function from(localAddress: string, path: string, headers: Record<string, string>): Promise<number> {
  const authorization = `Bearer ${service.token}`
  const asked = get(service.url + path, { localAddress, headers: { authorization, ...headers } })
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  await textOf(response)
  return response.statusCode!
}

test('X-Forwarded-For counts from a named proxy, and from nobody else', async () => {
  const forwarded = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' }
  await from('127.0.0.1', `${v1}/me`, { ...forwarded, 'x-request-id': 'named' })
  assert.equal((await lineOf(service, 'named')).address, '198.51.100.7')
  await from('127.0.0.2', `${v1}/me`, { ...forwarded, 'x-request-id': 'unnamed' })
  assert.equal((await lineOf(service, 'unnamed')).address, '127.0.0.2')
  await from('127.0.0.1', `${v1}/me`, { 'x-forwarded-for': 'no address', 'x-request-id': 'nonsense' })
  assert.equal((await lineOf(service, 'nonsense')).address, '127.0.0.1')
  const other = await runService({ ...settings, DATA_DIR: join(folder, 'other') })
  await other.get(`${v1}/me`, { ...forwarded, 'x-request-id': 'nobody' })
  assert.equal((await lineOf(other, 'nobody')).address, '127.0.0.1')
  // The operator hears of it, once.
  await other.get(`${v1}/me`, { ...forwarded, 'x-request-id': 'again' })
  await lineOf(other, 'again')
  assert.equal(other.log().match(/A proxy on this machine forwards requests, and no setting/g)?.length, 1)
  assert.doesNotMatch(service.log(), /no setting names it/)
  await other.end()
})

test('X-Forwarded-Host counts from a named proxy, and must be a host', async () => {
  const wrong = { 'x-forwarded-host': 'evil host/"' }
  assert.equal(await from('127.0.0.1', `${v1}/me`, wrong), 400)
  assert.equal(await from('127.0.0.2', `${v1}/me`, wrong), 200)
})

test('the unit of systemd has the limits of a public service, whatever is in front of it', () => {
  const [, line] = /^Environment=(.*)$/m.exec(readFileSync('deploy/dealwright.service', 'utf8'))!
  const env = Object.fromEntries(line!.split(' ').map(pair => pair.split('=')))
  const { rateLimit, webhookAllowPrivate, sampleData } = readConfig(env)
  assert.deepEqual(
    { rateLimit, webhookAllowPrivate, sampleData },
    {
      ...{ rateLimit: 6000, webhookAllowPrivate: false, sampleData: false },
    },
  )
})

const isThere = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
/** The gate installs both (.ci/run). */
const skipWithout = (program: string) =>
  !isThere(program) && process.env.CI === undefined && `no ${program} here`

type Proxy = { readonly port: number }
const proxies: { readonly [program: string]: () => Promise<Proxy> } = {
  async nginx() {
    const home = join(folder, 'nginx')
    const [port, plain] = [await freePort(), await freePort()]
    const site = readFileSync('deploy/nginx.conf', 'utf8')
      .replace('127.0.0.1:3000', new URL(service.url).host)
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace('listen 80', `listen 127.0.0.1:${plain}`)
      .replace(/\/etc\/ssl\/certs\/\S+;/, `${certificate()}/cert.pem;`)
      .replace(/\/etc\/ssl\/private\/\S+;/, `${certificate()}/key.pem;`)
    mkdirSync(home, { recursive: true })
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map(name => `${name}_temp_path ${home}/${name};`)
      .join(' ')
    writeFileSync(
      join(home, 'nginx.conf'),
      `pid ${home}/pid; error_log ${home}/error.log; daemon off; user root;
events {} http { access_log off; ${paths}\n${site}\n}\n`,
    )
    run('nginx', ['-p', home, '-e', `${home}/error.log`, '-c', join(home, 'nginx.conf')])
    return { port }
  },
  async caddy() {
    const home = join(folder, 'caddy')
    mkdirSync(home, { recursive: true })
    const port = await freePort()
    const own = readFileSync('deploy/Caddyfile', 'utf8')
      .replace('127.0.0.1:3000', new URL(service.url).host)
      .replace(
        'crm.example.com {',
        `https://crm.example.com:${port} {\n\ttls ${certificate()}/cert.pem ${certificate()}/key.pem`,
      )
    const options = '{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n'
    writeFileSync(join(home, 'Caddyfile'), options + own)
    run('caddy', ['run', '--adapter', 'caddyfile', '--config', join(home, 'Caddyfile')], {
      ...{ XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
    })
    return { port }
  },
}

for (const [program, start] of Object.entries(proxies))
  test(`behind ${program}, by its example in deploy/`, { skip: skipWithout(program) }, async t => {
    const { port } = await start()
    const ask = askerAt(port)
    const isHealthy = () =>
      ask('GET', '/healthz').then(
        ({ status }) => status === 200,
        () => false,
      )
    await eventually(isHealthy, `an answer by ${program}`, 100)

    await t.test('pages and cookies are those of https', async () => {
      const page = await ask('GET', '/deals', { accept: 'text/html', authorization: '' })
      assert.equal(page.status, 200)
      assert.match(page.text, /<!doctype html>/)
      const link = await ask(
        'POST',
        `${v1}/user/1/link`,
        { 'content-type': 'application/json' },
        '{"purpose":"reset"}',
      )
      assert.equal(link.status, 201, link.text)
      const { url } = JSON.parse(link.text).data
      assert.match(url, new RegExp(`^https://crm\\.example\\.com:${port}/`))
      const body = JSON.stringify({ link: url, password: 'a long enough phrase' })
      const origin = `https://crm.example.com:${port}`
      const headers = { 'content-type': 'application/json', authorization: '', origin }
      const session = await ask('POST', `${v1}/session`, headers, body)
      assert.equal(session.status, 201, session.text)
      assert.match(String(session.headers['set-cookie']), /^__Host-dealwright_session=.*; Secure$/)
    })

    await t.test('the address of a client is its own, whatever it says', async () => {
      const id = `${program}-address`
      await ask('GET', `${v1}/me`, { 'x-forwarded-for': '203.0.113.9', 'x-request-id': id }, '', '127.0.0.3')
      assert.equal((await lineOf(service, id)).address, '127.0.0.3')
    })

    await t.test('an event arrives while the stream is open', async () => {
      const { last_seq } = JSON.parse((await ask('GET', `${v1}/event?limit=1`)).text).meta ?? {}
      const response = await open(port, {
        path: `${v1}/event?after=${last_seq ?? 0}`,
        headers: { accept: 'text/event-stream' },
      })
      const { promise: found, resolve } = Promise.withResolvers<void>()
      let said = ''
      response.setEncoding('utf8').on('data', text => {
        said += text
        if (said.includes(`"${program} tag"`)) resolve()
      })
      response.on('error', () => {})
      await service.post(`${v1}/tag`, { name: `${program} tag` })
      await found
      response.destroy()
    })

    await t.test(
      'a file of an import goes through, and one of a gigabyte is judged by the service',
      async () => {
        const row = `${'x'.repeat(999_000)},1\n`
        const path = `${v1}/import?resource=deal&format=csv&name=large.csv`
        const file = Readable.from(['title,deal_value\n', ...Array.from({ length: 24 }, () => row)])
        const sent = await open(port, { method: 'POST', path, headers: { 'content-type': 'text/csv' } }, file)
        assert.equal(sent.statusCode, 201, await textOf(sent))
        const headers = {
          'content-type': 'text/csv',
          'content-length': '1073741824',
          authorization: 'Bearer x',
        }
        const refused = await open(port, { method: 'POST', path, headers }, Readable.from(['title\n']))
        assert.equal(refused.statusCode, 401, await textOf(refused))
      },
    )
  })

function run(program: string, args: readonly string[], env: Record<string, string> = {}): void {
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'ignore'],
    env: { ...process.env, ...env },
  })
  after(() => child.kill('SIGTERM'))
}

/** The folder of a certificate that signs itself. */
function certificate(): string {
  const place = join(folder, 'certificate')
  if (!madeCertificate) {
    mkdirSync(place)
    const files = ['-keyout', join(place, 'key.pem'), '-out', join(place, 'cert.pem')]
    const names = ['-subj', '/CN=crm.example.com', '-addext', 'subjectAltName=DNS:crm.example.com']
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    execFileSync('openssl', ['req', '-x509', ...kind, ...files, ...names], { stdio: 'ignore' })
  }
  madeCertificate = true
  return place
}
let madeCertificate = false

/** Opens a request to a proxy; resolves with the head of its answer. */
async function open(port: number, options: RequestOptions, body?: Readable): Promise<IncomingMessage> {
  const { headers, ...rest } = options
  const host = `crm.example.com:${port}`
  const all = { host, authorization: `Bearer ${service.token}`, ...(headers as object) }
  const asked = request({
    ...{
      hostname: '127.0.0.1',
      port,
      servername: 'crm.example.com',
      rejectUnauthorized: false,
      agent: false,
    },
    ...rest,
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
  })
  const response = once(asked, 'response')
  // A refusal by the head ends the connection while the body is sent.
  if (body) pipeline(body, asked).catch(() => {})
  else asked.end()
  return (await response)[0]
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += part
  return text
}

function askerAt(port: number) {
  return async (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body = '',
    localAddress = '127.0.0.1',
  ) => {
    const options = { method, path, headers, localAddress }
    return answered(async () => {
      const response = await open(port, options, body === '' ? undefined : Readable.from([body]))
      return { status: response.statusCode!, headers: response.headers, text: await textOf(response) }
    })
  }
}
