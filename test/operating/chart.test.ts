/**
 * The Helm chart (D168), rendered by Go's templates with the functions of Helm (support/chart/render.go), and
 * its values, judged by their schema. compose.yaml stands beside it.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { temporaryFolder } from '../support/running-service.ts'

const chart = 'deploy/helm/dealwright'
const libraries = '/usr/share/gocode'
/** The gate installs Go and its libraries (.ci/run). */
const isThere = existsSync(`${libraries}/src/github.com/Masterminds/sprig`)
const skip = !isThere && process.env.CI === undefined && 'no Go with the functions of Helm'
const render = join(temporaryFolder('chart'), 'render')
if (!skip)
  execFileSync('go', ['build', '-o', render, 'test/support/chart/render.go'], {
    env: { ...process.env, GO111MODULE: 'off', GOPATH: libraries, GOFLAGS: '', CGO_ENABLED: '0' },
    stdio: 'pipe',
  })

// biome-ignore lint/suspicious/noExplicitAny: manifests of Kubernetes, whose types are not here
type Manifest = any
type Rendered = { readonly manifests: { readonly [kind: string]: Manifest }; readonly notes: string }

const judge = new Ajv({ allErrors: true }).compile(
  JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')),
)

function rendered(values: object): Rendered {
  const { status, stdout, stderr } = run(values)
  assert.equal(status, 0, stderr)
  const { values: all, manifests, notes } = JSON.parse(stdout)
  assert.ok(judge(all), JSON.stringify(judge.errors))
  const named = manifests.map((one: Manifest) => [`${one.kind} ${one.metadata.name}`, one])
  return { manifests: Object.fromEntries(named), notes }
}

function run(values: object) {
  return spawnSync(render, [chart, 'crm', JSON.stringify(values)], { encoding: 'utf8' })
}

const onServer = { database: { external: true }, existingSecret: 'secret' }

test('embedded: one pod with a volume that stays, and the old pod ends first', { skip }, () => {
  const { manifests, notes } = rendered({})
  assert.deepEqual(Object.keys(manifests).sort(), [
    'Deployment crm-dealwright',
    'PersistentVolumeClaim crm-dealwright',
    'PodDisruptionBudget crm-dealwright',
    'Service crm-dealwright',
  ])
  const { spec } = manifests['Deployment crm-dealwright']
  assert.equal(spec.replicas, 1)
  assert.deepEqual(spec.strategy, { type: 'Recreate' })
  const claim = manifests['PersistentVolumeClaim crm-dealwright']
  assert.equal(claim.metadata.annotations['helm.sh/resource-policy'], 'keep')
  const [data] = spec.template.spec.volumes
  assert.deepEqual(data, { name: 'data', persistentVolumeClaim: { claimName: 'crm-dealwright' } })
  assert.match(notes, /embedded database, on one volume/)
  const other = rendered({ persistence: { existingClaim: 'mine' } }).manifests
  assert.equal(other['PersistentVolumeClaim crm-dealwright'], undefined)
})

test('a pod has no rights, two volumes, and probes that ask what they should', { skip }, () => {
  const { spec } = rendered({}).manifests['Deployment crm-dealwright'].spec.template
  const [container] = spec.containers
  const { runAsNonRoot, seccompProfile } = spec.securityContext
  assert.deepEqual([runAsNonRoot, seccompProfile], [true, { type: 'RuntimeDefault' }])
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  assert.equal(spec.automountServiceAccountToken, false)
  const places = container.volumeMounts.map(({ mountPath }: Manifest) => mountPath)
  assert.deepEqual(places, ['/data', '/tmp'])
  const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map(
    probe => container[probe].httpGet.path,
  )
  assert.deepEqual(paths, ['/healthz', '/healthz', '/readyz'])
})

