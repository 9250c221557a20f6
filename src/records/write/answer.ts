/** The response to a write, from the row that it returns, as its author may see it. */
import type { ResourceSchema } from '../../fields/catalog.ts'
import { storedResponse, type Written } from '../idempotency.ts'
import { renderSaved } from '../rendered-record.ts'
import { renderReplay } from '../replay.ts'
import type { Transaction } from '../store.ts'
import type { Saved, WriteContext } from './operation.ts'

/**
 * The response to a write, without the record. A record that was created with it has its id, or its place
 * after the last id before the write. The row has that id as `first_id`, as in responses that earlier
 * versions stored.
 */
export type WriteResponse = Pick<Saved, 'warnings' | 'isNew' | 'isUnchanged'> & {
  readonly created: readonly { readonly resource: string; readonly id?: number; readonly nth?: number }[]
}

/** Replays the record that the same request saved earlier (D8); null if there is none. */
export async function findIdempotentResponse(
  db: Transaction,
  schema: ResourceSchema,
  context: WriteContext,
): Promise<Saved | null> {
  const written = await storedResponse<WriteResponse>(db, requestKeyOf(context))
  return written && (await renderReplay(db, schema, context, [savedOf(schema, context, written)]))[0]!
}

/** The key by which idempotency.ts finds an earlier response. */
export function requestKeyOf({ catalog, idempotency = null }: WriteContext) {
  return { account: String(catalog.account.id), idempotency }
}

/** The saved record as its author may see it. */
export function savedOf(
  schema: ResourceSchema,
  context: WriteContext,
  { row, response }: Written<WriteResponse>,
): Saved {
  const created = response.created.map(({ resource, id, nth }) => ({
    resource,
    id: id ?? Number(row.first_id) + nth!,
  }))
  const saved = {
    id: Number(row.id),
    version: Number(row.version),
    record: row.record!,
    ...response,
    created,
  }
  return { ...saved, record: renderSaved(schema, context, saved) }
}
