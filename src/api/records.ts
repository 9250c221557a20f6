/** The five operations on a resource: HTTP on one side, the life of a record on the other. */
import { listRecords } from '../list/list.ts'
import { readListQuery } from '../list/query.ts'
import { createRecord } from '../records/create.ts'
import { readRecord } from '../records/read.ts'
import { removeRecord } from '../records/remove.ts'
import type { Queryable } from '../records/store.ts'
import { updateRecord } from '../records/update.ts'
import { type Answer, createdAnswer, pageAnswer, recordAnswer, success } from './answer.ts'
import { type ApiRequest, bodyOf, contextOf, fieldsOf, idOf, versionOf } from './request.ts'

export type Handler = (request: ApiRequest) => Promise<Answer>

export type RecordHandlers = { create: Handler; get: Handler; update: Handler; remove: Handler; list: Handler }

export function recordHandlers(db: Queryable, resource: string): RecordHandlers {
  return {
    create: async request => {
      const saved = await createRecord(db, fieldsOf(request, resource), bodyOf(request), contextOf(request))
      return createdAnswer(saved, request.path)
    },
    get: async request =>
      recordAnswer(await readRecord(db, fieldsOf(request, resource), request.caller.catalog.account.id, idOf(request))),
    update: async request =>
      recordAnswer(
        await updateRecord(
          db,
          fieldsOf(request, resource),
          idOf(request),
          bodyOf(request),
          contextOf(request),
          versionOf(request),
        ),
      ),
    remove: async request => {
      const id = idOf(request)
      await removeRecord(db, fieldsOf(request, resource), id, contextOf(request))
      return success(JSON.stringify({ id, deleted: true }))
    },
    list: async request => {
      const { catalog } = request.caller
      const fields = fieldsOf(request, resource)
      const list = readListQuery(request.query, fields, catalog)
      return pageAnswer(await listRecords(db, fields, catalog.account.id, list), list)
    },
  }
}
