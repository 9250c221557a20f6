/**
 * Backups: the same rows on every engine, consistent during writes, all or nothing when restored. Brings its
 * own engines.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { after, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { firstStart } from '../../src/accounts/first-start.ts'
import { createSample } from '../../src/accounts/sample/sample.ts'
import { backup, restore } from '../../src/backup/command.ts'
import { dump } from '../../src/backup/dump.ts'
import type { DatabaseLocation } from '../../src/backup/source.ts'
import { acquireLock } from '../../src/db/embedded/lock.ts'
import { migrate, migrateWithin, readMigrations } from '../../src/db/migrate.ts'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase, startPostgres } from '../support/postgres.ts'
import { keepDaysSteady } from '../support/steady-days.ts'
import { timeouts } from '../support/timeouts.ts'

const home = mkdtempSync(join(tmpdir(), 'dealwright-backup-'))
const server = await startPostgres(true)
const children = new Set<ChildProcess>()
after(async () => {
  for (const child of children) child.kill('SIGKILL')
  await server?.stop()
  rmSync(home, { recursive: true, force: true })
})

const token = 'backup-test-token-backup-test-token'
const log = () => {}
const noProgress = { show() {}, clear() {} }
const embedded = (name: string): DatabaseLocation => ({ databaseUrl: null, dataDir: join(home, name) })
const onServer = async (): Promise<DatabaseLocation> => ({
  databaseUrl: await createDatabase(server!.url),
  dataDir: join(home, 'none'),
})
const fileNamed = (name: string) => join(home, `${name}.gz`)
const options = (location: DatabaseLocation, file: string) => ({
  location,
  file,
  now: new Date(),
  progress: noProgress,
  log,
  signal: new AbortController().signal,
})
const save = async (location: DatabaseLocation, name: string) =>
  (await backup(options(location, fileNamed(name)))).text
const bring = (location: DatabaseLocation, name: string) => restore(options(location, fileNamed(name)))

let restored: DatabaseLocation | undefined
/** A database with the rows of `first`, made as quickly as possible: on the server if there is one. */
async function another(name: string): Promise<DatabaseLocation> {
  if (!server) return anotherEmbedded(name)
  if (!restored) {
    restored = await onServer()
    await bring(restored, 'first')
  }
  const template = new URL(restored.databaseUrl!).pathname.slice(1)
  return { ...restored, databaseUrl: await createDatabase(server.url, `TEMPLATE ${template}`) }
}
function anotherEmbedded(name: string): DatabaseLocation {
  const location = embedded(name)
  cpSync(source.dataDir, location.dataDir, { recursive: true })
  return location
}

async function withDatabase<T>(
  { databaseUrl, dataDir }: DatabaseLocation,
  act: (db: Database) => Promise<T>,
): Promise<T> {
  const target = databaseUrl ? { url: databaseUrl } : { dataDir }
  const db = await openDatabase({ ...target, ...timeouts(120_000), log })
  return act(db).finally(() => db.close())
}

/** Every table with its row count and a checksum-like text of its rows, in one order. */
function contents(location: DatabaseLocation): Promise<Record<string, string>> {
  return withDatabase(location, async db => {
    const tables = await db.query(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
    )
    const found: Record<string, string> = {}
    for (const { name } of tables) {
      const [row] =
        await db.query(`SELECT count(*) || ' ' || coalesce(md5(string_agg(r, E'\\n' ORDER BY r COLLATE "C")), '') AS text
        FROM (SELECT (to_jsonb(t) - 'applied_at')::text AS r FROM "${name}" t) x`)
      found[name!] = row!.text!
    }
    // Numbers beyond JSON's range, and indexes.
    const [more] =
      await db.query(`SELECT (SELECT md5(string_agg(id || ' ' || deal_value_value || ' ' || created_at::text, ',' ORDER BY id)) FROM deal) AS deals,
      (SELECT md5(string_agg(indexdef, ',' ORDER BY indexdef COLLATE "C")) FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT LIKE 'custom_%') AS indexes,
      (SELECT string_agg(c.relname || a.attnum || ':' || a.attstattarget, ',' ORDER BY c.relname COLLATE "C", a.attnum) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attstattarget > 0 AND a.attnum > 0) AS statistics`)
    return { ...found, ...(more as Record<string, string>) }
  })
}

