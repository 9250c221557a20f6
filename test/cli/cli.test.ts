/**
 * The command line as operators run it (D67, D68): on a server, on a data directory that no process has open,
 * and through the service that has it open.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { Command } from '../../src/cli/command.ts'
import { onDatabase } from '../../src/cli/database.ts'
import { readConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/open.ts'
import { connectAgent } from '../support/agent.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase } from '../support/postgres.ts'
import { timeouts } from '../support/timeouts.ts'

const isServer = process.env.TEST_ENGINE === 'postgres'
const home = mkdtempSync(join(tmpdir(), 'dealwright-cli-'))
const dataDir = join(home, 'data')
const url = isServer ? await createDatabase(process.env.TEST_DATABASE_URL!) : ''
const env = {
  ...process.env,
  DATABASE_URL: url,
  DATA_DIR: dataDir,
  PORT: '0',
  SAMPLE_DATA: '0',
  DEALWRIGHT_TOKEN: '',
}
const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(home, { recursive: true, force: true })
})

function begin(args: readonly string[]) {
  const child = spawn(process.execPath, ['bin/dealwright.js', ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  const told = { out: '', err: '' }
  child.stdout!.setEncoding('utf8').on('data', text => (told.out += text))
  child.stderr!.setEncoding('utf8').on('data', text => (told.err += text))
  return { child, told, closed: once(child, 'close') }
}

/** Runs a command until it ends. */
async function run(...args: string[]) {
  const { child, told, closed } = begin(args)
  await closed
  return { code: child.exitCode, ...told }
}

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the test is about
async function done(...args: string[]): Promise<any> {
  const { code, out, err } = await run(...args, '--json')
  assert.equal(code, 0, `${args.join(' ')}: ${err}`)
  return JSON.parse(out)
}

async function refused(expected: RegExp, ...args: string[]): Promise<void> {
  const { code, out, err } = await run(...args)
  assert.deepEqual([code, out], [1, ''], err)
  assert.match(err, expected)
  assert.match(err, /^[^\n]+\n$/)
}

