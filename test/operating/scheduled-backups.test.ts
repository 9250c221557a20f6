/**
 * Backups by schedule (D155): each is verified by a restore, the oldest are removed, a bad one is not taken
 * for a backup; and `dealwright check --database`.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { scheduleBackups } from '../../src/backup/schedule.ts'
import { acquireLock } from '../../src/db/embedded/lock.ts'
import { type Messages, subscribe } from '../../src/diagnostics.ts'
import { eventually } from '../support/eventually.ts'
import { poolerVersion, startPooler } from '../support/pooler.ts'
import { createDatabase, startPostgres } from '../support/postgres.ts'
import { startedAt } from '../support/prepared.ts'
import { runService, settingsOnly, temporaryFolder } from '../support/running-service.ts'

const folder = temporaryFolder('scheduled')
const dataDir = join(folder, 'data')
const service = await runService({ DATA_DIR: dataDir })
process.env.DATA_DIR = dataDir
const program = [process.execPath, 'bin/dealwright.js']

const told: Messages['backup'][] = []
subscribe('backup', message => told.push(message))

/** Runs a schedule until `isEnough` of what it says. */
async function schedule(
  directory: string,
  isEnough: (lines: readonly string[]) => boolean,
  options: { everyMs?: number; keep?: number; now?: () => Date; program?: readonly string[] } = {},
): Promise<readonly string[]> {
  const lines: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const running = scheduleBackups({
    ...{ directory, everyMs: 86_400_000, keep: 2, now: () => new Date(), program, lookEveryMs: 20 },
    ...options,
    say(line) {
      lines.push(line)
      if (isEnough(lines)) resolve()
    },
  })
  running.begin()
  await promise
  await running.stop()
  return lines
}

const backupsIn = (directory: string) =>
  readdirSync(directory)
    .filter(name => name !== 'lock')
    .sort()

test('a directory that has gone since the start fails a backup, and not the process', async () => {
  const directory = join(folder, 'gone')
  const lines: string[] = []
  const running = scheduleBackups({
    ...{ directory, everyMs: 86_400_000, keep: 2, now: () => new Date(), program, lookEveryMs: 60_000 },
    say: line => lines.push(line),
  })
  rmSync(directory, { recursive: true })
  running.begin()
  await running.stop()
  assert.match(lines.join(), /^A backup by schedule failed: ENOENT/)
})

test('a lock that can not be taken fails a backup; one that another process has delays it', async () => {
  const directory = join(folder, 'locked')
  mkdirSync(directory)
  writeFileSync(join(directory, 'lock'), '')
  const isFailed = (lines: readonly string[]) => lines.some(line => /failed/.test(line))
  assert.match((await schedule(directory, isFailed)).join(), /^A backup by schedule failed: EEXIST/)
  rmSync(join(directory, 'lock'))
  const lock = await acquireLock(directory, () => {})
  let looked = 0
  const options = {
    ...{ directory, everyMs: 86_400_000, keep: 2, program, lookEveryMs: 20 },
    now() {
      looked++
      return new Date()
    },
  }
  const lines: string[] = []
  const running = scheduleBackups({ ...options, say: line => lines.push(line) })
  running.begin()
  await eventually(() => looked > 10, 'some looks')
  await running.stop()
  lock.release()
  assert.deepEqual([lines, backupsIn(directory)], [[], []])
})

test('a backup of the running service is verified; the next is made a day later, and replaces it', async () => {
  const directory = join(folder, 'sound')
  const day = 86_400_000
  let now = new Date('2030-01-01T01:02:03Z')
  const once = () => schedule(directory, ({ length }) => length > 0, { now: () => now, keep: 1 })
  const [line] = await once()
  const said = /^Backup dealwright-.*\.backup \(.*\): written in .* s, verified by a restore in .* s\.$/
  assert.match(line!, said)
  assert.deepEqual(backupsIn(directory), ['dealwright-2030-01-01T01-02-03Z.backup'])
  const { outcome, ...facts } = told.at(-1)!
  assert.equal(outcome, 'verified')
  now = new Date(now.getTime() + day)
  assert.match((await once())[0]!, said)
  assert.deepEqual(backupsIn(directory), ['dealwright-2030-01-02T01-02-03Z.backup'])
  assert.deepEqual(told.at(-2), { outcome: 'found', ...facts })
})

