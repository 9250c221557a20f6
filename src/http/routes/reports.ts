/** The routes of reports (lists/report.ts): GET, and POST for parameters in the body (D32). */
import type { Database } from '../../db/open.ts'
import { asOfDay } from '../../history/as-of-day.ts'
import { type Report, type ReportAnswer, readReport } from '../../lists/report.ts'
import { reports } from '../../resources/reports.ts'
import { okAnswer } from '../answer.ts'
import { envelope, type Operation, ok } from '../openapi/operation.ts'
import { parametersOf, withPaths } from '../parameters.ts'
import { schemaOf } from '../request.ts'
import { type AccountRoute, base, type Handler, type Readable, route, type Scope } from '../route.ts'
import { preferReplica } from './record-reads.ts'
import { queryLimit } from './record-routes.ts'

export function reportRoutes(db: Database, resource: Readable): AccountRoute[] {
  return reports
    .filter(report => report.resource === resource)
    .flatMap(report => routesOf(report, `${resource}:read`, reportHandler(db, report)))
}

function routesOf(report: Report, scope: Scope, handler: Handler): AccountRoute[] {
  const { resource, name, path, summary, body } = report
  const [url, id, operation] = [`${base}/${resource}/${path}`, `${resource}_${name}`, operationOf(report)]
  const get = route('GET', url, scope, handler, { ...operation, id, summary })
  if (!body) return [get]
  const post = route('POST', url, scope, handler, {
    ...{ ...operation, id: `${id}_post`, summary: body.summary },
    body: { schema: body.schema, isOptional: true },
  })
  return [get, { ...post, bodyLimit: queryLimit }]
}

function operationOf(report: Report): Omit<Operation, 'id' | 'summary'> {
  const { resource, description, parameters, readsHistory, response } = report
  const { data, meta } = response
  return {
    tag: resource,
    ...(description === undefined ? {} : { description }),
    parameters: [
      'known_seq',
      ...Object.entries(parameters).map(([name, own]) =>
        typeof own === 'string' ? own : { name, in: 'query', ...own },
      ),
    ],
    responses: [ok(response.description, envelope(data, meta, meta !== undefined))],
    errors: [
      'malformed_request',
      ...(readsHistory || 'as_of' in parameters ? (['history_too_short'] as const) : []),
    ],
  }
}

/** Reads the parameters, then the records when it is the account's turn. */
function reportHandler(db: Database, report: Report): Handler {
  return withPaths(async request => {
    const { caller, now } = request
    const schema = schemaOf(request, report.resource)
    const parameters = parametersOf(request, Object.keys(report.parameters), schema)
    const asked = await readReport(db, report, caller, parameters, now.toISOString())
    const { reader } = await asOfDay(preferReplica(db, request), caller, asked)
    const { data, meta } = await report.answer(reader, caller, asked)
    return okAnswer(isBytes(data) ? data : JSON.stringify(data), meta)
  })
}

function isBytes(data: ReportAnswer['data']): data is readonly Uint8Array[] {
  return Array.isArray(data) && data[0] instanceof Uint8Array
}
