/**
 * Webhooks, while the service is killed in the middle of delivering: with SIGKILL, and every fourth time with
 * SIGTERM. Meanwhile records are created and changed, and a receiver refuses now and then. In the end each
 * event must have been received, those of a record in order, each with a valid signature (D72).
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import type { Scenario } from './on-engines.ts'
import { ask, end, type Life, started } from './service-process.ts'

type Tally = {
  rounds: number
  events: number
  lost: number
  outOfOrder: number
  badSignatures: number
  uncleanEnds: number
  /** number of duplicates, which at-least-once delivery permits */
  again: number
}

const writers = 6
/** One request in this number is refused by the receiver, or not answered at all. */
const refusesEvery = 25

export const webhooks: Scenario = {
  rounds: 50,
  zero: ['lost', 'outOfOrder', 'badSignatures', 'uncleanEnds'],
  some: ['events'],
  async act({ env }, rounds, say) {
    const tally: Tally = {
      ...{ rounds: 0, events: 0, lost: 0, outOfOrder: 0, badSignatures: 0, uncleanEnds: 0, again: 0 },
    }
    const receiver = await receive(tally)
    try {
      for (let round = 1; round <= rounds; round++) {
        await liveAndEnd(await started(env), round, receiver, tally)
        tally.rounds = round
        say(`round ${round}: ${JSON.stringify(tally)}`)
      }
      await settle(await started(env), receiver, tally)
    } finally {
      receiver.close()
    }
    return tally
  },
}

type Receiver = {
  readonly url: string
  secret: string
  /** True if it refuses nothing any more */
  isPatient: boolean
  /** `seq` of the accepted events */
  readonly taken: Set<number>
  /** by record: the events in the order of their first acceptance */
  readonly byRecord: Map<number, number[]>
  close(): void
}

async function receive(tally: Tally): Promise<Receiver> {
  let count = 0
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', data => {
      text += data
    })
    request.on('end', () => {
      try {
        new Webhook(receiver.secret).verify(text, request.headers as Record<string, string>)
      } catch {
        tally.badSignatures++
      }
      count++
      const isRefused = (rest: number) => !receiver.isPatient && count % refusesEvery === rest
      if (isRefused(0)) return void request.socket.destroy()
      if (isRefused(1)) return void response.writeHead(503).end()
      const { seq, id } = JSON.parse(text).data as { seq: number; id: number }
      if (receiver.taken.has(seq)) tally.again++
      else receiver.byRecord.set(id, [...(receiver.byRecord.get(id) ?? []), seq])
      receiver.taken.add(seq)
      setTimeout(() => response.writeHead(204).end(), Math.random() * 20)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const found = { taken: new Set<number>(), byRecord: new Map<number, number[]>() }
  const receiver: Receiver = { url, secret: '', isPatient: false, ...found, close }
  return receiver
}

/** One life of the service: it writes and delivers, and is killed in the second after its first delivery. */
async function liveAndEnd(
  { service, ended, url }: Life,
  round: number,
  receiver: Receiver,
  tally: Tally,
): Promise<void> {
  if (receiver.secret === '') {
    const { data } = await ask(url, 'POST', 'webhook', { url: receiver.url, events: ['tag.*', 'company.*'] })
    receiver.secret = data.secret
  }
  let isAlive = true
  void ended.then(() => {
    isAlive = false
  })
  const isStopped = round % 4 === 0
  const before = receiver.taken.size
  const kill = () => void service.kill(isStopped ? 'SIGTERM' : 'SIGKILL')
  const begun = performance.now()
  // The leases of a killed process expire after some seconds.
  const watch = setInterval(() => {
    if (receiver.taken.size === before && performance.now() - begun < 15_000) return
    clearInterval(watch)
    setTimeout(kill, 50 + Math.random() * 1000)
  }, 10)
  const write = async (writer: number) => {
    try {
      for (let n = 0; isAlive; n++) {
        const name = `r${round}w${writer}n${n}`
        const { data } = await ask(url, 'POST', n % 2 ? 'tag' : 'company', { name })
        const path = `${n % 2 ? 'tag' : 'company'}/${data.id}`
        for (const change of ['b', 'c']) await ask(url, 'PATCH', path, { name: `${name}${change}` })
        if (n % 5 === 0) await ask(url, 'DELETE', path)
      }
    } catch {
      // It was killed: unanswered writes are not promised.
    }
  }
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  if ((await ended) !== 0 && isStopped) tally.uncleanEnds++
}

/** Lets a last service deliver the rest, and compares received events with the log. */
async function settle(life: Life, receiver: Receiver, tally: Tally): Promise<void> {
  const { url } = life
  const happened = new Set<number>()
  for (let after = 0, hasMore = true; hasMore; ) {
    const page = await ask(url, 'GET', `event?after=${after}&limit=1000&resource=tag,company`)
    for (const { seq } of page.data) happened.add(seq)
    after = page.meta.next
    hasMore = page.meta.hasMore
  }
  const isLeft = () => [...happened].filter(seq => !receiver.taken.has(seq))
  receiver.isPatient = true
  const { id } = (await ask(url, 'GET', 'webhook/view/list')).data[0]
  for (const until = performance.now() + 120_000; isLeft().length && performance.now() < until; ) {
    await sleep(1000)
    // Events that were refused several times would be retried in minutes or hours: this doesn't wait for
    // that.
    const waiting = await ask(url, 'GET', `webhook/${id}/deliveries?state=waiting&pageSize=100`)
    for (const { id: seq, attempts, next_attempt_at } of waiting.data)
      if (attempts > 0 && Date.parse(next_attempt_at) > Date.now() + 5000)
        await ask(url, 'POST', `webhook/${id}/deliveries/${seq}/replay`)
  }
  tally.events = happened.size
  tally.lost = isLeft().length
  for (const seqs of receiver.byRecord.values())
    tally.outOfOrder += seqs.filter((seq, index) => index > 0 && seq < seqs[index - 1]!).length
  await end(life, 'SIGTERM')
}
