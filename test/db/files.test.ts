/**
 * The embedded database's files: their permissions (D106), and failures when no more can be opened, when the
 * disk is full (D105), and when they can't be created.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { acquireLock } from '../../src/db/embedded/lock.ts'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { databaseRefusal } from '../../src/db/refusal.ts'
import { readyUrl } from '../reliability/service-process.ts'
import { eventually } from '../support/eventually.ts'
import { timeouts } from '../support/timeouts.ts'

const home = mkdtempSync(join(tmpdir(), 'dealwright-disk-'))
const mounts: string[] = []
after(() => {
  for (const mount of mounts) execFileSync('umount', ['-l', mount])
  rmSync(home, { recursive: true, force: true })
})
const isWindows = process.platform === 'win32' && 'other rights and limits'
const megabyte = 1024 * 1024

describe('rights, and few files', { skip: isWindows }, () => {
  const dataDir = join(home, 'rights')

  test('what a first start makes is its owner’s alone, whatever the umask, with a few hundred files', async () => {
    const service = startService('umask 0; ulimit -n 256', dataDir)
    await readyUrl(service)
    assert.deepEqual(openToOthers(dataDir), [])
    assert.ok(readdirSync(dataDir).includes('service.sock'))
    await stop(service)
  })

  test('files that an earlier version made for everybody are taken back at the start', async () => {
    for (const name of ['pg/PG_VERSION', 'pg/global/pg_control']) chmodSync(join(dataDir, name), 0o666)
    chmodSync(join(dataDir, 'pg/base'), 0o755)
    const db = await openDatabase({ dataDir, log: () => {} })
    await db.query('CREATE TABLE item AS SELECT generate_series(1, 10000) AS id')
    assert.deepEqual(openToOthers(dataDir), [])
    await db.close()
  })

  test('none left for a while: afterwards the database answers as before, and its lock is not lost', async () => {
    const program = `
      const { openSync, closeSync } = await import('node:fs')
      const { setTimeout: sleep } = await import('node:timers/promises')
      const { openDatabase } = await import(${JSON.stringify(new URL('../../src/db/open.ts', import.meta.url).href)})
      const said = []
      const db = await openDatabase({ dataDir: ${JSON.stringify(dataDir)}, log: line => said.push(line) })
      await db.query('CREATE TABLE kept AS SELECT 1 AS id')
      const taken = []
      try {
        for (;;) taken.push(openSync('/dev/null'))
      } catch {}
      let failed = 0
      for (let n = 0; n < 3; n++) {
        await db.query('CREATE TABLE more' + n + ' AS SELECT md5(id::text) FROM generate_series(1, 50000) AS id ORDER BY 1')
          .catch(() => failed++)
        await sleep(1500)
      }
      for (const file of taken) closeSync(file)
      while (!(await db.ready())) await sleep(50)
      const [row] = await db.query('SELECT count(*) AS count FROM kept')
      await db.query('CREATE TABLE after AS SELECT 1 AS id')
      await db.close()
      console.log(JSON.stringify({ taken: taken.length, failed, kept: row.count, said }))`
    const child = spawn(
      'sh',
      ['-c', `ulimit -n 200; exec "${process.execPath}" --input-type=module -e "$0"`, program],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const { taken, failed, kept, said } = JSON.parse(await outputOf(child))
    assert.ok(taken > 20)
    assert.ok(failed > 0)
    assert.equal(kept, '1')
    assert.doesNotMatch(said.join('\n'), /lost|taken the lock/)
  })
})

describe('damage', () => {
  const whole = join(home, 'whole')
  before(async () => {
    await (await openDatabase({ dataDir: whole, log: () => {} })).close()
  })
  const emptied = (name: string) => (pg: string) => writeFileSync(join(pg, name), '')
  const gone = (name: string) => (pg: string) => rmSync(join(pg, name), { recursive: true })
  const harms: { readonly [what: string]: (pg: string) => void } = {
    'global/pg_control': emptied('global/pg_control'),
    '"base/5': gone('base'),
    'base/5/pg_filenode.map': emptied('base/5/pg_filenode.map'),
    checkpoint: pg => {
      for (const name of readdirSync(join(pg, 'pg_wal')).filter(name => /^0{4}/.test(name)))
        rmSync(join(pg, 'pg_wal', name))
    },
    'base/5/1259': pg => {
      const table = join(pg, 'base/5/1259')
      writeFileSync(table, Buffer.alloc(statSync(table).size, 0x5a))
    },
  }
  for (const [what, harm] of Object.entries(harms))
    test(`a start names the damage and what to do: ${what}`, async () => {
      const dataDir = join(home, `harmed-${what.replaceAll(/\W/g, '-')}`)
      cpSync(whole, dataDir, { recursive: true })
      harm(join(dataDir, 'pg'))
      await assert.rejects(openDatabase({ dataDir, log: () => {} }), (error: Error) => {
        assert.equal((error as { isPlain?: boolean }).isPlain, true)
        assert.match(
          error.message,
          /^The database in \S+ could not be opened: [^\n]+ restore a backup into another DATA_DIR/,
        )
        assert.ok(error.message.includes(what), error.message)
        return true
      })
      // A damaged cluster is left unchanged, and the lock is released.
      await assert.rejects(openDatabase({ dataDir, log: () => {} }), /could not be opened/)
    })
})

describe('a full disk', () => {
  test('writes are refused in time, reads go on, and with room again so do writes', async t => {
    const disk = smallDisk('full', 240)
    if (!disk) return t.skip('nothing can be mounted here')
    const { db, said } = await openOn(disk, t)
    await db.query('CREATE TABLE item AS SELECT generate_series(1, 10000) AS id')
    let written = 10_000
    const write = async () => {
      await db.write('1', [{ text: 'INSERT INTO item VALUES ($1::bigint) RETURNING id', values: ['0'] }])
      written++
    }
    await write()
    fill(disk, 20 * megabyte)
    const refusalOf = () => write().then(() => null, databaseRefusal)
    const refusal = await eventually(refusalOf, 'a refusal', 50)
    assert.deepEqual([refusal.slug, /disk is full/.test(refusal.message)], ['database_unavailable', true])
    assert.match(said.join('\n'), /Less than 64 MB are free on the disk of /)
    fill(disk, 0)
    await assert.rejects(write(), { code: '53100' })
    for (let count = 0; count < 20; count++) assert.equal(await countOf(db), String(written))
    rmSync(join(disk, 'filler'))
    const isWritten = () =>
      write().then(
        () => true,
        () => false,
      )
    await eventually(isWritten, 'a write', 50)
    assert.equal(await countOf(db), String(written))
    assert.match(said.join('\n'), /room again/)
    assert.doesNotMatch(said.join('\n'), /failed/)
  })

  test('where the log can’t grow the engine ends at once, the reason is named, and nothing acknowledged is lost', async t => {
    const disk = smallDisk('sudden', 160)
    if (!disk) return t.skip('nothing can be mounted here')
    const { db, said } = await openOn(disk, t)
    await db.query('CREATE TABLE item AS SELECT 1 AS id')
    let acknowledged = 1
    fill(disk, 0)
    // A statement that bypasses the check fills the log, which has at most 16 MB left.
    for (let isFull = false; !isFull; ) {
      await db.sql.query("SELECT pg_logical_emit_message(true, 'x', repeat('x', 1000000))").catch(() => {
        isFull = true
      })
      if (isFull) break
      await db.query('INSERT INTO item VALUES (1)')
      acknowledged++
    }
    await eventually(() => said.some(line => /failed/.test(line)), 'a line about the failure', 50)
    assert.match(said.find(line => /failed/.test(line))!, /no space left on device \(ENOSPC\)/)
    assert.equal(await db.ready(), false)
    rmSync(join(disk, 'filler'))
    await eventually(() => db.ready(), 'a database that is ready', 50)
    assert.ok(Number(await countOf(db)) >= acknowledged)
    await db.query('INSERT INTO item VALUES (1)')
    // A retry that fails in the same way is not logged again.
    assert.equal(new Set(said).size, said.length)
  })
})

describe('a start that can’t be', () => {
  test('a file in the place of the data directory: one line', async () => {
    const file = join(home, 'file')
    writeFileSync(file, '')
    for (const dataDir of [file, join(file, 'below')])
      assert.match(await refusedStart(dataDir), /^\S+ can't be used: .+ \(E[A-Z]+\)/)
  })

  test('a file system that is read-only, or full: one line', async t => {
    const disk = smallDisk('refusing', 8)
    if (!disk) return t.skip('nothing can be mounted here')
    const dataDir = join(disk, 'data')
    assert.match(
      await refusedStart(dataDir),
      /^The database in \S+ could not be .+: no space left on device \(ENOSPC\). Make room/,
    )
    rmSync(dataDir, { recursive: true })
    mkdirSync(dataDir)
    execFileSync('mount', ['-o', 'remount,ro', disk])
    assert.match(await refusedStart(dataDir), /^\S+ can't be used: read-only file system \(EROFS\)/)
    assert.match(
      await refusedStart(join(disk, 'other')),
      /^\S+ can't be used: read-only file system \(EROFS\)/,
    )
  })

  test('a lock that can’t be written leaves no file open', async t => {
    const disk = smallDisk('locked', 8)
    if (!disk) return t.skip('nothing can be mounted here')
    mkdirSync(join(disk, 'lock'))
    fill(disk, 0)
    await assert.rejects(
      acquireLock(disk, () => {}),
      { code: 'ENOSPC' },
    )
    const open = execFileSync('ls', ['-l', `/proc/${process.pid}/fd`], { encoding: 'utf8' })
    assert.ok(!open.includes(disk), open)
  })

  test('no more files than Node.js itself needs: one line', { skip: isWindows }, async () => {
    assert.match(
      await refusedStart(join(home, 'none'), 'ulimit -n 24'),
      /^The database in \S+ could not be opened: .*EMFILE/,
    )
  })
})

function startService(before: string, dataDir: string): ChildProcess {
  return spawn('sh', ['-c', `${before}; exec "${process.execPath}" bin/dealwright.js`], {
    env: { ...process.env, DATABASE_URL: '', PORT: '0', DATA_DIR: dataDir, SAMPLE_DATA: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function stop(service: ChildProcess): Promise<void> {
  const gone = once(service, 'exit')
  service.kill('SIGTERM')
  assert.deepEqual(await gone, [0, null])
}

/** The output of a start that must fail: one line. */
async function refusedStart(dataDir: string, before = 'true'): Promise<string> {
  const service = startService(before, dataDir)
  let said = ''
  service.stderr!.on('data', text => {
    said += text
  })
  const [code] = await once(service, 'close')
  assert.equal(code, 1, said)
  assert.equal(said.trimEnd().split('\n').length, 1, said)
  return said
}

