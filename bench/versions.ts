/**
 * `npm run bench:versions -- --other DIRECTORY [--seconds 1 --turns 10 --engine postgres,embedded]`: reads,
 * lists, creates and updates over HTTP by this version of the service, by another in a checkout of its own,
 * and by the hand-written endpoint, in turns of one run. Prints the throughput and the processor time of a
 * request (of the service and of all PostgreSQL on the machine, if the system reports it) as ratios. See
 * docs/performance.md.
 */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ownDirectory, sayMachine } from './begin.ts'
import { accountTokens, type Case } from './prepare.ts'
import { type Running, startProcess, startService } from './processes.ts'
import { onServer } from './server.ts'
import { type Candidate, compare, type Ratio } from './turns.ts'

const { values } = parseArgs({
  options: {
    other: { type: 'string' },
    seconds: { type: 'string', default: '1' },
    turns: { type: 'string', default: '10' },
    deals: { type: 'string', default: '5000' },
    engine: { type: 'string', default: 'postgres,embedded' },
  },
})
if (!values.other) throw new Error('--other names the directory of another version')
const [here, other] = [join(import.meta.dirname, '..'), resolve(values.other)]
const turns = { seconds: Number(values.seconds), turns: Number(values.turns), inFlight: 32 }

type Opened = { url: string } | { dataDir: string }

const directory = ownDirectory()
sayMachine()
if (values.engine.includes('postgres'))
  await onServer<[string, string, string]>(async (url, otherUrl, plainUrl) => {
    const own = await candidate(here, { url })
    const before = await candidate(other, { url: otherUrl })
    // A shared database would get the rows that its writes leave behind.
    const items = await casesOn({ url: plainUrl }, here)
    const service = await startProcess('bench/plain.ts', { DATABASE_URL: plainUrl })
    const plain = { service, items, isPlain: true } as const
    const ratios: Ratio[] = [
      ['of the other version', own, before],
      ['of plain Fastify + pg', own, plain],
    ]
    await compare('PostgreSQL', [own, before, plain], ratios, turns)
  }, 3)
if (values.engine.includes('embedded')) {
  const own = await candidate(here, { dataDir: join(directory, 'this') })
  const before = await candidate(other, { dataDir: join(directory, 'other') })
  await compare('Embedded', [own, before], [['of the other version', own, before]], turns)
}
process.exit(0)

/** The service of a version, on deals created by the same version. */
async function candidate(root: string, open: Opened): Promise<Candidate> {
  const items = await casesOn(open, root)
  const place = 'url' in open ? { DATABASE_URL: open.url, DATA_DIR: directory } : { DATA_DIR: open.dataDir }
  const token = { DEALWRIGHT_TOKEN: accountTokens[0]! }
  const service: Running = await startService({ ...place, ...token }, root)
  return { service, items }
}

/** The cases of the version in `root`, on deals that it creates. */
async function casesOn(open: Opened, root: string): Promise<readonly Case[]> {
  const of = (await import(join(root, 'bench/prepare.ts'))) as typeof import('./prepare.ts')
  return of.cases(await of.prepareDeals(open, Number(values.deals)))
}
