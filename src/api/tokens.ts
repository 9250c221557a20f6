/** Tokens over HTTP (D66): a secret is answered once, when it is made. */
import { createToken, rotateToken, type SavedToken } from '../accounts/tokens.ts'
import { Refusal, type Warning } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import type { Queryable } from '../records/store.ts'
import { createdAnswer, recordAnswer } from './answer.ts'
import { readParameters } from './parameters.ts'
import { bodyOf, contextOf, idOf, preconditionOf, refuseIfMatch } from './request.ts'
import type { Handler } from './route.ts'

export type TokenHandlers = { create: Handler; rotate: Handler }

/** The longest time for which the old secret of a token may live on. */
const overlapMax = 24

export function tokenHandlers(db: Queryable): TokenHandlers {
  return {
    create: async request => {
      refuseIfMatch(request)
      readParameters(request.query, [], [])
      const saved = await createToken(db, contextOf(request), bodyOf(request))
      return createdAnswer(withSecret(saved), request.path)
    },
    rotate: async request => {
      readParameters(request.query, [], [])
      const hours = overlapOf(request.body)
      const saved = await rotateToken(db, contextOf(request), idOf(request), hours, preconditionOf(request))
      return recordAnswer(withSecret(saved))
    },
  }
}

/** A secret that was made before is not told again: only its hash is known. */
function withSecret({ secret, ...saved }: SavedToken): SavedToken {
  const record = `${saved.record.slice(0, -1)},"token":${JSON.stringify(secret)}}`
  const warnings: Warning[] = secret === null ? [...saved.warnings, shownOnce] : [...saved.warnings]
  return { ...saved, record, warnings, secret }
}

const shownOnce: Warning = {
  field: 'token',
  code: 'shown_once',
  message: 'The secret was in the first answer to this request, and is not kept.',
}

function overlapOf(body: Json | undefined): number {
  if (body === undefined) return 0
  const known = isObject(body) && Object.keys(body).every(name => name === 'overlap_hours')
  const hours = known ? ((body as JsonObject).overlap_hours ?? 0) : null
  if (typeof hours === 'number' && Number.isInteger(hours) && hours >= 0 && hours <= overlapMax) return hours
  const message = `overlap_hours must be a whole number from 0 to ${overlapMax}; there is no other member.`
  const problem = { field: 'overlap_hours', path: '/overlap_hours', code: 'invalid_value', message }
  throw new Refusal('validation_failed', 'The token was not rotated.', [problem])
}
