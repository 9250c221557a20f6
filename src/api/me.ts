/** `/me` over HTTP: who asks, what they may do (D66), and how they want dates and numbers shown (D134). */
import type { Caller, Callers } from '../accounts/callers.ts'
import { Refusal } from '../errors.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../json.ts'
import { readRecord } from '../records/read.ts'
import type { Queryable } from '../records/store.ts'
import { updateRecord } from '../records/update.ts'
import { Rights } from '../rights/rights.ts'
import { type Answer, success } from './answer.ts'
import { type WrittenDatabase, withDryRun } from './dry-run.ts'
import { readParameters } from './parameters.ts'
import { type ApiRequest, bodyOf, contextOf, refuseIfMatch, unknownMembers } from './request.ts'
import type { Handler } from './route.ts'

/** What everybody may change of their own user. */
const ownFields = ['time_zone', 'locale']

export function meHandlers(db: WrittenDatabase, callers: Callers): { get: Handler; change: Handler } {
  const { change } = withDryRun(
    db,
    db => ({ change: request => changeMe(db, callers, request) }),
    unchanged => unchanged,
  )
  return { get: request => me(db, request), change }
}

async function changeMe(db: Queryable, callers: Callers, request: ApiRequest): Promise<Answer> {
  refuseIfMatch(request)
  readParameters(request.query, [], [])
  const { caller } = request
  const body = ownFieldsOf(bodyOf(request))
  // Whoever asks needs no right to users, and is told of themselves all the same.
  const catalog = await callers.catalogNow(caller.catalog.account.id, db)
  const fields = catalog.resources.get('user')!
  const rights = new Rights(new Set([...caller.rights.scopes, 'user:read']), caller.rights.role)
  const context = { ...contextOf(request), catalog, rights }
  const { record } = await updateRecord(db, fields, caller.actor, body, context)
  return answerOf(caller, record)
}

/** GET /me: who asks, and what they may do. */
export async function me(
  db: Queryable,
  { caller, query }: Pick<ApiRequest, 'caller' | 'query'>,
): Promise<Answer> {
  readParameters(query, [], [])
  const fields = caller.catalog.resources.get('user')!.whole
  return answerOf(caller, (await readRecord(db, fields, caller, caller.actor)).record)
}

/** `record`: the user who asks, as JSON text. */
function answerOf(caller: Caller, record: string): Answer {
  const { id, name, email, role, time_zone, locale } = parseJson(record) as JsonObject
  return success(
    JSON.stringify({
      account: caller.catalog.account,
      user: { id, name, email, role, time_zone, locale },
      scopes: [...caller.rights.scopes],
      token: caller.token,
      session: caller.session,
    }),
  )
}

function ownFieldsOf(body: Json): Json {
  if (!isObject(body)) return body
  const hint = 'Who administers users changes the others, with PATCH /user/{id}.'
  const problems = unknownMembers(body, ownFields, hint)
  if (problems.count) throw new Refusal('validation_failed', 'Nothing was changed.', problems)
  return body
}
