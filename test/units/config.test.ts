/** Every setting by table (D41): its accepted values, and the one clear line for others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { ConfigError } from '../../src/setting-values.ts'

test('what a setting takes', () => {
  const token = 'a'.repeat(32)
  for (const [name, value, member, result] of [
    ['PORT', '0', 'port', 0],
    ['PORT', '65535', 'port', 65_535],
    ['PORT', '08080', 'port', 8080],
    ['HOST', '0.0.0.0', 'host', '0.0.0.0'],
    ['HOST', '::1', 'host', '::1'],
    ['HOST', 'localhost', 'host', '127.0.0.1'],
    ['MAX_CONNECTIONS', '10', 'maxConnections', 10],
    ['MAX_CONNECTIONS', '100', 'maxConnectionsPerAddress', 100],
    ['MAX_CONNECTIONS_PER_ADDRESS', '50', 'maxConnectionsPerAddress', 50],
    ['DATA_DIR', '/var/lib/deal wright', 'dataDir', '/var/lib/deal wright'],
    [
      'DATABASE_URL',
      'postgres://u:p@h:5432/d?sslmode=require',
      'databaseUrl',
      'postgres://u:p@h:5432/d?sslmode=require',
    ],
    ['DATABASE_URL', 'postgresql://h/d', 'databaseUrl', 'postgresql://h/d'],
    ['DATABASE_READ_URL', '', 'databaseReadUrl', null],
    ['DATABASE_WRITES', 'statement', 'hasOnlyTransactions', false],
    ['DATABASE_WRITES', 'transaction', 'hasOnlyTransactions', true],
    ['DATABASE_POOLER', '0', 'pooler', null],
    ['WORKERS', '1', 'workers', 1],
    ['DEALWRIGHT_TOKEN', token, 'token', token],
    ['DEALWRIGHT_TOKEN', '~'.repeat(256), 'token', '~'.repeat(256)],
    ['SAMPLE_DATA', '0', 'sampleData', false],
    ['SAMPLE_DATA', '1', 'sampleData', true],
    ['TIME_ZONE', 'Europe/Paris', 'timeZone', 'Europe/Paris'],
    ['BASE_CURRENCY', 'eur', 'baseCurrency', 'EUR'],
    ['LOG_LEVEL', 'silent', 'logLevel', 'silent'],
    ['LOG_LEVEL', 'trace', 'logLevel', 'trace'],
  ] as const) {
    assert.equal(readConfig({ [name]: value })[member], result, `${name}=${value}`)
  }
})

test('away from loopback one address may have a quarter of the connections', () => {
  const { maxConnections, maxConnectionsPerAddress } = readConfig({ HOST: '0.0.0.0' })
  assert.deepEqual([maxConnections, maxConnectionsPerAddress], [2000, 500])
})

test('a service on loopback has the limits of a public one if a setting names the proxy in front of it', () => {
  const local = { rateLimit: 0, webhookAllowPrivate: true }
  const shared = { rateLimit: 6000, webhookAllowPrivate: false }
  for (const [env, expected] of [
    [{}, local],
    [{ PUBLIC_URL: 'http://localhost:3000' }, local],
    [{ PUBLIC_URL: 'https://crm.example.com' }, shared],
    [{ TRUSTED_PROXIES: '127.0.0.1' }, shared],
    [{ HOST: '0.0.0.0' }, shared],
    [{ PUBLIC_URL: 'https://crm.example.com', RATE_LIMIT: '0', WEBHOOK_ALLOW_PRIVATE: '1' }, local],
  ] as const) {
    const { rateLimit, webhookAllowPrivate } = readConfig(env)
    assert.deepEqual({ rateLimit, webhookAllowPrivate }, expected, JSON.stringify(env))
  }
  // A proxy on this machine carries the connections of all clients.
  assert.equal(readConfig({ PUBLIC_URL: 'https://crm.example.com' }).maxConnectionsPerAddress, 2000)
})

test('a setting that is empty is one that is not given', () => {
  const names = ['PORT', 'HOST', 'DATA_DIR', 'DATABASE_URL', 'DEALWRIGHT_TOKEN', 'SAMPLE_DATA', 'LOG_LEVEL']
  assert.deepEqual(readConfig(Object.fromEntries(names.map(name => [name, '']))), readConfig({}))
})

test('sample data is made on the embedded database unless said otherwise, and on a server only when said so', () => {
  const url = 'postgres://h/d'
  assert.deepEqual(
    [{}, { SAMPLE_DATA: '0' }, { DATABASE_URL: url }, { DATABASE_URL: url, SAMPLE_DATA: '1' }].map(
      env => readConfig(env).sampleData,
    ),
    [true, false, false, true],
  )
})

test('what it does not take is refused in one line that begins with its name', () => {
  for (const [name, value] of [
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '3000.5'],
    ['PORT', '1e3'],
    ['PORT', ' 3000'],
    ['PORT', '0x50'],
    ['PORT', '99999999999999999999'],
    ['DATABASE_URL', 'postgres:/h/d'],
    ['DATABASE_URL', 'mysql://h/d'],
    ['DATABASE_URL', 'h:5432/d'],
    ['DATABASE_URL', 'postgres://[bad/d'],
    ['DATABASE_URL', ' postgres://h/d'],
    ['DEALWRIGHT_TOKEN', 'a'.repeat(31)],
    ['DEALWRIGHT_TOKEN', 'a'.repeat(257)],
    ['DEALWRIGHT_TOKEN', `${'a'.repeat(31)} b`],
    ['DEALWRIGHT_TOKEN', `${'a'.repeat(32)}\n`],
    ['DEALWRIGHT_TOKEN', 'ä'.repeat(40)],
    ['SAMPLE_DATA', 'true'],
    ['SAMPLE_DATA', '2'],
    ['MAX_CONNECTIONS', '0'],
    ['MAX_CONNECTIONS_PER_ADDRESS', '-1'],
    ['LOG_LEVEL', 'WARN'],
    ['LOG_LEVEL', 'verbose'],
    ['LOG_LEVEL', 'constructor'],
  ] as const) {
    assert.throws(
      () => readConfig({ [name]: value }),
      (error: Error) =>
        error instanceof ConfigError && error.message.startsWith(`${name} `) && !error.message.includes('\n'),
      `${name}=${JSON.stringify(value)}`,
    )
  }
})

test('a token or a password is never in the message', () => {
  for (const env of [{ DEALWRIGHT_TOKEN: 'hunter2 hunter2' }, { DATABASE_URL: 'mysql://root:hunter2@h/d' }])
    assert.throws(
      () => readConfig(env),
      (error: Error) => !error.message.includes('hunter2'),
    )
})

test('the settings of sign-in: an OpenID provider needs all of its settings, and TLS but on this machine', () => {
  const openId = {
    OIDC_ISSUER: 'https://id.example.com/realm',
    OIDC_CLIENT_ID: 'dealwright',
    OIDC_CLIENT_SECRET: 'secret',
    PUBLIC_URL: 'https://crm.example.com/',
  }
  assert.deepEqual(readConfig(openId).openId, {
    issuer: 'https://id.example.com/realm',
    clientId: 'dealwright',
    clientSecret: 'secret',
  })
  assert.equal(readConfig(openId).publicUrl, 'https://crm.example.com')
  assert.deepEqual([readConfig({}).openId, readConfig({}).publicUrl], [null, null])
  assert.equal(readConfig({ PUBLIC_URL: 'http://localhost:3000' }).publicUrl, 'http://localhost:3000')
  for (const name of Object.keys(openId))
    assert.throws(() => readConfig({ ...openId, [name]: '' }), /are needed together/)
  for (const [name, value] of [
    ['OIDC_ISSUER', 'http://id.example.com'],
    ['OIDC_ISSUER', 'id.example.com'],
    ['PUBLIC_URL', 'http://crm.example.com'],
    ['PUBLIC_URL', 'https://crm.example.com/crm'],
    ['PUBLIC_URL', 'https://crm.example.com?x'],
  ] as const)
    assert.throws(
      () => readConfig({ ...openId, [name]: value }),
      new RegExp(`^Error: ${name} must (begin with https://|have no path, query or fragment: set)`),
    )
})

test('a misspelt setting is refused with the right name (D152)', () => {
  for (const [name, meant] of [
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['METRIC_PORT', 'METRICS_PORT'],
    ['MAX_CONECTIONS', 'MAX_CONNECTIONS'],
    ['TRUSTED_PROXYS', 'TRUSTED_PROXIES'],
    ['DEALWRIGHT_TOKN', 'DEALWRIGHT_TOKEN'],
    ['DEALWRIGHT_PORT', 'PORT'],
    ['DEALWRIGHT_DATA_DIR', 'DATA_DIR'],
    ['DEALWRIGHT_LOGREQUESTS', 'LOG_REQUESTS'],
  ] as const)
    assert.throws(() => readConfig({ [name]: '3000' }), {
      message: `${name} is not a setting: it is called ${meant}.`,
    })
  assert.throws(() => readConfig({ DEALWRIGHT_XYZZY: '1' }), /^Error: DEALWRIGHT_XYZZY is not a setting/)
})

test('variables of other programs, and of Kubernetes, are not taken for misspelt settings', () => {
  const others = {
    ...{ HOSTNAME: 'x', PORTS: '1', POSTGRES_URL: 'x', DATABASE_USER: 'x', DATABASE_PASSWORD: 'x' },
    ...{ SAMPLE_RATE: '1', LOGLEVEL: 'x', HTTP_PROXY: 'x', NODE_OPTIONS: '', TZ: 'UTC', HOME: '/' },
    ...{ DEALWRIGHT_URL: 'http://x', DEALWRIGHT_TOKN: '' },
    ...{ DEALWRIGHT_SERVICE_HOST: '10.0.0.1', DEALWRIGHT_SERVICE_PORT: '3000' },
    ...{ DEALWRIGHT_SERVICE_PORT_HTTP: '3000', DEALWRIGHT_PORT: 'tcp://10.0.0.1:3000' },
    ...{ DEALWRIGHT_PORT_3000_TCP: 'tcp://10.0.0.1:3000', DEALWRIGHT_PORT_3000_TCP_PROTO: 'tcp' },
    ...{ DEALWRIGHT_CRM_SERVICE_HOST: '10.0.0.2', DEALWRIGHT_CRM_PORT: 'tcp://10.0.0.2:80' },
  }
  assert.deepEqual(readConfig(others), readConfig({}))
})

test('settings of proxies, metrics and the access log', () => {
  assert.deepEqual(readConfig({ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,fd00::/8' }).trustedProxies, [
    ...['127.0.0.1', '10.0.0.0/8', 'fd00::/8'],
  ])
  assert.equal(readConfig({ METRICS_PORT: '9464' }).metricsPort, 9464)
  assert.equal(readConfig({ METRICS_PORT: '/run/x.sock' }).metricsPort, '/run/x.sock')
  assert.equal(readConfig({ METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' }).metricsHost, '0.0.0.0')
  assert.deepEqual([readConfig({}).metricsPort, readConfig({}).logRequests], [null, false])
  assert.equal(readConfig({ LOG_REQUESTS: '1' }).logRequests, true)
  assert.equal(readConfig({ WORKERS: '4', DATABASE_URL: 'postgres://h/d' }).workers, 4)
  for (const [env, said] of [
    [{ TRUSTED_PROXIES: '10.0.0.0/33' }, /^TRUSTED_PROXIES must list/],
    [{ TRUSTED_PROXIES: '10.0.0.256' }, /^TRUSTED_PROXIES must list/],
    [{ TRUSTED_PROXIES: 'proxy.example.com' }, /^TRUSTED_PROXIES must list/],
    [{ DATABASE_WRITES: 'transactions' }, /^DATABASE_WRITES must be one of/],
    [{ WORKERS: '2' }, /^WORKERS is for a server: .* Set DATABASE_URL/],
    [
      { WORKERS: '65', DATABASE_URL: 'postgres://h/d' },
      /^WORKERS must be auto or a whole number from 1 to 64, not "65"/,
    ],
    [{ DATABASE_READ_URL: 'postgres://h/d' }, /^DATABASE_READ_URL is for a server: .* Set both/],
    [
      { DATABASE_URL: 'postgres://h/d', DATABASE_READ_URL: 'mysql://h/d' },
      /^DATABASE_READ_URL is not an address of the form/,
    ],
    [{ DATABASE_POOLER: 'yes' }, /^DATABASE_POOLER must be one of/],
    [{ DATABASE_POOLER: '1' }, /^DATABASE_POOLER is for a server: set DATABASE_URL/],
    [{ METRICS_PORT: '70000' }, /^METRICS_PORT must be/],
    [{ METRICS_PORT: '3000' }, /^METRICS_PORT must be another than PORT/],
    [{ METRICS_PORT: '3000', HOST: '0.0.0.0' }, /^METRICS_PORT must be another than PORT/],
    [{ METRICS_HOST: '0.0.0.0' }, /^METRICS_HOST needs METRICS_PORT/],
    [{ METRICS_PORT: '/run/x.sock', METRICS_HOST: '::1' }, /^METRICS_HOST is for a port/],
    [{ LOG_REQUESTS: 'yes' }, /^LOG_REQUESTS must be/],
  ] as const)
    assert.throws(
      () => readConfig(env),
      (error: Error) => error instanceof ConfigError && said.test(error.message),
      JSON.stringify(env),
    )
})
