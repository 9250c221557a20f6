/**
 * `node bench/clients.ts [--turns 30]`: the service's own client of PostgreSQL beside node-postgres with its
 * pipelining, in one process and on one server, in turns. Prints the processor time of this process for a
 * statement, and its ratio. See docs/design/database-client.md.
 */
import { parseArgs } from 'node:util'
import pg from 'pg'
import { Connection } from '../src/db/postgres/connection.ts'
import { serverAddress } from '../src/db/postgres/server-address.ts'
import { middle, sayMachine } from './begin.ts'
import { onServer } from './server.ts'

const { values } = parseArgs({ options: { turns: { type: 'string', default: '30' } } })
const turns = Number(values.turns)

/** turns that are not counted, until the code is compiled */
const warmUp = 10

/** Sends one statement over one connection. */
type Client = (statement: Statement) => Promise<unknown>
type Statement = { readonly name: string; readonly text: string; readonly count: number }

const record = `SELECT repeat('x', 2000) AS document FROM generate_series(1,`
const statements: readonly Statement[] = [
  { name: 'one row of 2 kB', text: `${record} 1) WHERE $1 <> ''`, count: 600 },
  { name: '25 rows of 2 kB', text: `${record} 25) WHERE $1 <> ''`, count: 300 },
  { name: '100 rows of 2 kB', text: `${record} 100) WHERE $1 <> ''`, count: 100 },
  { name: 'no row', text: "SELECT WHERE $1 = ''", count: 600 },
]
/** A page of records is text, which the service passes on as bytes. */
const bytes = { getTypeParser: () => (value: string) => Buffer.from(value) }

sayMachine()
await onServer(async url => {
  const { client, end } = await other(url)
  const clients = [own(url), client]
  console.log('\n| Statement | in flight | own, of pg | ms own | ms pg |\n|---|--:|--:|--:|--:|')
  for (const statement of statements)
    for (const inFlight of [1, 16, 32]) console.log(await compare(clients, statement, inFlight))
  await end()
})
process.exit(0)

function own(url: string): Client {
  const nothing = () => {}
  const session = new Connection({
    ...{ ...serverAddress(url), delayMs: 0, isRemote: true, connectWithinMs: 5000, log: console.error },
    ...{ onAnswer: nothing, onOver: nothing, onNotice: nothing },
  })
  return ({ text }) => session.ask(text, ['a'], { prepare: true, raw: true })
}

async function other(url: string): Promise<{ client: Client; end(): Promise<void> }> {
  const client = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig)
  await client.connect()
  return {
    client: ({ name, text }) =>
      client.query({ name, text, values: ['a'], rowMode: 'array', types: bytes as never }),
    end: () => client.end(),
  }
}

async function compare(clients: readonly Client[], statement: Statement, inFlight: number): Promise<string> {
  const spent = clients.map((): number[] => [])
  for (let turn = -warmUp; turn < turns; turn++)
    for (const index of turn % 2 ? [1, 0] : [0, 1]) {
      const before = process.cpuUsage()
      await ask(clients[index]!, statement, inFlight)
      const { user, system } = process.cpuUsage(before)
      if (turn >= 0) spent[index]!.push((user + system) / 1000 / statement.count)
    }
  const [ours, theirs] = spent as [number[], number[]]
  const ratios = ours.map((ms, turn) => ms / theirs[turn]!).sort((a, b) => a - b)
  const quarter = (part: number) => ratios[Math.floor(ratios.length * part)]!.toFixed(2)
  const ms = (all: number[]) => middle(all.sort((a, b) => a - b)).toFixed(3)
  const ratio = `${middle(ratios).toFixed(2)} (${quarter(0.25)} to ${quarter(0.75)})`
  return `| ${statement.name} | ${inFlight} | ${ratio} | ${ms(ours)} | ${ms(theirs)} |`
}

async function ask(client: Client, statement: Statement, inFlight: number): Promise<void> {
  let left = statement.count
  const worker = async () => {
    while (left-- > 0) await client(statement)
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
}
