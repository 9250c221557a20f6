/**
 * Kinds of writes side by side, in turns of one run on each engine: their throughput as ratios to that of the
 * first. For benches that compare ways to write the same records.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { middle, ownDirectory, sayMachine } from './begin.ts'
import type { Figures, Orders } from './load.ts'
import { accountTokens } from './prepare.ts'
import { ask, startService } from './processes.ts'
import { onServer } from './server.ts'

export type Kind = Pick<Orders, 'method' | 'path' | 'ids' | 'body'> & {
  readonly name: string
  /** requests in flight; default: 32 */
  readonly inFlight?: number
  /** records that a request writes; default: 1 */
  readonly records?: number
}

/** Sends a request, for the preparations of a kind. */
export type Asked = (method: string, path: string, body?: object) => Promise<unknown>

const token = accountTokens[0]!

/**
 * Compares the kinds that `prepare` makes. Takes `--seconds`, `--turns` and `--engine` from the command line,
 * prints the ratios and ends the process.
 */
export async function compareKinds(prepare: (asked: Asked) => Promise<readonly Kind[]>): Promise<never> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '1' },
      turns: { type: 'string', default: '10' },
      engine: { type: 'string', default: 'postgres,embedded' },
    },
  })
  const [seconds, turns] = [Number(values.seconds), Number(values.turns)]
  const directory = ownDirectory()
  const compare = (title: string, place: Record<string, string>) =>
    compareOn(title, place, prepare, seconds, turns)
  sayMachine()
  if (values.engine.includes('postgres'))
    await onServer(url => compare('PostgreSQL', { DATABASE_URL: url, DATA_DIR: directory }))
  if (values.engine.includes('embedded')) await compare('Embedded', { DATA_DIR: join(directory, 'embedded') })
  process.exit(0)
}

async function compareOn(
  title: string,
  place: Record<string, string>,
  prepare: (asked: Asked) => Promise<readonly Kind[]>,
  seconds: number,
  turns: number,
): Promise<void> {
  const { url } = await startService({ ...place, DEALWRIGHT_TOKEN: token })
  const port = Number(new URL(url).port)
  const load = ({ name: _, records: __, inFlight: connections = 32, ...asked }: Kind, seconds: number) =>
    ask<Figures>('bench/load.ts', {
      ...{ port, connections, warmUp: 0.1, seconds, tokens: [token], ...asked },
    } satisfies Orders)
  const kinds = await prepare(askedAt(url))
  const written = kinds.map((): number[] => [])
  for (const kind of kinds) await load(kind, Math.min(1, seconds))
  for (let turn = 0; turn < turns; turn++) {
    const order = [...kinds.keys()]
    for (const at of turn % 2 ? order.reverse() : order) {
      const slice = await load(kinds[at]!, seconds)
      written[at]!.push((slice.count / slice.seconds) * (kinds[at]!.records ?? 1))
    }
  }
  const rate = Math.round(middle(written[0]!.toSorted((a, b) => a - b)))
  console.log(`\n${title}, ${turns} turns of ${seconds} s; ${kinds[0]!.name}: ${rate} records a second\n`)
  for (const [at, { name }] of kinds.entries()) {
    const ratios = written[at]!.map((rate, turn) => rate / written[0]![turn]!).sort((a, b) => a - b)
    const range = `${ratios[0]!.toFixed(2)} to ${ratios.at(-1)!.toFixed(2)}`
    console.log(`${name.padEnd(24)} ${middle(ratios).toFixed(2)} of ${kinds[0]!.name} (${range})`)
  }
}

function askedAt(url: string): Asked {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const reply = await fetch(`${url}/rest/api/v1/${path}`, request)
    if (!reply.ok) throw new Error(await reply.text())
    return ((await reply.json()) as { data: unknown }).data
  }
}
