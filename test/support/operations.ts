/** The operations of an OpenAPI document, and a check of answers against it. */
import { merged } from '../../scripts/breaking-changes.ts'
import { judgeOf, type OpenApi } from './judge.ts'
import type { Reply } from './service.ts'

export type Operation = { readonly path: string; readonly method: string; readonly said: OpenApi }

export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries<OpenApi>(paths).flatMap(([path, methods]) =>
    Object.entries<OpenApi>(methods).map(([method, said]) => ({ path, method, said })),
  )
}

export type Answered = Pick<Reply, 'status' | 'headers' | 'text'>

/** A validator of answers: the violations of one, or null if it conforms. */
export function complainer(document: OpenApi): (operation: Operation, answer: Answered) => string | null {
  const judge = judgeOf(document)
  return ({ path, method, said }, { status, headers, text }) => {
    const answer = said.responses[status]
    if (!answer) return 'a status that is not described'
    const { headers: described = {}, content = {} } = merged(answer, document)
    const isDry = status < 300 && text.includes('"dryRun":true')
    const sure = status < 300 && !isDry ? [...always, 'etag'] : ['x-request-id', 'www-authenticate']
    const missing = sure.filter(name => described[name] && !headers.has(name))
    if (missing.length) return `without ${missing}`
    const type = headers.get('content-type')
    const mediaTypes = Object.keys(content)
    if (mediaTypes.length === 0) return text === '' ? null : 'a body that is not described'
    const mediaType = mediaTypes.find(one => type?.startsWith(one))
    if (mediaType === undefined) return `${type}, not ${mediaTypes}`
    if (!mediaType.endsWith('json')) return null
    const at = answer.$ref ?? `#/paths/${step(path)}/${method}/responses/${status}`
    const body = isDry ? withIds(JSON.parse(text)) : JSON.parse(text)
    return judge.complaint(`${at}/content/${step(mediaType)}/schema`, body) ?? unreadable(body)
  }
}

/** The first text for people in an answer that is no sentence; null if all are. */
function unreadable({ detail, errors = [], meta }: OpenApi): string | null {
  const told = [...errors, ...(meta?.warnings ?? [])]
  const said = [detail, ...told.flatMap(({ message, hint }) => [message, hint])]
  return said.find(one => one !== undefined && !isSentence(one)) ?? null
}

/**
 * True if it begins with a capital letter, a quotation, or the name of a member and a verb; and ends with a
 * full stop.
 */
function isSentence(text: string): boolean {
  const begins =
    /^(?:[A-Z"\d]|[^ ]+ (?:and [^ ]+ )?(?:is|must|has|can|can't|may|needs|takes|differs|comes|contains|names|became|looks|give|belongs|are|have|finds)\b)/
  return begins.test(text) && /[.?…]$/.test(text) && !/undefined|\[object|NaN| {2}|[^.…]\.\.$/.test(text)
}

/** Headers that a documented answer always has; others depend, such as the version of a refusal. */
const always = ['x-request-id', 'location', 'www-authenticate']

/** A dry run's answer with ids instead of nulls (D79): OpenAPI can't describe the effect of a parameter. */
function withIds({ data, meta, ...rest }: OpenApi): OpenApi {
  const given = (one: OpenApi) => (one.id === null ? { ...one, id: 1 } : one)
  const all = (of: OpenApi, name: string) => (of[name] ? { [name]: of[name].map(given) } : {})
  const id = (value: unknown): unknown => (Array.isArray(value) ? value.map(id) : (value ?? 1))
  const toMade = (of: OpenApi) =>
    Object.fromEntries(nesting.filter(name => name in of).map(name => [name, id(of[name])]))
  const whole = (one: OpenApi) => ({
    ...given(one),
    ...all(one, 'options'),
    ...all(one, 'sub_fields'),
    ...(meta.created ? toMade(one) : {}),
  })
  return {
    ...rest,
    data: Array.isArray(data) ? data : whole(data),
    meta: { ...meta, ...all(meta, 'created') },
  }
}

/** The fields that may contain a new record. */
const nesting = ['primary_contact', 'related_contacts', 'company']

function step(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')
}
