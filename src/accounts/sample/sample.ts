/**
 * Realistic sample data (D40). It is deterministic except for the dates, which lie around `now`. Every record
 * is created as by an API client, so that every rule holds and every derived value is right. The records
 * follow each other in time, as in any account (D123).
 */
import { kinds } from '../../fields/kinds.ts'
import { plainWords } from '../../fields/name.ts'
import type { JsonObject } from '../../json.ts'
import type { Transaction } from '../../records/store.ts'
import { workOn } from '../../records/work.ts'
import { carryOutBatch } from '../../records/write/batch.ts'
import type { WriteContext } from '../../records/write/operation.ts'
import { createRecord, updateRecord } from '../../records/write/save.ts'
import { resources } from '../../resources/resources.ts'
import { ask, sql } from '../../sql.ts'
import { loadCatalog } from '../callers.ts'
import { insertRows } from '../create.ts'
import { type SampleDeal, sampleActivities } from './activities.ts'
import { ratesIn, sampleBegins, sampleDeals, sampleProducts } from './bodies.ts'
import { sampleFields } from './fields.ts'
import { historyOf, type SampleLife } from './histories.ts'
import names from './names.json' with { type: 'json' }

/** Ids of the records to which deals point. */
export type SampleIds = {
  readonly owners: readonly number[]
  readonly territories: readonly number[]
  readonly tags: readonly number[]
  /** index = company */
  readonly companies: readonly number[]
  /** two per company, in its order */
  readonly contacts: readonly number[]
}

/** Fills a new account, created at `sampleBegins(now)`. Runs inside the caller's transaction. */
export async function createSample(
  tx: Transaction,
  account: number,
  owner: number,
  now: Date,
): Promise<void> {
  const id = String(account)
  await insertFields(tx, id)
  await ask(
    tx,
    sql`UPDATE account SET catalog_version = catalog_version + 1 WHERE account_id = ${id}::bigint`,
  )
  const first = await loadCatalog(tx, resources, account)
  for (const [code, rate] of ratesIn(first.currencies.get(first.account.base_currency)!.code)) {
    const currency = first.currencyByCode.get(code)!
    const context = { catalog: first, actor: owner, at: sampleBegins(now) }
    await updateRecord(workOn(tx, context, 'currency'), currency.id, { rate })
  }
  const catalog = await loadCatalog(tx, resources, account)
  const random = generator(20_240_229)
  const context = (at: Date, actor = owner) => ({ catalog, actor, at })
  const begun = context(sampleBegins(now))
  const ids = await createAround(tx, begun)
  const products = await createAll(tx, 'product', sampleProducts(random, now, ids), begun)
  const deals = sampleDeals(random, now, ids, products, catalog)
  const created = await createDeals(tx, deals, now, context)
  await createAll(tx, 'activity', sampleActivities(random, now, created), context(now))
  // Nothing of the sample appears in an inbox as news (D156).
  await ask(
    tx,
    sql`INSERT INTO inbox_progress (account_id, seq)
      SELECT account_id, last_seq FROM counter WHERE account_id = ${id}::bigint
      ON CONFLICT (account_id) DO UPDATE SET seq = EXCLUDED.seq`,
  )
}

/** Creates records of a resource in one batch, and returns their ids. */
async function createAll(
  tx: Transaction,
  resource: string,
  bodies: readonly JsonObject[],
  context: WriteContext & { readonly at: Date },
): Promise<number[]> {
  const create = { op: 'create', id: null, key: null, precondition: null } as const
  const operations = bodies.map(body => ({ ...create, body }))
  const outcomes = await carryOutBatch(workOn(tx, context, resource), operations, context.at)
  return outcomes.map(outcome => {
    if ('saved' in outcome) return outcome.saved.id
    throw 'refusal' in outcome ? outcome.refusal : new Error(`A ${resource} of the sample was not created.`)
  })
}

