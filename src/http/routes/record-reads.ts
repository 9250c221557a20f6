/** The handlers that read a resource's records: they connect HTTP with records/ and lists/. */
import { reachedStatement } from '../../accounts/account-state.ts'
import type { Database } from '../../db/open.ts'
import type { Field } from '../../fields/field.ts'
import { readList } from '../../history/read-list.ts'
import type { Parameters } from '../../lists/parameters.ts'
import { requireReadScopes } from '../../lists/plan.ts'
import { listParameters, readRecordQuery } from '../../lists/query.ts'
import { expandedRecord } from '../../records/expand.ts'
import { type Read, readRecord, readRecordBytes } from '../../records/read.ts'
import { isShownWhole } from '../../records/rendered-record.ts'
import type { RawReader } from '../../records/store.ts'
import { readByUniqueKey } from '../../records/unique-key.ts'
import { type ReadWork, workOn } from '../../records/work.ts'
import { type Answer, pageAnswer, readAnswer } from '../answer.ts'
import { parametersOf, withPaths } from '../parameters.ts'
import { type ApiRequest, idOf, schemaOf } from '../request.ts'
import type { Handler, Readable } from '../route.ts'
import { batchedResources } from './batch.ts'

/**
 * The database for reads that may take long. A read waits for the turn of the request's account, and ends
 * when the client leaves.
 */
export function inTurn(db: Database, { caller, hungUp }: ApiRequest): RawReader {
  return db.inTurn({ account: String(caller.catalog.account.id), signal: hungUp() })
}

/**
 * The database for reads in turn that a replica may answer, if it is as far as the caller knows (D172): those
 * of records, since each change of a record has an event.
 */
export function preferReplica(db: Database, { caller, knownSeq, hungUp }: ApiRequest): RawReader {
  const account = String(caller.catalog.account.id)
  return db.inTurn({ account, signal: hungUp(), isCurrent: reachedStatement(caller, knownSeq()) })
}

/** True if a replica may answer its lists (D172): of what batches write, each change has an event. */
export function mayReadReplica(resource: Readable): boolean {
  return batchedResources.has(resource)
}

export type RecordHandlers = ReturnType<typeof recordHandlers>

export function recordHandlers(db: Database, resource: Readable) {
  return {
    get: async request => {
      const [work, id] = [workOn(db, request.caller, resource), idOf(request)]
      if (request.query.size === 0 && isShownWhole(work.schema, null))
        return readAnswer(await readRecordBytes(work, id))
      return answerRead(work, request, () => readRecord(work, id))
    },
    getBy: request => {
      const work = workOn(db, request.caller, resource)
      const { field, value } = request
      return answerRead(work, request, () => readByUniqueKey(work, field, value))
    },
    list: request => list(db, resource, request, request.query),
    listByBody: withPaths(request =>
      list(db, resource, request, parametersOf(request, listParameters, schemaOf(request, resource))),
    ),
  } satisfies { [name: string]: Handler }
}

/**
 * The response for a read record. It may change without a new version (D89) with `expand`, as other records
 * are renamed, and where fields are hidden or out of use, as they come back.
 */
async function answerRead(work: ReadWork, request: ApiRequest, read: () => Promise<Read>): Promise<Answer> {
  const expand = expandedFields(work, request)
  const answered = await withExpanded(work, request, expand, await read())
  const mayMove = request.query.has('expand') || !isShownWhole(work.schema, null)
  return readAnswer({ ...answered, isMoved: answered.isMoved || mayMove })
}

/** The fields that `expand` requests. Throws if the caller may not read them. */
export function expandedFields({ schema }: ReadWork, { query, caller }: ApiRequest): readonly Field[] {
  const expand = readRecordQuery(query, schema)
  requireReadScopes(caller.rights, expand)
  return expand
}

/** A record with the names that `expand` requests. */
export async function withExpanded<R extends { record: string }>(
  { db }: ReadWork,
  { caller }: ApiRequest,
  expand: readonly Field[],
  read: R,
): Promise<R> {
  return { ...read, record: await expandedRecord(db, caller, read.record, expand) }
}

async function list(
  db: Database,
  resource: Readable,
  request: ApiRequest,
  parameters: Parameters,
): Promise<Answer> {
  const work = workOn(db, request.caller, resource)
  const reader = mayReadReplica(resource) ? preferReplica(db, request) : inTurn(db, request)
  const { page, request: list } = await readList(work, parameters, request.now.toISOString(), reader)
  return pageAnswer(page, list)
}
