/**
 * Prints the statements of an operation as the service sends them, to be read and pasted into psql: `npm run
 * sql -- deal.create`, or `npm run sql -- deal.list 'filter=status:eq(Open)'`. Without an argument, the names
 * of the operations. The operation runs on a temporary database with the sample's data.
 */
import { loadCatalog } from '../src/accounts/callers.ts'
import { firstStart } from '../src/accounts/first-start.ts'
import { createSample } from '../src/accounts/sample/sample.ts'
import { migrate } from '../src/db/migrate.ts'
import { type Database, openDatabase } from '../src/db/open.ts'
import { asOfDay } from '../src/history/as-of-day.ts'
import { readList } from '../src/history/read-list.ts'
import type { JsonObject } from '../src/json.ts'
import { readReport } from '../src/lists/report.ts'
import { statementsOf } from '../src/mergeable-write.ts'
import { readRecord } from '../src/records/read.ts'
import { removeRecord } from '../src/records/remove.ts'
import { restoreRecord } from '../src/records/restore.ts'
import type { RawReader, Transaction } from '../src/records/store.ts'
import { type Work, workOn } from '../src/records/work.ts'
import type { RequestWork } from '../src/records/write/operation.ts'
import { createRecord, updateRecord } from '../src/records/write/save.ts'
import { reports } from '../src/resources/reports.ts'
import { resources } from '../src/resources/resources.ts'
import { Rights } from '../src/rights/rights.ts'
import type { Statement } from '../src/sql.ts'

/** Body of each resource's create, without which only its list is printed; the ids are the sample's. */
const bodies: { readonly [resource: string]: JsonObject } = {
  deal: { title: 'A deal', pipeline: 2, pipeline_stage: 3, primary_contact: 68, sales_owner: 1 },
  product: { name: 'A product', unit_price: [{ currency: 'USD', unit_price: '49.90' }] },
  contact: { last_name: 'A contact' },
  company: { name: 'A company' },
  activity: { kind: 'Call', subject: 'A call', deal: 477 },
  user: { name: 'A user', email: 'user@example.com' },
  role: { name: 'A role', scopes: ['deal:read'], visibility: { deal: 'own' } },
  token: { name: 'A token', scopes: ['deal:read'] },
  territory: { name: 'A territory' },
  tag: { name: 'A tag' },
  pipeline: { name: 'A pipeline' },
  pipeline_stage: { name: 'A stage', pipeline: 2 },
  webhook: { url: 'https://example.com/', events: ['deal.created'] },
  view: { name: 'A view', source: 'deal' },
}
/** A currency is never created, and so not deleted: this one exists. */
const euro = 978

type Asked = Work<Transaction & RawReader, RequestWork['context']> & {
  readonly id: number
  readonly parameters: ReadonlyMap<string, readonly string[]>
}

const operations: { readonly [name: string]: (asked: Asked) => Promise<unknown> } = {
  get: asked => readRecord(asked, asked.id),
  update: asked => updateRecord(asked, asked.id, { metadata: { changed: true } }),
  list: asked => readList(asked, asked.parameters, new Date().toISOString(), asked.db),
  create: asked => createRecord(asked, bodies[asked.schema.resource.name]!),
  delete: asked => removeRecord(asked, asked.id),
  restore: asked => restoreRecord(asked, asked.id, new Date(0)),
}
const ofExisting = ['get', 'update']

const names = resources.flatMap(({ name }) => [
  ...Object.keys(operations)
    .filter(
      operation =>
        operation === 'list' || name in bodies || (name === 'currency' && ofExisting.includes(operation)),
    )
    .map(operation => `${name}.${operation}`),
  ...reports.filter(({ resource }) => resource === name).map(report => `${name}.${report.name}`),
])

const [name, query = ''] = process.argv.slice(2)
if (name === undefined) console.log(names.join('\n'))
else if (!names.includes(name)) {
  console.error(`There is no operation ${name}. There are: ${names.join(', ')}.`)
  process.exitCode = 2
} else {
  const db = await openDatabase({ log: line => console.error(line) })
  try {
    await migrate(db)
    await firstStart(db, { now: new Date(), sampleData: true, createSample })
    const statements = await sentBy(db, name, query)
    for (const [index, statement] of statements.entries())
      console.log(pasted(statement, `${name}.${index + 1}`.replaceAll('.', '_')))
  } finally {
    await db.close()
  }
}

/** The statements that the operation sends to the database. */
async function sentBy(db: Database, name: string, query: string): Promise<Statement[]> {
  const [resource, operation] = name.split('.') as [string, string]
  const catalog = await loadCatalog(db, resources, 1)
  const rights = new Rights(new Set(['admin']), catalog.roles.values().next().value!)
  const context = { catalog, actor: 1, rights }
  const work = workOn(db, context, resource)
  const parameters = new Map<string, string[]>()
  for (const [key, value] of new URLSearchParams(query))
    parameters.set(key, [...(parameters.get(key) ?? []), value])
  const body = operation === 'create' ? undefined : bodies[resource]
  const id = body ? (await createRecord(work, body)).id : euro
  if (operation === 'restore') await removeRecord(work, id)

  const asked: Statement[] = []
  const spy: Asked['db'] = {
    hasOnlyTransactions: false,
    query(text, values = [], replan = false) {
      asked.push({ text, values })
      return db.query(text, values, replan)
    },
    queryBytes(text, values, replan) {
      asked.push({ text, values })
      return db.queryBytes(text, values, replan)
    },
    write(account, content) {
      const statements = statementsOf(content)
      asked.push(...statements)
      return db.write(account, statements)
    },
  }
  const report = reports.find(one => one.resource === resource && one.name === operation)
  if (report) {
    const now = new Date().toISOString()
    const request = await readReport(spy, report, context, parameters, now)
    const { reader } = await asOfDay(spy, context, request)
    await report.answer(reader, context, request)
  } else await operations[operation]!({ ...work, db: spy, id, parameters })
  return asked
}

/** The statement under a name, in psql's form, and its plan for the given values. */
function pasted({ text, values }: Statement, name: string): string {
  const quoted = values.map(value => (value === null ? 'NULL' : `'${value.replaceAll("'", "''")}'`))
  const given = quoted.length ? ` (${quoted.join(', ')})` : ''
  return `PREPARE ${name} AS\n${text.trim()};\n\nEXPLAIN EXECUTE ${name}${given};\n`
}
