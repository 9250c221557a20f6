/**
 * The statements of a transaction (D164) are such as a distributed PostgreSQL carries out (D173). Judges what
 * is sent when records of each kind are created, changed, deleted and restored.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import type { JsonObject } from '../../src/json.ts'
import { statementsOf } from '../../src/mergeable-write.ts'
import { removeRecord } from '../../src/records/remove.ts'
import { restoreRecord } from '../../src/records/restore.ts'
import type { Transaction } from '../../src/records/store.ts'
import { workOn } from '../../src/records/work.ts'
import { carryOutBatch } from '../../src/records/write/batch.ts'
import { createRecord, updateRecord } from '../../src/records/write/save.ts'
import { resources } from '../../src/resources/resources.ts'
import { dealBody, startService } from '../support/service.ts'

const { db, known } = await startService({ alone: true })
const sent = new Set<string>()
const writing =
  (tx: Pick<Transaction, 'write'>): Transaction['write'] =>
  (account, content) => {
    const statements = statementsOf(content)
    for (const { text } of statements) sent.add(text)
    return tx.write(account, statements)
  }
const query: Transaction['query'] = (text, params) => {
  sent.add(text)
  return db.query(text, params)
}
const recording: Transaction = { hasOnlyTransactions: true, query, write: writing(db) }

const nested = dealBody(known, { primary_contact: { last_name: 'Nested' }, company: { name: 'Nested' } })
/** Several, so that ids that are not known yet stand in a column of one id, and in one of several. */
const newParts: JsonObject = {
  company: { name: 'New' },
  related_contacts: [known.contact, { last_name: 'New' }, { last_name: 'Newer' }],
}
const bodies: readonly (readonly [resource: string, body: JsonObject])[] = [
  ['deal', dealBody(known)],
  ['deal', nested],
  ['product', { name: 'Distributed', unit_price: [{ currency: 'USD', unit_price: '1.50' }] }],
  ['contact', { last_name: 'Distributed', job_title: 'Distributed' }],
  ['company', { name: 'Distributed' }],
  ['activity', { kind: 'Call', subject: 'Distributed', due_at: '2027-01-01T10:00:00Z' }],
  ['user', { name: 'Distributed', email: 'distributed@example.com' }],
  ['role', { name: 'Distributed', scopes: ['deal:read'] }],
  ['territory', { name: 'Distributed' }],
  ['tag', { name: 'Distributed' }],
  ['pipeline', { name: 'Distributed' }],
  ['webhook', { url: 'https://crm.example.com/hook', events: ['*'] }],
]

for (const [resource, body] of bodies) {
  const now = async () => {
    const catalog = await loadCatalog(db, resources, 1)
    return workOn(recording, { catalog, actor: known.owner }, resource)
  }
  const { id } = await createRecord(await now(), body)
  await updateRecord(await now(), id, { metadata: { changed: true } })
  if (resource === 'deal') await updateRecord(await now(), id, newParts)
  await removeRecord(await now(), id)
  await restoreRecord(await now(), id, new Date(0))
}
const latest = { catalog: await loadCatalog(db, resources, 1), actor: known.owner }
await db.transaction({ account: '1' }, async tx => {
  const operations = known.contacts.slice(0, 3).map(id => {
    return { op: 'update', id, key: null, precondition: null, body: { job_title: 'Several' } } as const
  })
  const own = { ...recording, query: tx.query, write: writing(tx) }
  const outcomes = await carryOutBatch(workOn(own, latest, 'contact'), operations, new Date(0))
  return { commits: true, result: outcomes }
})
const statements = [...sent]

test('what was sent are the statements of transactions', () => {
  assert.ok(statements.length > 60, `${statements.length} statements`)
  assert.ok(statements.some(text => /UPDATE counter c SET/.test(text)))
})

test('none changes rows in a CTE, and each names its account', () => {
  const refused = statements.filter(
    text =>
      /AS ((NOT )?MATERIALIZED )?\(\s*(INSERT|UPDATE|DELETE)\b/.test(text) ||
      !/account_id = \$1::bigint/.test(text),
  )
  assert.deepEqual(refused, [])
})

/** Changes of configuration, which may be committed in two phases. */
const ofConfiguration = /^\s*INSERT INTO (field|option|form) /

test('an INSERT takes its account from a row, so that it is sent to the node whole', () => {
  const inserts = statements.filter(text => /^\s*INSERT INTO /.test(text) && !ofConfiguration.test(text))
  assert.ok(inserts.length > 10, `${inserts.length} statements`)
  assert.deepEqual(
    inserts.filter(text => /\bSELECT \$1::bigint,[\s\S]*\bFROM\b/.test(text)),
    [],
  )
})

/** The items of a SET up to the first subquery over the members of a text. */
const withoutSubqueries = (items: string) => items.replace(/\(\s*SELECT string_agg\([\s\S]*$/, '')

/** Those by which the moment of a write is set (D123): over the start of the statement, and no column. */
const ofTheMoment = "date_trunc('milliseconds', statement_timestamp())"

test('what an UPDATE sets are columns and immutable functions of them', async () => {
  const set = statements.flatMap(text => {
    const [, items] =
      /^\s*(?:WITH [\s\S]*\) )?\s*UPDATE \S+ \w+ SET ([\s\S]*?)\n\s*(?:FROM|WHERE) /.exec(text) ?? []
    return items ? [withoutSubqueries(items.replaceAll(ofTheMoment, ''))] : []
  })
  assert.ok(set.length > 30, `${set.length} updates`)
  const names = [
    ...new Set(set.flatMap(items => [...items.matchAll(/\b([a-z_]+)\(/g)].map(([, name]) => name!))),
  ]
  const rows = await db.query(
    `SELECT DISTINCT p.proname AS name FROM pg_proc p
    WHERE p.proname = ANY($1::text[]) AND p.provolatile <> 'i'`,
    [`{${names.join()}}`],
  )
  assert.deepEqual(
    rows.map(({ name }) => name),
    [],
  )
  assert.ok(set.some(items => items.includes('ARRAY[')))
  assert.deepEqual(
    set.filter(items => /[\w)] [+-] interval /.test(items.replace(/AT TIME ZONE 'UTC' [+-] interval /g, ''))),
    [],
  )
})
