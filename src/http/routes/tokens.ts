/** The routes that only tokens have (D66). A secret is shown once, when it is created. */
import { createToken, rotateToken } from '../../accounts/tokens.ts'
import type { Database } from '../../db/open.ts'
import { memberProblem, Refusal } from '../../errors.ts'
import { schemaRef } from '../../fields/kinds/schemas.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import type { Transaction } from '../../records/store.ts'
import type { SavedSecret } from '../../records/write/operation.ts'
import { createdAnswer, recordAnswer, withSecret } from '../answer.ts'
import { created, dryRunParameter, envelope, refined } from '../openapi/operation.ts'
import { bodyOf, idOf, preconditionOf, workOf } from '../request.ts'
import { type AccountRoute, base, type Handler, route } from '../route.ts'
import { withDryRun } from './dry-run.ts'
import { createOperation, rotateOperation } from './record-routes.ts'

/** Maximum overlap of a token's old secret with the new one, in hours. */
const overlapMax = 24

const secret = refined('token_read', {
  token: { type: ['string', 'null'], description: 'The secret, which is shown this once.' },
})
const response = envelope(secret, schemaRef('write_meta'))

export function tokenRoutes(db: Database): AccountRoute[] {
  const { create, rotate } = withDryRun(db, tokenHandlers)
  return [
    route('POST', `${base}/token`, 'token:write', create, {
      ...{ ...createOperation('token'), parameters: dryRunParameter, responses: [created(response)] },
    }),
    route('POST', `${base}/token/:id/rotate`, 'token:write', rotate, {
      ...{ ...rotateOperation('token', overlapMax, response), parameters: dryRunParameter },
    }),
  ]
}

function tokenHandlers(db: Transaction) {
  return {
    create: async request => {
      const saved = await createToken(workOf(request, db, 'token'), bodyOf(request))
      return createdAnswer(withTokenSecret(saved), request.path)
    },
    rotate: async request => {
      const [work, hours] = [workOf(request, db, 'token'), overlapOf(request.body)]
      const saved = await rotateToken(work, idOf(request), hours, preconditionOf(request))
      return recordAnswer(withTokenSecret(saved))
    },
  } satisfies { [name: string]: Handler }
}

/** A replay can't show the secret: only its hash is stored. */
const withTokenSecret = (saved: SavedSecret) =>
  withSecret(saved, 'token', 'The secret was in the first answer to this request, and is not kept.')

function overlapOf(body: Json | undefined): number {
  if (body === undefined) return 0
  const known = isObject(body) && Object.keys(body).every(name => name === 'overlap_hours')
  const hours = known ? ((body as JsonObject).overlap_hours ?? 0) : null
  if (typeof hours === 'number' && Number.isInteger(hours) && hours >= 0 && hours <= overlapMax) return hours
  const message = `overlap_hours must be a whole number from 0 to ${overlapMax}; there is no other member.`
  const problem = memberProblem('overlap_hours', 'invalid_value', message)
  throw new Refusal('validation_failed', 'The token was not rotated.', [problem])
}
