/**
 * `npm run bench:imports [-- --rows 20000 --engine postgres,embedded --phases dry_run,run,revert]`: a file of
 * deals with contacts and companies is uploaded, dry-run, imported and reverted (D80). Gets meanwhile are
 * timed beside gets alone. On a server, COPY of the same records and events into tables with the same indexes
 * is the limit. Prints rows a second. See docs/performance.md.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createDatabase, startPostgres } from '../test/support/postgres.ts'
import { ownDirectory, sayMachine } from './begin.ts'
import { accountTokens } from './prepare.ts'
import { endAll, peakOf, startService } from './processes.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '20000' },
    engine: { type: 'string', default: 'postgres,embedded' },
    phases: { type: 'string', default: 'dry_run,run,revert' },
  },
})
type Named = { [name: string]: string }

const rows = Number(values.rows)
const token = accountTokens[0]!
const directory = ownDirectory()
sayMachine()
if (values.engine.includes('postgres')) {
  const server = await startPostgres(true)
  if (!server) throw new Error('PostgreSQL is not installed here')
  const url = await createDatabase(server.url)
  const copy = () => copied(url, server.sockets!)
  await measure('PostgreSQL', { DATABASE_URL: url, DATA_DIR: directory }, copy)
  endAll()
  await server.stop()
}
if (values.engine.includes('embedded')) await measure('Embedded', { DATA_DIR: join(directory, 'embedded') })
process.exit(0)

async function measure(
  title: string,
  place: Record<string, string>,
  copy?: () => Promise<number>,
): Promise<void> {
  const service = await startService({ ...place, DEALWRIGHT_TOKEN: token })
  const { url } = service
  const ask = async (method: string, path: string, body?: string, type = 'application/json') => {
    const headers = { authorization: `Bearer ${token}`, ...(body ? { 'content-type': type } : {}) }
    const reply = await fetch(`${url}/rest/api/v1/${path}`, { method, headers, ...(body ? { body } : {}) })
    if (!reply.ok) throw new Error(`${method} ${path}: ${await reply.text()}`)
    return ((await reply.json()) as { data: { [name: string]: never } }).data
  }
  const first = async (resource: string) =>
    (await ask('GET', `${resource}/view/list?pageSize=1`))[0 as never] as unknown as Named
  const file = csv((await first('pipeline')).name!, (await first('user')).email!)
  console.log(`\n${title}, ${rows} rows`)
  const sent = performance.now()
  const { id } = await ask('POST', 'import?resource=deal&format=csv', file, 'text/csv')
  tell('sent and read', performance.now() - sent)
  const alone = await p99(() => ask('GET', 'user/1'), 1000)
  for (const phase of values.phases.split(',')) {
    const begun = performance.now()
    await ask('POST', `import/${id}/${phase}`)
    let isOver = false
    const meanwhile = p99(
      () => ask('GET', 'user/1'),
      Number.POSITIVE_INFINITY,
      () => isOver,
    )
    let job = await ask('GET', `import/${id}`)
    while (job.state === 'running') {
      await sleep(100)
      job = await ask('GET', `import/${id}`)
    }
    isOver = true
    tell(phase.replace('_', ' '), performance.now() - begun)
    const { created, refused, reverted, related, error } = job
    console.log(`  ${JSON.stringify({ created, refused, reverted, related, error })}`)
    console.log(
      `  p99 of a get: ${((await meanwhile) / alone).toFixed(1)} times that alone (${alone.toFixed(1)} ms)`,
    )
    console.log(`  the service's memory was at most ${peakOf(service)} MB`)
    if (phase === 'run' && copy) tell('COPY', await copy())
  }
  await service.stop()
}

/** Milliseconds that COPY takes for the imported rows; `folder`: one of the server's. */
async function copied(url: string, folder: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  let ms = 0
  for (const table of ['company', 'contact', 'deal', 'event']) {
    const file = `'${join(folder, `${table}.copy`)}'`
    await client.query(`CREATE TABLE ${table}_copied (LIKE ${table} INCLUDING ALL)`)
    await client.query(`COPY (SELECT * FROM ${table} WHERE account_id = 1) TO ${file}`)
    const begun = performance.now()
    await client.query(`COPY ${table}_copied FROM ${file}`)
    ms += performance.now() - begun
    await client.query(`DROP TABLE ${table}_copied`)
  }
  await client.end()
  return ms
}

function tell(what: string, ms: number): void {
  console.log(`${what.padEnd(14)} ${Math.round((rows / ms) * 1000)} rows a second`)
}

/** The slowest of a hundred gets, one every ten milliseconds, until the time is over or `isOver`. */
async function p99(get: () => Promise<unknown>, forMs: number, isOver = () => false): Promise<number> {
  const took: number[] = []
  for (const until = performance.now() + forMs; performance.now() < until && !isOver(); await sleep(10)) {
    const begun = performance.now()
    await get()
    took.push(performance.now() - begun)
  }
  return took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)]!
}

/** A fifth of the rows have a contact of their own, a tenth a company of its own. */
function csv(pipeline: string, owner: string): string {
  const names = [
    'title',
    'pipeline',
    'pipeline_stage',
    'sales_owner',
    'deal_value.value',
    'deal_value.currency',
  ]
  const header = [...names, 'company.name', 'primary_contact.last_name', 'primary_contact.emails']
  const lines = Array.from({ length: rows }, (_, index) => {
    const [company, contact] = [Math.floor(index / 10), Math.floor(index / 5)]
    const deal = [`Deal ${index}`, pipeline, 'New', owner, index + 0.5, 'EUR']
    return [...deal, `Company ${company}`, `Person ${contact}`, `p${contact}@example.com`].join()
  })
  return [header.join(), ...lines].join('\n')
}
