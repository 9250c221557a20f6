/** For each operation of the document a valid request, with everything that it needs created before. */
import assert from 'node:assert/strict'
import { registerClient } from '../../src/accounts/oauth/clients.ts'
import type { Json } from '../../src/json.ts'
import { browser } from './browser.ts'
import { jobRequests } from './good-jobs.ts'
import type { OpenApi } from './judge.ts'
import type { Answered, Operation } from './operations.ts'
import { type Connected, v1 } from './service.ts'

export type Asked = {
  readonly method: string
  readonly path: string
  readonly body?: Json
  readonly headers?: { readonly [name: string]: string }
}

export const password = 'seven green kettles sing'

/** Sends a request, with the token if it has no cookie. */
export async function send(
  { url, token }: Pick<Connected, 'url' | 'token'>,
  { method, path, body, headers = {} }: Asked,
): Promise<Answered> {
  const reply = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(headers.cookie ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: reply.status, headers: reply.headers, text: await reply.text() }
}

let people = 0

/** The e-mail of a new user with the password. */
export async function person({ call, url }: Pick<Connected, 'call' | 'url'>): Promise<string> {
  const email = `person${++people}@example.com`
  const user = await call('POST', `${v1}/user`, { name: email, email })
  assert.equal(user.status, 201, user.text)
  const made = await call('POST', `${v1}/user/${user.body.data.id}/link`, { purpose: 'invitation' })
  const link = { link: made.body.data.link, password }
  const page = await browser(url).send('POST', `${v1}/session`, link)
  assert.equal(page.status, 201, page.text)
  return email
}

/** The headers of a signed-in user's browser. */
export async function signedIn(
  service: Pick<Connected, 'call' | 'url'>,
): Promise<{ cookie: string; 'sec-fetch-site': string }> {
  const own = browser(service.url)
  const page = await own.send('POST', `${v1}/session`, { email: await person(service), password })
  assert.equal(page.status, 201, page.text)
  const cookie = `dealwright_session=${own.cookies.get('dealwright_session')}`
  return { cookie, 'sec-fetch-site': 'same-origin' }
}