let address = ''
async function send(token: string, method: string, path: string, body?: object) {
  const reply = await fetch(`${address}/rest/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: reply.status, body: (await reply.json()) as { data: Record<string, unknown> } }
}
const status = async (token: string) => (await send(token, 'GET', 'user/1')).status

/** Running processes see a command's changes within a second, and tests can't set their clock. */
const aSecond = () => delay(1100)

/** The token of account 1, and the service's output at its start. */
let [admin, service] = ['', begin(['--help'])]

test('before anything is there: what is missing is said; an account can be made without a start', async () => {
  await refused(isServer ? /has 0 of \d+ migrations/ : /^There is no database in /, 'account', 'list')
  await refused(isServer ? /has 0 of \d+ migrations/ : /^No service has /, 'tail')
  const [validation, migrated] = [await done('check'), await done('migrate')]
  assert.equal(validation.is_right, true)
  assert.ok(migrated.applied.length > 10)
  const who = ['--owner-name', 'Ann', '--owner-email']
  const { account, token } = await done('account', 'create', '--name', 'Acme', ...who, 'ann@example.com')
  assert.equal(account, 1)
  admin = token
})

test('a start where an account is already shows no token, and says how to make one', async () => {
  service = begin([])
  await eventually(() => {
    assert.equal(service.child.exitCode, null, service.told.err)
    return /Try {5}.*\n/.test(service.told.out)
  }, 'a start')
  address = /ready at (\S+)/.exec(service.told.out)![1]!
  assert.match(
    service.told.out,
    /Token {3}none is kept here; "(?:npx dealwright|node \S+) token create" makes one\n/,
  )
  assert.doesNotMatch(service.told.out, /dw_/)
  assert.equal(await status(admin), 200)
  if (!isServer) assert.equal(statSync(join(dataDir, 'service.sock')).mode & 0o777, 0o600)
})

test("an account's fields are printed as TypeScript, as they are", async () => {
  const { code, out } = await run('types')
  assert.equal(code, 0)
  assert.match(
    out,
    /export interface Schemas \{\n.*\n {2}deal_new: Schemas\['deal_input'\] & \{\n {4}title: string\n.*\}\n$/s,
  )
  assert.equal((await done('types')).types, out)
})

test('records are exported to a file or to standard output, as a list has them', async () => {
  for (const name of ['=Formula', 'Plain']) await send(admin, 'POST', 'tag', { name })
  const file = join(home, 'tags.jsonl')
  const options = ['--resource', 'tag', '--sort', 'name:asc']
  const told = await done('export', ...options, '-o', file)
  assert.deepEqual([told.records, told.bytes], [2, statSync(file).size])
  const { data } = (await send(admin, 'GET', 'tag/view/list?sort=name:asc')).body
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  assert.deepEqual(
    lines.map(line => JSON.parse(line)),
    data,
  )
  const { code, out } = await run('export', ...options, '--fields', 'name', '--filter', 'name:like(formula)')
  assert.equal(code, 0)
  assert.match(out, /^\ufeffid,name\r\n\d+,'=Formula\r\n$/)
  await refused(/tags\.jsonl exists already/, 'export', ...options, '-o', file)
  await refused(/no resource "tags"\. There are: deal, /, 'export', '--resource', 'tags')
  await refused(/no field "nme".*Did you mean "name"/, 'export', ...options, '--fields', 'nme')
  for (const { id } of data as unknown as { id: number }[]) await send(admin, 'DELETE', `tag/${id}`)
})

test('what happens is printed as it comes, in words or as JSON', async () => {
  const following = [begin(['tail', '--type', 'tag.created,tag.updated']), begin(['tail', '--json'])] as const
  const until = (index: 0 | 1, text: RegExp) =>
    eventually(() => {
      assert.equal(following[index].child.exitCode, null, following[index].told.err)
      return text.test(following[index].told.out)
    }, `${text}`)
  const made = await send(admin, 'POST', 'tag', { name: 'Followed \u001b[31m' })
  await until(0, /tag \d+ created/)
  const { id } = made.body.data
  await send(admin, 'PATCH', `tag/${id}`, { name: 'Followed' })
  await until(0, new RegExp(`#\\d+  tag ${id} updated, Ann by token .*: Name Followed .* → Followed\n`))
  await until(1, /tag\.updated/)
  assert.ok(!following[0].told.out.includes('\u001b'))
  const last = JSON.parse(following[1].told.out.trimEnd().split('\n').at(-1)!)
  assert.deepEqual([last.type, last.id], ['tag.updated', id])
  for (const { child, closed } of following) {
    child.kill('SIGTERM')
    await closed
    assert.equal(child.exitCode, 0)
  }
  await refused(/There is no resource "tags"/, 'tail', '--resource', 'tags')
})

const jo = ['--email', 'jo@example.com', '--name', 'Jo']

test('a colleague is invited; the link is shown once, and the user is made once', async () => {
  const { link, user, ...rest } = await done('user', 'invite', ...jo, '--role', 'read only')
  assert.match(link, /^dwl_1_[0-9A-Za-z]{43}_[0-9a-z]{7}$/)
  // A command beside a server does not know the port of a service.
  assert.equal(rest.url, isServer ? null : `${address}/sign-in#link=${link}`)
  assert.equal(Date.parse(rest.expires_at) > Date.now() + 6.9 * 86_400_000, true)
  const again = await run('user', 'invite', '--email', 'JO@example.com ')
  assert.match(again.err, /^Jo \(user \d+\) was there already\.\n/)
  assert.equal(again.err.includes('PUBLIC_URL'), isServer)
  const page = isServer ? '' : RegExp.escape(address)
  assert.match(again.out, new RegExp(`until \\S+Z:\\n${page}/sign-in#link=dwl_1_\\S+\\n$`))
  await refused(/has the role "Read only"/, 'user', 'invite', ...jo, '--role', 'Manager')
  await refused(/has the name "Jo"/, 'user', 'invite', '--email', 'jo@example.com', '--name', 'Joe')
  await refused(/"1" is no e-mail/, 'user', 'invite', '--email', '1', '--name', 'Ann')
  await refused(/There is no user x@example.com yet: --name/, 'user', 'invite', '--email', 'x@example.com')
  const reset = await done('user', 'reset', '--user', String(user))
  assert.deepEqual([reset.purpose, reset.link === link], ['reset', false])
  const password = 'four words that nobody knows'
  assert.equal((await send('', 'POST', 'session', { link, password })).status, 410)
  assert.equal((await send('', 'POST', 'session', { link: reset.link, password })).status, 201)
  // The service wrote the record, so reading it and writing it back work like any other.
  const { body } = await send(admin, 'GET', `user/${user}?expand=created_by`)
  assert.equal(body.data.created_by, 0)
  assert.equal((await send(admin, 'PUT', `user/${user}`, body.data)).status, 200)
  const found = await send(admin, 'GET', 'user/view/list?filter=created_by:eq(0)')
  assert.deepEqual([found.status, (found.body.data as unknown as object[]).length], [200, 1])
})

