/**
 * Believable data to try the service with (D40). It is deterministic except for the dates, which lie around
 * `now`. Every record is created as an API client would create it, so that every rule holds and every derived
 * value is right. The records follow each other in time, as in any account (D123).
 */
import { bringDealsInLine } from '../activities/in-deals.ts'
import { kinds } from '../fields/kinds.ts'
import { plainWords } from '../fields/name.ts'
import type { JsonObject } from '../json.ts'
import { createRecord } from '../records/create.ts'
import type { Context } from '../records/save.ts'
import type { Queryable } from '../records/store.ts'
import { updateRecord } from '../records/update.ts'
import { resources } from '../resources.ts'
import { ask, sql } from '../sql.ts'
import { loadCatalog } from './callers.ts'
import { insertOptions } from './create.ts'
import { sampleActivities } from './sample-activities.ts'
import { sampleBegins, sampleDeals, sampleProducts } from './sample-bodies.ts'
import { sampleFields } from './sample-fields.ts'
import * as names from './sample-names.ts'

/** Ids of what deals point to. */
export type SampleIds = {
  readonly owners: readonly number[]
  readonly territories: readonly number[]
  readonly tags: readonly number[]
  /** index = company */
  readonly companies: readonly number[]
  /** two for each company, in its order */
  readonly contacts: readonly number[]
}

/** Fills an account that was just made, as of `sampleBegins(now)`. Runs inside the caller's transaction. */
export async function createSample(tx: Queryable, account: number, owner: number, now: Date): Promise<void> {
  const id = String(account)
  await insertFields(tx, id)
  await ask(
    tx,
    sql`UPDATE account SET catalog_version = catalog_version + 1 WHERE account_id = ${id}::bigint`,
  )
  const first = await loadCatalog(tx, resources, account)
  for (const [code, rate] of names.rates) {
    const currency = first.currencyByCode.get(code)!
    await updateRecord(
      tx,
      first.resources.get('currency')!,
      currency.id,
      { rate: Number(rate) },
      { catalog: first, actor: owner, at: sampleBegins(now) },
    )
  }
  const catalog = await loadCatalog(tx, resources, account)
  const random = generator(20_240_229)
  const fieldsOf = (resource: string) => catalog.resources.get(resource)!
  const [product, deal, activity] = [fieldsOf('product'), fieldsOf('deal'), fieldsOf('activity')]
  const context = (at: Date) => ({ catalog, actor: owner, at })
  const begun = context(sampleBegins(now))
  const ids = await createAround(tx, begun)
  const sold = await Promise.all(
    sampleProducts(random, now, ids).map(body => createRecord(tx, product, body, begun)),
  )
  const products = sold.map(({ id }) => id)
  const deals = sampleDeals(random, now, ids, products, catalog)
  const made = await Promise.all(
    deals.map(async one => ({ ...one, ...(await createRecord(tx, deal, one.body, context(one.createdAt))) })),
  )
  const activities = sampleActivities(random, now, made)
  const lastMinutes = (index: number) => new Date(now.getTime() - (activities.length - index) * 60_000)
  await Promise.all(
    activities.map((body, index) =>
      createRecord(tx, activity, body, context(lastMinutes(index)), { isAmongMany: true }),
    ),
  )
  await bringDealsInLine(tx, account)
}

/** A custom field of each kind on deal and on product, with the options of those that have some. */
async function insertFields(tx: Queryable, account: string): Promise<void> {
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
  await ask(
    tx,
    sql`INSERT INTO field (account_id, id, resource, internal_name, field_name, type, config)
      SELECT ${account}::bigint, f.id, f.resource, f.name, f.label, f.type, f.config
      FROM json_to_recordset(${JSON.stringify(each)}::json) f (id bigint, resource text, name text,
        label text, type text, config jsonb)`,
  )
  await insertOptions(tx, account, options)
  await ask(
    tx,
    sql`UPDATE counter SET last_field_id = ${String(last)}::bigint WHERE account_id = ${account}::bigint`,
  )
}

async function createAround(tx: Queryable, context: Context): Promise<SampleIds> {
  const create = async (resource: string, bodies: readonly JsonObject[]) => {
    const fields = context.catalog.resources.get(resource)!
    const made = await Promise.all(bodies.map(body => createRecord(tx, fields, body, context)))
    return made.map(({ id }) => id)
  }
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
  const first = names.firstNames[(index * 7) % names.firstNames.length]!
  const last = names.lastNames[(index * 3 + Math.floor(index / 20)) % names.lastNames.length]!
  return {
    first_name: first,
    last_name: last,
    job_title: names.jobTitles[index % names.jobTitles.length]!,
    emails: [{ email_type: 1, email_value: mail(`${first} ${last}`) }],
    phones: [{ phone_type: 3, phone_number: `+1 555 02${String(index).padStart(2, '0')}` }],
    company,
  }
}

function mail(name: string): string {
  return `${plainWords(name).join('.')}@example.com`
}

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
