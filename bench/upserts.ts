/**
 * `npm run bench:upserts [-- --seconds 1 --turns 10 --engine postgres,embedded]`: upserts of products by a
 * unique field (D86) beside plain creates, in turns of one run: those that create, and those that update.
 * Prints the throughput as ratios. See docs/performance.md.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createDatabase, startPostgres } from '../test/support/postgres.ts'
import { middle, ownDirectory, sayMachine } from './begin.ts'
import type { Figures, Orders } from './load.ts'
import { accountTokens } from './prepare.ts'
import { ask, endAll, startService } from './processes.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1' },
    turns: { type: 'string', default: '10' },
    engine: { type: 'string', default: 'postgres,embedded' },
  },
})
const [seconds, turns, inFlight] = [Number(values.seconds), Number(values.turns), 32]
const token = accountTokens[0]!

type Kind = Pick<Orders, 'method' | 'path' | 'ids' | 'body'> & { readonly name: string }
const products = '/rest/api/v1/product'
const byCode = { method: 'PUT', path: `${products}/by/product_code/up-{id}`, body: '{"name":"Product {n}"}' }
const few: Orders['ids'] = [1, 500]
const kinds: readonly Kind[] = [
  {
    ...{ name: 'create', method: 'POST', path: products, ids: few },
    body: '{"name":"Product {n}","product_code":"new-{n}"}',
  },
  { ...byCode, name: 'upsert that creates', ids: [1_000_000, 2_000_000_000] },
  { ...byCode, name: 'upsert that updates', ids: few },
]

const directory = ownDirectory()
sayMachine()
if (values.engine.includes('postgres')) {
  const server = await startPostgres(true)
  if (!server) throw new Error('PostgreSQL is not installed here')
  await compare('PostgreSQL', { DATABASE_URL: await createDatabase(server.url), DATA_DIR: directory })
  endAll()
  await server.stop()
}
if (values.engine.includes('embedded')) await compare('Embedded', { DATA_DIR: join(directory, 'embedded') })
process.exit(0)

async function compare(title: string, place: Record<string, string>): Promise<void> {
  const { url } = await startService({ ...place, DEALWRIGHT_TOKEN: token })
  const port = Number(new URL(url).port)
  const load = ({ name: _, ...asked }: Kind, seconds: number): Promise<Figures> =>
    ask('bench/load.ts', {
      ...{ port, connections: inFlight, warmUp: 0.1, seconds, tokens: [token], ...asked },
    } satisfies Orders)
  await tellByCode(url)
  const counts = kinds.map((): number[] => [])
  for (const kind of kinds) await load(kind, 1)
  for (let turn = 0; turn < turns; turn++) {
    const order = [...kinds.keys()]
    for (const at of turn % 2 ? order.reverse() : order)
      counts[at]!.push((await load(kinds[at]!, seconds)).count)
  }
  console.log(`\n${title}, ${inFlight} in flight, ${turns} turns of ${seconds} s\n`)
  for (const [at, { name }] of kinds.entries()) {
    const ratios = counts[at]!.map((count, turn) => count / counts[0]![turn]!).sort((a, b) => a - b)
    const range = `${ratios[0]!.toFixed(2)} to ${ratios.at(-1)!.toFixed(2)}`
    console.log(`${name.padEnd(20)} ${middle(ratios).toFixed(2)} of create (${range})`)
  }
}

/** Makes the code of products one by which they are told. */
async function tellByCode(url: string): Promise<void> {
  const asked = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const reply = await fetch(`${url}/rest/api/v1/${path}`, request)
    if (!reply.ok) throw new Error(await reply.text())
    return ((await reply.json()) as { data: { fields: { id: number; internal_name: string }[][] } }).data
  }
  const { fields } = await asked('GET', 'field/list?source=product')
  const code = fields.flat().find(({ internal_name: name }) => name === 'product_code')!
  await asked('PATCH', `field/${code.id}`, { is_unique: true })
}
