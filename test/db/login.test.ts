/** Login to a PostgreSQL server: passwords of each kind, TLS, Unix sockets, and the messages of failures. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, test } from 'node:test'
import { openDatabase } from '../../src/db/open.ts'
import { endPointOf } from '../../src/db/postgres/channel-binding.ts'
import { type Binding, login } from '../../src/db/postgres/login.ts'
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
    ['certified', 'scram-sha-256'],
  ]) {
    await db.sql.query(
      `SET password_encryption = '${encryption}'; CREATE ROLE ${name} LOGIN PASSWORD '${secret}'`,
    )
  }
  await db.close()
}

function configure(data: string): void {
  const methods = { scram: 'scram-sha-256', md5: 'md5', clear: 'password', postgres: 'trust' }
  const hosts = Object.entries(methods).map(([user, method]) => `host all ${user} 127.0.0.1/32 ${method}`)
  const secured = [
    'hostssl all tls 127.0.0.1/32 scram-sha-256',
    'hostssl all tls ::1/128 scram-sha-256',
    'hostssl all certified 127.0.0.1/32 cert',
  ]
  const lines = ['local all all scram-sha-256', ...secured, ...hosts]
  writeFileSync(join(data, 'pg_hba.conf'), `${lines.join('\n')}\n`)
  if (!hasOpenssl) return
  const { key, certificate } = certificateIn(data, 'server', 'localhost')
  certificateIn(data, 'client', 'certified')
  const files = { ssl_cert_file: certificate, ssl_key_file: key, ssl_ca_file: join(data, 'client.crt') }
  const settings = Object.entries(files).map(([name, file]) => `${name} = '${file}'\n`)
  writeFileSync(join(data, 'postgresql.auto.conf'), `ssl = on\n${settings.join('')}`)
}

/** A self-issued certificate for a name, as two files; only their owner reads the key. */
function certificateIn(
  folder: string,
  file: string,
  name: string,
  signed: readonly string[] = ['-newkey', 'rsa:2048'],
): { key: string; certificate: string } {
  const [key, certificate] = [join(folder, `${file}.key`), join(folder, `${file}.crt`)] as const
  const of = ['-x509', ...signed, '-nodes', '-subj', `/CN=${name}`, '-days', '2']
  execFileSync('openssl', ['req', ...of, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  return { key, certificate }
}

const data = () => join(server!.sockets!, 'data')

/** The user of a login, and whether it uses TLS. */
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

test('a certificate proves its issuer, or the host as well, a name or an address', withTls, async () => {
  const [{ port }, root] = [new URL(server!.url), encodeURIComponent(join(data(), 'server.crt'))]
  const enterAt = async (host: string, parameters: string) => {
    const login = `tls:${encodeURIComponent(secret)}`
    const url = `postgres://${login}@${host}:${port}/postgres?${parameters}`
    await (await openDatabase({ url, log() {} })).close()
  }
  // The certificate is for "localhost" alone (configure).
  await enterAt('localhost', `sslmode=verify-full&sslrootcert=${root}`)
  await assert.rejects(enterAt('127.0.0.1', `sslmode=verify-full&sslrootcert=${root}`), {
    name: 'StartupError',
    message: /127\.0\.0\.1/,
  })
  // Naming an issuer asks for its verification.
  for (const mode of ['verify-ca', 'require', 'prefer'])
    await enterAt('127.0.0.1', `sslmode=${mode}&sslrootcert=${root}`)
  await assert.rejects(enterAt('127.0.0.1', 'sslmode=verify-ca'), { message: /self-signed certificate/ })
  const folder = mkdtempSync(join(tmpdir(), 'dealwright-other-'))
  after(() => rmSync(folder, { recursive: true }))
  const other = encodeURIComponent(certificateIn(folder, 'other', 'localhost').certificate)
  for (const mode of ['verify-ca', 'require'])
    await assert.rejects(enterAt('127.0.0.1', `sslmode=${mode}&sslrootcert=${other}`), {
      name: 'StartupError',
    })
})

test('a login is bound to its TLS connection', withTls, async () => {
  const enterBy = async (user: string, parameters: string) => {
    const login = `${user}:${encodeURIComponent(secret)}`
    const url = `postgres://${login}@127.0.0.1:${new URL(server!.url).port}/postgres?${parameters}`
    await (await openDatabase({ url, log() {} })).close()
  }
  for (const binding of ['require', 'prefer', 'disable'])
    await enterBy('tls', `sslmode=require&channel_binding=${binding}`)
  // PostgreSQL asks for the plain password here, or for none: these can't be bound.
  for (const user of ['clear', 'md5', 'postgres'])
    await assert.rejects(enterBy(user, 'sslmode=require&channel_binding=require'), {
      name: 'StartupError',
      message: /channel_binding/,
    })
  // A man-in-the-middle would relay this: the hash of the right certificate is not that of theirs.
  const { answer, said } = bound({ wanted: 'require', hash: Buffer.alloc(32, 7) })
  assert.match(said, /^p=tls-server-end-point,,n=\*,r=/)
  const proof = String(await answer(challenge(`${nonceOf(said)}more`)))
  const binding = Buffer.from(/c=([^,]*)/.exec(proof)![1]!, 'base64')
  assert.deepEqual(binding, Buffer.concat([Buffer.from('p=tls-server-end-point,,'), Buffer.alloc(32, 7)]))
  // The server must learn that the client could have bound the login if it had seen the offer.
  assert.match(bound({ wanted: 'prefer', hash: Buffer.alloc(32) }, 'SCRAM-SHA-256\0\0').said, /^y,,/)
  assert.match(bound({ wanted: 'disable', hash: Buffer.alloc(32) }).said, /^n,,/)
  assert.match(bound({ wanted: 'prefer', hash: null }).said, /^n,,/)
  for (const hash of [null, Buffer.alloc(32)])
    assert.throws(() => bound({ wanted: 'require', hash }, 'SCRAM-SHA-256\0\0'), {
      name: 'DatabaseUnavailable',
      message: /does not bind the login/,
    })
  const required = () => login('tls', secret, { wanted: 'require', hash: Buffer.alloc(32) })
  for (const type of [0, 3]) assert.throws(() => required()(authentication(type)), /does not bind the login/)
})

test('what a login is bound to is hashed as the certificate is signed', { skip: !hasOpenssl }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'dealwright-signed-'))
  after(() => rmSync(folder, { recursive: true }))
  for (const [hash, ...signed] of [
    ['sha256', '-newkey', 'rsa:2048', '-sha256'],
    ['sha256', '-newkey', 'rsa:2048', '-sha1'],
    ['sha512', '-newkey', 'rsa:2048', '-sha512'],
    ['sha384', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384', '-sha384'],
    [null, '-newkey', 'ed25519'],
  ] as const) {
    const { certificate } = certificateIn(folder, 'signed', 'localhost', signed)
    const { raw } = new X509Certificate(readFileSync(certificate))
    const shown = Object.assign(new PassThrough(), { getPeerCertificate: () => ({ raw }) })
    assert.deepEqual(endPointOf(shown), hash && createHash(hash).update(raw).digest(), signed.join(' '))
  }
  assert.equal(endPointOf(new PassThrough()), null)
})

