/** Sign-in, sessions, passwords and one-time links over HTTP (D61). */
import type { Callers } from '../../accounts/callers.ts'
import { createLink, linkAddress, type Purpose, secretIn } from '../../accounts/sign-in/links.ts'
import { endSession, listSessions } from '../../accounts/sign-in/sessions.ts'
import type { SignIn } from '../../accounts/sign-in/sign-in.ts'
import { publish } from '../../diagnostics.ts'
import { memberProblem, problemAt, Refusal, type Warning } from '../../errors.ts'
import { isObject, type Json } from '../../json.ts'
import { readRecord } from '../../records/read.ts'
import type { Transaction } from '../../records/store.ts'
import { workOn } from '../../records/work.ts'
import { type Answer, deletedAnswer, okAnswer } from '../answer.ts'
import type { BodyLimit } from '../body.ts'
import { type Client, sessionSeconds, withCookie } from '../client.ts'
import { readParameters } from '../parameters.ts'
import { type AnonymousRequest, type ApiRequest, contextOf, idOf, unknownMembers } from '../request.ts'
import type { AnonymousHandler, Handler } from '../route.ts'
import { me } from './me.ts'

const signInBytes = 32_768
/** The limit for guests: a sign-in sends little more than a password. */
export const signInLimit: BodyLimit = {
  bytes: signInBytes,
  refusal: () => new Refusal('body_too_large', `The body is larger than ${signInBytes} bytes.`),
}

export type SessionService = { readonly db: Transaction; readonly callers: Callers; readonly signIn: SignIn }

/** POST /session */
export function signInHandler(service: SessionService): AnonymousHandler {
  return request => signedIn(service, request).catch(noteRefusal)
}

export function sessionHandlers({ db, callers, signIn }: SessionService) {
  return {
    signOut: async ({ caller, token, client }) => {
      if (!caller.session)
        throw new Refusal('record_not_found', 'The request has a token, which has no session.')
      await endSession(db, caller, caller.session.id)
      callers.forgetSecret(token)
      return withCookie(deletedAnswer(caller.session.id), client, '', 0)
    },
    list: async ({ caller }) => okAnswer(await listSessions(db, caller, caller.session?.id ?? null)),
    end: async request => {
      const { caller, client } = request
      const id = idOf(request)
      if (!(await endSession(db, caller, id)))
        throw new Refusal('record_not_found', `You have no session ${id}.`)
      callers.forget(caller.catalog.account.id)
      const answer = deletedAnswer(id)
      return caller.session?.id === id ? withCookie(answer, client, '', 0) : answer
    },
    changePassword: async ({ caller, body, client }) => {
      const sent = members(body, { password: 'text', current_password: 'text?' })
      await signIn.changePassword(caller, sent.current_password || null, sent.password, client)
      return okAnswer('{"changed":true}')
    },
    createLink: request => newLink(db, request),
  } satisfies { [name: string]: Handler }
}

function noteRefusal(error: unknown): never {
  if (error instanceof Refusal) publish('sign-in-refusal', { error: error.slug })
  throw error
}

/** POST /session: by e-mail and password, or by a link. */
async function signedIn(
  { db, callers, signIn }: SessionService,
  { query, body, client }: AnonymousRequest,
): Promise<Answer> {
  readParameters(query, [], [])
  const secret =
    isObject(body) && 'link' in body
      ? await byLink(signIn, body, client)
      : await byPassword(signIn, body, client)
  const caller = await callers.identifyNow(secret)
  // The session has been revoked already.
  if (!caller) throw new Refusal('unauthenticated', 'The session has ended.')
  const answer = await me(db, caller)
  return withCookie({ ...answer, status: 201 }, client, secret, sessionSeconds)
}

async function byLink(signIn: SignIn, body: Json, client: Client): Promise<string> {
  const { link, password } = members(body, { link: 'text', password: 'text?' })
  return signIn.byLink(secretIn(link), password ?? null, client)
}

async function byPassword(signIn: SignIn, body: Json | undefined, client: Client): Promise<string> {
  const { email, password, account } = members(body, { email: 'text', password: 'text', account: 'id?' })
  return signIn.byPassword({ email, password, account: account ?? null }, client)
}

/** The type of a member: a text, or an id; `?`: optional. */
type Members = { readonly [name: string]: keyof MemberTypes }
type MemberTypes = { text: string; 'text?': string | null | undefined; 'id?': number | null | undefined }

/** The members of a body. Throws `validation_failed` with all problems. */
function members<Known extends Members>(
  body: Json | undefined,
  kinds: Known,
): { readonly [name in keyof Known]: MemberTypes[Known[name]] } {
  const known = Object.keys(kinds)
  if (!isObject(body))
    throw new Refusal('malformed_json', `The body must be a JSON object with ${known.join(', ')}.`)
  const problems = unknownMembers(body, known)
  for (const [name, kind] of Object.entries(kinds)) {
    const value = body[name] ?? null
    const isId = kind === 'id?'
    if (value === null || (value === '' && !isId)) {
      if (kind === 'text') problems.add(() => memberProblem(name, 'required', `${name} must be given.`))
    } else if (isId ? !Number.isSafeInteger(value) : typeof value !== 'string') {
      const what = isId ? `the id of an ${name}` : 'a text'
      problems.add(() => memberProblem(name, 'wrong_type', `${name} must be ${what}.`))
    }
  }
  if (problems.count) throw new Refusal('validation_failed', 'The body could not be used.', problems)
  return body as { readonly [name in keyof Known]: MemberTypes[Known[name]] }
}

const purposes: readonly Purpose[] = ['invitation', 'reset']

/** POST /user/{id}/link: the secret is shown once. */
async function newLink(db: Transaction, request: ApiRequest): Promise<Answer> {
  const user = idOf(request)
  const { caller, client } = request
  await readRecord(workOn(db, caller, 'user'), user)
  const purpose = members(request.body, { purpose: 'text' }).purpose as Purpose
  if (!purposes.includes(purpose)) throw notMade('purpose', `purpose must be one of ${purposes.join(', ')}.`)
  const link = await createLink(db, contextOf(request), user, purpose)
  if (!link) throw notMade(null, 'The user is out of use: take them into use first.')
  const { secret, expiresAt: expires_at } = link
  const url = secret && linkAddress(client.origin, secret)
  const meta = secret === null ? { warnings: [shownOnce] } : null
  return okAnswer(JSON.stringify({ link: secret, url, expires_at }), meta, 201)
}

function notMade(field: string | null, message: string): Refusal {
  const problem =
    field === null ? problemAt('', 'invalid_value', message) : memberProblem(field, 'invalid_value', message)
  return new Refusal('validation_failed', 'The link was not made.', [problem])
}

const shownOnce: Warning = {
  field: 'link',
  code: 'shown_once',
  message: 'The link was in the first answer to this request, and is not kept.',
}