test('on a server: several pods, and every secret from the Secret', { skip }, () => {
  const { manifests } = rendered({
    ...{ ...onServer, replicas: 3, metrics: { enabled: true }, settings: { TIME_ZONE: 'Europe/Paris' } },
    ingress: { enabled: true, host: 'crm.example.com', tlsSecret: 'crm-tls' },
  })
  assert.deepEqual(Object.keys(manifests).sort(), [
    'Deployment crm-dealwright',
    'Ingress crm-dealwright',
    'PodDisruptionBudget crm-dealwright',
    'Service crm-dealwright',
    'Service crm-dealwright-metrics',
  ])
  const { spec } = manifests['Deployment crm-dealwright']
  assert.deepEqual([spec.replicas, spec.strategy.type], [3, 'RollingUpdate'])
  const env = Object.fromEntries(
    spec.template.spec.containers[0].env.map(({ name, ...rest }: Manifest) => [
      name,
      rest.value ?? rest.valueFrom.secretKeyRef,
    ]),
  )
  assert.equal(env.PUBLIC_URL, 'https://crm.example.com')
  assert.equal(env.TIME_ZONE, 'Europe/Paris')
  assert.equal(env.METRICS_PORT, '9464')
  assert.deepEqual(env.DATABASE_URL, { name: 'secret', key: 'DATABASE_URL' })
  assert.deepEqual(env.DEALWRIGHT_TOKEN, { name: 'secret', key: 'DEALWRIGHT_TOKEN', optional: true })
  for (const name of ['DATABASE_READ_URL', 'OIDC_CLIENT_SECRET', 'OTEL_EXPORTER_OTLP_HEADERS'])
    assert.deepEqual(env[name], { name: 'secret', key: name, optional: true })
  const selector = manifests['PodDisruptionBudget crm-dealwright'].spec.selector.matchLabels
  assert.deepEqual(selector, spec.selector.matchLabels)
  assert.deepEqual(manifests['Service crm-dealwright'].spec.selector, spec.selector.matchLabels)
})

test('what could not work is refused in one sentence', { skip }, () => {
  const refusals: readonly (readonly [object, RegExp])[] = [
    [{ replicas: 2 }, /replicas is 2, and one process at a time may open the embedded database/],
    [{ database: { external: true } }, /database\.external needs existingSecret/],
    [{ settings: { DATABASE_URL: 'postgres://x' } }, /settings\.DATABASE_URL would be readable/],
    [{ settings: { DATABASE_READ_URL: 'postgres://x' } }, /settings\.DATABASE_READ_URL would be readable/],
    [{ settings: { OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'api-key=x' } }, /TRACES_HEADERS would be readable/],
    [{ settings: { PORT: '1' } }, /settings\.PORT is set by the chart/],
    [{ ingress: { enabled: true } }, /ingress\.enabled needs ingress\.host/],
  ]
  for (const [values, reason] of refusals) {
    const { status, stderr } = run(values)
    assert.equal(status, 1)
    assert.match(stderr, reason)
  }
})

test('the schema refuses values that the chart does not have', () => {
  const good = { image: { repository: 'x' }, replicas: 1, database: { external: false }, service: {} }
  assert.ok(judge(good), JSON.stringify(judge.errors))
  const bad = [
    { replica: 2 },
    { replicas: '2' },
    { settings: { timeZone: 'x' } },
    { image: { repository: '' } },
  ]
  for (const one of bad) assert.equal(judge({ ...good, ...one }), false, JSON.stringify(one))
})

test('compose.yaml has no password, pins its base, and starts the service with no rights', () => {
  const text = readFileSync('compose.yaml', 'utf8')
  assert.match(text, /\$\{POSTGRES_PASSWORD:\?[^}]+\}@database\/dealwright$/m)
  assert.match(text, /image: docker\.io\/library\/postgres:[\w.-]+@sha256:[0-9a-f]{64}$/m)
  for (const line of ['read_only: true', 'cap_drop: [ALL]', '- no-new-privileges:true'])
    assert.ok(text.includes(line), line)
})
