/**
 * The attacks, each by one hostile account, and the attacker's client. Data and requests only; attack.ts runs
 * and measures them.
 */
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Attack = {
  readonly name: string
  /** One round; several run concurrently, over and over, until the time is over. */
  readonly run: (by: Attacker) => Promise<void>
}

export type Attacker = {
  /** Sends a request; returns its status, or `cut` if the connection ended without an answer. Counted. */
  send(method: string, path: string, options?: SendOptions): Promise<string>
  /** A list with a token that may only read deals. */
  list(body: string | object, options?: SendOptions): Promise<string>
  /** A bare connection, open until the attack is over. */
  connect(): Promise<Socket>
  readonly port: number
  readonly isOver: boolean
  /** Runs rounds for some seconds; returns the counts of their answers. */
  during(seconds: number, run: Attack['run']): Promise<{ [status: string]: number }>
  /** Makes what some attacks need: very large records. */
  prepare(): Promise<void>
  /** Waits until the remains of an attack are over: connections that end, running statements. */
  calm(): Promise<void>
}

type SendOptions = {
  readonly body?: string | object
  readonly token?: string | null
  /** hangs up after that many milliseconds */
  readonly hangUpAfter?: number
}

const megabyte = 1_000_000
const calmWithinMs = 60_000
/** Number of concurrent rounds. */
const atOnce = 4
/** Not the neighbour's address: limits for each address must not be its own. */
const localAddress = '127.0.0.66'

export function attacker(
  url: string,
  tokens: { readonly reader: string; readonly writer: string },
): Attacker {
  const agent = new Agent({ keepAlive: true, localAddress, maxSockets: 64 })
  const sockets = new Set<Socket>()
  let counts: { [status: string]: number } = {}
  let isOver = true
  const count = (status: string) => {
    counts[status] = (counts[status] ?? 0) + 1
    return status
  }
  const send: Attacker['send'] = (method, path, { body, token = tokens.writer, hangUpAfter } = {}) =>
    new Promise(resolve => {
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
      const headers = {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      }
      const answered = (response: IncomingMessage) => {
        response.on('error', () => {})
        response.on('close', () => resolve(count(String(response.statusCode))))
        response.resume()
      }
      const sent = request(url + path, { method, headers, agent }, answered)
      sent.on('error', () => resolve(count('cut')))
      sent.end(text)
      if (hangUpAfter !== undefined) setTimeout(() => sent.destroy(), hangUpAfter)
    })
  const by: Attacker = {
    send,
    list: (body, options = {}) =>
      send('POST', '/rest/api/v1/deal/view/list', { body, token: tokens.reader, ...options }),
    connect: () =>
      new Promise(resolve => {
        const socket = connect({ port: by.port, host: '127.0.0.1', localAddress })
        sockets.add(socket)
        socket.on('connect', () => resolve(socket))
        socket.on('error', () => resolve(socket))
        socket.on('close', () => {
          sockets.delete(socket)
          if (!isOver) count('cut')
          resolve(socket)
        })
        socket.resume()
      }),
    port: Number(new URL(url).port),
    get isOver() {
      return isOver
    },
    async during(seconds, run) {
      counts = {}
      isOver = false
      const until = performance.now() + seconds * 1000
      const rounds = Array.from({ length: atOnce }, async () => {
        while (performance.now() < until) await run(by)
      })
      // Requests that hang at the end are aborted: their connection is cut.
      await Promise.race([Promise.all(rounds), sleep(seconds * 1000)])
      isOver = true
      for (const socket of sockets) socket.destroy()
      const answered = { ...counts }
      agent.destroy()
      return answered
    },
    async prepare() {
      const large = { cf_custom_large_txt_field: 'Ж'.repeat(32_000), metadata: { text: 'Ж'.repeat(8_000) } }
      for (let made = 0; made < 400; made += 20) {
        const bodies = Array.from({ length: 20 }, () => ({ ...largeDeal, ...large }))
        await Promise.all(bodies.map(body => send('POST', '/rest/api/v1/deal', { body })))
      }
    },
    async calm() {
      const until = performance.now() + calmWithinMs
      for (let calm = 0; calm < 3; ) {
        const from = performance.now()
        if (from > until) throw new Error('the service is not itself again')
        const status = await send('GET', '/rest/api/v1/deal/view/list?pageSize=1&count=none')
        calm = status === '200' && performance.now() - from < 1000 ? calm + 1 : 0
        await sleep(100)
      }
    },
  }
  return by
}

const largeDeal = {
  title: 'Large',
  pipeline: 2,
  pipeline_stage: 3,
  primary_contact: { last_name: 'Large' },
  sales_owner: 1,
}

const times = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index))
const marks = (count: number) => `a${'\u0315'.repeat(count)}${'\u0316'.repeat(count)}`
/** Members with distinct names, as many as a body can have. */
const members = (value: unknown) =>
  Object.fromEntries(times(40_000, index => `tilte${index}`).map(name => [name, value]))

/** A valid body, sent as often as it is answered. */
const writing = (name: string, more: () => object): Attack => {
  let body: string | undefined
  return {
    name,
    run: async by => {
      body ??= JSON.stringify({ ...largeDeal, ...more() })
      await by.send('POST', '/rest/api/v1/deal', { body })
    },
  }
}
const listing = (name: string, query: () => object): Attack => {
  let body: string | undefined
  return {
    name,
    run: async by => {
      body ??= JSON.stringify(query())
      await by.list(body)
    },
  }
}

/** The costliest patterns of like in a long text (D112), and texts that almost match throughout. */
const dearest = (field: string) =>
  `not(or(${times(10, index => `${field}:like(${'Ж'.repeat(999)}${index})`).join()}))`

