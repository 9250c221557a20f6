/** The routes that every resource has, and those of its sums (the interface's Endpoints, D32, D37, D85). */
import type { Database } from '../db/open.ts'
import { queryBytesMax, queryTooLarge } from '../list/parameters.ts'
import { aggregateHandler } from './aggregate.ts'
import { batchedResources, batchHandler } from './batch.ts'
import { batchAbout } from './batch-about.ts'
import type { BodyLimit } from './body.ts'
import { takesDryRun, type WrittenDatabase, withDryRun } from './dry-run.ts'
import { historyHandler } from './events.ts'
import { aggregateAbouts, recordAbouts } from './record-abouts.ts'
import { type WriteService, writeHandlers } from './record-writes.ts'
import { recordHandlers, type ServedDatabase } from './records.ts'
import { type AccountRoute, at, type Readable } from './route.ts'

const queryLimit: BodyLimit = { bytes: queryBytesMax, refusal: queryTooLarge }

/** What the routes of a resource need. */
export type RecordService = WriteService & { readonly db: ServedDatabase & WrittenDatabase }

/** The same paths for every resource (the interface's Endpoints, D32, D37). */
export function recordRoutes(resource: Readable, service: RecordService): AccountRoute[] {
  const { db, configured } = service
  const { list, search, get, getBy } = recordHandlers(db, resource)
  const { create, update, remove, restore, upsert } = takesDryRun(resource)
    ? withDryRun(db, (db, isDry) =>
        writeHandlers({ ...service, db, configured: isDry ? async () => {} : configured }),
      )
    : writeHandlers(service)
  const history = historyHandler(db, resource, service.retentionDays)
  const about = recordAbouts(resource, service.moves !== undefined)
  const by = `/rest/api/v1/${resource}/by/:field/:value`
  const [read, write] = [`${resource}:read`, `${resource}:write`] as const
  return [
    at('POST', `/rest/api/v1/${resource}`, write, create, about.create),
    at('GET', `/rest/api/v1/${resource}/view/list`, read, list, about.list),
    {
      ...at('POST', `/rest/api/v1/${resource}/view/list`, read, search, about.search),
      bodyLimit: queryLimit,
    },
    ...(batchedResources.has(resource)
      ? [
          at(
            'POST',
            `/rest/api/v1/${resource}/batch`,
            write,
            batchHandler(db, resource, service.retentionDays),
            batchAbout(resource),
          ),
        ]
      : []),
    at('GET', by, read, getBy, about.getBy),
    at('PUT', by, write, upsert, about.upsert),
    at('GET', `/rest/api/v1/${resource}/:id`, read, get, about.get),
    at('PUT', `/rest/api/v1/${resource}/:id`, write, update, about.replace),
    at('PATCH', `/rest/api/v1/${resource}/:id`, write, update, about.update),
    at('DELETE', `/rest/api/v1/${resource}/:id`, write, remove, about.remove),
    at('POST', `/rest/api/v1/${resource}/:id/restore`, write, restore, about.restore),
    at('GET', `/rest/api/v1/${resource}/:id/history`, read, history, about.history),
  ]
}

/** Sums, with their parameters in the address or in the body (D85). */
export function aggregateRoutes(db: Database, resource: 'deal' | 'product'): AccountRoute[] {
  const url = `/rest/api/v1/${resource}/aggregate`
  const about = aggregateAbouts(resource)
  const handler = aggregateHandler(db, resource)
  return [
    at('GET', url, `${resource}:read`, handler, about.get),
    { ...at('POST', url, `${resource}:read`, handler, about.post), bodyLimit: queryLimit },
  ]
}
