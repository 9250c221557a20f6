/**
 * THE table of errors (D2, D3): every refusal of the service, once. Knows no HTTP library. Numeric families:
 * 1xxx request syntax, 2xxx validation, 3xxx auth, 4xxx not found, 5xxx conflict, 6xxx limits, 9xxx server. A
 * published number is never reused. docs/api/errors.md documents each row; test/house checks it.
 */
export const errorTable = {
  malformed_json: { code: 1001, status: 400, title: 'The body is not valid JSON' },
  malformed_query: { code: 1002, status: 400, title: 'The query could not be read' },
  unknown_parameter: { code: 1003, status: 400, title: 'Unknown query parameter' },
  malformed_path: { code: 1004, status: 400, title: 'The path could not be read' },
  malformed_request: { code: 1005, status: 400, title: 'The request could not be read' },
  not_acceptable: { code: 1006, status: 406, title: 'The answer has no such media type' },
  unsupported_media_type: { code: 1007, status: 415, title: 'The service reads JSON bodies only' },
  not_a_dropdown: { code: 1008, status: 400, title: 'The field is not a dropdown' },
  validation_failed: { code: 2001, status: 422, title: 'The record was not saved' },
  idempotency_key_reused: {
    code: 2002,
    status: 422,
    title: 'The Idempotency-Key belongs to another request',
  },
  history_too_short: { code: 2003, status: 422, title: 'The history does not reach that far' },
  not_undoable: { code: 2004, status: 422, title: "Such a change can't be undone" },
  unauthenticated: { code: 3001, status: 401, title: 'A valid token or session is needed' },
  forbidden: { code: 3002, status: 403, title: 'You may not do this' },
  sign_in_failed: { code: 3003, status: 401, title: 'The e-mail or the password is wrong' },
  link_ended: { code: 3004, status: 410, title: 'The link can no longer be used' },
  account_needed: { code: 3005, status: 409, title: 'The e-mail has users in several accounts' },
  route_not_found: { code: 4001, status: 404, title: 'No such path' },
  record_not_found: { code: 4002, status: 404, title: 'No such record' },
  field_not_found: { code: 4003, status: 404, title: 'No such field' },
  method_not_allowed: { code: 4004, status: 405, title: 'The path has no such method' },
  events_gone: { code: 4005, status: 410, title: 'The events are no longer kept' },
  version_conflict: { code: 5001, status: 412, title: 'The record has changed since it was read' },
  busy_record: { code: 5002, status: 409, title: 'The record is being changed by many at once' },
  duplicate: { code: 5003, status: 409, title: 'The name or value is taken' },
  in_use: { code: 5004, status: 409, title: 'The record is in use' },
  request_in_flight: { code: 5005, status: 409, title: 'The same request is being carried out' },
  last_administrator: { code: 5006, status: 409, title: 'Nobody would be left to administer the account' },
  changed_since: { code: 5007, status: 409, title: 'What is to be undone has been changed since' },
  wrong_state: { code: 5008, status: 409, title: 'The job is not in a state for that' },
  body_too_large: { code: 6001, status: 413, title: 'The body is too large' },
  query_too_slow: { code: 6002, status: 503, title: 'The request took too long' },
  header_too_large: { code: 6003, status: 431, title: 'The address or the headers are too long' },
  rate_limited: { code: 6004, status: 429, title: 'Too many requests' },
  overloaded: { code: 6005, status: 503, title: 'The service is overloaded' },
  request_timeout: { code: 6006, status: 408, title: 'The request took too long to arrive' },
  internal: { code: 9001, status: 500, title: 'The service failed' },
  database_unavailable: { code: 9002, status: 503, title: 'The database is not available' },
  provider_unavailable: { code: 9003, status: 503, title: 'The OpenID provider is not available' },
  storage_unavailable: { code: 9004, status: 503, title: 'The service has no place for the file' },
} as const satisfies Record<string, { code: number; status: number; title: string }>

export type ErrorSlug = keyof typeof errorTable

