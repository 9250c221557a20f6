/** DATABASE_URL as libpq reads it: its parts, and refusals without a word of the password. */
import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { test } from 'node:test'
import { readServerUrl } from '../../src/db/postgres/server-url.ts'

const own = userInfo().username
const plain = { use: 'off', proves: 'nothing', isDirect: false }

test('who, where and which database', () => {
  const read = (url: string) => {
    const { user, password, database, hosts } = readServerUrl(url)
    return [user, password, database, hosts.map(({ name, port }) => `${name} ${port}`).join()]
  }
  for (const [url, ...wanted] of [
    ['postgres://', own, '', own, 'localhost 5432'],
    ['postgresql://h', own, '', own, 'h 5432'],
    ['postgres://u:p@h:1/d', 'u', 'p', 'd', 'h 1'],
    ['postgres://u@h1:1,h2:2,h3/d', 'u', '', 'd', 'h1 1,h2 2,h3 5432'],
    ['postgres://u:%40%2F%3A%25:#é@h/d%20e', 'u', '@/:%:#é', 'd e', 'h 5432'],
    ['postgres://u@[::1]:7/d', 'u', '', 'd', '::1 7'],
    ['postgres://u@%2Fvar%2Frun:7/d', 'u', '', 'd', '/var/run 7'],
    ['postgres:///d?host=/var/run&user=u&password=p%26q', 'u', 'p&q', 'd', '/var/run 5432'],
    ['postgres://h/d?host=h1,h2&port=1,2&dbname=e', own, '', 'e', 'h1 1,h2 2'],
    ['postgres://h1:9,h2/d?port=7', own, '', 'd', 'h1 7,h2 7'],
  ] as const)
    assert.deepEqual(read(url), wanted, url)
})

test('what secures it, how long it may take, and what the server is told', () => {
  const tls = (query: string) => readServerUrl(`postgres://h/d?${query}`).tls
  assert.deepEqual(tls(''), plain)
  assert.deepEqual(tls('sslmode=prefer'), { ...plain, use: 'preferred' })
  for (const query of ['sslmode=require', 'ssl=true'])
    assert.deepEqual(tls(query), { ...plain, use: 'always' })
  assert.deepEqual(tls('sslmode=verify-ca'), { ...plain, use: 'always', proves: 'issuer' })
  const proved = { use: 'always', proves: 'host' }
  for (const query of ['sslmode=verify-full&sslrootcert=system', 'sslrootcert=system'])
    assert.deepEqual(tls(query), { ...plain, ...proved })
  assert.deepEqual(tls('sslmode=verify-full&sslnegotiation=direct'), { ...proved, isDirect: true })
  const all = readServerUrl('postgres://h/d?connect_timeout=3&application_name=a&options=-c%20jit%3Don')
  const within = (query: string) => readServerUrl(`postgres://h/d${query}`).connectWithinMs
  assert.deepEqual([all.connectWithinMs, within(''), within('?connect_timeout=0')], [3000, 5000, null])
  assert.deepEqual([all.channelBinding, all.target], ['prefer', 'any'])
  assert.deepEqual(all.settings, { application_name: 'a', options: '-c jit=on' })
})

test('what it can’t do it does not drop', () => {
  for (const [query, why] of [
    ['sslmod=require', /"sslmod".*Did you mean "sslmode"\?/],
    ['SSLMODE=require', /"SSLMODE".*Did you mean "sslmode"\?/],
    ['search_path=x', /"search_path".*settings of PostgreSQL go into options=/],
    ['sslmode=perhaps', /sslmode=perhaps; here it can be disable, allow/],
    ['channel_binding=always', /channel_binding=always; here it can be prefer, disable, require/],
    ['channel_binding=require', /asks for channel_binding, but not for TLS/],
    ['sslnegotiation=direct', /asks for sslnegotiation, but not for TLS/],
    ['sslmode=prefer&sslnegotiation=direct', /asks for sslnegotiation, but not for TLS/],
    ['sslmode=require&sslrootcert=system', /sslrootcert=system, which needs sslmode=verify-full/],
    ['target_session_attrs=standby', /target_session_attrs=standby; here it can be any, read-write/],
    ['sslmode=require&sslmode=disable', /sslmode twice/],
    ['sslmode=require&sslcert=a', /both sslcert and sslkey/],
    ['sslrootcert=/root.crt', /asks for no TLS/],
    ['sslmode=require&sslrootcert=/nowhere.crt', /\/nowhere\.crt.*ENOENT/],
    ['host=a,b&port=1,2,3', /one port, or as many/],
    ['connect_timeout=soon', /whole number of seconds/],
    ['sslmode', /is not an address/],
  ] as const)
    assert.throws(
      () => readServerUrl(`postgres://h/d?${query}`),
      { name: 'StartupError', message: why },
      query,
    )
})

test('a password that is not encoded is refused, and no message repeats it', () => {
  for (const url of [
    'postgres://u:sec@ret@h/d',
    'postgres://u:sec/ret@h/d',
    'postgres://u:12/ret@h/d',
    'postgres://u:sec?ret@h/d',
    'postgres://u:12?s=ret@h/d',
    'postgres://u:sec%ret@h/d',
    'postgres://u:p@h:sec/ret',
    'postgres://u:p@h:0/d',
    'postgres://u:p@h:65536/d',
    'postgres://u:p@h:p:7/d',
    'http://u:secret@h/d',
  ])
    assert.throws(
      () => readServerUrl(url),
      ({ name, message }) => name === 'StartupError' && /%40/.test(message) && !/sec|ret\b/.test(message),
      url,
    )
})
