/** The export of a resource over HTTP (D81): its file name, and its abort when the client leaves. */
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { AuthenticatedCaller } from '../../accounts/callers.ts'
import type { Database } from '../../db/open.ts'
import { dateIn } from '../../fields/iso8601.ts'
import { pluralOf } from '../../fields/synonyms.ts'
import { requireReadScopes } from '../../lists/plan.ts'
import { reasonOf } from '../../log.ts'
import { resolveNames } from '../../records/names.ts'
import { quota, shareOf } from '../../waiting/quota.ts'
import { openExport } from '../../work/exports/export.ts'
import { formatOf } from '../../work/exports/formats.ts'
import { ExportPermits } from '../../work/exports/permits.ts'
import { type FormatName, formats, readExportQuery } from '../../work/exports/query.ts'
import type { SpoolQuota } from '../../work/exports/spool-file.ts'
import { ok } from '../openapi/operation.ts'
import { schemaOf } from '../request.ts'
import { type AccountRoute, base, type Handler, type Readable as ReadResource, route } from '../route.ts'

/** Quota of temporary files of a process, which accounts share. */
const spooledBytes = 8 * 1024 ** 3

/** Limits that all exports of a process share. */
export type ExportLimits = { readonly permits: ExportPermits; quotaOf(account: number): SpoolQuota }

/** `say` gets the reason if an export fails while it is sent, or its temporary file can't be written. */
export function exportLimits(say: (line: string) => void): ExportLimits {
  const spooled = quota('export_bytes', spooledBytes)
  const quotaOf = (account: number): SpoolQuota => ({ ...shareOf(spooled, account), say })
  return { permits: new ExportPermits(), quotaOf }
}

/** GET /{resource}/export */
export function exportRoute(db: Database, resource: ReadResource, limits: ExportLimits): AccountRoute {
  const [mediaType, ...alsoAs] = formats.map(name => formatOf[name].mediaType.split(';', 1)[0]!)
  const handler = exportHandler(db, resource, limits)
  return {
    ...route('GET', `${base}/${resource}/export`, `${resource}:read`, handler, {
      ...{ id: `${resource}_export`, summary: `Exports records to a file: ${resource}.`, tag: resource },
      description:
        'All records that the filter finds, as of one moment. A file whose connection did not end properly is not whole.',
      parameters: ['export_format', 'filter', 'sort', `${resource}_fields`, 'export_names'],
      responses: [
        {
          ...ok('The file.', { type: 'string' }, ['content-disposition']),
          ...{ mediaType: mediaType!, alsoAs },
        },
      ],
      errors: [],
    }),
    isFile: true,
  }
}

function exportHandler(db: Database, resource: string, { permits, quotaOf }: ExportLimits): Handler {
  return async request => {
    const { caller, now } = request
    const { catalog } = caller
    const schema = schemaOf(request, resource)
    const read = await resolveNames(db, caller, names =>
      readExportQuery(request.query, schema, catalog, now.toISOString(), names),
    )
    requireReadScopes(caller.rights, read.named ?? [], read.list)
    const name = fileName(resource, read.format, caller, now)
    const headers = {
      'content-type': formatOf[read.format].mediaType,
      'content-disposition': `attachment; filename="${name}"`,
    }
    // Fastify sends no body for HEAD. A stream, because the content-length is unknown.
    if (request.isHead) return { status: 200, headers, body: Readable.from([]) }
    const { id: account } = catalog.account
    const permit = await permits.acquire(account)
    try {
      const ended = request.hungUp()
      const quota = quotaOf(account)
      const { content, bytes, completed } = await openExport(db, { caller, request: read, ended, quota })
      void completed.then(permit.completed)
      void finished(content)
        .catch(error => {
          const hasLeft = ended.aborted || error.code === 'ERR_STREAM_PREMATURE_CLOSE'
          if (!hasLeft) quota.say(`An export failed while it was sent: ${reasonOf(error)}`)
        })
        .then(permit.sent)
      // If the client left before the response began, nobody reads the content.
      ended.addEventListener('abort', () => content.destroy())
      if (ended.aborted) content.destroy()
      request.release()
      const length = bytes === null ? {} : { 'content-length': String(bytes) }
      return { status: 200, headers: { ...headers, ...length }, body: content }
    } catch (error) {
      permit.completed()
      permit.sent()
      throw error
    }
  }
}

/** deals-2026-11-23.csv, with the date in the account's time zone */
function fileName(resource: string, format: FormatName, { catalog }: AuthenticatedCaller, now: Date): string {
  const day = dateIn(catalog.account.time_zone, now) ?? now.toISOString().slice(0, 10)
  return `${pluralOf(resource)}-${day}.${format}`
}