/** The codes of problems and warnings. docs/api/errors.md has a row for each. */
export const problemCodes = [
  ...['required', 'history_too_short', 'events_gone'],
  ...['required_when_won', 'required_when_lost', 'required_with_forecast_category'],
  ...['unknown_field', 'wrapped', 'unknown_option', 'not_visible_to', 'inactive_option'],
  ...['unknown_currency', 'currency_required', 'duplicate_currency'],
  ...['reference_not_found', 'ambiguous_reference', 'no_rate', 'no_price', 'stage_not_in_pipeline'],
  ...['wrong_type', 'too_short', 'too_long', 'common_password'],
  ...['too_many', 'too_deep', 'too_many_decimals', 'out_of_range', 'invalid_characters'],
  ...['invalid_date', 'invalid_date_time', 'invalid_time', 'invalid_email', 'invalid_phone'],
  ...['range_backwards', 'contradiction', 'changed_since', 'changed_since_read'],
  ...['unknown_parameter', 'syntax', 'operator_not_allowed', 'not_sortable'],
  ...['invalid_value', 'page_too_far', 'other_list', 'not_expandable', 'not_groupable', 'not_measurable'],
  ...['in_use', 'not_carried_out', 'unconvertible', 'unreadable_file'],
  ...['name_taken', 'value_taken', 'immutable', 'interface_required', 'loosens_limit', 'not_indexable'],
  ...['unknown_scope', 'unknown_resource', 'wider_than_visibility', 'not_hideable', 'required_field'],
  ...['unknown_event', 'invalid_url', 'address_refused', 'out_of_use', 'unknown_time_zone', 'unknown_locale'],
  ...['not_allowed', 'not_configurable', 'read_only', 'type_defaulted', 'taken_from_product'],
  ...['value_from_products', 'note_is_done', 'no_scopes', 'shown_once', 'seconds_dropped'],
] as const

export type ProblemCode = (typeof problemCodes)[number]

/**
 * One thing that is wrong with a request (D2). `path` is a JSON pointer into the body, or empty for the
 * query; `rule` is the number of the interface's rule; `hint` says what to do.
 */
export type Problem = {
  field: string | null
  path: string
  code: ProblemCode
  message: string
  rule?: number
  hint?: string
  [extra: string]: unknown
}

/** A problem of the member at `path`, or of the whole body, that belongs to no field of a record. */
export function problemAt(path: string, code: ProblemCode, message: string): Problem {
  return { field: null, path, code, message }
}

/** A problem of a field of the record at `path`. */
export function memberProblem(field: string, code: ProblemCode, message: string, path = ''): Problem {
  return { field, path: `${path}/${field}`, code, message }
}

export function parameterProblem(parameter: string, code: ProblemCode, message: string): Problem {
  return { field: null, path: '', parameter, code, message }
}

/**
 * A problem's message from its predicate about the member at `path`: "emails[0].email_value must be given." A
 * predicate that begins with a capital letter or a quotation is a whole sentence already.
 */
export function sentence(path: string, predicate: string): string {
  if (/^[A-Z"]/.test(predicate)) return `${predicate}.`
  const steps = path.slice(1).split('/')
  const subject = steps.map((step, index) =>
    /^\d+$/.test(step) ? `[${step}]` : `${index ? '.' : ''}${step}`,
  )
  return `${subject.join('').replaceAll('~1', '/').replaceAll('~0', '~') || 'The body'} ${predicate}.`
}

/** Advice on a problem, or a function that finds it. */
export type Hint = string | (() => string)

/**
 * The problems of a request. A body of a megabyte can have tens of thousands: all are counted, the first 500
 * are returned (D2), and hints that need a look-up are computed for the first twenty.
 */
export class Problems {
  readonly listed: Problem[] = []
  count = 0

  /** Counts a problem. Its message is built only if it is one of the first 500. */
  add(problem: () => Problem, hint?: Hint): void {
    if (++this.count > listedMax) return
    const found = problem()
    const message =
      found.message.length > messageMax ? `${found.message.slice(0, messageMax)}…` : found.message
    const text = typeof hint === 'function' ? this.count <= hintsMax && hint() : hint
    this.listed.push({ ...found, message, ...(text ? { hint: text } : {}) })
  }
}

const listedMax = 500
const hintsMax = 20
/** Messages quote the input, which may be a megabyte. */
const messageMax = 1000

/**
 * A note that input was accepted but changed or ignored (D1); travels in `meta.warnings`. `path` is a JSON
 * pointer into the body; absent if the warning is about nothing in it.
 */
export type Warning = { field: string; code: ProblemCode; message: string; path?: string }

/**
 * Thrown to refuse a request; the HTTP layer turns it into problem+json. `problems` has at most the first 500
 * problems.
 */
export class Refusal extends Error {
  readonly slug: ErrorSlug
  readonly problems: readonly Problem[]
  readonly headers: Readonly<Record<string, string>>

  constructor(
    slug: ErrorSlug,
    detail: string,
    problems: Problems | readonly Problem[] = [],
    headers: Record<string, string> = {},
  ) {
    const isCut = problems instanceof Problems && problems.count > listedMax
    super(isCut ? `${detail} The first ${listedMax} are listed.` : detail)
    this.slug = slug
    this.problems = problems instanceof Problems ? problems.listed : problems
    this.headers = headers
  }
}

/** The error, if it is a refusal; throws any other. */
export function requireRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}

/** The refusal of a request that others were quicker than (`busy_record`). A second later it may succeed. */
export function busy(detail: string): Refusal {
  return new Refusal('busy_record', detail, [], { 'retry-after': '1' })
}