test('a token does what its scopes and the role allow, until it is revoked', async () => {
  const made = await run(
    'token',
    'create',
    '--user',
    'jo@example.com',
    '--name',
    'Script',
    '--scopes',
    'deal:read,deal:write',
  )
  const token = /^dw_1_\S+$/m.exec(made.out)![0]
  assert.match(made.err, /^The user's role "Read only" lacks deal:write: [^\n]+\n$/)
  assert.equal((await send(token, 'GET', 'deal/view/list')).status, 200)
  assert.equal((await send(token, 'POST', 'deal', { title: 'x' })).status, 403)
  const { tokens } = await done('token', 'list')
  const own = tokens.find((one: { name: string }) => one.name === 'Script')
  assert.deepEqual([own.scopes, own.email], [['deal:read', 'deal:write'], 'jo@example.com'])
  assert.deepEqual([own.agent, own.agent_used_at], [null, null])
  assert.ok(!JSON.stringify(tokens).includes(token))
  // One that an agent uses says so.
  await (await connectAgent({ url: address, token }, '2026-07-28', 'Claude')).use('describe')
  const [used] = (await done('token', 'list')).tokens.filter((one: { id: number }) => one.id === own.id)
  assert.equal(used.agent, 'Claude')
  assert.match(used.agent_used_at, /^\d{4}-\d\d-\d\dT[\d:]{8}Z$/)
  assert.match((await run('token', 'list')).out, /^ID .* AGENT\n(?:.*\n)*.* Script .* Claude\n/)
  assert.equal((await done('token', 'revoke', String(own.id))).id, own.id)
  await refused(/There is no token/, 'token', 'revoke', String(own.id))
  await aSecond()
  assert.equal((await send(token, 'GET', 'deal/view/list')).status, 401)
  await refused(
    /is "deal:wite", but there is no such scope. Did you mean "deal:write"\?/,
    'token',
    'create',
    '--user',
    '1',
    '--name',
    'x',
    '--scopes',
    'deal:wite',
  )
  const short = ['token', 'create', '--user', '1', '--name', 'x', '--scopes', 'admin', '--expires']
  assert.match((await done(...short, '1d')).expires_at, /^\d{4}-/)
  assert.equal((await done(...short, '2099-01-31')).expires_at, '2099-01-31T00:00:00Z')
  await refused(/expires_at/, ...short, 'soon')
  await refused(/did you mean 90d, in days\?/, ...short, '90')
  await refused(/by its id, a number/, 'token', 'revoke', 'abc')
  const endless = await run(...short.slice(0, -1))
  assert.match(endless.out, /^Token \d+ acts for .+ and never expires\. Shown once:\ndw_1_\S+\n$/)
  const near = /There is no user "jo@exmple.com" in account 1 "[^"]+"; did you mean "jo@example.com"\?/
  await refused(near, 'user', 'reset', '--user', 'jo@exmple.com')
})

test('whatever an account requires of users and tokens, the operator makes some', async () => {
  const decided: number[] = []
  for (const source of ['user', 'token']) {
    const field = { source, field_name: 'Badge', type: 'SINGLE_STRING', is_required: true }
    const made = await send(admin, 'POST', 'field', field)
    assert.equal(made.status, 201, JSON.stringify(made.body))
    decided.push(made.body.data.id as number)
  }
  const { fields } = (await send(admin, 'GET', 'field/list?source=token')).body.data as {
    fields: { id: number; internal_name: string }[][]
  }
  const name = fields.flat().find(field => field.internal_name === 'name')!.id
  const narrow = (max_length: number) => send(admin, 'PATCH', `field/${name}`, { config: { max_length } })
  assert.equal((await narrow(3)).status, 200)
  const long = ['--name', 'A long name']
  assert.match((await done('token', 'create', '--user', '1', ...long, '--scopes', 'deal:read')).token, /^dw_/)
  assert.match((await done('user', 'invite', '--email', 'al@example.com', '--name', 'Al')).link, /^dwl_/)
  // Every user sets their own locale; an administrator sends the required scope (D6).
  assert.equal((await send(admin, 'PATCH', 'me', { locale: 'de-DE' })).status, 200)
  assert.equal((await send(admin, 'PATCH', 'user/1', { name: 'Owner' })).status, 422)
  for (const id of decided) assert.equal((await send(admin, 'DELETE', `field/${id}`)).status, 200)
  assert.equal((await narrow(255)).status, 200)
})

