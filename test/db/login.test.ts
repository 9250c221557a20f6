/**
 * How the service gets into a PostgreSQL server: passwords of each kind, TLS, Unix sockets, and what it says
 * when it doesn't.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { login } from '../../src/db/login.ts'
import { openDatabase } from '../../src/db/open.ts'
import { startPostgres } from '../support/postgres.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
const secret = 'pä:ss/w@rd'
const server = await startPostgres(true, configure)
after(() => server?.stop())
const options = { skip: server === null && 'PostgreSQL is not installed' }
const withTls = { skip: options.skip || (!hasOpenssl && 'openssl is not installed') }

if (server) {
  const db = await openDatabase({ url: server.url, log() {} })
  for (const [name, encryption] of [
    ['scram', 'scram-sha-256'],
    ['md5', 'md5'],
    ['clear', 'scram-sha-256'],
    ['tls', 'scram-sha-256'],
  ]) {
    await db.sql.unsafe(
      `SET password_encryption = '${encryption}'; CREATE ROLE ${name} LOGIN PASSWORD '${secret}'`,
    )
  }
  await db.close()
}

function configure(data: string): void {
  const methods = { scram: 'scram-sha-256', md5: 'md5', clear: 'password', postgres: 'trust' }
  const hosts = Object.entries(methods).map(([user, method]) => `host all ${user} 127.0.0.1/32 ${method}`)
  const lines = ['local all all scram-sha-256', 'hostssl all tls 127.0.0.1/32 scram-sha-256', ...hosts]
  writeFileSync(join(data, 'pg_hba.conf'), `${lines.join('\n')}\n`)
  if (!hasOpenssl) return
  const [key, certificate] = [join(data, 'server.key'), join(data, 'server.crt')]
  const subject = ['-subj', '/CN=localhost', '-days', '2']
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, ...subject],
    {
      stdio: 'ignore',
    },
  )
  writeFileSync(join(data, 'postgresql.auto.conf'), 'ssl = on\n')
}

/** Who got in, and whether with TLS. */
async function enter(user: string, { password = secret, mode = '', host = '' } = {}): Promise<string> {
  const url = new URL(server!.url)
  const place = host ? `${encodeURIComponent(host)}:${url.port}` : url.host
  const address = `postgres://${user}:${encodeURIComponent(password)}@${place}/postgres${mode && `?sslmode=${mode}`}`
  const db = await openDatabase({ url: address, log() {} })
  try {
    const [row] = await db.query(
      'SELECT current_user AS who, (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())::text AS tls',
    )
    return `${row!.who} ${row!.tls}`
  } finally {
    await db.close()
  }
}

test('a password gets in, whichever way the server asks for it, and no other does', options, async () => {
  for (const user of ['scram', 'md5', 'clear']) {
    assert.equal(await enter(user), `${user} false`)
    await assert.rejects(enter(user, { password: 'another' }), {
      name: 'StartupError',
      message: /password authentication failed for user/,
    })
  }
  assert.equal(await enter('postgres', { password: '' }), 'postgres false')
})

test('a Unix socket stands in the place of the host', options, async () => {
  assert.equal(await enter('scram', { host: server!.sockets! }), 'scram false')
})

test('TLS as far as sslmode asks for it', withTls, async () => {
  for (const mode of ['prefer', 'require']) assert.equal(await enter('tls', { mode }), 'tls true')
  await assert.rejects(enter('tls', { mode: 'disable' }), { name: 'StartupError', message: /no encryption/ })
  await assert.rejects(enter('tls', { mode: 'verify-full' }), {
    name: 'StartupError',
    message: /self-signed certificate/,
  })
  await assert.rejects(enter('tls', { mode: 'perhaps' }), {
    name: 'StartupError',
    message: /sslmode=perhaps/,
  })
})

test('a server without TLS is not spoken to where TLS is a must', async t => {
  const plain = await startPostgres(true)
  if (!plain) return t.skip('PostgreSQL is not installed')
  const open = (mode: string) => openDatabase({ url: `${plain.url}?sslmode=${mode}`, log() {} })
  try {
    await assert.rejects(open('require'), { name: 'StartupError', message: /no TLS/ })
    await (await open('prefer')).close()
  } finally {
    await plain.stop()
  }
})

test('what is no address says so', async () => {
  for (const url of ['postgres://a:b:c', 'postgres://%/x', 'http//x']) {
    await assert.rejects(openDatabase({ url, log() {} }), { name: 'StartupError' }, url)
  }
})

test('a server that does not know the password itself is not believed', () => {
  const message = (type: number, text: string) =>
    Buffer.concat([Buffer.from([0, 0, 0, type]), Buffer.from(text)])
  const challenge = (nonce: string) =>
    message(11, `r=${nonce},s=${Buffer.from('salt').toString('base64')},i=4096`)
  const begin = () => {
    const answer = login('scram', secret)
    const first = answer(message(10, 'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0'))!.toString('latin1')
    return { answer, nonce: /r=(.*)$/.exec(first)![1]! }
  }
  const { answer, nonce } = begin()
  answer(challenge(`${nonce}more`))
  assert.throws(
    () => answer(message(12, `v=${Buffer.alloc(32).toString('base64')}`)),
    /does not know the password/,
  )
  assert.throws(() => begin().answer(challenge('another')), /another login/)
  assert.throws(() => begin().answer(message(12, 'v=')), /does not know the password/)
  assert.throws(() => begin().answer(message(7, '')), /not known here \(7\)/)
  assert.throws(() => begin().answer(message(10, 'SCRAM-SHA-1\0\0')), /SCRAM-SHA-1/)
})
