/** The handlers of a resource. They connect HTTP with the life of a record (records/). */
import type { Caller } from '../accounts/callers.ts'
import { oldestKept } from '../administration/background-jobs.ts'
import type { Asker } from '../db/fair-share.ts'
import { Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { type ListDatabase, listRecords } from '../list/list.ts'
import type { Parameters } from '../list/parameters.ts'
import { type ListRequest, readListQuery, readRecordQuery } from '../list/query.ts'
import { reachedBy } from '../list/resolve.ts'
import { createRecord, type Given } from '../records/create.ts'
import { expandedRecord } from '../records/expand.ts'
import { storedResponse } from '../records/idempotency.ts'
import { NoTarget } from '../records/move.ts'
import { withNames } from '../records/names.ts'
import { type Read, readRecord } from '../records/read.ts'
import { refuseOther, removeRecord } from '../records/remove.ts'
import { restoreRecord } from '../records/restore.ts'
import { type Context, requestKeyOf } from '../records/save.ts'
import type { Queryable } from '../records/store.ts'
import { updateRecord } from '../records/update.ts'
import { readTold, toldBy, upsertRecord } from '../records/upsert.ts'
import { type Answer, createdAnswer, pageAnswer, readAnswer, recordAnswer, success } from './answer.ts'
import { readParameters } from './parameters.ts'
import { inPast } from './past.ts'
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

/** What handlers need of a database. Reads that may take long, such as lists, wait for the account's turn. */
export type ServedDatabase = Queryable & { inTurn(asker: Asker): ListDatabase }

/**
 * The database for reads that may take long. A read waits for the turn of the request's account, and ends
 * when the client leaves.
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
  /** the record that has a unique value, read, or changed or created (D77) */
  getBy: Handler
  upsert: Handler
  list: Handler
  /** the list, with its parameters in the body (D32) */
  search: Handler
}

/** What the handlers of a resource need. */
export type RecordService = {
  readonly db: ServedDatabase
  readonly resource: string
  /** how long what is deleted can be restored */
  readonly retentionDays: number
  /** called after each write to what an account's catalog is made of */
  configured(account: number): Promise<void>
  /** what a change of a record is judged by, and brings along, besides its body */
  given?(request: ApiRequest): Promise<Given>
  /** moves what is in a record to `to`, before it is deleted */
  move?(db: Queryable, context: Context, from: number, to: number): Promise<void>
}

export function recordHandlers(service: RecordService): RecordHandlers {
  const { db, resource, retentionDays } = service
  return {
    create: async request => {
      refuseIfMatch(request)
      const saved = await withExpanded(service, request, fields =>
        createRecord(db, fields, bodyOf(request), contextOf(request)),
      )
      await written(service, request)
      return createdAnswer(saved, request.path)
    },
    get: request =>
      answerRead(service, request, fields => readRecord(db, fields, request.caller, idOf(request))),
    update: async request => {
      const precondition = preconditionOf(request)
      const given = await service.given?.(request)
      const saved = await withExpanded(service, request, fields =>
        updateRecord(db, fields, idOf(request), bodyOf(request), contextOf(request), precondition, given),
      )
      await written(service, request)
      return recordAnswer(saved)
    },
    remove: async request => {
      const id = idOf(request)
      await remove(service, request, fieldsOf(request, resource), id)
      await written(service, request)
      return success(JSON.stringify({ id, deleted: true }))
    },
    restore: async request => {
      const oldest = oldestKept(request.now, retentionDays)
      const saved = await withExpanded(service, request, fields =>
        restoreRecord(db, fields, idOf(request), contextOf(request), oldest, preconditionOf(request)),
      )
      await written(service, request)
      return recordAnswer(saved)
    },
    ...byValue(service),
    list: request => list(service, request, request.query),
    search: request => list(service, request, parametersOf(request)),
  }
}