async function outputOf(child: ChildProcess): Promise<string> {
  let text = ''
  child.stdout!.on('data', part => {
    text += part
  })
  await once(child, 'close')
  return text
}

/** The paths of `directory` and below that others than their owner may access. */
function openToOthers(directory: string): string[] {
  const names = ['', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })]
  return names.filter(name => lstatSync(join(directory, name)).mode & 0o077)
}

/** A file system of its own of that size in MB, or null if that is not permitted. */
function smallDisk(name: string, megabytes: number): string | null {
  const disk = join(home, name)
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', disk], { stdio: 'ignore' })
  } catch {
    return null
  }
  mounts.push(disk)
  return disk
}

async function openOn(disk: string, test: TestContext): Promise<{ db: Database; said: string[] }> {
  const said: string[] = []
  const db = await openDatabase({ dataDir: join(disk, 'data'), ...timeouts(), log: line => said.push(line) })
  test.after(() => db.close())
  return { db, said }
}

/** Fills the disk up to that number of free bytes. */
function fill(disk: string, left: number): void {
  const file = openSync(join(disk, 'filler'), 'a')
  const { bavail, bsize } = statfsSync(disk)
  const bytes = Buffer.alloc(megabyte)
  try {
    for (let more = bavail * bsize - left; more > 0; )
      more -= writeSync(file, bytes, 0, Math.min(more, megabyte))
  } finally {
    closeSync(file)
  }
}

async function countOf(db: Database): Promise<string | null> {
  return (await db.query('SELECT count(*) AS count FROM item'))[0]!.count!
}