test('where writes are wanted, a server that takes none is passed over', options, async () => {
  const read = 'options=-c%20default_transaction_read_only%3Don'
  const open = (parameters: string) => openDatabase({ url: `${server!.url}?${parameters}`, log() {} })
  for (const target of ['read-write', 'primary']) await (await open(`target_session_attrs=${target}`)).close()
  await assert.rejects(open(`target_session_attrs=read-write&${read}`), {
    name: 'StartupError',
    message: /takes no writes/,
  })
})

test('a client shows its own certificate to a server that asks for it', withTls, async () => {
  const [crt, key] = ['crt', 'key'].map(end => encodeURIComponent(join(data(), `client.${end}`)))
  const { port } = new URL(server!.url)
  const url = `postgres://certified@127.0.0.1:${port}/postgres?sslmode=require`
  await (await openDatabase({ url: `${url}&sslcert=${crt}&sslkey=${key}`, log() {} })).close()
  await assert.rejects(openDatabase({ url, log() {} }), { name: 'StartupError', message: /certificate/ })
})

/** The body of an Authentication message. */
function authentication(type: number, text = ''): Buffer {
  return Buffer.concat([Buffer.from([0, 0, 0, type]), Buffer.from(text)])
}

function challenge(nonce: string, rounds = 4096): Buffer {
  return authentication(11, `r=${nonce},s=${Buffer.from('salt').toString('base64')},i=${rounds}`)
}

/** A started login, and its output. */
function bound(binding?: Binding, offer = 'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0') {
  const answer = login('scram', secret, binding)
  const sent = String(answer(authentication(10, offer)))
  return { answer, said: /[ynp][^\0]*,,n=\*,r=.*$/.exec(sent)![0] }
}

function nonceOf(said: string): string {
  return /r=(.*)$/.exec(said)![1]!
}

test('a server that does not know the password itself is not believed', async () => {
  const begin = () => {
    const { answer, said } = bound()
    return { answer, nonce: nonceOf(said) }
  }
  const { answer, nonce } = begin()
  await answer(challenge(`${nonce}more`))
  assert.throws(
    () => answer(authentication(12, `v=${Buffer.alloc(32).toString('base64')}`)),
    /does not know the password/,
  )
  await assert.rejects(async () => begin().answer(challenge('another')), /another login/)
  const costly = begin()
  await assert.rejects(
    async () => costly.answer(challenge(`${costly.nonce}more`, 2 ** 31)),
    /2147483648 rounds/,
  )
  // One challenge after the other would keep the processor busy.
  await assert.rejects(async () => answer(challenge(`${nonce}more`)), /out of turn/)
  assert.throws(() => begin().answer(authentication(0, '')), /has not proved/)
  assert.throws(() => begin().answer(authentication(12, 'v=')), /does not know the password/)
  assert.throws(() => begin().answer(authentication(7, '')), /not known here \(7\)/)
  assert.throws(() => begin().answer(authentication(10, 'SCRAM-SHA-1\0\0')), /SCRAM-SHA-1/)
})