test('a backup of another process that shares the directory is found', async () => {
  const directory = join(folder, 'shared')
  mkdirSync(directory)
  const now = new Date('2030-01-01T12:00:00Z')
  const [first, second] = ['2030-01-01T10-00-00Z', '2030-01-01T11-00-00Z'] as const
  const add = (time: string) => writeFileSync(join(directory, `dealwright-${time}.backup`), time)
  add(first)
  const running = scheduleBackups({
    ...{ directory, everyMs: 86_400_000, keep: 2, now: () => now, program, lookEveryMs: 5, say: assert.fail },
  })
  told.length = 0
  running.begin()
  add(second)
  await eventually(() => told.length > 1, 'the second backup')
  await delay(50)
  await running.stop()
  assert.deepEqual(told, [
    { outcome: 'found', at: Date.parse('2030-01-01T10:00:00Z'), bytes: first.length },
    { outcome: 'found', at: Date.parse('2030-01-01T11:00:00Z'), bytes: second.length },
  ])
})

test('backups of a clock that was put back since neither end the others nor delay them', async () => {
  const directory = join(folder, 'clock')
  const nameOf = (day: string) => `dealwright-2030-${day}T00-00-00Z.backup`
  mkdirSync(directory)
  for (const day of ['02-01', '01-01', '01-02']) writeFileSync(join(directory, nameOf(day)), '')
  let now = new Date('2030-01-03T00:00:00Z')
  const options = { now: () => now, keep: 2 }
  await schedule(directory, ({ length }) => length > 0, options)
  assert.deepEqual(backupsIn(directory), ['01-02', '01-03', '02-01'].map(nameOf))
  now = new Date('2030-01-03T00:01:00Z')
  const lines: string[] = []
  const everyMs = 86_400_000
  const running = scheduleBackups({
    ...{ directory, everyMs, program, lookEveryMs: 1, ...options },
    say: line => lines.push(line),
  })
  running.begin()
  await delay(100)
  await running.stop()
  assert.deepEqual(lines, [])
})

test('a backup of a server behind a pooler is verified on the embedded database', {
  skip: poolerVersion() === null && 'PgBouncer is not installed',
}, async () => {
  const server = (await startPostgres())!
  const pooler = await startPooler(server.url, 5)
  try {
    const { url } = (await startedAt({ url: await createDatabase(server.url) }, false)).location as {
      url: string
    }
    const behind = Object.assign(new URL(url), { port: new URL(pooler.url).port })
    Object.assign(process.env, { DATABASE_URL: behind.href, DATABASE_POOLER: '1' })
    const [line] = await schedule(join(folder, 'pooled'), ({ length }) => length > 0)
    assert.match(line!, /verified by a restore/)
  } finally {
    delete process.env.DATABASE_URL
    delete process.env.DATABASE_POOLER
    await pooler.stop()
    await server.stop()
  }
})

test('the embedded database that verifies a backup gets no setting of the server', async () => {
  const act = `const [what, file] = process.argv.slice(1)
    if (what === 'backup') require('fs').writeFileSync(file, '')
    else import(${JSON.stringify(join(process.cwd(), 'src/config.ts'))}).then(({ readConfig }) => readConfig(process.env))`
  const server = {
    ...{ DATABASE_URL: 'postgres://h/d', DATABASE_READ_URL: 'postgres://replica/d' },
    ...{ DATABASE_POOLER: '1', DATABASE_WRITES: 'transaction', WORKERS: '2' },
  }
  const before = { ...process.env }
  Object.assign(process.env, server)
  try {
    const [line] = await schedule(join(folder, 'settings'), ({ length }) => length > 0, {
      program: [process.execPath, '-e', act, '--'],
    })
    assert.match(line!, /verified by a restore/)
  } finally {
    for (const name of Object.keys(server))
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
  }
})

test('what killed backups have left is removed, and what others have put there stays', async () => {
  const directory = join(folder, 'left')
  mkdirSync(directory)
  const old = 'dealwright-2026-01-01T00-00-00Z.backup'
  const foreign = ['notes.failed', 'orders.unverified']
  const left = ['.unverified', '.unverified.unfinished-1a2b3c4d', '.failed'].map(ending => old + ending)
  for (const name of [...foreign, ...left]) writeFileSync(join(directory, name), '')
  const act = `const [what, file] = process.argv.slice(1)
    if (what === 'backup') require('fs').writeFileSync(file, '')
    else console.error(process.env.DATA_DIR) ?? process.exit(1)`
  const backUp = (day: string) =>
    schedule(directory, ({ length }) => length > 0, {
      now: () => new Date(`2030-01-${day}T01:00:00Z`),
      program: [process.execPath, '-e', act, '--'],
    })
  const [line] = await backUp('01')
  assert.deepEqual(backupsIn(directory), ['dealwright-2030-01-01T01-00-00Z.backup.failed', ...foreign])
  // So is the database of a verification that was killed, which has a folder of its own in each.
  const [home] = /\/[^ ]*dealwright-verify-[0-9a-f]{16}-/.exec(line!)!
  const killed = `${home}killed`
  mkdirSync(join(killed, 'data'), { recursive: true })
  await backUp('03')
  assert.equal(existsSync(killed), false)
})