/** Creates the deals and moves them through their stages, all steps in chronological order. */
async function createDeals(
  tx: Transaction,
  deals: readonly SampleLife[],
  now: Date,
  context: (at: Date, actor?: number) => WriteContext,
): Promise<SampleDeal[]> {
  const stages = [...context(now).catalog.stages.values()]
  const random = generator(20_260_301)
  const steps = deals.flatMap((deal, index) =>
    historyOf(random, now, deal, stages).map((step, nth) => ({ ...step, index, isNew: nth === 0 })),
  )
  const ids: number[] = []
  for (const { at, body, index, isNew } of steps.toSorted(
    (one, other) => one.at.getTime() - other.at.getTime(),
  )) {
    const { sales_owner } = deals[index]!.body
    const work = workOn(tx, context(at, isNew ? undefined : Number(sales_owner)), 'deal')
    if (isNew) ids[index] = (await createRecord(work, body)).id
    else await updateRecord(work, ids[index]!, body)
  }
  return deals.map((deal, index) => ({ ...deal, id: ids[index]! }))
}

/** Inserts a custom field of each kind on deal and on product, with its options. */
async function insertFields(tx: Transaction, account: string): Promise<void> {
  const [counter] = await ask(
    tx,
    sql`SELECT last_field_id::text AS last FROM counter WHERE account_id = ${account}::bigint`,
  )
  let last = Number(counter!.last)
  const each = ['deal', 'product'].flatMap(resource =>
    sampleFields.map(field => ({ config: kinds[field.type].custom, ...field, resource, id: ++last })),
  )
  const options = each.flatMap(field =>
    (field.options ?? []).map((name, index) => ({
      id: ++last,
      resource: field.resource,
      field: field.name,
      name,
      position: index + 1,
    })),
  )
  const rows = each.map(({ id, resource, name, label, type, config }) => ({
    ...{ id, resource, internal_name: name, field_name: label, type, config },
  }))
  await insertRows(tx, account, 'field', rows)
  await insertRows(tx, account, 'option', options)
  await ask(
    tx,
    sql`UPDATE counter SET last_field_id = ${String(last)}::bigint WHERE account_id = ${account}::bigint`,
  )
}

async function createAround(
  tx: Transaction,
  context: WriteContext & { readonly at: Date },
): Promise<SampleIds> {
  const create = (resource: string, bodies: readonly JsonObject[]) => createAll(tx, resource, bodies, context)
  const users = await create(
    'user',
    names.owners.map(name => ({ name, email: mail(name) })),
  )
  const territories = await create(
    'territory',
    names.territories.map(name => ({ name })),
  )
  const tags = await create(
    'tag',
    names.tags.map(name => ({ name })),
  )
  const companies = await create('company', names.companies.map(company))
  const contacts = await create(
    'contact',
    companies.flatMap((id, index) => [contact(2 * index, id), contact(2 * index + 1, id)]),
  )
  return { owners: [context.actor, ...users], territories, tags, companies, contacts }
}

function company(name: string, index: number): JsonObject {
  const city = names.cities[index % names.cities.length]!
  return {
    name,
    website: `https://${plainWords(name).join('-')}.example`,
    phones: [{ phone_type: 1, phone_number: `+1 555 01${String(index).padStart(2, '0')}` }],
    address: [
      { address_line1: `${index + 10} Market Street`, city, zipcode: String(index * 137).padStart(5, '0') },
    ],
  }
}

function contact(index: number, company: number): JsonObject {
  const first = names.first_names[(index * 7) % names.first_names.length]!
  const last = names.last_names[(index * 3 + Math.floor(index / 20)) % names.last_names.length]!
  return {
    first_name: first,
    last_name: last,
    job_title: names.job_titles[index % names.job_titles.length]!,
    emails: [{ email_type: 1, email_value: mail(`${first} ${last}`) }],
    phones: [{ phone_type: 3, phone_number: `+1 555 02${String(index).padStart(2, '0')}` }],
    company,
  }
}

function mail(name: string): string {
  return `${plainWords(name).join('.')}@example.com`
}

/** A seeded random generator of numbers from 0 up to 1 (mulberry32). */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
