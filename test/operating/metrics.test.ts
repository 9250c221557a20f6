/**
 * Metrics (D150): what is there and what is not, and a real Prometheus that scrapes the service, answers
 * every query of deploy/grafana.json, and fires alerts of deploy/alerts.yml.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { freePort } from '../../src/http/free-port.ts'
import { eventually } from '../support/eventually.ts'
import { runService, temporaryFolder } from '../support/running-service.ts'

const folder = temporaryFolder('metrics')
const dataDir = join(folder, 'data')
const service = await runService({ DATA_DIR: dataDir, SAMPLE_DATA: '0', METRICS_PORT: '0' })

const scrape = async () => (await fetch(service.metrics!)).text()
const figure = (text: string, sample: string) => {
  const line = text.split('\n').find(one => one.startsWith(`${sample} `))
  return line === undefined ? null : Number(line.slice(sample.length + 1))
}

test('requests are counted by route template, method and class of status', async () => {
  const v1 = '/rest/api/v1'
  for (const path of [`${v1}/deal/123456`, `${v1}/deal/654321`, '/nowhere/4711', '/deals/99'])
    await service.get(path, path.startsWith('/deals') ? { accept: 'text/html' } : {})
  await service.post(`${v1}/tag`, { name: 'Ten of spades' })
  const text = await scrape()
  const count = (labels: string) => figure(text, `dealwright_http_request_duration_seconds_count{${labels}}`)
  assert.equal(count(`route="${v1}/deal/:id",method="GET",status="4xx"`), 2)
  assert.equal(count(`route="${v1}/tag",method="POST",status="2xx"`), 1)
  assert.equal(count('route="none",method="GET",status="4xx"'), 1)
  assert.equal(count('route="web",method="GET",status="2xx"'), 1)
  // Nothing of a path, an account or a value is a label.
  assert.doesNotMatch(text, /123456|654321|4711|\/deals\/99|spades/)
  assert.doesNotMatch(text, /account=|token=|user=/)
})

test('a method that HTTP does not know has no label of its own', async () => {
  const { hostname, port } = new URL(service.url)
  const asked = get({ hostname, port, method: 'PROPFIND', path: '/rest/api/v1/deal' })
  const [response] = await once(asked, 'response')
  response.resume()
  await once(response, 'end')
  const text = await scrape()
  assert.ok(
    figure(text, 'dealwright_http_request_duration_seconds_count{route="none",method="other",status="4xx"}'),
  )
  assert.doesNotMatch(text, /PROPFIND/)
})

test('figures of the database, the disk, commits and refused sign-ins', async () => {
  const wrong = { email: 'nobody@example.com', password: 'wrong wrong wrong' }
  assert.equal((await service.post('/rest/api/v1/session', wrong)).status, 401)
  const text = await scrape()
  assert.ok(figure(text, 'dealwright_database_bytes')! > 1_000_000)
  assert.ok(figure(text, 'dealwright_disk_free_bytes{directory="data"}')! > 0)
  assert.ok(figure(text, 'dealwright_commit_writes_count')! > 0)
  assert.equal(figure(text, 'dealwright_sign_in_refusals_total{error="sign_in_failed"}'), 1)
  assert.equal(figure(text, 'dealwright_metric_failures_total'), 0)
  assert.equal(figure(text, 'dealwright_webhook_oldest_delivery_seconds'), 0)
  assert.equal(figure(text, 'dealwright_job_oldest_seconds'), 0)
})

test('requests that wait for events are counted while they wait', async () => {
  const leaving = new AbortController()
  const waiting = fetch(`${service.url}/rest/api/v1/event?after=1000000&wait=30`, {
    headers: { authorization: `Bearer ${service.token}` },
    signal: leaving.signal,
  })
  const isCounted = async () => figure(await scrape(), 'dealwright_feed_followers') === 1
  await eventually(isCounted, 'a follower', 50)
  leaving.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
  const isNone = async () => figure(await scrape(), 'dealwright_feed_followers') === 0
  await eventually(isNone, 'no follower', 50)
})

test('the service itself has no metrics, and their port has nothing else', async () => {
  assert.equal((await service.get('/metrics')).status, 404)
  const { origin } = new URL(service.metrics!)
  assert.equal((await fetch(`${origin}/rest/api/v1/deal/view/list`)).status, 404)
  assert.equal((await fetch(service.metrics!, { method: 'POST' })).status, 405)
  assert.equal((await fetch(service.metrics!, { method: 'HEAD' })).status, 200)
})

test('without METRICS_PORT there are none; a path is a Unix socket, and a port in use ends the start', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  const other = { DATA_DIR: join(folder, 'other'), SAMPLE_DATA: '0' }
  await assert.rejects(runService({ ...other, METRICS_PORT: String(port) }), /METRICS_PORT: can't listen on/)
  taken.close()
  const socket = join(folder, 'metrics.sock')
  const inSocket = await runService({ ...other, METRICS_PORT: socket })
  assert.equal(inSocket.metrics, socket)
  assert.ok(statSync(socket).isSocket())
  const [response] = await once(get({ socketPath: socket, path: '/metrics' }), 'response')
  response.resume()
  assert.equal(response.statusCode, 200)
  await inSocket.end('SIGKILL')
  const again = await runService({ ...other, METRICS_PORT: socket })
  await again.end()
  writeFileSync(socket, 'of somebody')
  await assert.rejects(runService({ ...other, METRICS_PORT: socket }), /METRICS_PORT: can't listen on/)
  assert.equal(readFileSync(socket, 'utf8'), 'of somebody')
  assert.equal((await runService(other)).metrics, null)
})

const prometheus = spawnSync('prometheus', ['--version']).status === 0
// The gate installs it (.ci/run).
const skip = !prometheus && process.env.CI === undefined && 'no Prometheus here'

type Dashboard = { readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[] }
const dashboard: Dashboard = JSON.parse(readFileSync('deploy/grafana.json', 'utf8'))
const alerts = readFileSync('deploy/alerts.yml', 'utf8')
const queries = dashboard.panels
  .flatMap(({ targets }) => targets.map(({ expr }) => expr))
  .map(expr => expr.replaceAll('$__rate_interval', '30s').replaceAll('$instance', '.*'))

test('the graphs and the alerts use only metrics that are there', async () => {
  const text = await scrape()
  const there = new Set([...text.matchAll(/^# TYPE (\w+) (\w+)/gm)].map(([, name]) => name!))
  const used = [...`${queries.join('\n')}\n${alerts}`.matchAll(/\b(?:dealwright|nodejs|process)_\w+/g)]
  assert.ok(used.length > 30)
  const unknown = used
    .map(([name]) => name)
    .filter(name => !there.has(name) && !there.has(name.replace(/_(total|bucket|sum|count)$/, '')))
  assert.deepEqual(unknown, [])
})

test('Prometheus scrapes it, answers every query of the dashboard, and its alerts fire', {
  skip,
}, async () => {
  const { query, firing } = await startPrometheus()
  const isUp = async () => (await query('up{job="dealwright"}'))[0]?.value[1] === '1'
  await eventually(isUp, 'a first look', 200)
  const areRead = async () => Number((await query('scrape_samples_scraped'))[0]?.value[1]) > 100
  await eventually(areRead, 'more than 100 figures', 200)
  await service.get('/rest/api/v1/deal/view/list')
  // Of a service that answers no scrape for a second there are no figures until its next answer.
  const areCounted = async () =>
    Number((await query('sum(dealwright_http_request_duration_seconds_count)'))[0]?.value[1]) > 0
  await eventually(areCounted, 'a count of requests', 200)
  for (const expression of queries) await query(expression)
  // Every figure that exists from the start has a value.
  for (const name of ['database_bytes', 'disk_free_bytes', 'http_connections', 'job_oldest_seconds'])
    await eventually(async () => (await query(`dealwright_${name}`)).length > 0, name, 200)
  const rated = 'sum(rate(dealwright_http_request_duration_seconds_count[30s]))'
  await eventually(
    async () => {
      await service.get('/rest/api/v1/deal/view/list')
      return Number((await query(rated))[0]?.value[1]) > 0
    },
    'a rate of requests',
    200,
  )
  // And it is down until then.
  await eventually(async () => (await firing()).length === 0, 'no alert', 200)
  await service.end('SIGKILL')
  await eventually(async () => (await firing()).includes('DealwrightDown'), 'an alert', 200)
})

test('alerts say that a backup failed, and that the newest is older than a day', { skip }, () => {
  const folder = temporaryFolder('rules')
  const failed = 'dealwright_backup_failures_total{instance="a"}'
  const verified = 'dealwright_backup_verified_timestamp_seconds'
  // A minute a value: the first backup fails after an hour; of two others one is made new after a day.
  const series = [
    `{ series: '${failed}', values: '0x59 1x3000' }`,
    `{ series: '${verified}{instance="b"}', values: '60x3000' }`,
    `{ series: '${verified}{instance="c"}', values: '60x1440 86460x1600' }`,
    `{ series: '${verified}{instance="none yet"}', values: '0x3000' }`,
  ]
  const expected = (time: string, name: string, instance?: string, summary?: string) => {
    const alert = `exp_labels: { severity: critical, instance: ${instance} }, exp_annotations: { summary: '${summary}' }`
    return `{ eval_time: ${time}, alertname: ${name}, exp_alerts: [${instance ? `{ ${alert} }` : ''}] }`
  }
  const times = [
    expected('50m', 'DealwrightBackupFailed'),
    expected('70m', 'DealwrightBackupFailed', 'a', 'A backup by schedule of a failed; its log says why.'),
    expected('30h', 'DealwrightBackupFailed'),
    expected('25h', 'DealwrightBackupOld'),
    expected('27h', 'DealwrightBackupOld', 'b', 'The newest verified backup of b is 1d 2h 59m 0s old.'),
  ]
  const rules = join(process.cwd(), 'deploy/alerts.yml')
  const file = join(folder, 'backups.yml')
  writeFileSync(
    file,
    `rule_files: [${rules}]
tests: [{ interval: 1m, input_series: [${series.join()}], alert_rule_test: [${times.join()}] }]
`,
  )
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
})

async function startPrometheus() {
  // Its alerts wait for minutes; here for a second.
  writeFileSync(join(folder, 'alerts.yml'), alerts.replace(/for: \d+m/g, 'for: 1s'))
  const { host } = new URL(service.metrics!)
  writeFileSync(
    join(folder, 'prometheus.yml'),
    `global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
rule_files: [${folder}/alerts.yml]
scrape_configs: [{ job_name: dealwright, static_configs: [{ targets: ['${host}'] }] }]
`,
  )
  const port = await freePort()
  const child = spawn(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/series`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  after(() => child.kill('SIGKILL'))
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)
    // biome-ignore lint/suspicious/noExplicitAny: an answer of Prometheus
    const body: any = await response.json()
    assert.equal(body.status, 'success', `${path}: ${JSON.stringify(body)}`)
    return body.data
  }
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await eventually(isReady, 'a Prometheus that answers', 200)
  return {
    query: async (expression: string): Promise<{ value: [number, string] }[]> =>
      (await ask(`query?query=${encodeURIComponent(expression)}`)).result,
    firing: async (): Promise<string[]> =>
      (await ask('alerts')).alerts
        .filter(({ state }: { state: string }) => state === 'firing')
        .map(({ labels }: { labels: { alertname: string } }) => labels.alertname),
  }
}
