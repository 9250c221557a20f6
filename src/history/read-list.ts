/** Reads a page of a list as its parameters ask: of now, or of a past day (D74). Knows no HTTP. */
import { readListRequest } from '../lists/list-cache.ts'
import type { ListRequest } from '../lists/list-request.ts'
import { listRecords, type Page } from '../lists/page.ts'
import type { Parameters } from '../lists/parameters.ts'
import { requireReadScopes } from '../lists/plan.ts'
import type { RawReader, Reader } from '../records/store.ts'
import type { Work } from '../records/work.ts'
import type { AuthorizedCaller } from '../rights/visibility.ts'
import { asOfDay } from './as-of-day.ts'

/** `reader` reads the records; names are looked up by `work`. `now` is UTC, with milliseconds. */
export async function readList(
  work: Work<Reader, AuthorizedCaller>,
  parameters: Parameters,
  now: string,
  reader: RawReader,
): Promise<{ readonly page: Page; readonly request: ListRequest }> {
  const { context: caller } = work
  const { request: list, statementOf } = await readListRequest(work, parameters, now)
  requireReadScopes(caller.rights, list.expand, list)
  const { reader: past, moment } = await asOfDay(reader, caller, list)
  // The total of a past day is counted whole (D74): there is no sample of its records.
  const count = list.count === 'none' ? list.count : 'exact'
  const request: ListRequest = moment === null ? list : { ...list, clock: moment, count }
  return { page: await listRecords(past, caller, request, statementOf), request }
}
