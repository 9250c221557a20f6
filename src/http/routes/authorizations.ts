/** /authorization: a signed-in person allows a program to act for them, by OAuth (D170). */
import { type Access, accesses, askedFor, choicesOf, scopesOf } from '../../accounts/oauth/access.ts'
import { oauthClient, requireRedirect, wrong } from '../../accounts/oauth/clients.ts'
import { createCode, isChallenge } from '../../accounts/oauth/codes.ts'
import { memberProblem, Refusal } from '../../errors.ts'
import { arrayOf, closedObject, openObject, orNull, text } from '../../fields/kinds/schemas.ts'
import type { Json } from '../../json.ts'
import type { Reader } from '../../records/store.ts'
import { NotPublic, type Outgoing } from '../../work/webhooks/outgoing.ts'
import type { WebhookWorker } from '../../work/webhooks/worker.ts'
import { okAnswer } from '../answer.ts'
import { isResource } from '../oauth.ts'
import { envelope, ok, queryParameter } from '../openapi/operation.ts'
import { readParameters } from '../parameters.ts'
import { type ApiRequest, bodyOf, objectOf, unknownMembers } from '../request.ts'
import { type AccountRoute, base, route } from '../route.ts'

export type AuthorizationService = {
  readonly db: Reader
  /** makes the requests that leave the service */
  readonly worker: Pick<WebhookWorker, 'outgoing'>
}

/** The parameters of OAuth that a program's address has (RFC 6749 §4.1.1). */
const parameters = {
  ...{ client_id: 'The program: the address of its description.', redirect_uri: 'Where the answer goes.' },
  ...{ response_type: 'It must be code.', code_challenge: 'The challenge of PKCE.' },
  ...{ code_challenge_method: 'It must be S256.', state: 'A text that comes back.' },
  ...{ scope: 'What the program asks for.', resource: 'The address of /mcp.' },
}
const required = [
  ...(['client_id', 'redirect_uri', 'response_type'] as const),
  ...(['code_challenge', 'code_challenge_method'] as const),
]
const choice = { enum: accesses }
const daysMax = 365

const shown = openObject({
  client: openObject({ name: text, host: orNull(text) }),
  redirect_to: {
    type: 'string',
    description: 'The host, or the program on this machine, that gets the answer.',
  },
  choices: arrayOf(choice),
  asked_for: choice,
  deny: { type: 'string', description: 'Where to go if the person does not allow it.' },
})

export function authorizationRoutes(service: AuthorizationService): AccountRoute[] {
  const url = `${base}/authorization`
  const tag = 'session'
  return [
    route('GET', url, 'any', request => show(service, request), {
      ...{ id: 'authorization_get', summary: 'Shows which program asks for access.', tag },
      parameters: Object.entries(parameters).map(([name, description]) =>
        queryParameter(name, description, text),
      ),
      responses: [ok('The program, and what it may be allowed.', envelope(shown))],
      errors: ['forbidden', 'validation_failed'],
    }),
    route('POST', url, 'any', request => allow(service, request), {
      ...{ id: 'authorization_create', summary: 'Allows a program to act for the signed-in person.', tag },
      body: {
        schema: closedObject(
          {
            ...Object.fromEntries(Object.keys(parameters).map(name => [name, text])),
            ...{ access: choice, days: { type: ['integer', 'null'], minimum: 1, maximum: daysMax } },
          },
          [...required, 'access'],
        ),
      },
      responses: [
        ok('Where to go on: to the program, with a code.', envelope(openObject({ redirect: text }))),
      ],
      errors: ['forbidden', 'validation_failed'],
      takesKey: false,
    }),
  ]
}

type Asked = { readonly [name in keyof typeof parameters]: string | undefined }

/** The program, once everything that it asks with is right. Throws `validation_failed`. */
async function clientOf({ worker }: AuthorizationService, { client: { origin } }: ApiRequest, asked: Asked) {
  const missing = required.find(name => !asked[name])
  if (missing) throw wrong(missing, `${missing} must be given.`)
  if (asked.response_type !== 'code') throw wrong('response_type', 'response_type must be code.')
  if (asked.code_challenge_method !== 'S256' || !isChallenge(asked.code_challenge ?? ''))
    throw wrong('code_challenge', 'PKCE with the method S256 is needed.')
  if (asked.resource !== undefined && !isResource(asked.resource, origin))
    throw wrong('resource', `The only resource is ${origin}/mcp.`)
  const client = await oauthClient(asked.client_id!, url => read(worker.outgoing, url))
  requireRedirect(client, asked.redirect_uri!)
  return client
}