/** The handlers of `/by/{field}/{value}`. */
function byValue(service: RecordService): Pick<RecordHandlers, 'getBy' | 'upsert'> {
  const { db, resource } = service
  return {
    getBy: request =>
      answerRead(service, request, fields =>
        readTold(db, fields, request.caller, toldBy(fields, request.field, request.value)),
      ),
    upsert: async request => {
      const saved = await withExpanded(service, request, fields => {
        const told = toldBy(fields, request.field, request.value)
        const precondition = preconditionOf(request)
        const isConditional = request.ifMatch !== undefined
        return upsertRecord(
          db,
          fields,
          told,
          bodyOf(request),
          contextOf(request),
          precondition,
          isConditional,
        )
      })
      await written(service, request)
      const path = request.path.slice(0, request.path.lastIndexOf(`/${resource}/by/`) + resource.length + 1)
      return saved.isNew ? createdAnswer(saved, path) : recordAnswer(saved)
    },
  }
}

/** The answer to a request that reads a record. Names of others move without a version of this one (D89). */
async function answerRead(
  service: RecordService,
  request: ApiRequest,
  read: (fields: ResourceFields) => Promise<Read>,
): Promise<Answer> {
  const answered = await withExpanded(service, request, read)
  return readAnswer(answered, answered.isMoved || request.query.has('expand'))
}

/** The record that `act` answers, with the names that `expand` asks for. */
async function withExpanded<R extends { record: string }>(
  { db, resource }: RecordService,
  request: ApiRequest,
  act: (fields: ResourceFields) => Promise<R>,
): Promise<R> {
  const fields = fieldsOf(request, resource)
  const expand = readRecordQuery(request.query, fields)
  needNames(request.caller, expand)
  const answered = await act(fields)
  return { ...answered, record: await expandedRecord(db, request.caller, answered.record, expand) }
}

/** To be called after a write: the record may be part of the account's catalog. */
async function written({ resource, configured }: RecordService, { caller }: ApiRequest): Promise<void> {
  const { catalog } = caller
  if (catalog.resources.get(resource)!.resource.isConfiguration) await configured(catalog.account.id)
}

/** Deletes a record; with `move_to`, what is in it is moved before. */
async function remove(
  { db, move }: RecordService,
  request: ApiRequest,
  fields: ResourceFields,
  id: number,
): Promise<void> {
  const precondition = preconditionOf(request)
  const { move_to } = readParameters(request.query, move ? ['move_to'] : [], [])
  const context = contextOf(request)
  // The Idempotency-Key belongs to the deletion. When the deletion was carried out before, the move is not
  // repeated.
  if (move && move_to !== undefined && !(await storedResponse(db, requestKeyOf(context)))) {
    await refuseOther(db, fields, id, context, precondition)
    await move(db, { ...context, idempotency: null }, id, idOf({ id: move_to })).catch(refuseTarget)
  }
  await removeRecord(db, fields, id, context, precondition)
}

async function list(
  { db, resource }: RecordService,
  request: ApiRequest,
  parameters: Parameters,
): Promise<Answer> {
  const { catalog } = request.caller
  const fields = fieldsOf(request, resource)
  const read = await withNames(db, request.caller, names =>
    readListQuery(parameters, fields, catalog, request.now.toISOString(), names),
  )
  needNames(request.caller, read.expand, read)
  const { at, moment } = await inPast(inTurn(db, request), fields, request.caller, read.day)
  // In the past all records are looked at in any case, so they may as well be counted.
  const asked = moment
    ? { ...read, asOf: moment, count: read.count === 'none' ? read.count : ('exact' as const) }
    : read
  return pageAnswer(await listRecords(at, fields, request.caller, asked), asked)
}

/**
 * Throws `forbidden` unless the caller may read the resources whose names are shown or sorted by, or that the
 * filter reaches (D65, D87).
 */
export function needNames(
  { rights }: Caller,
  shown: readonly Field[],
  { sort = [], filter = null }: Partial<Pick<ListRequest, 'sort' | 'filter'>> = {},
): void {
  const named = [...shown.map(({ related }) => related), ...sort.map(({ order }) => order.namesOf)]
  const resources = [...named, ...reachedBy(filter)]
  for (const resource of resources) if (resource) rights.need(`${resource}:read`)
}

function refuseTarget(error: unknown): never {
  if (!(error instanceof NoTarget)) throw error
  const message = `The records can't be moved: ${error.message}`
  const problem = { field: null, path: '', parameter: 'move_to', code: 'invalid_value', message }
  throw new Refusal('malformed_query', 'Nothing was moved or deleted.', [problem])
}