test('what somebody else has written controls no terminal, and makes no lines of its own', async () => {
  const evil = 'evil\u001b[2J\u001b]0;pwn\u0007\nfake line\u009b2J\u202e'
  const harmless = 'evil [2J ]0;pwn  fake line 2J '
  const printed = (text: string) => {
    assert.ok(text.includes(harmless), text)
    assert.doesNotMatch(text, /(?!\n)\p{C}/u)
    assert.doesNotMatch(text, /^fake line/m)
  }
  // Account 1 may have a role and a user of such names, but not an e-mail.
  const role = await send(admin, 'POST', 'role', { name: evil, scopes: [] })
  assert.equal(role.status, 201)
  const body = { name: evil, email: 'evil@example.com', role: role.body.data.id }
  assert.equal((await send(admin, 'POST', 'user', body)).status, 201)
  const user = ['--user', 'evil@example.com']
  const made = await run('token', 'create', ...user, '--scopes', 'deal:read', '--name', evil)
  assert.equal(made.code, 0, made.err)
  printed(made.out)
  printed(made.err)
  assert.equal(made.out.split('\n').length, 3)
  printed((await run('token', 'list')).out)
  printed((await run('user', 'reset', ...user)).out)
  await refused(/has the name "evil \[2J/, 'user', 'invite', '--email', 'evil@example.com', '--name', 'x')
  printed((await run('user', 'invite', '--email', 'evil@example.com', '--name', 'x')).err)
  printed((await run('user', 'invite', '--email', 'evil@example.com')).err)
  // Output for programs has it unchanged.
  const { tokens } = await done('token', 'list')
  assert.ok(tokens.some(({ name }: { name: string }) => name === evil))
})

let second = ''

test('an account is deleted and brought back; the only one in use stays', async () => {
  await refused(/The only account in use stays/, 'account', 'delete', '--account', '1', '--yes')
  const who = ['--owner-name', 'Bob', '--owner-email', 'bob@example.com']
  await refused(/valid e-mail/, 'account', 'create', '--name', 'Third', ...who.slice(0, 3), 'bob')
  assert.deepEqual((await done('migrate')).applied, [])
  const [make, zone] = [
    ['account', 'create', '--name', 'Second', ...who],
    ['--time-zone', 'europe/paris'],
  ]
  await refused(/no time zone "Mars"/, ...make, '--time-zone', 'Mars')
  await refused(/no currency "ERU"/, ...make, '--base-currency', 'ERU')
  const { child, told: followed, closed } = begin(['tail'])
  await eventually(() => followed.out !== '', 'an event')
  second = (await done(...make, ...zone, '--base-currency', 'chf')).token
  await closed
  assert.equal(child.exitCode, 1)
  assert.match(followed.err, /^There are 2 accounts: say which/)
  const told = await fetch(`${address}/rest/api/v1/me`, { headers: { authorization: `Bearer ${second}` } })
  const { account } = ((await told.json()) as { data: { account: { [name: string]: unknown } } }).data
  assert.deepEqual([account.time_zone, account.base_currency], ['Europe/Paris', 756])
  assert.equal(await status(second), 200)
  await refused(/There are 2 accounts: say which \(--account; /, 'token', 'list')
  const unknown = /There is no account "Secnd"; did you mean "Second"\?/
  await refused(unknown, 'token', 'list', '--account', 'Secnd')
  assert.equal((await done('account', 'rename', '--account', 'second', '--name', 'Two')).name, 'Two')
  await refused(/was not deleted: repeat its name/, 'account', 'delete', '--account', '2', '--name', 'Second')
  const settings = ['account', 'settings', '--account', '2']
  await refused(/time_zone must be a time zone/, ...settings, '--time-zone', 'Mars')
  await refused(/EUR, which has no rate/, ...settings, '--base-currency', 'EUR')
  const changed = await done(...settings, '--time-zone', 'Asia/Tokyo', '--locale', 'ja-JP')
  assert.deepEqual([changed.time_zone, changed.locale, changed.name], ['Asia/Tokyo', 'ja-JP', 'Two'])
  assert.match((await run(...settings)).out, /^Time zone +Asia\/Tokyo$/m)
  const { kept_until } = await done('account', 'delete', '--account', '2', '--name', 'Two')
  assert.match(kept_until, /^\d{4}-\d\d-\d\d$/)
  await aSecond()
  assert.equal(await status(second), 401)
  assert.match((await run('account', 'list')).out, /^2 {3}Two {3}.*deleted, kept until/m)
  await refused(
    /Account 2 "Two" was deleted; "dealwright account restore"/,
    'token',
    'list',
    '--account',
    '2',
  )
  assert.equal((await done('account', 'restore')).account, 2)
  await refused(/No account is deleted/, 'account', 'restore')
  await aSecond()
  assert.equal(await status(second), 200)
})

test('an account can take its data along, without a hash and without those of others', async () => {
  assert.equal((await send(second, 'GET', 'inbox')).status, 200)
  assert.equal((await done('sample-data', '--account', '2')).account, 2)
  await refused(/has records or fields of its own/, 'sample-data', '--account', '2')
  const file = join(home, 'two.gz')
  const { rows } = await done('account', 'export', file, '--account', '2')
  await refused(/exists already/, 'account', 'export', file, '--account', '2')
  const lines = gunzipSync(readFileSync(file)).toString().trim().split('\n')
  const [first, ...rest] = lines.map(line => JSON.parse(line))
  assert.deepEqual(first.account, { id: 2, name: 'Two' })
  assert.equal(rest.length, rows + 1)
  const tables = new Map(Object.entries(rest.at(-1).rows))
  assert.deepEqual([tables.get('deal'), tables.get('account'), tables.get('user')], [300, 1, 6])
  assert.ok(!lines.some(line => /"hash"|ann@example\.com/.test(line)))
  assert.equal(statSync(file).mode & 0o777, 0o600)
})

test('after the service the commands go on, and check says what is wrong', async () => {
  service.child.kill('SIGTERM')
  await service.closed
  // A server that was slow once is no matter of the commands.
  assert.equal(service.told.err.replace(/^.*The database does not answer.*\n/gm, ''), '')
  assert.equal((await done('account', 'list')).accounts.length, 2)
  const made = await done(
    'token',
    'create',
    '--account',
    '1',
    '--user',
    '1',
    '--name',
    'Lost',
    '--scopes',
    'admin',
  )
  const db = await openDatabase({ ...(url ? { url } : { dataDir }), ...timeouts(), log: () => {} })
  try {
    const events = await db.query(
      `SELECT e.type FROM event e WHERE e.account_id = 1 AND e.actor = 0 AND e.record_id = $1::bigint`,
      [String(made.id)],
    )
    assert.deepEqual(events, [{ type: 'token.created' }])
    const links = await db.query(
      'SELECT purpose, (used_at IS NOT NULL)::text AS is_over FROM sign_in_link ORDER BY created_at',
    )
    assert.deepEqual(
      links.map(row => `${row.purpose} ${row.is_over}`),
      [
        ...['sign_in false', 'invitation true', 'invitation true', 'reset true', 'invitation false'],
        ...['reset true', 'invitation false'],
      ],
    )
    await db.query('UPDATE "user" SET is_active = 2 WHERE account_id = 2 AND id = 1')
  } finally {
    await db.close()
  }
  const { code, out } = await run('check')
  assert.equal(code, 1)
  assert.match(out, /^WRONG {2}accounts {3}nobody administers account 2$/m)
  assert.match(out, /^ok {5}schema/m)
})

test('commands write records as DATABASE_WRITES says', async () => {
  const act: Command['act'] = async db => ({ text: '', data: { isSo: db.hasOnlyTransactions } })
  const command: Command = { name: 'look', does: 'looks', options: [], isForAnySchema: true, act }
  const { signal } = new AbortController()
  for (const writes of ['statement', 'transaction']) {
    const config = readConfig({ ...env, DATABASE_WRITES: writes })
    const terminal = { config, now: new Date(), say: () => {}, print: () => {}, signal }
    const { data } = await onDatabase(command, {}, terminal)
    assert.equal(data.isSo, writes === 'transaction', writes)
  }
})

test('on a server, or without a service, no command leaves a lock or a socket in the way', () => {
  if (isServer) assert.ok(!existsSync(join(dataDir, 'pg')))
  else assert.ok(!existsSync(join(dataDir, 'service.sock')))
})
