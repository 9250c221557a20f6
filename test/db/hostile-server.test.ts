/**
 * A broken or hostile server: whatever it sends, no query gets another's answer, none waits for ever, nothing
 * is thrown outside, and nothing grows without a limit (D100). FUZZ_SEED=… repeats a run, FUZZ_RUNS=… makes
 * it longer.
 */
import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection } from '../../src/db/postgres/connection.ts'
import type { ConnectionOptions } from '../../src/db/postgres/connection-options.ts'
import { warnings } from '../../src/db/postgres/warnings.ts'
import { PostgresError } from '../../src/db/postgres/wire.ts'
import { DatabaseUnavailable } from '../../src/db/unavailable.ts'
import { type Behaviour, login, message, ready, row, ScriptedServer } from '../support/scripted-server.ts'

const password = 'of the server'
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000_000)
const runs = Number(process.env.FUZZ_RUNS ?? 1500)
const [runsAtOnce, idleMs] = [100, 50]

function session(servers: readonly Duplex[], more: Partial<ConnectionOptions> = {}): Connection {
  return new Connection({
    ...{ user: 'somebody', password, settings: { database: 'd' }, channelBinding: 'prefer', target: 'any' },
    ...{ servers: servers.map(server => () => server), delayMs: 0, isRemote: true, connectWithinMs: null },
    onAnswer() {},
    onOver() {},
    onNotice() {},
    log() {},
    ...more,
  })
}

