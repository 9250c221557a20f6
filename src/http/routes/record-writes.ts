/**
 * The handlers that write the records of a resource. They connect HTTP with the record operations (records/).
 */
import { parameterProblem, Refusal } from '../../errors.ts'
import type { Field } from '../../fields/field.ts'
import { storedResponse } from '../../records/idempotency.ts'
import { type Move, moveRecords, NoTarget } from '../../records/move.ts'
import { removeRecord, validateRemoval } from '../../records/remove.ts'
import { restoreRecord } from '../../records/restore.ts'
import type { Transaction } from '../../records/store.ts'
import { targetByKey } from '../../records/unique-key.ts'
import type { Work } from '../../records/work.ts'
import type { Saved, WriteContext, WriteOptions } from '../../records/write/operation.ts'
import { createRecord, saveRecord, updateRecord } from '../../records/write/save.ts'
import { oldestKept } from '../../work/background/background-jobs.ts'
import { createdAnswer, deletedAnswer, recordAnswer } from '../answer.ts'
import { invalidParameter, readParameters } from '../parameters.ts'
import { type ApiRequest, bodyOf, idOf, preconditionOf, schemaOf, workOf } from '../request.ts'
import type { Handler } from '../route.ts'
import { inConfigurationTurn } from './configuration-turns.ts'
import { expandedFields, withExpanded } from './record-reads.ts'

export type WriteHandlers = ReturnType<typeof writeHandlers>

/** Dependencies of a resource's write handlers. */
export type WriteService = {
  readonly db: Transaction
  readonly resource: string
  /** retention of deleted records, in days */
  readonly retentionDays: number
  /** called after each write to a resource of an account's configuration */
  onConfigurationChange(account: number): Promise<void>
  /** extra rules and changes that belong to a write, besides its body */
  writeOptionsOf?(request: ApiRequest): Promise<WriteOptions>
  /** moves of a record's contents to `to`, before it is deleted; throws NoTarget */
  planMoves?(db: Transaction, context: WriteContext, from: number, to: number): Promise<readonly Move[]>
}

export function writeHandlers(service: WriteService) {
  const { db, resource, retentionDays } = service
  const save = async (request: ApiRequest, act: (work: Work) => Promise<Saved>) => {
    const saved = await inTurn(service, request, async latest => {
      const work = workOf(latest, db, resource)
      const expand = await expandedOrReplayed(work, latest)
      return withExpanded(work, latest, expand, await act(work))
    })
    await afterWrite(service, request)
    return saved
  }
  return {
    create: async request => {
      const one = await save(request, work => createRecord(work, bodyOf(request)))
      return createdAnswer(one, request.path)
    },
    update: async request => {
      const precondition = preconditionOf(request)
      const options = await service.writeOptionsOf?.(request)
      const act = (work: Work) => updateRecord(work, idOf(request), bodyOf(request), precondition, options)
      return recordAnswer(await save(request, act))
    },
    remove: async request => {
      const id = idOf(request)
      await remove(service, request, id)
      await afterWrite(service, request)
      return deletedAnswer(id)
    },
    restore: async request => {
      const oldest = oldestKept(request.now, retentionDays)
      const act = (work: Work) => restoreRecord(work, idOf(request), oldest, preconditionOf(request))
      return recordAnswer(await save(request, act))
    },
    upsert: async request => {
      const one = await save(request, work => {
        const target = targetByKey(work.schema, request.field, request.value)
        const [precondition, isConditional] = [preconditionOf(request), request.ifMatch !== undefined]
        const operation = { op: 'upsert', id: null, ...target, precondition, isConditional } as const
        return saveRecord(work, { ...operation, body: bodyOf(request) })
      })
      const path = request.path.slice(0, request.path.lastIndexOf(`/${resource}/by/`) + resource.length + 1)
      return one.isNew ? createdAnswer(one, path) : recordAnswer(one)
    },
  } satisfies { [name: string]: Handler }
}

/** The fields that `expand` requests; none for a repeated request that may not read them by now (D8). */
async function expandedOrReplayed(work: Work, request: ApiRequest): Promise<readonly Field[]> {
  try {
    return expandedFields(work, request)
  } catch (error) {
    if (!(error instanceof Refusal) || !(await storedResponse(work.db, work.context))) throw error
    return []
  }
}

/** Carries out a write: in turn, if the record is part of the account's configuration. */
function inTurn<T>(
  { db, resource }: WriteService,
  request: ApiRequest,
  act: (request: ApiRequest) => Promise<T>,
): Promise<T> {
  return isConfiguration(resource, request) ? inConfigurationTurn(db, request, act) : act(request)
}

function isConfiguration(resource: string, request: ApiRequest): boolean {
  return schemaOf(request, resource).resource.isConfiguration === true
}

/** Must be called after a write: the record may be part of the account's catalog. */
async function afterWrite(
  { resource, onConfigurationChange }: WriteService,
  request: ApiRequest,
): Promise<void> {
  if (isConfiguration(resource, request)) await onConfigurationChange(request.caller.catalog.account.id)
}

/** Deletes a record; with `move_to`, its contents are moved first. */
async function remove(service: WriteService, request: ApiRequest, id: number): Promise<void> {
  const { db, resource, planMoves } = service
  const precondition = preconditionOf(request)
  const { move_to } = readParameters(request.query, planMoves ? ['move_to'] : [], [])
  const work = workOf(request, db, resource)
  // The Idempotency-Key belongs to the deletion. If the deletion is a replay, the move is not repeated.
  if (planMoves && move_to !== undefined && !(await storedResponse(db, work.context))) {
    const context = { ...work.context, idempotency: null }
    const to = targetOf(move_to)
    const planned = await validateRemoval({ ...work, context }, id, precondition, () =>
      planMoves(db, context, id, to).catch(refuseTarget),
    )
    await moveRecords(db, context, planned)
  }
  await inTurn(service, request, latest => removeRecord(workOf(latest, db, resource), id, precondition))
}

function targetOf(moveTo: string): number {
  if (/^\d{1,15}$/.test(moveTo)) return Number(moveTo)
  throw invalidParameter('move_to', 'move_to must be the id of a record, a whole number; it takes no name.')
}

function refuseTarget(error: unknown): never {
  if (!(error instanceof NoTarget)) throw error
  const message = `The records can't be moved: ${error.message}`
  throw new Refusal('malformed_query', 'Nothing was moved or deleted.', [
    parameterProblem('move_to', 'invalid_value', message),
  ])
}