test('a file that can not be restored is no backup: it is kept apart, and said', async () => {
  const directory = join(folder, 'bad')
  // A program whose backup is cut short.
  const cut = join(folder, 'cut.mjs')
  writeFileSync(
    cut,
    `import { execFileSync } from 'node:child_process'
import { truncateSync, statSync } from 'node:fs'
const args = process.argv.slice(2)
try { execFileSync(process.execPath, ['bin/dealwright.js', ...args], { stdio: 'inherit' }) } catch { process.exit(1) }
if (args[0] === 'backup') truncateSync(args[1], statSync(args[1]).size - 100)
`,
  )
  let hour = 0
  const now = () => new Date(Date.UTC(2030, 0, 1, hour))
  const lines = await schedule(
    directory,
    ({ length }) => {
      // The next try is an hour later.
      setTimeout(() => {
        hour = length
      }, 500)
      return length === 2
    },
    { program: [process.execPath, cut], now },
  )
  for (const line of lines) assert.match(line, /^A backup by schedule failed: .*\.failed can't be restored: /)
  assert.deepEqual(
    told.slice(-2).map(({ outcome }) => outcome),
    ['failed', 'failed'],
  )
  assert.deepEqual(backupsIn(directory), ['dealwright-2030-01-01T01-00-00Z.backup.failed'])
})

test('BACKUP_DIR makes the service keep a schedule; one that is no directory ends the start', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const env = { DATA_DIR: join(folder, 'other'), SAMPLE_DATA: '0', METRICS_PORT: '0' }
  await assert.rejects(
    runService({ ...env, BACKUP_DIR: join(file, 'x') }),
    /BACKUP_DIR: .* can't be used: .* A file is in the place of a directory\.\n$/,
  )
  const directory = join(folder, 'served')
  const served = await runService({ ...env, BACKUP_DIR: directory, BACKUP_EVERY: '1h' })
  assert.ok(existsSync(directory))
  assert.match(
    await (await fetch(served.metrics!)).text(),
    /^dealwright_backup_verified_timestamp_seconds 0$/m,
  )
  await served.end()
})

test('who may not write to BACKUP_DIR is told the command that mends it', { skip: !process.getuid }, () => {
  const directory = join(folder, 'closed')
  mkdirSync(directory)
  chmodSync(directory, 0o500)
  const env = settingsOnly({ DATA_DIR: join(folder, 'closed-data'), BACKUP_DIR: directory })
  // Root may write everywhere.
  const who = process.getuid!() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  chmodSync(folder, 0o777)
  const { status, stderr } = spawnSync(process.execPath, ['bin/dealwright.js'], {
    env,
    ...who,
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  assert.match(stderr, /^BACKUP_DIR: .*closed can't be used: permission denied \(EACCES\)\. .*chown/m)
})

function check(env: Record<string, string>): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['bin/dealwright.js', 'check', '--database'],
    {
      env: settingsOnly(env),
      encoding: 'utf8',
    },
  )
  return { status, text: stdout + stderr }
}

test('check --database finds nothing in a sound database, and names why a restore would fail', async () => {
  const sound = check({ DATA_DIR: dataDir })
  assert.equal(sound.status, 0, sound.text)
  assert.match(sound.text, /ok +rows .*can be read/)
  assert.match(sound.text, /ok +references/)
  await service.end()
  const { openDatabase } = await import('../../src/db/open.ts')
  const db = await openDatabase({ dataDir, log: () => {} })
  await db.query("SET session_replication_role = 'replica'")
  await db.query('DELETE FROM tag WHERE account_id = 1')
  await db.query(
    'UPDATE deal SET pipeline_stage = 987654 WHERE account_id = 1 AND id = (SELECT min(id) FROM deal)',
  )
  await db.close()
  const broken = check({ DATA_DIR: dataDir })
  assert.equal(broken.status, 1, broken.text)
  assert.match(broken.text, /WRONG +references .*deal.*1 row/)
})
