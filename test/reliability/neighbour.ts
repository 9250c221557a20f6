/**
 * The neighbour: an account that works while another one attacks. A process of its own, so that the
 * attacker's client does not count as the service's delay. It sends requests at a steady pace, knows the
 * right answers, and counts by the label that its parent sets. Reports the first request under each label to
 * its parent over IPC.
 */
import { Agent, request } from 'node:http'
import { text as textOf } from 'node:stream/consumers'

export type NeighbourOrders = {
  readonly url: string
  readonly token: string
  /** its own deals, all of which have titles that begin with `title` */
  readonly deals: readonly number[]
  readonly title: string
  readonly ownerName: string
}

/** Counts under one label. Times are in milliseconds. */
export type Observed = {
  readonly answers: number
  /** refused with a documented 503 */
  readonly refused: number
  /** answers with an unexpected status, 5xx above all, and broken connections */
  readonly faults: readonly string[]
  /** answers with wrong content */
  readonly wrong: readonly string[]
  readonly p50: number
  readonly p99: number
  readonly max: number
}

type Tally = { answers: number; refused: number; faults: string[]; wrong: string[]; times: number[] }
type Reply = { readonly status: number; readonly text: string }

const workers = 4
const pauseMs = 10
const documented = /"type":"\/docs\/errors#(database_unavailable|query_too_slow|overloaded)"/

/** Sends requests until its parent stops it. */
function main({ url, token, deals, title, ownerName }: NeighbourOrders): void {
  const agent = new Agent({ keepAlive: true, maxSockets: workers })
  const tallies = new Map<string, Tally>()
  let label = ''
  let isNew = false
  let isOver = false

  const send = (method: string, path: string, body?: string): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      }
      const sent = request(`${url}/rest/api/v1${path}`, { method, agent, headers }, response => {
        textOf(response).then(text => resolve({ status: response.statusCode!, text }), reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })

  /** Sends, counts, and checks the answer; returns the problem, or null. */
  const ask = async (method: string, path: string, judge: (data: never) => string | null, body?: string) => {
    const now = label
    const tally = tallies.get(now) ?? { answers: 0, refused: 0, faults: [], wrong: [], times: [] }
    tallies.set(now, tally)
    if (isNew) process.send!({ asked: now })
    isNew = false
    const from = performance.now()
    const reply = await send(method, path, body).catch((error: NodeJS.ErrnoException) => error)
    tally.times.push(performance.now() - from)
    tally.answers++
    if (reply instanceof Error) tally.faults.push(`${method} ${path}: ${reply.code ?? reply.message}`)
    else if (reply.status === 503 && documented.test(reply.text)) tally.refused++
    else if (reply.status !== 200)
      tally.faults.push(`${method} ${path}: ${reply.status} ${reply.text.slice(0, 200)}`)
    else {
      const complaint = judge(JSON.parse(reply.text) as never)
      if (complaint) tally.wrong.push(`${method} ${path}: ${complaint}`)
    }
  }

  let turn = 0
  const one = (): number => deals[turn++ % deals.length]!
  const is = (what: unknown, wanted: unknown) =>
    what === wanted ? null : `${JSON.stringify(what)?.slice(0, 200)}, not ${wanted}`
  const asks: readonly (() => Promise<void>)[] = [
    () => ask('GET', '/user/1', ({ data }: { data: { name: string } }) => is(data.name, ownerName)),
    () => {
      const id = one()
      return ask('GET', `/deal/${id}`, ({ data }: { data: { id: number; title: string } }) =>
        is(data.title, `${title}${id}`),
      )
    },
    () =>
      ask(
        'GET',
        '/deal/view/list?sort=id:asc&pageSize=25',
        ({ data, meta }: { data: { id: number }[]; meta: { total: number } }) =>
          is(`${data.map(({ id }) => id)} of ${meta.total}`, `${deals.slice(0, 25)} of ${deals.length}`),
      ),
    () => {
      const [id, description] = [one(), `written ${turn}`]
      const judge = ({ data }: { data: { id: number; description: string } }) =>
        is(data.description, description)
      return ask('PATCH', `/deal/${id}`, judge, JSON.stringify({ description }))
    },
  ]
  const work = async (worker: number) => {
    for (let count = worker; !isOver; count++) {
      await asks[count % asks.length]!()
      await new Promise(resolve => setTimeout(resolve, pauseMs))
    }
  }
  process.on('message', (message: { label: string } | 'stop') => {
    if (message !== 'stop') {
      label = message.label
      isNew = true
      return
    }
    isOver = true
  })
  void Promise.all(Array.from({ length: workers }, (_, worker) => work(worker))).then(() => {
    agent.destroy()
    process.send!(Object.fromEntries([...tallies].map(([name, tally]) => [name, observed(tally)])), () =>
      process.disconnect(),
    )
  })
}

function observed({ times, ...tally }: Tally): Observed {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0) * 10) / 10
  return { ...tally, p50: at(0.5), p99: at(0.99), max: at(1) }
}

if (import.meta.main) main(JSON.parse(process.argv[2]!) as NeighbourOrders)
