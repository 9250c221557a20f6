/** Sample products and deals, created as an API client would create them: every rule holds and every derived value is right (D40). */
import type { Json } from '../json.ts'
import { createRecord } from '../records/create.ts'
import type { Queryable } from '../records/store.ts'
import { resources } from '../resources.ts'
import { loadCatalog } from './directory.ts'

export type Sample = { products: Json[]; deals: { body: Json; createdAt: Date }[] }

export async function createSample(db: Queryable, account: number, owner: number, sample: Sample, now: Date): Promise<void> {
  const catalog = await loadCatalog(db, resources, account)
  const context = (at: Date) => ({ catalog, actor: owner, now: at })
  await Promise.all(sample.products.map(body => createRecord(db, catalog.resources.get('product')!, body, context(now))))
  const deals = sample.deals.toSorted((one, other) => one.createdAt.getTime() - other.createdAt.getTime())
  await Promise.all(deals.map(({ body, createdAt }) => createRecord(db, catalog.resources.get('deal')!, body, context(createdAt))))
}