function assertNoTables(location: DatabaseLocation): Promise<void> {
  return withDatabase(location, async db => {
    const [row] = await db.query("SELECT count(*) AS n FROM pg_tables WHERE schemaname = 'public'")
    assert.equal(row!.n, '0')
  })
}

type Running = { readonly url: string; stop(): Promise<void> }

/** The service as a process of its own. */
async function startChild({ databaseUrl, dataDir }: DatabaseLocation): Promise<Running> {
  const env = {
    PORT: '0',
    DATA_DIR: dataDir,
    DEALWRIGHT_TOKEN: token,
    SAMPLE_DATA: '1',
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
  }
  const child = spawn(process.execPath, ['bin/dealwright.js'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  const gone = new Promise<void>(resolve => child.on('exit', () => resolve()))
  for await (const line of createInterface({ input: child.stdout! })) {
    const url = /ready at (\S+)/.exec(line)?.[1]
    if (!url) continue
    child.stdout!.resume()
    return {
      url,
      async stop() {
        child.kill('SIGTERM')
        await gone
      },
    }
  }
  throw new Error('the service ended before it was ready')
}

const send = (url: string, method: string, path: string, body?: object) =>
  fetch(`${url}/rest/api/v1/deal${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })

async function listOf(location: DatabaseLocation): Promise<string> {
  const service = await startChild(location)
  const reply = await send(service.url, 'GET', '/view/list?pageSize=100&sort=created_at:asc')
  assert.equal(reply.status, 200)
  // The cursor contains the time of the first page.
  const text = (await reply.text()).replace(/"nextCursor":"[^"]*"/, '')
  await service.stop()
  return text
}

/** Runs the command line; `location` is the database. `megabytes` is its peak memory. */
async function command(args: readonly string[], location?: DatabaseLocation) {
  const env = {
    ...process.env,
    DATA_DIR: location?.dataDir ?? join(home, 'none'),
    ...(location?.databaseUrl && { DATABASE_URL: location.databaseUrl }),
  }
  const atExit =
    'data:text/javascript,import fs from "node:fs";process.on("exit",()=>fs.writeSync(3,String(process.resourceUsage().maxRSS)))'
  const child = spawn(process.execPath, ['--import', atExit, 'bin/dealwright.js', ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  children.add(child)
  const said = ['', '', '']
  for (const [index, stream] of child.stdio.slice(1).entries())
    (stream as Readable).setEncoding('utf8').on('data', text => (said[index] += text))
  const code = await new Promise(resolve => child.on('close', resolve))
  return { code, out: said[0]!, err: said[1]!, megabytes: Number(said[2]) / 1024 }
}

const source = embedded('source')
await withDatabase(source, async db => {
  await migrate(db)
  await firstStart(db, { now: new Date(), sampleData: true, presetToken: token, createSample })
  await keepDaysSteady(db)
  const awkward = JSON.stringify({
    cf_odd: 'a"b\\c\nd\te,{f}\u2028NULL ä 😀',
    empty: '',
    huge: 'x'.repeat(3_000_000),
  })
  await db.query(
    `UPDATE deal SET custom = $1::jsonb, description = E'\\\\N "NULL" {}\\n', deal_value_value = 12345678901234567890.123456789
    WHERE id = (SELECT max(id) FROM deal)`,
    [awkward],
  )
  await db.query("UPDATE deal SET description = '' WHERE id = (SELECT min(id) FROM deal)")
})

describe('moved', () => {
  test('from embedded to a server and back, every row is the same, and so is what the service answers', async context => {
    assert.match(
      await save(source, 'first'),
      /^Backed up 18 tables, 1 203 rows to .*first\.gz \(.* MB|kB, [\d.]+ s\)\.$/,
    )
    assert.equal(statSync(fileNamed('first')).mode & 0o777, 0o600)
    const before = await contents(source)
    const there = server ? await onServer() : embedded('there')
    await bring(there, 'first')
    assert.deepEqual(await contents(there), before)
    await save(there, 'second')
    const back = embedded('back')
    await bring(back, 'second')
    assert.deepEqual(await contents(back), before)
    const list = await listOf(source)
    for (const location of [there, back]) {
      const answered = await listOf(location)
      // Not as one text: the message of a difference would have half a million characters.
      assert.deepEqual(
        answered
          .match(/.{1,500}/gs)!
          .find((part, index) => part !== list.slice(index * 500, index * 500 + 500)),
        undefined,
      )
      assert.equal(answered.length, list.length)
    }
    if (!server) context.diagnostic('PostgreSQL is not installed here')
  })

  test('a backup of an older schema is brought up to date', async () => {
    const old = embedded('old')
    const some = join(home, 'migrations')
    mkdirSync(some)
    const files = readdirSync('src/db/migrations').sort().slice(0, 2)
    for (const file of files) copyFileSync(join('src/db/migrations', file), join(some, file))
    await withDatabase(old, async db => {
      await migrate(db, { directory: some })
      await db.query("INSERT INTO account VALUES (1, 'Old', 'UTC', 840, 1, now())")
      await db.query(
        "INSERT INTO tag (account_id, id, name, created_at, updated_at) VALUES (1, 7, 'Kept', now(), now())",
      )
    })
    await save(old, 'old')
    const location = embedded('from-old')
    await bring(location, 'old')
    await withDatabase(location, async db => {
      assert.deepEqual(
        { ...(await migrate(db)) },
        { applied: [], version: readdirSync('src/db/migrations').length },
      )
      const [row] = await db.query('SELECT name, document FROM tag WHERE id = 7')
      assert.equal(row!.name, 'Kept')
      assert.match(row!.document!, /"name" : "Kept"/)
    })
  })

  test('a backup with names that were two there and are one here (D126) comes with the later one marked', async () => {
    const old = embedded('two-names')
    const folding = readMigrations().findIndex(({ name }) => name === 'one-folding')
    await withDatabase(old, async db => {
      await db.sql.begin(tx => migrateWithin(tx, folding))
      await db.query("INSERT INTO account VALUES (1, 'Old', 'UTC', 840, 1, now())")
      await db.query('INSERT INTO counter VALUES (1, 2, 0)')
      await db.query(
        'INSERT INTO tag (account_id, id, name, created_at, updated_at, document) VALUES (1, 1, \'Ⓐ\', now(), now(), \'"name":"Ⓐ"\'), (1, 2, \'ⓐ\', now(), now(), \'"name":"ⓐ"\')',
      )
    })
    await save(old, 'two-names')
    // A server knows letters that the engine's own lower() does not.
    const location = server ? await onServer() : embedded('one-name')
    await bring(location, 'two-names')
    const names = await withDatabase(location, db => db.query('SELECT name, document FROM tag ORDER BY id'))
    assert.deepEqual(
      names.map(row => ({ ...row })),
      [
        { name: 'Ⓐ', document: '"name":"Ⓐ"' },
        { name: 'ⓐ (2)', document: '"name":"ⓐ (2)"' },
      ],
    )
  })
})

describe('while others write', () => {
  test('on the running embedded service', async () => {
    const location = anotherEmbedded('busy')
    await backUpBusy(location, 'busy')
    assert.deepEqual(readdirSync(location.dataDir).sort(), ['lock', 'pg'])
  })
  test('on PostgreSQL', { skip: !server && 'no PostgreSQL here' }, async () => {
    await backUpBusy(await another('busy-server'), 'busy-server')
  })
})

describe('rows of many megabytes', () => {
  /** A number of seven characters that is printed with ten thousand digits. */
  const grow = (location: DatabaseLocation, numbers: number, deals: number) =>
    withDatabase(location, db =>
      db.query(
        `UPDATE deal SET metadata = $1::jsonb WHERE id IN (SELECT id FROM deal ORDER BY id LIMIT ${deals})`,
        [`{"n":[${Array(numbers).fill('1e9999').join()}]}`],
      ),
    )

  test('are never in memory together, and come back', async () => {
    const location = await another('large')
    await grow(location, 500, 5)
    await save(location, 'some')
    const back = embedded('some-back')
    await bring(back, 'some')
    assert.deepEqual(await contents(back), await contents(location))
    // Buffers of rows that were written are freed late where the machine is busy: so a few come first, and
    // of three backups the smallest counts.
    await grow(location, 500, 30)
    const { megabytes: few } = await command(['backup', fileNamed('few')], location)
    await grow(location, 500, 90)
    let megabytes = Number.POSITIVE_INFINITY
    for (let run = 1; run <= 3 && megabytes - few >= 150; run++) {
      const backup = await command(['backup', fileNamed(`large-${run}`)], location)
      assert.equal(backup.code, 0)
      megabytes = Math.min(megabytes, backup.megabytes)
    }
    assert.ok(megabytes - few < 150, `for 150 MB of rows ${few} MB, and for 450 MB ${megabytes}`)
  })

  test('or more than any restore takes: no backup, and one line that says which', async () => {
    const location = await another('too-large')
    await grow(location, 14_000, 1)
    await assert.rejects(save(location, 'too-large'), {
      name: 'BackupError',
      message:
        /^A row of deal is too long for a backup \(\d+ bytes of at most 134217728, ctid \(\d+,\d+\)\): make its values shorter, [^\n]*\.$/,
    })
    assert.ok(!readdirSync(home).some(name => name.startsWith('too-large.')))
  })
})

test('a long row of a distributed database is read from its own account: in another shard, another has its place', async () => {
  const text = await withDatabase(await another('shards'), async db => {
    // Shards of Citus, as PostgreSQL has them: two tables that are read as one.
    await db.sql.query('CREATE TABLE note (account_id bigint NOT NULL, text text NOT NULL)')
    await db.sql.query(
      "INSERT INTO account (account_id, name, base_currency, created_at) VALUES (2, 'Two', 1, now())",
    )
    await db.sql.query('CREATE SCHEMA shards')
    for (const account of [1, 2]) {
      await db.sql.query(`CREATE TABLE shards.note_${account} () INHERITS (note)`)
      await db.sql.query(
        `INSERT INTO shards.note_${account} VALUES (${account}, repeat('${account}', 40000))`,
      )
    }
    const about = { now: new Date(), serviceVersion: '1.0.0', onRows() {}, say() {} }
    const chunks: Uint8Array[] = []
    await dump({ ...db, isDistributed: true }, about, async content => {
      for await (const chunk of content) chunks.push(chunk)
    })
    return Buffer.concat(chunks).toString()
  })
  const notes = text.match(/^\["[12]","([12])\1{39999}"\]$/gm) ?? []
  assert.deepEqual(
    notes.map(line => line.slice(0, 8)),
    ['["1","11', '["2","22'],
  )
})

async function backUpBusy(location: DatabaseLocation, name: string): Promise<void> {
  const service = await startChild(location)
  const acknowledged = new Map<number, number>()
  let isOver = false
  const write = async (writer: number) => {
    for (let count = 0; !isOver; count++) {
      const body = {
        title: `w${writer}n${count}`,
        pipeline: 2,
        pipeline_stage: 3,
        primary_contact: 68,
        sales_owner: 1,
      }
      const reply = await send(service.url, 'POST', '', body)
      // On a slow machine a write can wait for the copy longer than its limit. Then it may fail.
      if (reply.status === 503) continue
      assert.equal(reply.status, 201)
      const { id } = ((await reply.json()) as { data: { id: number } }).data
      acknowledged.set(id, 1)
      const changed = await send(service.url, 'PATCH', `/${id}`, { description: 'changed' })
      if (changed.status === 503) continue
      assert.equal(changed.status, 200)
      acknowledged.set(id, 2)
    }
  }
  const writing = Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(write))
  await eventually(() => acknowledged.size >= 50, 'fifty writes')
  const promised = new Map(acknowledged)
  const { code, err } = await command(['backup', fileNamed(name)], location)
  const atEnd = acknowledged.size
  await eventually(() => acknowledged.size >= atEnd + 20, 'twenty more writes')
  isOver = true
  await writing
  await service.stop()
  assert.deepEqual({ code, err }, { code: 0, err: '' })
  assert.ok(atEnd > promised.size, 'nothing was written meanwhile')

  const copy = embedded(`${name}-copy`)
  await bring(copy, name)
  await withDatabase(copy, async db => {
    const rows = await db.query(`SELECT d.id::text AS id, d.title, d.version::text AS version,
      (SELECT count(*) FROM event e WHERE e.account_id = d.account_id AND e.resource = 'deal' AND e.record_id = d.id)::text AS events
      FROM deal d WHERE d.account_id = 1 AND d.title ~ '^w[0-9]+n'`)
    const versions = new Map(rows.map(row => [Number(row.id), Number(row.version)]))
    for (const [id, version] of promised)
      assert.ok(versions.get(id)! >= version, `deal ${id} is not as it was acknowledged`)
    for (const row of rows) assert.equal(row.events, row.version, row.title!)
    const [counts] = await db.query(
      'SELECT count(*)::text AS n, max(seq)::text AS last, (SELECT last_seq::text FROM counter WHERE account_id = 1) AS counter FROM event WHERE account_id = 1',
    )
    assert.equal(counts!.n, counts!.last)
    assert.equal(counts!.last, counts!.counter)
  })
}

describe('refused, with nothing left behind', () => {
  const places = async () => [embedded('refused'), ...(server ? [await onServer()] : [])]
  const refuse = async (name: string, message: RegExp) => {
    for (const location of await places()) {
      await assert.rejects(bring(location, name), { name: 'BackupError', message })
      if (!location.databaseUrl) assert.ok(!existsSync(location.dataDir))
      else await assertNoTables(location)
    }
  }
  const made = (name: string, bytes: Uint8Array) => writeFileSync(fileNamed(name), bytes)
  const text = () => gunzipSync(readFileSync(fileNamed('first'))).toString()

  test('a file that was cut short, at any place', async () => {
    const whole = readFileSync(fileNamed('first'))
    for (const part of [0.999, 0.5, 0.01]) {
      made('cut', whole.subarray(0, Math.floor(whole.length * part)))
      await refuse('cut', /damaged or cut short/)
    }
    const lines = text().trimEnd().split('\n')
    made('cut', gzipSync(lines.slice(0, -1).join('\n') + '\n'))
    await refuse('cut', /its end is missing/)
    made('cut', gzipSync([...lines.slice(0, -2), lines.at(-1)].join('\n') + '\n'))
    await refuse('cut', /checksum differs/)
    made('cut', new Uint8Array())
    await refuse('cut', /not a backup|cut short/)
  })

  test('a flipped byte, compressed or not', async () => {
    const bytes = readFileSync(fileNamed('first'))
    const at = Math.floor(bytes.length / 2)
    bytes[at] = bytes[at]! ^ 1
    made('flipped', bytes)
    await refuse('flipped', /damaged or cut short/)
    made('flipped', gzipSync(text().replace('"Kept"', '"kept"').replace('"Default"', '"Defaulu"')))
    await refuse('flipped', /checksum differs/)
  })

  test('another file', async () => {
    made('other', Buffer.from('a letter to the editor'))
    await refuse('other', /is not a backup/)
    made('other', gzipSync('{"a":1}\n[1]\n'))
    await refuse('other', /is not a backup/)
    made('other', gzipSync(text().replace('"format_version":1', '"format_version":2')))
    await refuse('other', /format 2/)
    await refuse('missing', /There is no file/)
  })

  test('a backup of a newer service, or of another program', async () => {
    const [header, ...rest] = text().split('\n')
    const parsed = JSON.parse(header!) as {
      migrations: { version: number; name: string; checksum: string }[]
    }
    const later = {
      ...parsed,
      migrations: [
        ...parsed.migrations,
        { version: 1 + parsed.migrations.length, name: 'later', checksum: 'x' },
      ],
    }
    made('newer', gzipSync([JSON.stringify(later), ...rest].join('\n')))
    await refuse('newer', /newer service/)
    const edited = {
      ...parsed,
      migrations: parsed.migrations.map(migration => ({ ...migration, checksum: 'x' })),
    }
    made('newer', gzipSync([JSON.stringify(edited), ...rest].join('\n')))
    await refuse('newer', /another program/)
  })

  /**
   * A forged file with a valid checksum: `change` edits a backup's lines; the last, its counts, is
   * recomputed.
   */
  const forged = (name: string, change: (lines: (string | Buffer)[]) => unknown) => {
    const lines: (string | Buffer)[] = text().trimEnd().split('\n')
    const counts = JSON.parse(String(lines.pop())) as { rows: { [table: string]: number } }
    change(lines)
    let table = ''
    const rows: { [table: string]: number } = {}
    for (const line of lines.slice(1).map(String)) {
      if (line.startsWith('{"table"')) {
        table = (JSON.parse(line) as { table: string }).table
        rows[table] = 0
      } else rows[table]!++
    }
    const bytes = Buffer.concat(lines.flatMap(line => [Buffer.from(line), Buffer.from('\n')]))
    const end = { ...counts, rows, sha256: createHash('sha256').update(bytes).digest('hex') }
    made(name, gzipSync(Buffer.concat([bytes, Buffer.from(`${JSON.stringify(end)}\n`)])))
  }
  type Header = {
    migrations: object[]
    tables: { name: string; columns: string[] }[]
    [member: string]: unknown
  }
  const withHeader = (change: (header: Header) => unknown) => (lines: (string | Buffer)[]) => {
    const header = JSON.parse(String(lines[0])) as Header
    change(header)
    lines[0] = JSON.stringify(header)
  }
  /** The account is the first table, and its only row the third line. */
  const withAccount = (change: (row: unknown[]) => unknown) => (lines: (string | Buffer)[]) => {
    const row = JSON.parse(String(lines[2])) as unknown[]
    lines[2] = JSON.stringify(change(row) ?? row)
  }

  test('a file that was made up: one line that says what is wrong and what to do', async () => {
    const other = / is not a backup made by "dealwright backup"; name one that is\.$/
    const harmed = (how: string) =>
      new RegExp(`^The backup is damaged or cut short \\(${how}\\); nothing was restored\\. Use another copy`)
    const [firstLine, row] = [
      harmed('its first line is not as a backup writes it'),
      harmed('it has a row that is not a row of account'),
    ]
    const cases: [what: string, change: (lines: (string | Buffer)[]) => unknown, message: RegExp][] = [
      ['a first line that is no JSON', lines => lines.splice(0, 1, '{"format'), other],
      ['no migrations', withHeader(header => Object.assign(header, { migrations: [] })), firstLine],
      ['no tables', withHeader(header => Object.assign(header, { tables: [] })), firstLine],
      [
        'migrations that are none',
        withHeader(header => Object.assign(header, { migrations: [1] })),
        firstLine,
      ],
      [
        'lines within a line',
        withHeader(header => Object.assign(header, { made_at: 'now\nThen it says more' })),
        firstLine,
      ],
      [
        'a name that is SQL',
        withHeader(({ tables }) => Object.assign(tables[0]!, { name: 'account" CASCADE; --' })),
        firstLine,
      ],
      ['a column twice', withHeader(({ tables }) => tables[0]!.columns.push('name')), firstLine],
      [
        'a line that is no JSON',
        lines => lines.splice(2, 0, 'nothing'),
        harmed('it has a line that does not belong in a backup'),
      ],
      [
        'a table that is not told',
        lines => lines.push('{"table":"more"}'),
        harmed('it has an unexpected table'),
      ],
      ['a number in a row', withAccount(values => [1, ...values.slice(1)]), row],
      ['a list in a row', withAccount(values => [[], ...values.slice(1)]), row],
      ['a value too few', withAccount(values => values.slice(1)), row],
      ['a value too many', withAccount(values => [...values, null]), row],
      ['a row that never ends', lines => lines.splice(2, 1, `["${'\\"'.repeat(100)}`), row],
      ['bytes that are no text', lines => lines.splice(2, 1, Buffer.from('5b22ff225d', 'hex')), row],
    ]
    for (const [what, change, message] of cases) {
      forged('forged', change)
      const location = server ? await onServer() : embedded('made-up')
      const error = await bring(location, 'forged').catch(error => error)
      assert.equal(error.name, 'BackupError', `${what}: ${error.stack ?? error}`)
      assert.match(error.message, message, what)
      assert.ok(!error.message.includes('\n'), what)
    }
  })

  test('what fits no database: the place in the file and the reason, and nothing is half restored', async () => {
    const nowhere =
      /^The backup does not fit the schema of its own version \(nothing, account\.nothing\): [^\n]* make another backup\.$/
    const unfit = (where: string) =>
      new RegExp(`^The backup does not fit: ${where}; nothing was restored\\. Use another one\\.$`)
    const cases: [what: string, change: (lines: (string | Buffer)[]) => unknown, message: RegExp][] = [
      [
        'a table and a column that nobody knows',
        lines => {
          withHeader(({ tables }) => {
            tables[0]!.columns.push('nothing')
            tables.unshift({ name: 'nothing', columns: ['id'] })
          })(lines)
          withAccount(values => [...values, null])(lines)
          lines.splice(1, 0, '{"table":"nothing"}')
        },
        nowhere,
      ],
      ['no number', withAccount(values => ['one', ...values.slice(1)]), unfit('account, line 3 \\(22P02\\)')],
      [
        'a null byte',
        withAccount(values => values.map(value => (value === 'Default' ? '\0' : value))),
        unfit('account, line 3 \\(22021\\)'),
      ],
      [
        'nobody to belong to',
        withAccount(values => ['2', ...values.slice(1)]),
        unfit('\\w+, lines? \\d[^;]* \\(23503, constraint \\w+\\)'),
      ],
      [
        'the same twice',
        lines => lines.splice(2, 0, lines[2]!),
        unfit('account, lines 3 to 4 \\(23505, constraint account_pkey\\)'),
      ],
    ]
    for (const [what, change, message] of cases) {
      forged('forged', change)
      const location = server ? await onServer() : embedded('unfit')
      const error = await bring(location, 'forged').catch(error => error)
      assert.equal(error.name, 'BackupError', `${what}: ${error.stack ?? error}`)
      assert.match(error.message, message, what)
      if (location.databaseUrl) await assertNoTables(location)
      else assert.deepEqual(readdirSync(location.dataDir), ['lock'])
    }
  })

  test('a file that unpacks to far more than it should is refused without being held in memory', async () => {
    const [header] = text().split('\n')
    const table = Buffer.from(`${header}\n{"table":"account"}\n`)
    const packed = (bytes: Uint8Array, times: number) => Array<Buffer>(times).fill(gzipSync(bytes))
    const zeros = new Uint8Array(16 * 1024 * 1024)
    const rows = Buffer.from(`[${'"",'.repeat(20)}""]\n`.repeat(200_000))
    const cases: [what: string, parts: Buffer[], message: RegExp][] = [
      ['a first line of a gigabyte', packed(zeros, 64), /a line without an end/],
      [
        'a row of a gigabyte',
        [gzipSync(table), gzipSync('["'), ...packed(zeros, 64)],
        /a line without an end/,
      ],
      [
        'a note of 100 MB',
        [gzipSync(table), gzipSync('{"'), ...packed(zeros.fill(32), 6), gzipSync('\n')],
        /a line that does not belong in a backup/,
      ],
      ['rows without end', [gzipSync(table), ...packed(rows, 40)], /its end is missing/],
      [
        'empty lines',
        [gzipSync(table), ...packed(zeros.fill(10), 16)],
        /a line that does not belong in a backup/,
      ],
    ]
    for (const [what, parts, message] of cases) {
      made('bomb', Buffer.concat(parts))
      const { code, out, err, megabytes } = await command(['restore', fileNamed('bomb')], embedded('bombed'))
      assert.deepEqual([code, out], [1, ''], what)
      assert.match(err, message, what)
      assert.match(err, /^The backup is damaged [^\n]*\n$/, what)
      assert.ok(megabytes < 500, `${what}: ${megabytes} MB`)
      assert.ok(!existsSync(embedded('bombed').dataDir))
    }
  })

  test('what the database refuses leaves it empty', async () => {
    forged(
      'impossible',
      withAccount(row => row.map(value => (value === 'Default' ? null : value))),
    )
    for (const location of await places()) {
      await assert.rejects(bring(location, 'impossible'), {
        name: 'BackupError',
        message: /does not fit: account, line 3 \(23502, column name\)/,
      })
      if (location.databaseUrl) await assertNoTables(location)
      else assert.deepEqual(readdirSync(location.dataDir), ['lock'])
      await bring(location, 'first')
      await assert.rejects(bring(location, 'first'), {
        name: 'BackupError',
        message: /not empty|has a database/,
      })
    }
  })

  test('a backup where there is no database, or of one that was never started', async () => {
    await assert.rejects(save(embedded('nowhere'), 'nothing'), {
      name: 'BackupError',
      message: /There is no database/,
    })
    if (server)
      await assert.rejects(save(await onServer(), 'nothing'), {
        name: 'BackupError',
        message: /never been started/,
      })
    assert.ok(!readdirSync(home).some(name => name.startsWith('nothing') || name === 'nowhere'))
  })

  test('an existing file', async () => {
    made('mine', Buffer.from('mine'))
    await assert.rejects(save(source, 'mine'), { name: 'BackupError', message: /exists already/ })
    assert.equal(readFileSync(fileNamed('mine'), 'utf8'), 'mine')
  })

  test('on the command line: one line, and the code says whose fault', async () => {
    const lines = async (args: readonly string[], location?: DatabaseLocation) => {
      const { code, out, err } = await command(args, location)
      assert.equal(out, '')
      return `${code} ${err}`
    }
    assert.match(await lines(['backups']), /^2 There is no command "backups"; [^\n]*\n$/)
    assert.match(await lines(['backup']), /^2 [^\n]* needs the name of a file; [^\n]*\n$/)
    assert.match(await lines(['backup', 'a', 'b']), /^2 "b" is one argument too many; [^\n]*\n$/)
    assert.match(await lines(['backup', fileNamed('first')], source), /^1 [^\n]* exists already; [^\n]*\n$/)
    assert.match(await lines(['restore', fileNamed('first')], source), /^1 [^\n]* has a database; [^\n]*\n$/)
    assert.match((await command(['--help'])).out, /backup FILE.*restore FILE/s)
    assert.ok(!existsSync(join(home, 'none')))
  })

  test('a backup or a restore that is stopped in the middle', async () => {
    const stopped = (location: DatabaseLocation, name: string) => {
      const stop = new AbortController()
      const show = (text: string) => void (/rows$/.test(text) && stop.abort())
      return { ...options(location, fileNamed(name)), signal: stop.signal, progress: { show, clear() {} } }
    }
    for (const location of [source, ...(server ? [await another('stopped')] : [])])
      await assert.rejects(backup(stopped(location, 'stopped')), { name: 'AbortError' })
    assert.ok(!readdirSync(home).some(name => name.startsWith('stopped')))
    for (const location of [embedded('stopped-restore'), ...(server ? [await onServer()] : [])]) {
      await assert.rejects(restore(stopped(location, 'first')), { name: 'AbortError' })
      if (location.databaseUrl) await assertNoTables(location)
      else assert.deepEqual(readdirSync(location.dataDir), ['lock'])
    }
  })

  test('what a killed backup or restore left is removed by the next, what is in use is not', async () => {
    const make = (...path: string[]) => mkdirSync(join(source.dataDir, ...path), { recursive: true })
    for (const name of ['backup-Ab0001', 'restore-Ab0002'])
      for (const part of ['pg', 'lock']) make(name, part)
    make('backup-mondayX', 'pg')
    make('backup-monday', 'pg')
    make('backup-inUse1')
    const lock = await acquireLock(join(source.dataDir, 'backup-inUse1'), () => {})
    await save(source, 'clean')
    lock.release()
    const left = readdirSync(source.dataDir).filter(name => name.includes('-'))
    assert.deepEqual(left.sort(), ['backup-inUse1', 'backup-monday', 'backup-mondayX'])
    const unfinished = readdirSync(home).filter(name => name.includes('unfinished'))
    assert.deepEqual(unfinished, [])
  })
})
