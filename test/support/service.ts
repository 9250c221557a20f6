/** A running service for a test: the real one, over real HTTP, on a database of its own. */
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { pino } from 'pino'
import { type AppOptions, buildApp } from '../../src/app.ts'
import { type Database, type DatabaseOptions, openDatabase } from '../../src/db/open.ts'
import { type Json, parseJson } from '../../src/json.ts'
import { citusUrl } from './citus.ts'
import { dropDatabase } from './postgres.ts'
import { startedAt, startedDatabase } from './prepared.ts'
import { type Borrowed, borrow } from './shared-engine.ts'
import { timeouts } from './timeouts.ts'

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the test is about
export type Reply = { status: number; headers: Headers; text: string; body: any }

/** A service, wherever it runs, with its database. */
export type Connected = {
  readonly url: string
  readonly token: string
  readonly db: Database
  /** Any request; `body` is sent as JSON, a string unchanged. */
  call(method: string, path: string, body?: Json, headers?: Record<string, string>): Promise<Reply>
  get(path: string): Promise<Reply>
  /** The ids that a valid deal needs. */
  readonly known: Known
}

export type Service = Connected & {
  /** Creates a record of a resource, or another object by POST: returns the body of the 201. */
  made(resource: string, body: Json, headers?: Record<string, string>): Promise<Reply['body']['data']>
  /**
   * Moves the clock of all its processes by a second, after which their caches of callers and configurations
   * expire: changes by other processes or in the database are visible.
   */
  aSecondGoesBy(): void
  /**
   * Simulates another process of the service, with caches of its own, and connections to a server of its own.
   */
  another(
    options?: Partial<Pick<AppOptions, 'now' | 'clock' | 'limits' | 'publicUrl' | 'openId' | 'webhooks'>>,
  ): Promise<Pick<Service, 'call' | 'get' | 'url'>>
}

export type Known = {
  pipeline: number
  stages: { [name: string]: number }
  contact: number
  contacts: number[]
  company: number
  owner: number
  tags: number[]
  territory: number
  options: { [field: string]: { [name: string]: number } }
}

/**
 * Starts a service that ends with the test file, on the engine under test or the empty database of `url`.
 * `now` is the service's clock.
 */
export async function startService(
  options: Partial<Omit<AppOptions, 'db'>> & {
    sampleData?: boolean
    statementTimeoutMs?: number
    /** other options of its database */
    database?: Partial<Pick<DatabaseOptions, 'hasOnlyTransactions' | 'pooler' | 'readUrl' | 'silenceMs'>>
    url?: string
    /** True if it may close its database, or change its schema: it is not shared */
    alone?: boolean
  } = {},
): Promise<Service> {
  const { statementTimeoutMs, database, url, alone, sampleData = true, ...given } = options
  const { now = () => new Date(), log = logger } = given
  const { location, token } = await (url
    ? startedAt({ url, pooler: database?.pooler }, sampleData)
    : startedDatabase(sampleData))
  const say = (line: string) => log.warn(line)
  const open = async (): Promise<Borrowed> => {
    if ('template' in location && !alone && statementTimeoutMs === undefined)
      return borrow(location.template, say)
    const db = await openDatabase({ ...location, ...timeouts(statementTimeoutMs), ...database, log: say })
    return { db, giveBack: () => db.close() }
  }
  const { db, giveBack } = await open()
  // It listens on loopback.
  let ahead = 0
  const clock = () => performance.now() + ahead
  const appOptions = { webhooks: { allowPrivate: true }, clock, ...given, db, now, log }
  const app = buildApp(appOptions)
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const apps = [app]
  const ends = [giveBack]
  after(async () => {
    await Promise.all(apps.map(one => one.close()))
    await Promise.all(ends.map(end => end()))
    // Each database has a process of its own on each node of a cluster.
    if (citusUrl && 'url' in location) await dropDatabase(location.url)
  })
  const connected = await connect(address, token, db)
  const another: Service['another'] = async different => {
    const own = 'url' in location ? await open() : { db }
    if ('giveBack' in own) ends.push(own.giveBack)
    const other = buildApp({ ...appOptions, ...different, db: own.db })
    apps.push(other)
    const port = Number(new URL(different?.publicUrl ?? 'http://127.0.0.1:0').port)
    const otherAddress = await other.listen({ port, host: '127.0.0.1' })
    const otherCall = caller(otherAddress, token)
    return { url: otherAddress, call: otherCall, get: (path: string) => otherCall('GET', path) }
  }
  return {
    ...connected,
    made: async (resource, body, headers) => {
      const reply = await connected.call('POST', `${v1}/${resource}`, body, headers)
      assert.equal(reply.status, 201, reply.text)
      return reply.body.data
    },
    aSecondGoesBy: () => {
      ahead += 1000
    },
    another,
  }
}

/** A service that runs already, with its account 1, which has the sample data. */
export async function connect(url: string, token: string, db: Database): Promise<Connected> {
  const call = caller(url, token)
  return { url, token, db, call, get: path => call('GET', path), known: await knownIds(db) }
}

const logger = pino({ level: process.env.LOG_LEVEL ?? 'error' })

export const v1 = '/rest/api/v1'

function caller(address: string, token: string): Service['call'] {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(address + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'accept-encoding': 'identity',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = /json(?!l)/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text ? parseJson(text) : null,
    }
  }
}

async function knownIds(db: Database): Promise<Known> {
  const ids = async (table: string) =>
    (await db.query(`SELECT id::text AS id FROM "${table}" WHERE account_id = 1 ORDER BY id`)).map(row =>
      Number(row.id),
    )
  const stages = await db.query(
    'SELECT id::text AS id, name FROM pipeline_stage WHERE account_id = 1 ORDER BY position',
  )
  const options = await db.query(
    "SELECT field, json_object_agg(name, id)::text AS ids FROM option WHERE account_id = 1 AND resource = 'deal' GROUP BY field",
  )
  const contacts = await ids('contact')
  return {
    pipeline: (await ids('pipeline'))[0]!,
    stages: Object.fromEntries(stages.map(row => [row.name!, Number(row.id)])),
    contact: contacts[0]!,
    contacts,
    company: (await ids('company'))[0]!,
    owner: (await ids('user'))[0]!,
    tags: await ids('tag'),
    territory: (await ids('territory'))[0]!,
    options: Object.fromEntries(options.map(row => [row.field!, JSON.parse(row.ids!)])),
  }
}

/** A body that creates a deal; `members` override the defaults. */
export function dealBody(known: Known, members: { [name: string]: Json } = {}): { [name: string]: Json } {
  return {
    title: 'A deal',
    pipeline: known.pipeline,
    pipeline_stage: known.stages.New!,
    primary_contact: known.contact,
    sales_owner: known.owner,
    ...members,
  }
}

/** The problems of an answer as "path code", sorted. */
export function problemsOf(reply: Reply): string[] {
  return reply.body.errors
    .map((problem: { path: string; code: string }) => `${problem.path} ${problem.code}`)
    .sort()
}