export const attacks: readonly Attack[] = [
  listing('8 000 conditions', () => ({ filter: times(8000, () => 'id:gt(0)') })),
  listing('65 600 conditions', () => ({ filter: times(65_600, () => 'id:eq(1)'), count: 'none' })),
  listing('40 000 different conditions', () => ({ filter: times(40_000, index => `id:gt(${index})`) })),
  listing('marks in a filter', () => ({ filter: `source:eq(${marks(100_000)})` })),
  writing('marks in an option', () => ({ source: marks(100_000) })),
  writing('marks in a currency', () => ({ deal_value: { currency: marks(100_000), value: 1 } })),
  writing('marks in a type', () => ({
    cf_custom_email_field: [{ email_type: marks(100_000), email_value: 'a@example.com' }],
  })),
  listing('a sort of 1 MB', () => ({ sort: times(60_000, index => `tilte${index}:asc`).join() })),
  listing('an expand of 1 MB', () => ({ expand: times(60_000, index => `tilte${index}`).join() })),
  listing('fields of 1 MB', () => ({ fields: times(60_000, index => `tilte${index}`).join() })),
  listing('parameters of 1 MB', () => members(1)),
  writing('unknown members of 1 MB', () => members(1)),
  writing('unknown currencies of 1 MB', () => ({
    unit_price: [],
    related_contacts: times(9_000, index => `x${index}`).map(currency => ({
      last_name: currency,
      cf_x: { currency },
    })),
  })),
  writing('numbers of 1 MB', () => ({
    metadata: { n: times(45_000, index => `${index}`).map(n => Number(`1.${n}1234567890123`)) },
  })),
  writing('tags of 1 MB', () => ({ tags: Array.from({ length: 140_000 }, (_, index) => index) })),
  listing('like of 32 000 letters', () => ({
    filter: `cf_custom_large_txt_field:like(${'a'.repeat(32_000)})`,
  })),
  listing('forty patterns of 16 kB', () => ({
    filter: `or(${times(40, index => `cf_custom_large_txt_field:like(${'Ж'.repeat(8_000)}${index})`).join()})`,
  })),
  listing('patterns of 1 000 letters', () => ({
    filter: times(10, index => `title:like(${'a'.repeat(999)}${index})`),
  })),
  // The costliest filters within the limits.
  listing('the longest patterns in large texts', () => ({
    filter: dearest('cf_custom_large_txt_field'),
    count: 'exact',
  })),
  listing('the longest patterns in metadata', () => ({ filter: dearest('metadata.text'), count: 'exact' })),
  listing('fifty patterns in large texts', () => ({
    filter: `or(${times(50, index => `cf_custom_large_txt_field:like(ЖЖЖ${index})`).join()})`,
    count: 'exact',
  })),
  listing('fifty patterns in metadata', () => ({
    filter: `or(${times(50, index => `metadata.text:like(ЖЖЖ${index})`).join()})`,
  })),
  listing('one title of large records', () => ({ fields: 'title', pageSize: 400 })),
  listing('large records', () => ({ pageSize: 400, expand: 'sales_owner' })),
  listing('an exact count of a rare word', () => ({ filter: 'description:like(zzz)', count: 'exact' })),
  {
    name: 'slow lists whose askers hang up',
    run: async by => {
      await by.list({ filter: dearest('cf_custom_large_txt_field'), count: 'exact' }, { hangUpAfter: 50 })
    },
  },
  {
    name: 'bodies without a token',
    run: async by => {
      const body = `{"title":"${'x'.repeat(megabyte)}"}`
      await Promise.all([1, 2].map(() => by.send('POST', '/rest/api/v1/deal', { body, token: null })))
    },
  },
  {
    name: 'unknown tokens',
    run: async by => {
      const token = `${'x'.repeat(32)}${Math.random()}`
      await Promise.all(
        times(8, index => `${token}${index}`).map(unknown =>
          by.send('GET', '/rest/api/v1/deal/1', { token: unknown }),
        ),
      )
    },
  },
  {
    name: 'unfinished bodies',
    run: async by => {
      const socket = await by.connect()
      socket.write(
        `POST /rest/api/v1/deal HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${megabyte}\r\n\r\n`,
      )
      socket.write(`{"title":"${'x'.repeat(megabyte - 1000)}`)
      await sleep(20)
    },
  },
  {
    name: 'idle connections',
    run: async by => {
      await Promise.all(times(50, () => '').map(() => by.connect()))
      await sleep(100)
    },
  },
  {
    name: 'one byte at a time',
    run: async by => {
      const socket = await by.connect()
      for (const byte of 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ') {
        if (by.isOver || socket.destroyed) return
        socket.write(byte)
        await sleep(50)
      }
    },
  },
  {
    name: 'huge exponents in metadata',
    run: async by => {
      const body = `{"title":"Exponents","pipeline":2,"pipeline_stage":3,"primary_contact":68,"sales_owner":1,"metadata":{"n":[${times(2000, () => '1e9999').join()}]}}`
      await by.send('POST', '/rest/api/v1/deal', { body })
      await by.list({ filter: 'metadata.n:like(1)' })
    },
  },
  {
    name: 'changes of fields',
    run: async by => {
      await by.send('POST', '/rest/api/v1/field', {
        body: {
          source: 'deal',
          field_name: `Field ${Math.random()}`,
          type: 'SINGLE_NUMBER',
          is_indexed: true,
        },
      })
    },
  },
  {
    name: 'five hundred requests at once',
    run: async by => {
      await Promise.all(
        times(125, () => '').map(() =>
          by.list({ filter: 'title:like(expansion)', sort: 'title:asc', count: 'exact' }),
        ),
      )
    },
  },
  writing('writes of one account', () => ({ description: 'One of very many' })),
]
