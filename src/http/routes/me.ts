/** `/me` over HTTP: the caller, their rights (D66), and their format of dates and numbers (D134). */
import type { AuthenticatedCaller, Callers } from '../../accounts/callers.ts'
import type { Database } from '../../db/open.ts'
import { Refusal } from '../../errors.ts'
import { asDefined } from '../../fields/as-defined.ts'
import { mayFollow } from '../../history/query.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../../json.ts'
import { readRecord } from '../../records/read.ts'
import type { Transaction } from '../../records/store.ts'
import { workOn } from '../../records/work.ts'
import { updateRecord } from '../../records/write/save.ts'
import { type Answer, okAnswer } from '../answer.ts'
import { sessionSeconds, withCookie } from '../client.ts'
import { type ApiRequest, bodyOf, contextOf, knownMembersOf } from '../request.ts'
import type { Handler } from '../route.ts'
import { withDryRun } from './dry-run.ts'

/** The fields of their own user that everybody may change. */
const ownFields = ['time_zone', 'locale']

export function meHandlers(db: Database, callers: Callers): { get: Handler; change: Handler } {
  const { change } = withDryRun(
    db,
    db => ({ change: request => changeMe(db, callers, request) }),
    unchanged => unchanged,
  )
  return { get: request => getMe(db, request), change }
}

/** The UI calls this first, so the browser's cookie is prolonged as long as the session is used. */
async function getMe(db: Transaction, request: ApiRequest): Promise<Answer> {
  const { caller, token, client } = request
  const answer = await me(db, caller)
  return caller.session ? withCookie(answer, client, token, sessionSeconds) : answer
}

async function changeMe(db: Transaction, callers: Callers, request: ApiRequest): Promise<Answer> {
  const { caller } = request
  const body = ownFieldsOf(bodyOf(request))
  // Changing oneself takes no right to users, neither of the role nor of the token.
  const catalog = asDefined(await callers.catalogNow(caller.catalog.account.id, db), 'user')
  const { rights: _, ...turn } = contextOf(request)
  const work = workOn(db, { ...turn, catalog }, 'user')
  const { record } = await ofOneself(updateRecord(work, caller.actor, body))
  return answerOf(caller, record)
}

/** The caller, and their rights. */
export async function me(db: Transaction, caller: ApiRequest['caller']): Promise<Answer> {
  const schema = caller.catalog.resources.get('user')!.whole
  return answerOf(caller, (await ofOneself(readRecord({ db, schema, context: caller }, caller.actor))).record)
}

/** Turns `record_not_found` into `unauthenticated`: the caller was deleted since the look-up (D3). */
function ofOneself<T>(work: Promise<T>): Promise<T> {
  return work.catch(error => {
    const isGone = error instanceof Refusal && error.slug === 'record_not_found'
    throw isGone ? new Refusal('unauthenticated', 'Your user was deleted.') : error
  })
}

/** `record`: the caller's user, as JSON text. */
function answerOf(caller: AuthenticatedCaller, record: string): Answer {
  const { id, name, email, role, time_zone, locale } = parseJson(record) as JsonObject
  return okAnswer(
    JSON.stringify({
      account: caller.catalog.account,
      user: { id, name, email, role, time_zone, locale },
      scopes: [...caller.rights.scopes],
      follows_events: mayFollow(caller.catalog, caller.rights),
      token: caller.token,
      session: caller.session,
    }),
  )
}

function ownFieldsOf(body: Json): Json {
  const hint = 'Who administers users changes the others, with PATCH /user/{id}.'
  return isObject(body) ? knownMembersOf(body, ownFields, 'Nothing was changed.', hint) : body
}