/** mulberry32: pseudorandom numbers from 0 to 1, the same for each seed. */
function randomOf(from: number): () => number {
  let state = from
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Random = (below: number) => number
type Change = (message: Buffer, random: Random) => Buffer | null

const types = [...'RK12TnDCIEZNSAGHWdcstVv3'].map(type => type.charCodeAt(0))
const bytesOf = (length: number, random: Random) => Buffer.from(Array.from({ length }, () => random(256)))
const changed = (one: Buffer, change: (copy: Buffer) => void) => {
  const copy = Buffer.from(one)
  change(copy)
  return copy
}
const anyMessage = (random: Random) =>
  changed(message('x', bytesOf(random(40), random)), copy => copy.writeUInt8(types[random(types.length)]!))

/** The mutations of one message. */
const changes: { readonly [name: string]: Change } = {
  'a bit': (one, random) =>
    changed(one, copy => {
      const at = random(copy.length)
      copy[at] = copy[at]! ^ (1 << random(8))
    }),
  'a byte': (one, random) => changed(one, copy => copy.writeUInt8(random(256), random(copy.length))),
  type: (one, random) => changed(one, copy => copy.writeUInt8(types[random(types.length)]!)),
  length: (one, random) => changed(one, copy => copy.writeUInt32BE(random(300), 1)),
  'a length of gigabytes': (one, random) =>
    changed(one, copy => copy.writeUInt32BE(2 ** 31 + random(2 ** 31), 1)),
  'its content': (one, random) => Buffer.concat([one.subarray(0, 5), bytesOf(one.length - 5, random)]),
  // Fewer bytes are missing than a message has. Else whole messages could fill the gap to the byte, such as
  // the end of an answer in its row: what follows is in order then, and nobody can tell.
  'a part only': (one, random) => one.subarray(0, one.length - 1 - random(4)),
  nothing: () => Buffer.alloc(0),
  twice: one => Buffer.concat([one, one]),
  'noise before': (one, random) => Buffer.concat([bytesOf(1 + random(60), random), one]),
  'a message before': (one, random) => Buffer.concat([anyMessage(random), one]),
  'a message behind': (one, random) => Buffer.concat([one, anyMessage(random)]),
  'the end': () => null,
}

type Question = { readonly mark: string; readonly answer: Promise<unknown> }

/** Ten queries of all kinds, each with a mark of its own. */
function askAll(asked: Connection, random: Random): Question[] {
  const options = () => ({ prepare: random(2) === 0, raw: random(2) === 0 })
  return Array.from({ length: 10 }, () => {
    const mark = bytesOf(12, random).toString('hex')
    const text = ['echo', 'echo', 'many', 'nothing', 'refuse'][random(5)]!
    const answer =
      random(3) > 0
        ? asked.ask(text, [mark], options())
        : asked.askBatch([
            ['echo', [mark], options()],
            [text, [mark], options()],
          ])
    return { mark, answer }
  })
}

/** All values of an answer, as texts. */
function valuesOf(answer: unknown): string[] {
  if (Buffer.isBuffer(answer) || typeof answer === 'string') return [String(answer)]
  return typeof answer === 'object' && answer !== null ? Object.values(answer).flatMap(valuesOf) : []
}

type Tally = { right: number; refused: number; readonly marks: Set<string> }

async function run(name: string, spoil: Change, from: number, tally: Tally): Promise<void> {
  const next = randomOf(from)
  const random: Random = below => Math.floor(next() * below)
  // The login of each method has up to eight messages, ten queries have about sixty.
  let left = random(2) === 0 ? random(8) : random(60)
  const server = new ScriptedServer({
    way: (['trust', 'clear', 'md5', 'scram'] as const)[random(4)]!,
    password,
    change: one => (left-- === 0 ? spoil(one, random) : one),
    cut: random(2) === 0 ? all => all : all => 1 + random(all),
  })
  const questions = askAll(session([server]), random)
  for (const { mark } of questions) tally.marks.add(mark)
  const all = Promise.allSettled(questions.map(({ answer }) => answer))
  // A query that still waits when nothing more comes is refused; otherwise this would never end.
  let isSettled = false
  void all.then(() => (isSettled = true))
  for (let before = -1; !isSettled && before !== server.said; await delay(idleMs)) before = server.said
  server.hangUp()
  for (const [index, result] of (await all).entries()) {
    const what = `${name}, seed ${from}, question ${index}`
    if (result.status === 'rejected') {
      const { reason } = result
      const cause = reason.name === 'OneRefused' ? reason.cause : reason
      assert.ok(cause instanceof DatabaseUnavailable || cause instanceof PostgresError, `${what}: ${cause}`)
      tally.refused++
      continue
    }
    const foreign = valuesOf(result.value).filter(
      value => value !== questions[index]!.mark && tally.marks.has(value),
    )
    assert.deepEqual(foreign, [], what)
    tally.right++
  }
}

test(`no spoilt message makes an answer somebody else's (FUZZ_SEED=${seed})`, async t => {
  t.diagnostic(`FUZZ_SEED=${seed}`)
  const names = Object.keys(changes)
  const tallies = new Map<string, Tally>()
  for (let first = 0; first < runs; first += runsAtOnce) {
    const all = Array.from({ length: Math.min(runsAtOnce, runs - first) }, (_, at) => {
      const name = names[(first + at) % names.length]!
      const tally = tallies.get(name) ?? { right: 0, refused: 0, marks: new Set<string>() }
      tallies.set(name, tally)
      return run(name, changes[name]!, seed + first + at, tally)
    })
    await Promise.all(all)
  }
  // The runs must include unspoilt servers as well as spoilt ones.
  const all = [...tallies.values()].reduce(
    (sum, { right, refused }) => ({ right: sum.right + right, refused: sum.refused + refused }),
    { right: 0, refused: 0 },
  )
  assert.ok(all.right > runs && all.refused > runs, `${all.right} right, ${all.refused} refused`)
})

const honest: Behaviour = { way: 'trust', password, change: one => one, cut: all => all }

/** The client's messages to a server that sends these, one after each message that it receives. */
function saying(...said: readonly Buffer[]): { server: Duplex; heard(): string } {
  let heard = ''
  const rest = [...said]
  const server = new Duplex({
    allowHalfOpen: false,
    read() {},
    write(chunk: Buffer, _encoding, done) {
      heard += chunk.toString('latin1')
      const next = rest.shift()
      if (next) this.push(next)
      done()
    },
  })
  return { server, heard: () => heard }
}

test('a server that skips the proof of the password, or asks for it over and over, is told nothing', async () => {
  const scram = login(10, 'SCRAM-SHA-256\0\0')
  const challenge = login(11, 'r=other,s=c2FsdA==,i=1')
  const statement = 'SELECT something'
  for (const [name, ...said] of [
    ['ready at once', ready],
    ['let in amid', scram, Buffer.concat([login(0), ready])],
    ['ready amid', scram, ready],
    ['a final without a challenge', scram, Buffer.concat([login(12, 'v='), login(0), ready])],
    ['challenges', scram, Buffer.concat([challenge, challenge, challenge])],
    ['a login after the login', Buffer.concat([login(0), ready, login(3)])],
    ['two keys', Buffer.concat([login(0), message('K', Buffer.alloc(9)), ready])],
    ['a greeting without end', message('R', Buffer.alloc(65_600))],
    ['a row', row(Buffer.from('x'))],
  ] as const) {
    const { server, heard } = saying(...said)
    const asked = session([server])
    await assert.rejects(asked.ask(statement, []), DatabaseUnavailable, name)
    if (name !== 'a login after the login') assert.ok(!heard().includes(statement), name)
    assert.ok(server.destroyed, name)
    assert.ok(!heard().includes(`p\0\0\0\x12${password}`), name)
  }
})

test('what is no PostgreSQL server, or none any more, is told from a fault of the client', async () => {
  const said: string[] = []
  const greeting = Buffer.concat([login(0), ready])
  for (const [...answers] of [
    [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    [Buffer.from('SSH-2.0-OpenSSH_9.9\r\n')],
    [ready],
    [greeting, ready],
    [greeting, Buffer.concat([message('1'), message('2', Buffer.alloc(1))])],
  ]) {
    const asked = session([saying(...answers).server], { log: line => said.push(line) })
    await assert.rejects(asked.ask('SELECT something', []), {
      name: 'DatabaseUnavailable',
      message: /^The server does not keep to PostgreSQL's protocol: an? /,
    })
  }
  assert.deepEqual(said, [])
})

test('a message that comes too often or is missing ends the connection, not the order of the answers', async () => {
  for (const type of '12TDCZ')
    for (const spoil of [changes.nothing!, changes.twice!]) {
      let isSpoilt = false
      const change = (one: Buffer) => {
        // A changed number of rows is a wrong answer, but not another query's.
        if (isSpoilt || type === 'D' || one[0] !== type.charCodeAt(0) || !hasAsked) return one
        isSpoilt = true
        return spoil(one, () => 0)
      }
      let hasAsked = false
      const server = new ScriptedServer({ ...honest, change })
      const asked = session([server])
      assert.deepEqual(await asked.ask('echo', ['0']), [{ mark: '0' }])
      hasAsked = true
      const answers = await Promise.allSettled(['1', '2', '3'].map(mark => asked.ask('echo', [mark])))
      server.hangUp()
      for (const [index, answer] of answers.entries())
        if (answer.status === 'fulfilled') assert.deepEqual(answer.value, [{ mark: `${index + 1}` }], type)
      // Without this message, the answer can still be read.
      const isHarmless = type === 'D' || (type === '1' && spoil === changes.nothing)
      if (isHarmless) assert.ok(answers.every(({ status }) => status === 'fulfilled'))
      else assert.equal(answers[2]!.status, 'rejected', `${type} ${spoil}`)
    }
})

test('an answer without end is not kept', async () => {
  const much = row(Buffer.alloc(2 ** 20))
  const columns = message('T', Buffer.from([0, 1]), Buffer.from('a\0'), Buffer.alloc(18))
  const { server } = saying(Buffer.concat([login(0), ready]), Buffer.concat([message('2'), columns]))
  const asked = session([server])
  const answer = asked.ask('SELECT much', [], { raw: true })
  let said = 0
  const go = setInterval(() => {
    for (let count = 0; count < 64 && said < 2048 && !server.destroyed; count++, said++) server.push(much)
  }, 1)
  await assert.rejects(answer, { name: 'DatabaseUnavailable' })
  clearInterval(go)
  assert.ok(said < 1200, `${said} megabytes were read`)
})

test('what a server warns of is said once, of statements without its words, and not without end', async () => {
  const said: string[] = []
  const notice = (code: string, text: string, severity = 'WARNING') =>
    message('N', Buffer.from(`S${severity}\0V${severity}\0C${code}\0M${text}\0HRefresh it\0\0`))
  const early = notice('01000', 'before the login')
  const mismatch = notice('01000', 'collation version\x1b[2J mismatch')
  const begin = Buffer.concat([
    early,
    login(0),
    mismatch,
    mismatch,
    notice('00000', 'by the way', 'NOTICE'),
    ready,
  ])
  const noise = Array.from({ length: 300 }, (_, n) => notice(`01${String(n).padStart(3, '0')}`, 'secret'))
  const answer = Buffer.concat([
    ...noise,
    message('2'),
    message('n'),
    message('C', Buffer.from('SET\0')),
    ready,
  ])
  const asked = session([saying(begin, answer).server], { onNotice: warnings(line => said.push(line)) })
  assert.deepEqual(await asked.ask('SET x', []), [])
  assert.equal(said[0], 'PostgreSQL warns with 01000: collation version [2J mismatch. Refresh it')
  assert.equal(said[1], 'PostgreSQL warns with 01000')
  assert.equal(said.length, 100)
  assert.doesNotMatch(said.join(), /secret|before|by the way/)
})

test('of several servers the one is taken that takes writes, and what was asked waits for it', async () => {
  const greeting = (...status: [string, string][]) =>
    Buffer.concat([
      login(0),
      ...status.map(([name, value]) => message('S', Buffer.from(`${name}\0${value}\0`))),
      ready,
    ])
  const standby = () => saying(greeting(['in_hot_standby', 'on'], ['default_transaction_read_only', 'off']))
  const readOnly = () => saying(greeting(['in_hot_standby', 'off'], ['default_transaction_read_only', 'on']))
  const starting = () => saying(message('E', Buffer.from('SFATAL\0VFATAL\0C57P03\0Mstarting up\0\0')))
  const others = [starting(), standby(), readOnly()]
  const own = new ScriptedServer(honest)
  const asked = session([...others.map(({ server }) => server), own], { target: 'read-write' })
  assert.deepEqual(await asked.ask('echo', ['a']), [{ mark: 'a' }])
  for (const { server, heard } of others)
    assert.deepEqual([server.destroyed, heard().includes('echo')], [true, false])
  await asked.close()

  const none = session([standby().server, readOnly().server], { target: 'read-write' })
  await assert.rejects(none.ask('echo', ['a']), {
    name: 'DatabaseUnavailable',
    message: 'The server takes no writes',
  })
  const primary = session([standby().server, readOnly().server], { target: 'primary' })
  primary.ask('echo', ['a']).catch(() => {})
  await new Promise(setImmediate)
  assert.equal(primary.underWay, 1)
  primary.end(new DatabaseUnavailable('over'))
  const wrong = saying(message('E', Buffer.from('SFATAL\0VFATAL\0C28P01\0Mno such password\0\0')))
  await assert.rejects(
    session([wrong.server, new ScriptedServer(honest)]).ask('echo', ['a']),
    /no such password/,
  )
})

test('a refusal behind all answers of a query is the commit’s, or the connection ends', async () => {
  const asked = async (code: string) => {
    let readies = 0
    const server = new ScriptedServer({
      ...honest,
      change(one) {
        const type = String.fromCharCode(one[0]!)
        if (type === 'E') return Buffer.from(one.toString('latin1').replace('22012', code), 'latin1')
        // The one that ends the answer to the first "echo": the login and "refuse" have one, too.
        return type === 'Z' && ++readies === 3 ? Buffer.alloc(0) : one
      },
    })
    const connection = session([server])
    const ask = (text: string) => connection.ask(text, [text], { prepare: true })
    // Prepared, so that its refusal comes without a message before it.
    await ask('refuse').catch(() => {})
    const all = ['echo', 'refuse', 'echo'].map(ask)
    const answers = await Promise.allSettled(all.slice(0, 2))
    connection.end(new DatabaseUnavailable('over'))
    await Promise.allSettled(all)
    return answers.map(answer =>
      answer.status === 'rejected' ? (answer.reason.code ?? answer.reason.name) : answer.value,
    )
  }
  // A statement's fault is never that of a commit.
  assert.deepEqual(await asked('22012'), ['DatabaseUnavailable', 'DatabaseUnavailable'])
  assert.equal((await asked('40001'))[0], '40001')
})

test('each server of an address has its own time, and one that is late is asked nothing', async () => {
  const [silent, late] = [saying(), saying()]
  const arrival = Promise.withResolvers<Duplex>()
  const signals: AbortSignal[] = []
  const own = new ScriptedServer(honest)
  const servers = [
    // As where a machine is gone: nothing refuses the connection.
    (signal: AbortSignal) => {
      signals.push(signal)
      return arrival.promise
    },
    () => silent.server,
    () => own,
  ]
  const asked = session([], { servers, connectWithinMs: 1000 })
  assert.deepEqual(await asked.ask('echo', ['a']), [{ mark: 'a' }])
  assert.deepEqual(
    [signals[0]!.aborted, silent.server.destroyed, silent.heard().includes('echo')],
    [true, true, false],
  )
  arrival.resolve(late.server)
  await new Promise(setImmediate)
  assert.deepEqual([late.server.destroyed, late.heard()], [true, ''])
  assert.deepEqual(await asked.ask('echo', ['b']), [{ mark: 'b' }])
  asked.end(new DatabaseUnavailable('over'))
  const none = session([], { servers: servers.slice(0, 1), connectWithinMs: 1 })
  await assert.rejects(none.ask('echo', ['a']), {
    name: 'DatabaseUnavailable',
    message: 'The connection could not be made in time',
  })
})
