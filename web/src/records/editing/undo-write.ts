/** Takes back what was written, exactly: also what no write could say again, such as when a deal was won. */
import { type AnyRecord, callApi, DealwrightError, UserError } from '../../api/api.ts'
import type { Event } from '../timeline/history.ts'

export const undoEvent = (seq: number): Promise<AnyRecord> => callApi('POST', `/event/${seq}/undo`)

/** True if an undo was refused because the same was changed since (D83). */
export function isChangedSince(error: unknown): error is DealwrightError {
  return error instanceof DealwrightError && error.code === 5007
}

/**
 * Undoes the write that made `after` of `before`: the record is as it was, also when a deal came to its stage
 * or was won. What others have changed in other fields since stays. Throws what the service refuses.
 */
export async function undoWrite(
  resource: string,
  before: AnyRecord,
  after: AnyRecord,
  expand = '',
): Promise<AnyRecord> {
  // It changed nothing, so the last event is somebody else's.
  if (after.version === before.version) return after
  const { id, version } = after
  const path = `/${resource}/${id}`
  const events = await callApi<readonly Event[]>('GET', `${path}/history`, { query: { pageSize: 30 } })
  const event = events.find(one => one.version === version)
  if (!event) throw new UserError('Too much has been changed since.')
  const undone = await undoEvent(event.seq).catch(error => {
    if (!isChangedSince(error)) throw error
    throw new UserError('Somebody else has changed the same fields since, so nothing was undone.')
  })
  return expand ? callApi<AnyRecord>('GET', path, { query: { expand } }) : undone
}
