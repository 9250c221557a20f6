/**
 * Changes of records that are part of the configuration, such as roles and currencies, are saved on the
 * catalog that judged them, as those of fields are (D52): under the account's lock, once the catalog is known
 * to be the latest.
 */
import type { Work } from './work.ts'
import { lockLatest } from './write/protocol.ts'

/**
 * Carries out a write. Throws `busy_record` if the record is part of the configuration and the catalog is
 * outdated. Within a transaction this is up to whoever began it, because its own changes make new versions.
 */
export async function onLatestCatalog<T>(work: Work, act: (work: Work) => Promise<T>): Promise<T> {
  const { db, schema, context } = work
  if (!schema.resource.isConfiguration || !db.transaction) return act(work)
  return db.transaction({ account: String(context.catalog.account.id) }, async tx => {
    await lockLatest(tx, context)
    return { commits: true, result: await act({ ...work, db: tx }) }
  })
}
