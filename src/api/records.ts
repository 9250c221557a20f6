/** The operations on a resource: HTTP on one side, the life of a record on the other. */
import { oldestKept } from '../administration/upkeep.ts'
import type { Asker } from '../db/fair-share.ts'
import { NoTarget } from '../deals/move.ts'
import { Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import { type ListDatabase, listRecords } from '../list/list.ts'
import type { Parameters } from '../list/parameters.ts'
import { readListQuery, readRecordQuery } from '../list/query.ts'
import { createRecord } from '../records/create.ts'
import { expandedRecord } from '../records/expand.ts'
import { recall } from '../records/once.ts'
import { readRecord } from '../records/read.ts'
import { refuseOther, removeRecord } from '../records/remove.ts'
import { restoreRecord } from '../records/restore.ts'
import { askedOnce, type Context } from '../records/save.ts'
import type { Queryable } from '../records/store.ts'
import { updateRecord } from '../records/update.ts'
import { createdAnswer, pageAnswer, recordAnswer, success } from './answer.ts'
import { readParameters } from './parameters.ts'
import {
  type ApiRequest,
  bodyOf,
  contextOf,
  fieldsOf,
  idOf,
  parametersOf,
  preconditionOf,
  refuseIfMatch,
} from './request.ts'
import type { Handler } from './routes.ts'

/**
 * What handlers need of a database: reads that may take long, such as lists, are asked in the account's turn.
 */
export type ServedDatabase = Queryable & { inTurn(asker: Asker): ListDatabase }

/**
 * The database as it is asked when it is the turn of the request's account, and as long as somebody waits for
 * the answer.
 */
export function inTurn(db: ServedDatabase, { caller, hungUp }: ApiRequest): ListDatabase {
  return db.inTurn({ account: String(caller.catalog.account.id), signal: hungUp() })
}

export type RecordHandlers = {
  create: Handler
  get: Handler
  update: Handler
  remove: Handler
  /** brings a deleted record back (D9) */
  restore: Handler
  list: Handler
  /** the list, with its parameters in the body (D32) */
  search: Handler
}

export type Around = {
  /** how long what is deleted can be restored */
  readonly retentionDays: number
  /** told of each write to what an account's catalog is made of */
  configured(account: number): Promise<void>
  /** moves what is in a record to `to`, before it is deleted */
  move?(db: Queryable, context: Context, from: number, to: number): Promise<void>
}

export function recordHandlers(
  db: ServedDatabase,
  resource: string,
  { configured, move, retentionDays }: Around,
): RecordHandlers {
  const written = async ({ caller: { catalog } }: ApiRequest) => {
    if (catalog.resources.get(resource)!.resource.isConfiguration) await configured(catalog.account.id)
  }
  const list = async (request: ApiRequest, parameters: Parameters) => {
    const { catalog } = request.caller
    const fields = fieldsOf(request, resource)
    const read = readListQuery(parameters, fields, catalog, request.now.toISOString())
    return pageAnswer(await listRecords(inTurn(db, request), fields, catalog.account.id, read), read)
  }
  /** A record as the caller wants to see it: with the names that `expand` asks for. */
  const seen = async <R extends { record: string }>(
    request: ApiRequest,
    act: (fields: ResourceFields) => Promise<R>,
  ) => {
    const fields = fieldsOf(request, resource)
    const expand = readRecordQuery(request.query, fields)
    const answered = await act(fields)
    return {
      ...answered,
      record: await expandedRecord(db, request.caller.catalog.account.id, answered.record, expand),
    }
  }
  return {
    create: async request => {
      refuseIfMatch(request)
      const saved = await seen(request, fields =>
        createRecord(db, fields, bodyOf(request), contextOf(request)),
      )
      await written(request)
      return createdAnswer(saved, request.path)
    },
    get: async request =>
      recordAnswer(
        await seen(request, fields =>
          readRecord(db, fields, request.caller.catalog.account.id, idOf(request)),
        ),
      ),
    update: async request => {
      const saved = await seen(request, fields =>
        updateRecord(db, fields, idOf(request), bodyOf(request), contextOf(request), preconditionOf(request)),
      )
      await written(request)
      return recordAnswer(saved)
    },
    remove: async request => {
      const id = idOf(request)
      const [fields, precondition] = [fieldsOf(request, resource), preconditionOf(request)]
      const { move_to } = readParameters(request.query, move ? ['move_to'] : [], [])
      const context = contextOf(request)
      // The key is the deletion's: what is moved before is not carried out again when the deletion was.
      if (move && move_to !== undefined && !(await recall(db, askedOnce(context)))) {
        await refuseOther(db, fields, id, context, precondition)
        await move(db, { ...context, once: null }, id, idOf({ id: move_to })).catch(refuseTarget)
      }
      await removeRecord(db, fields, id, context, precondition)
      await written(request)
      return success(JSON.stringify({ id, deleted: true }))
    },
    restore: async request => {
      const oldest = oldestKept(request.now, retentionDays)
      const saved = await seen(request, fields =>
        restoreRecord(db, fields, idOf(request), contextOf(request), oldest, preconditionOf(request)),
      )
      await written(request)
      return recordAnswer(saved)
    },
    list: request => list(request, request.query),
    search: request => list(request, parametersOf(request)),
  }
}

function refuseTarget(error: unknown): never {
  if (!(error instanceof NoTarget)) throw error
  const message = `The deals can't be moved: ${error.message}`
  const problem = { field: null, path: '', parameter: 'move_to', code: 'invalid_value', message }
  throw new Refusal('malformed_query', 'Nothing was moved or deleted.', [problem])
}
