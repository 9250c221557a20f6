/**
 * `npm run bench:fields [-- --seconds 6]`: the cost of custom fields. Time to validate a deal with sixty of
 * them; and get and list over HTTP with two hundred fields in the catalog against none, in turns of one run.
 * See docs/performance.md.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadCatalog } from '../src/accounts/callers.ts'
import { firstStart } from '../src/accounts/first-start.ts'
import { createField } from '../src/configuration/administer.ts'
import { migrate } from '../src/db/migrate.ts'
import { type Database, openDatabase } from '../src/db/open.ts'
import { customTypes, type FieldType } from '../src/fields/kinds.ts'
import type { JsonObject } from '../src/json.ts'
import { workOn } from '../src/records/work.ts'
import { createRecord, validOperation } from '../src/records/write/save.ts'
import { resources } from '../src/resources/resources.ts'
import { KeyedMutex } from '../src/waiting/keyed-mutex.ts'
import { timeouts } from '../test/support/timeouts.ts'
import { ownDirectory } from './begin.ts'
import type { Figures, Orders } from './load.ts'
import { accountTokens } from './prepare.ts'
import { ask, startService } from './processes.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '6' } } })
const rounds = 3
const seconds = Number(values.seconds) / rounds
const slice = { warmUp: Math.min(0.5, seconds), seconds }
const deals = 200
const directory = ownDirectory()

const samples: { readonly [type in FieldType]?: JsonObject[string] } = {
  SINGLE_STRING: 'A text',
  TEXT: 'A longer text. '.repeat(20),
  SINGLE_NUMBER: 1234.5,
  DROPDOWN: 'Option 7',
  MULTISELECT: ['Option 1', 'Option 9'],
  ADDRESS: { address_line1: '1 Market Street', city: 'Lyon', zipcode: '06900' },
  OWNER: 1,
  COMPANY: 100,
  CONTACT: 101,
  MONETARY: { currency: 'EUR', value: '1250.50' },
  PHONE: [{ phone_type: 'mobile', phone_number: '+1 555 0100' }],
  EMAIL: [{ email_type: 'work', email_value: 'jo@example.com' }],
  TIME: '09:30',
  DATE: '2027-01-31',
  TIME_RANGE: '09:00/17:30',
  DATE_RANGE: { range: { from: '2027-01-01', to: '2027-01-31' } },
  DATE_TIME_RANGE: { range: { from: '2027-01-01T09:00:00Z', to: '2027-01-01T17:00:00Z' } },
}
const plainDeal = { title: 'A deal', pipeline: 2, pipeline_stage: 3, primary_contact: 101, sales_owner: 1 }

await validation()
await throughput()

/** Parsing and rules of a deal, in this process: everything but the database. */
async function validation(): Promise<void> {
  const db = await prepare({}, 60)
  const catalog = await loadCatalog(db, resources, 1)
  const schema = catalog.resources.get('deal')!
  const filled = schema.fields
    .filter(field => field.is_custom)
    .map(field => [field.internal_name, samples[field.type]!])
  const body = { ...plainDeal, deal_value: { currency: 'USD', value: 100 }, ...Object.fromEntries(filled) }
  const operation = { op: 'create', id: null, key: null, precondition: null, body } as const
  const times: number[] = []
  for (let count = 0; count < 5000; count++) {
    const began = performance.now()
    await validOperation({ db, schema, context: { catalog, actor: 1 } }, operation, false)
    times.push(performance.now() - began)
  }
  await db.close()
  times.sort((one, other) => one - other)
  const [median, p99] = [times[2500]!, times[4950]!]
  const verdict = median < 0.2 ? '✓' : '✗'
  console.log(
    `Validation of a deal with ${filled.length} custom fields: median ${median.toFixed(3)} ms (aim 0.2 ${verdict}), p99 ${p99.toFixed(3)} ms`,
  )
}

async function throughput(): Promise<void> {
  const ids: readonly [number, number] = [102, 101 + deals]
  const services = await Promise.all(
    [0, 200].map(async count => {
      const dataDir = join(directory, String(count))
      const db = await prepare({ dataDir }, count)
      await db.close()
      return startService({ DATA_DIR: dataDir, DEALWRIGHT_TOKEN: accountTokens[0]!, SAMPLE_DATA: '0' })
    }),
  )
  const paths = { get: '/rest/api/v1/deal/{id}', 'list of 25': '/rest/api/v1/deal/view/list?count=none' }
  for (const [name, path] of Object.entries(paths)) {
    const counts = [0, 0]
    for (let round = 0; round < rounds; round++) {
      for (const index of round % 2 ? [1, 0] : [0, 1]) {
        const orders = {
          port: Number(new URL(services[index]!.url).port),
          connections: 8,
          ...slice,
          method: 'GET',
          path,
          ids,
        }
        counts[index]! += (
          await ask<Figures>('bench/load.ts', {
            ...orders,
            body: null,
            tokens: accountTokens.slice(0, 1),
          } satisfies Orders)
        ).count
      }
    }
    const ratio = counts[1]! / counts[0]!
    console.log(
      `${name}: with 200 custom fields ${ratio.toFixed(2)} of the throughput without (aim 0.75 ${ratio > 0.75 ? '✓' : '✗'})`,
    )
  }
  for (const service of services) await service.stop()
}

/** An embedded database with two hundred deals and `count` empty custom fields. */
async function prepare(open: { dataDir?: string }, count: number): Promise<Database> {
  const db = await openDatabase({ ...open, ...timeouts(), log: line => console.error(line) })
  await migrate(db)
  await firstStart(db, {
    now: new Date(),
    sampleData: false,
    presetToken: accountTokens[0]!,
    createSample: async () => {},
  })
  await db.query(
    "INSERT INTO company (account_id, id, name, document, created_at, updated_at) VALUES (1, 100, 'Company', '', now(), now())",
  )
  await db.query(
    "INSERT INTO contact (account_id, id, last_name, document, created_at, updated_at) VALUES (1, 101, 'Contact', '', now(), now())",
  )
  await db.query('UPDATE counter SET last_id = 101 WHERE account_id = $1::bigint', ['1'])
  const administrator = {
    db,
    account: 1,
    actor: 1,
    loadCatalog: () => loadCatalog(db, resources, 1),
    mutex: new KeyedMutex<number>('configuration'),
  }
  for (let index = 0; index < count; index++) {
    const type = customTypes[index % customTypes.length]!
    const options =
      type === 'DROPDOWN' || type === 'MULTISELECT'
        ? { options: Array.from({ length: 20 }, (_, n) => `Option ${n}`) }
        : {}
    await createField(administrator, { source: 'deal', field_name: `Field ${index}`, type, ...options })
  }
  const catalog = await loadCatalog(db, resources, 1)
  for (let index = 0; index < deals; index++)
    await createRecord(workOn(db, { catalog, actor: 1 }, 'deal'), plainDeal)
  return db
}
