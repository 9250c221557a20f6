/**
 * `dealwright import` (D80): a file becomes records, on a server or in a data directory that no process has
 * open.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openDatabase } from '../../src/db/open.ts'
import { readyUrl } from '../reliability/service-process.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase } from '../support/postgres.ts'
import { startProxy } from '../support/proxy.ts'

const isServer = process.env.TEST_ENGINE === 'postgres'
const url = isServer ? await createDatabase(process.env.TEST_DATABASE_URL!) : ''
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'dealwright-import-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const dealwright = (...args: string[]) =>
  run(process.execPath, ['bin/dealwright.js', ...args, '--json'], {
    env: { ...process.env, DATA_DIR: join(folder, 'data'), DATABASE_URL: url },
  }).then(
    ({ stdout }) => ({ code: 0, said: JSON.parse(stdout) }),
    error => ({ code: error.code as number, said: JSON.parse(error.stdout || '{}') }),
  )

await dealwright('migrate')
const owner = ['--owner-name', 'Ann', '--owner-email', 'ann@example.com']
const account = await dealwright('account', 'create', '--name', 'Shop', ...owner)

test('says what each column becomes, and stops where nobody has said it', async () => {
  const file = join(folder, 'contacts.csv')
  writeFileSync(file, 'First name,Last name,Cell,Old ID,Fax,AccountId\nJo,Doe,0170 123456,x1,030 1,0011A\n')
  const given = ['import', file, '--resource', 'contact', '--user', 'ann@example.com']
  for (const more of [[], ['--dry-run'], ['--leave-out', 'Fax']]) {
    const asked = await dealwright(...given, ...more)
    assert.deepEqual([asked.code, asked.said.state], [3, 'open'], JSON.stringify(asked))
    const states = asked.said.columns.map((one: { [member: string]: string | null }) => [
      ...[one.name, one.state, one.field],
    ])
    assert.deepEqual(states, [
      ['First name', 'mapped', 'first_name'],
      ['Last name', 'mapped', 'last_name'],
      ['Cell', 'mapped', 'phones.mobile'],
      ['Old ID', 'open', null],
      ['Fax', 'left_out', null],
      ['AccountId', 'left_out', null],
    ])
    assert.equal(asked.said.columns[3].reason, 'No field has this name.')
  }
  const done = await dealwright(...given, '--leave-out', 'Old ID', '--leave-out', 'Cell')
  assert.deepEqual([done.code, done.said.created], [0, 1], JSON.stringify(done))
  const cell = done.said.columns[2]
  assert.deepEqual([cell.state, cell.reason], ['left_out', null])
  assert.equal((await dealwright(...given, '--yes')).said.created, 1)
  const wrong = await dealwright(...given, '--leave-out', 'Nothing')
  assert.equal(wrong.code, 1)
  const map = join(folder, 'contacts.json')
  writeFileSync(map, JSON.stringify({ 'Last name': 'last_name', 'Old ID': null }))
  const mapped = await dealwright(...given, '--map', map)
  assert.deepEqual([mapped.code, mapped.said.created], [0, 1], JSON.stringify(mapped))
  const latin = join(folder, 'latin.csv')
  writeFileSync(latin, Buffer.from('Last name|Job title\nM\xfcller|Chef\n', 'latin1'))
  const how = ['--encoding', 'windows-1252', '--delimiter', '|']
  const read = await dealwright('import', latin, ...given.slice(2), ...how)
  assert.deepEqual([read.code, read.said.created], [0, 1], JSON.stringify(read))
})

test('tries a file, imports it by a map, and writes the refused rows', async () => {
  const file = join(folder, 'products.csv')
  writeFileSync(file, 'Item,No,Stock\nLadder,L1,3\nSaw,S1,many\nNail,N1,500\n')
  const map = join(folder, 'map.json')
  writeFileSync(map, JSON.stringify({ Item: 'name', No: 'product_code', Stock: 'quantity_in_stock' }))
  const given = ['import', file, '--resource', 'product', '--user', 'ann@example.com', '--map', map]
  const tried = await dealwright(...given, '--dry-run')
  assert.deepEqual([tried.code, tried.said.created, tried.said.refused], [1, 2, 1], JSON.stringify(tried))
  const errors = join(folder, 'errors.csv')
  const done = await dealwright(...given, '--errors', errors)
  assert.deepEqual([done.code, done.said.created, done.said.refused], [1, 2, 1], JSON.stringify(done))
  assert.match(readFileSync(errors, 'utf8'), /^\ufeffItem,No,Stock,line,problems\r\nSaw,S1,many,3,/)
  // An existing file is detected before anything is imported.
  const again = await dealwright(...given, '--errors', errors)
  assert.deepEqual([again.code, again.said.created], [1, undefined], JSON.stringify(again))
  const exported = join(folder, 'products.jsonl')
  await dealwright('export', '--resource', 'product', '-o', exported)
  assert.equal(readFileSync(exported, 'utf8').trim().split('\n').length, 2)
  // A map may have any members of a plan.
  writeFileSync(map, JSON.stringify({ formats: { decimal: ',' }, confirm: true }))
  const formats = await dealwright(...given, '--dry-run')
  assert.equal(formats.said.rows, 3, JSON.stringify(formats))
  // Programs get the reason why a job ended, too.
  const scripted = ['--email', 'script@example.com', '--name', 'Script', '--role', 'Read only']
  await dealwright('user', 'invite', ...scripted)
  const barred = await dealwright(...given.slice(0, 4), '--user', 'script@example.com', '--yes')
  assert.deepEqual([barred.code, barred.said.state], [1, 'failed'])
  assert.match(barred.said.error, /product:write/)
  const other = await dealwright(...given.slice(0, 4), '--user', 'nobody@example.com')
  assert.notEqual(other.code, 0)
})

test('a file for the refused rows that can not be made is said before anything is imported', async () => {
  const file = join(folder, 'planks.csv')
  writeFileSync(file, 'name,quantity_in_stock\nPlank,1\nBeam,many\n')
  const given = ['import', file, '--resource', 'product', '--user', 'ann@example.com', '--yes', '--errors']
  // No system makes a file in the place of a folder, whoever asks.
  assert.equal((await dealwright(...given, `${folder}/`)).code, 1)
  const errors = join(folder, `${'x'.repeat(300)}.csv`)
  assert.equal((await dealwright(...given, errors)).code, 1)
  const exported = join(folder, 'planks.jsonl')
  await dealwright('export', '--resource', 'product', '--filter', 'name:eq(Plank)', '-o', exported)
  assert.equal(readFileSync(exported, 'utf8'), '')
  const sound = join(folder, 'planks-errors.csv')
  assert.equal((await dealwright(...given, sound)).said.created, 1)
  assert.equal(statSync(sound).mode & 0o777, 0o600)
})

test('a column whose name has a line break can be left out', async () => {
  const file = join(folder, 'breaks.csv')
  writeFileSync(file, 'name,"Old\nID"\nRope,x\n')
  const given = ['import', file, '--resource', 'product', '--user', 'ann@example.com']
  const done = await dealwright(...given, '--leave-out', 'Old\nID')
  assert.deepEqual([done.code, done.said.created], [0, 1], JSON.stringify(done))
})

const env = { ...process.env, DATA_DIR: join(folder, 'data'), DATABASE_URL: url, PORT: '0' }

/** The arguments for a file of so many products. */
function manyProducts(rows: number): string[] {
  const file = join(folder, 'many.csv')
  writeFileSync(file, `name\n${Array.from({ length: rows }, (_, row) => `Many ${row}`).join('\n')}\n`)
  return [file, '--resource', 'product', '--user', 'ann@example.com']
}

