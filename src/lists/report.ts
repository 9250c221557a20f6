/**
 * A report answers with many records at once, as a funnel does. One object says everything about it: its
 * parameters, how it is answered, and the words of its operation. resources/reports.ts lists all;
 * http/routes/reports.ts makes their routes. Knows no HTTP and no resource.
 */
import { isShown, type ResourceSchema, shownField } from '../fields/catalog.ts'
import type { Field, Schema } from '../fields/field.ts'
import { day } from '../fields/kinds/schemas.ts'
import type { JsonObject } from '../json.ts'
import { resolveNames } from '../records/names.ts'
import type { RawReader, Reader } from '../records/store.ts'
import type { AuthorizedCaller, Caller } from '../rights/visibility.ts'
import type { ListRequest, QueryContext } from './list-request.ts'
import { addProblem, type Parameters } from './parameters.ts'
import { requireReadScopes } from './plan.ts'
import { readQuery } from './query.ts'

/** The records that a report is about; `expand`: the fields of ids whose names the caller asks for. */
export type ReportRequest = Pick<ListRequest, 'schema' | 'filter' | 'day'> &
  Partial<Pick<ListRequest, 'sort' | 'expand'>>

export type Report<Request extends ReportRequest = ReportRequest> = {
  readonly resource: string
  /** the operation is called by the resource and this: `deal_funnel` */
  readonly name: string
  /** follows the resource's own path; may have several parts */
  readonly path: string
  readonly summary: string
  readonly description?: string
  /** name → the key of a shared parameter in http/openapi/parameters.ts, or the parameter's own schema */
  readonly parameters: { readonly [name: string]: string | ReportParameter }
  /** set if the parameters may be sent in a body, too */
  readonly body?: { readonly summary: string; readonly schema: Schema }
  readonly response: { readonly description: string; readonly data: Schema; readonly meta?: Schema }
  /** true if it can refuse with `history_too_short` also without `as_of` */
  readonly readsHistory?: boolean
  /** schemas that get a name in the document and in the client, to which `response` refers */
  readonly schemas?: { readonly [name: string]: Schema }
  /** The reference fields whose records the answer names: the caller needs their read scopes. */
  shows?(schema: ResourceSchema): readonly Field[]
  /** Reads the parameters, and adds their problems. `now` is UTC, with milliseconds. */
  read(query: QueryContext, now: string): Request
  /** Reads the records that the caller sees: as of the request's `day`, if it has one. */
  answer(db: RawReader, caller: Caller, request: Request): Promise<ReportAnswer>
}

export type ReportParameter = { readonly schema: Schema; readonly description: string }

/** The parameters of the first and the last day of a period, which `periodOf` reads. */
export function periodParameters(
  first: string,
  last: string,
  describe: (which: string) => string,
): { readonly [name: string]: ReportParameter } {
  return {
    [first]: { schema: day, description: describe('first') },
    [last]: { schema: day, description: describe('last') },
  }
}

/** `data`: JSON, or pieces of its text, in UTF-8. */
export type ReportAnswer = {
  readonly data: JsonObject | readonly JsonObject[] | readonly Uint8Array[]
  readonly meta?: JsonObject
}

/** Adds a problem to a parameter that needs a field that the caller's role hides (D64). */
export function requireShown({ schema, problems }: QueryContext, parameter: string, field: string): void {
  if (shownField(schema, field)) return
  addProblem(problems, parameter, 'unknown_field', `There is no field "${field}".`)
}

/**
 * Reads the parameters of a report. Throws `unknown_parameter` or `malformed_query` with every problem, and
 * `forbidden` without the scopes of what is shown, sorted by or filtered by (D65, D87).
 */
export async function readReport<Request extends ReportRequest>(
  db: Reader,
  report: Report<Request>,
  caller: AuthorizedCaller,
  parameters: Parameters,
  now: string,
): Promise<Request> {
  const { catalog, rights } = caller
  const schema = catalog.resources.get(report.resource)!
  // A hidden field needs no scope: `read` refuses the report, or the answer lacks it.
  requireReadScopes(rights, report.shows?.(schema).filter(isShown) ?? [])
  const known = Object.keys(report.parameters)
  const request = await resolveNames(db, caller, names =>
    readQuery(
      parameters,
      known,
      { schema, catalog, names },
      query => report.read(query, now),
      'The query could not be read.',
    ),
  )
  requireReadScopes(rights, request.expand ?? [], request)
  return request
}
