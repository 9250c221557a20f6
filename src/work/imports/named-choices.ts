/** The users, tags and territories that texts of a file may mean. */
import type { Catalog } from '../../fields/catalog.ts'
import { type Reader, tableOf } from '../../records/store.ts'
import { mayRead } from '../../rights/rights.ts'
import { type AuthorizedCaller, callerParamsOf, visible } from '../../rights/visibility.ts'
import { ask, sql } from '../../sql.ts'
import type { Job } from '../jobs/job.ts'
import { planOf } from './plan.ts'
import { importedSchema } from './step.ts'
import { placesOf } from './targets.ts'
import type { Choice, Choices } from './values.ts'

/** Maximum number of records of a resource; with more, no text of its columns is reported as unknown. */
const namedMax = 2000
const named = ['user', 'tag', 'territory']

/**
 * The records that columns of the import may name, by resource, with what the caller sees of them. A resource
 * that the caller may not read is left out. `known`: the catalog for imports (`nameable`).
 */
export async function choicesOf(
  db: Reader,
  caller: AuthorizedCaller,
  job: Job,
  known: Catalog,
): Promise<Choices> {
  const places = placesOf(known, importedSchema(known.resources.get(job.resource)!))
  const related = new Set(planOf(job).mapping.map(({ field }) => places.get(field)?.of.related))
  const wanted = named.filter(name => related.has(name) && mayRead(caller, name))
  const all = new Map<string, readonly Choice[]>()
  for (const name of wanted) {
    const records = await recordsOf(db, caller, name)
    if (records.length <= namedMax) all.set(name, records)
  }
  return all
}

async function recordsOf(db: Reader, caller: AuthorizedCaller, name: string): Promise<Choice[]> {
  const schema = caller.catalog.resources.get(name)!
  const { inUse } = schema.resource
  const email = schema.byName.get('email')
  const seesEmail = email !== undefined && !email.is_hidden
  const statement = sql`SELECT r.id::text AS id, r.name, ${seesEmail ? sql`r.email` : sql`NULL`} AS email,
  ${inUse ? sql`(r.${sql.id(inUse)} <> 1)::text` : sql`'false'`} AS is_inactive FROM ${tableOf(schema)} r
WHERE ${visible(name, callerParamsOf(caller), sql`r`)} AND r.deleted_at IS NULL
ORDER BY r.id LIMIT ${sql.integer(namedMax + 1)}`
  const rows = await ask(db, statement)
  return rows.map(({ id, name, email, is_inactive }) => ({
    ...{ id: Number(id), name: name!, isInactive: is_inactive === 'true' },
    ...(email ? { email } : {}),
  }))
}