/** Begins an import; `over` is its output. */
function begin(given: readonly string[], databaseUrl = url) {
  const program = ['bin/dealwright.js', 'import', ...given, '--yes']
  const child = spawn(process.execPath, program, { env: { ...env, DATABASE_URL: databaseUrl } })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', text => (said += text))
  return { child, over: once(child, 'close').then(() => said) }
}

async function startService() {
  const service = spawn(process.execPath, ['bin/dealwright.js'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const url = await readyUrl(service)
  /** Asked of the service: it takes milliseconds, and a command seconds, in which an import may end. */
  const products = async (): Promise<number> => {
    const path = `${url}/rest/api/v1/product/view/list?pageSize=1&count=exact`
    const reply = await fetch(path, { headers: { authorization: `Bearer ${account.said.token}` } })
    const { meta } = (await reply.json()) as { meta: { total: number } }
    return meta.total
  }
  const end = async () => {
    const ended = service.exitCode === null ? once(service, 'close') : null
    service.kill('SIGTERM')
    await ended
  }
  return { products, end }
}

async function count(): Promise<number> {
  const out = join(folder, 'many-exported.jsonl')
  rmSync(out, { force: true })
  await dealwright('export', '--resource', 'product', '--fields', 'id', '-o', out)
  return readFileSync(out, 'utf8').trim().split('\n').length
}

test('an import that is stopped ends, with or without a service, and what it imported is said to stay', async () => {
  const rows = 60_000
  const given = manyProducts(rows)
  /** Stops an import as soon as `isTime`; returns its output, and true if that was after its end. */
  const stopped = async (isTime: () => Promise<unknown>) => {
    const before = await count()
    const { child, over } = begin(given)
    await isTime()
    child.kill('SIGINT')
    const told = await over
    const isLate = child.exitCode === 0
    // Before the command listens for signals, the signal itself ends it.
    assert.ok(isLate || child.exitCode === 1 || child.signalCode === 'SIGINT', `${child.exitCode} ${told}`)
    const after = await count()
    await delay(1000)
    assert.equal(await count(), after)
    assert.equal(after - before === rows, isLate, String(after))
    return { told, isLate }
  }
  // Nobody sees from outside when it has begun: it is stopped later each time until it had, and earlier if it
  // was over.
  let ending = ''
  for (let waitMs = 1500, late = 0; !ending.startsWith('The import ended'); ) {
    const { told, isLate } = await stopped(() => delay(waitMs))
    if (isLate) assert.ok(++late < 4, told)
    waitMs *= isLate ? 0.8 : 1.5
    ending = told.split('\n').find(line => line.startsWith('The import')) ?? ''
    if (ending)
      assert.match(ending, /^The import ended: it was cancelled after .* rows: .* The job is \d+\.$/)
  }
  if (isServer) return
  const service = await startService()
  try {
    const begun = await service.products()
    const isBegun = async () => (await service.products()) > begun
    const { told } = await stopped(() => eventually(isBegun, 'a first row'))
    assert.equal(told, 'Stopped; what it had done by then stays.\n')
    // A map may be long.
    const map = join(folder, 'long.json')
    const values = Object.fromEntries(Array.from({ length: 4000 }, (_, row) => [`a text ${row}`, null]))
    writeFileSync(map, JSON.stringify({ values: { category: values } }))
    const tried = await dealwright('import', ...given, '--map', map, '--dry-run')
    assert.equal(tried.said.rows, rows, JSON.stringify(tried))
  } finally {
    await service.end()
  }
})

test('an import outlasts a database that is away', { skip: !isServer }, async () => {
  const db = await openDatabase({ url, log() {} })
  const proxy = await startProxy(url)
  try {
    const { child, over } = begin(manyProducts(20_000), proxy.url)
    const isRunning = "SELECT 1 FROM job WHERE state = 'running' AND done > 0"
    await eventually(async () => (await db.query(isRunning)).length, 'rows of the import')
    proxy.cut()
    await delay(1000)
    proxy.heal()
    assert.match(await over, /^Imported 20 000 rows: 20 000 created/m)
    assert.equal(child.exitCode, 0)
  } finally {
    await proxy.close()
    await db.close()
  }
})

test('an import whose service ends is said to go on with the next start', { skip: isServer }, async () => {
  const service = await startService()
  try {
    const before = await service.products()
    const { child, over } = begin(manyProducts(60_000))
    await eventually(async () => (await service.products()) > before, 'a first row')
    await service.end()
    assert.match(await over, /The import is not over: .* see GET \/import\/\d+\.$/m)
    assert.equal(child.exitCode, 1)
  } finally {
    await service.end()
  }
})