const redirect_uri = 'http://127.0.0.1:5000/callback'
/** The parameters of a program that asks for access by OAuth. */
export const askingProgram = {
  ...{ client_id: registerClient({ redirect_uris: [redirect_uri] }).id, redirect_uri },
  ...{ response_type: 'code', code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
}

export type GoodRequests = {
  /** the service's document, with a unique field in every resource that can be read by one */
  readonly document: OpenApi
  /** resource → that field */
  readonly uniqueFields: ReadonlyMap<string, string>
  requestFor(operation: Operation): Promise<Asked>
}

export async function goodRequests(service: Connected): Promise<GoodRequests> {
  const { call, get, known } = service
  const said = async (): Promise<OpenApi> => JSON.parse((await get('/openapi.json')).text)
  const { components, paths } = await said()
  let count = 0
  const sent = async (method: string, path: string, body?: Json) => {
    const reply = await call(method, `${v1}/${path}`, body)
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
    return reply.body.data
  }
  /** Required members of new records → a value. */
  const newValue: { readonly [member: string]: () => Json } = {
    email: () => `tried${++count}@example.com`,
    pipeline: () => known.pipeline,
    pipeline_stage: () => known.stages.New!,
    primary_contact: () => known.contact,
    sales_owner: () => known.owner,
    source: () => 'product',
    type: () => 'DROPDOWN',
    purpose: () => 'invitation',
    kind: () => 'Call',
    // Has no listener.
    url: () => 'http://127.0.0.1:9/',
    events: () => ['webhook.*'],
  }
  const newBody = (resource: string): { [member: string]: Json } => {
    const { required = [], allOf = [] } = components.schemas[`${resource}_new`] ?? {}
    const names: string[] = [required, ...allOf.map((one: OpenApi) => one.required ?? [])].flat()
    return Object.fromEntries(names.map(name => [name, newValue[name]?.() ?? `Tried ${++count}`]))
  }
  const made = (resource: string) => sent('POST', resource, newBody(resource))

  /** The `seq` of a new record's event. */
  const seqOf = async (resource: string): Promise<number> => {
    const { id } = await made(resource)
    return (await sent('GET', `${resource}/${id}/history`))[0].seq
  }

  /** The unique field of a resource, created if there is none. */
  const uniqueFieldOf = async (resource: string): Promise<string> => {
    const { fields } = await sent('GET', `field/list?source=${resource}`)
    const found = fields.flat().find((field: { is_unique: boolean }) => field.is_unique)
    if (found) return found.internal_name
    const body = { source: resource, field_name: 'Key', type: 'SINGLE_STRING', is_unique: true }
    return (await sent('POST', 'field', body)).internal_name
  }
  const uniqueFields = new Map<string, string>()
  for (const [, resource] of Object.keys(paths).flatMap(path => [...path.matchAll(/(\w+)\/by\//g)]))
    uniqueFields.set(resource!, await uniqueFieldOf(resource!))

  /** Requests that differ from those of other resources. */
  const special: { readonly [id: string]: () => Promise<Partial<Asked>> } = {
    docs_page: async () => ({ path: '/docs/reference' }),
    calendar_feed: async () => {
      const { token } = await sent('POST', 'token', { name: 'Calendar', scopes: ['calendar:read'] })
      return { path: `${v1}/calendar/${token}.ics` }
    },
    search: async () => ({ path: `${v1}/search?q=tried` }),
    field_dropdown: async () => ({ path: `${v1}/field/dropdown?name=source` }),
    // A resource that gets no new field meanwhile.
    form_replace: async () => ({
      path: `${v1}/field/form?source=territory`,
      body: await sent('GET', 'field/form?source=territory'),
    }),
    option_create: async () => ({ body: { name: `Tried ${++count}` } }),
    user_link: async () => ({ body: { purpose: 'reset' } }),
    session_create: async () => ({ body: { email: await person(service), password } }),
    session_get: async () => ({ headers: await signedIn(service) }),
    session_end: async () => ({ headers: await signedIn(service) }),
    session_delete: async () => {
      const headers = await signedIn(service)
      const { text } = await send(service, { method: 'GET', path: `${v1}/session`, headers })
      return { path: `${v1}/session/${JSON.parse(text).data.session.id}`, headers }
    },
    authorization_get: async () => ({
      path: `${v1}/authorization?${new URLSearchParams(askingProgram)}`,
      headers: await signedIn(service),
    }),
    authorization_create: async () => ({
      headers: await signedIn(service),
      body: { ...askingProgram, access: 'read' },
    }),
    inbox_mark: async () => ({ body: { until: new Date().toISOString(), to: 'read' } }),
    event_undo_several: async () => ({ body: { events: [await seqOf('contact')] } }),
    event_undo: async () => ({ path: `${v1}/event/${await seqOf('contact')}/undo` }),
    webhook_replay: async () => ({ body: { after: 0 } }),
    webhook_replay_delivery: async () => {
      const { id } = await made('webhook')
      const { id: delivery } = await sent('POST', `webhook/${id}/test`)
      return { path: `${v1}/webhook/${id}/deliveries/${delivery}/replay` }
    },
    me_update: async () => {
      const me = await service.call('GET', `${v1}/me`)
      return { body: { locale: me.body.data.user.locale === 'de-DE' ? 'fr-FR' : 'de-DE' } }
    },
    ...jobRequests(service, () => made('product')),
    password_replace: async () => ({
      headers: await signedIn(service),
      body: { current_password: password, password: `${password} again` },
    }),
  }

  /** The path of a record by its unique value, and its other members. */
  const toldBy = async (path: string, resource: string) => {
    const field = uniqueFields.get(resource)!
    const { [field]: value } = await sent('POST', resource, {
      [field]: `Tried ${++count}`,
      ...newBody(resource),
    })
    const { [field]: _, ...body } = newBody(resource)
    return { path: path.replace('{field}', field).replace('{value}', encodeURIComponent(`${value}`)), body }
  }
  /** The path of a new record, deleted if it is to be restored. */
  const pathOf = async (path: string, resource: string): Promise<string> => {
    if (path.endsWith('/deal/changes')) return `${path}?from=${new Date().toISOString().slice(0, 10)}`
    if (!path.includes('{id}')) return /field\/(list|form)$/.test(path) ? `${path}?source=product` : path
    const id = resource === 'currency' ? 840 : (await made(resource)).id
    if (path.endsWith('/restore')) await sent('DELETE', `${resource}/${id}`)
    const isOption = path.includes('{option}')
    const option = isOption ? (await sent('POST', `field/${id}/option`, { name: 'Tried' })).id : ''
    return path.replace('{id}', `${id}`).replace('{option}', `${option}`)
  }
  const bodyFor = (path: string, resource: string): Json => {
    // It finds nothing, and so changes nothing.
    if (path.endsWith('/bulk')) return { filter: 'id:eq(0)', changes: newBody(resource) }
    if (path.endsWith('/batch')) return { operations: [{ op: 'create', data: newBody(resource) }] }
    return path === `${v1}/${resource}` ? newBody(resource) : {}
  }
  const requestFor = async ({ path, method, said }: Operation): Promise<Asked> => {
    const own = await special[said.operationId]?.()
    const resource = path.slice(v1.length + 1).split('/')[0]!
    const asked: Partial<Asked> = own?.path
      ? {}
      : path.includes('/by/')
        ? await toldBy(path, resource)
        : { path: await pathOf(path, resource), body: bodyFor(path, resource) }
    const { body, ...others } = { path, ...asked, ...own }
    return { method: method.toUpperCase(), ...others, ...(said.requestBody ? { body: body ?? {} } : {}) }
  }
  return { document: await said(), uniqueFields, requestFor }
}
