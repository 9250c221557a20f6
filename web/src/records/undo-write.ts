/** Takes back what was written, exactly: also what no write could say again, such as when a deal was won. */
import { type AnyRecord, ask, Told } from '../api/api.ts'
import type { Event } from './history.ts'

export const undoEvent = (seq: number): Promise<AnyRecord> => ask('POST', `/event/${seq}/undo`)

/** Undoes the write that made a record as it is given. Throws what the service refuses. */
export async function undoWrite(resource: string, { id, version }: AnyRecord): Promise<AnyRecord> {
  const path = `/${resource}/${id}/history`
  const events = await ask<readonly Event[]>('GET', path, { query: { pageSize: 30 } })
  const written = events.find(event => event.version === version)
  if (!written) throw new Told('Too much has been changed since.')
  return undoEvent(written.seq)
}
