/** Undoes a write exactly, including values that no write can set, such as when a deal was won. */
import { type AnyRecord, callApi, DealwrightError, UserError } from '../../api/api.ts'
import type { Event } from '../timeline/history.ts'

export const undoEvent = (seq: number): Promise<AnyRecord> => callApi('POST', `/event/${seq}/undo`)

/** True if an undo was refused because a field was changed since (D83). */
export function isChangedSince(error: unknown): error is DealwrightError {
  return error instanceof DealwrightError && error.code === 5007
}

/**
 * Undoes the write from `before` to `after`, including the time of a deal's stage or closing. Others' later
 * changes of other fields stay. Throws the service's refusal.
 */
export async function undoWrite(
  resource: string,
  before: AnyRecord,
  after: AnyRecord,
  expand = '',
): Promise<AnyRecord> {
  // It changed nothing, so the last event is another user's.
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