const documentBytes = 8192

async function read(documents: Outgoing, url: URL): Promise<string> {
  const refusal = await documents.refusalOf(url)
  if (refusal) throw wrong('client_id', `The client_id ${refusal}.`)
  try {
    return await documents.read(url, documentBytes)
  } catch (error) {
    const reason = error instanceof NotPublic ? 'its address is not public' : (error as Error).message
    throw wrong('client_id', `The program's description could not be read: ${reason.slice(0, 200)}`)
  }
}

async function show(service: AuthorizationService, request: ApiRequest) {
  const asked = readParameters(request.query, Object.keys(parameters), []) as Asked
  requirePerson(request)
  const client = await clientOf(service, request, asked)
  const { scopes } = request.caller.rights
  return okAnswer(
    JSON.stringify({
      client: { name: client.name, host: client.host },
      redirect_to: destinationOf(asked.redirect_uri!),
      choices: choicesOf(scopes),
      asked_for: askedFor(asked.scope),
      deny: redirectOf(request, asked, { error: 'access_denied' }),
    }),
  )
}

/** The host that gets the answer; of a program on this machine the scheme of its addresses. */
function destinationOf(uri: string): string {
  const { protocol, host, hostname } = new URL(uri)
  if (protocol === 'https:') return host
  return protocol === 'http:' ? `this computer (${hostname})` : `the program for ${protocol}//`
}

function redirectOf(
  { client: { origin } }: ApiRequest,
  { redirect_uri: uri, state }: Asked,
  answer: { readonly [name: string]: string },
): string {
  const url = new URL(uri!)
  for (const [name, value] of Object.entries({
    ...answer,
    ...(state === undefined ? {} : { state }),
    iss: origin,
  }))
    url.searchParams.set(name, value)
  return url.href
}

/** An agent must not connect others. */
function requirePerson({ caller }: ApiRequest): void {
  if (!caller.session)
    throw new Refusal(
      'forbidden',
      'Only a signed-in person connects a program: this needs a session, not a token.',
    )
}

async function allow(service: AuthorizationService, request: ApiRequest) {
  const { asked, access, days } = allowedBy(bodyOf(request))
  requirePerson(request)
  const client = await clientOf(service, request, asked)
  const { catalog, actor, rights } = request.caller
  const code = await createCode(service.db, catalog.account.id, {
    ...{ user: actor, scopes: scopesOf(access, rights.scopes), days },
    ...{ clientId: client.id, clientName: client.name, clientHost: client.host },
    ...{ redirectUri: asked.redirect_uri!, challenge: asked.code_challenge! },
  })
  return okAnswer(JSON.stringify({ redirect: redirectOf(request, asked, { code }) }))
}

type Allowed = { readonly asked: Asked; readonly access: Access; readonly days: number | null }

function allowedBy(sent: Json): Allowed {
  const body = objectOf(sent, 'The program was not connected.')
  const known = [...Object.keys(parameters), 'access', 'days']
  const problems = unknownMembers(body, known)
  const { access, days = null, ...others } = body
  const refuse = (name: string, rule: string) =>
    problems.add(() => memberProblem(name, 'invalid_value', `${name} must be ${rule}.`))
  const wrongTexts = Object.keys(others).filter(name => typeof others[name] !== 'string')
  const missing = required.filter(name => !others[name])
  for (const name of [...wrongTexts, ...missing]) if (known.includes(name)) refuse(name, 'a text')
  if (!accesses.some(one => one === access)) refuse('access', `one of ${accesses.join(', ')}`)
  const isDays =
    days === null || (Number.isInteger(days) && (days as number) >= 1 && (days as number) <= daysMax)
  if (!isDays) refuse('days', `null or from 1 to ${daysMax}`)
  if (problems.count) throw new Refusal('validation_failed', 'The program was not connected.', problems)
  return { asked: others as Asked, access: access as Access, days: days as number | null }
}
