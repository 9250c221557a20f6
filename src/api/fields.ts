/** The administration of fields over HTTP (D36). */
import type { Directory } from '../accounts/directory.ts'
import {
  arrangeForm,
  createField,
  createOption,
  deleteField,
  deleteOption,
  findField,
  findOption,
  restoreField,
  updateField,
  updateOption,
} from '../administration/administer.ts'
import type { Administrator, Turns } from '../administration/attempt.ts'
import { indexState } from '../administration/indexes.ts'
import { oldestKept, type Upkeep } from '../administration/upkeep.ts'
import type { Warning } from '../errors.ts'
import type { Field } from '../fields/field.ts'
import { etagOf } from '../records/precondition.ts'
import type { Queryable } from '../records/store.ts'
import { type Answer, success } from './answer.ts'
import { descriptor, formAnswer } from './metadata.ts'
import { readParameters } from './parameters.ts'

import { type ApiRequest, bodyOf, idOf, preconditionOf, refuseIfMatch } from './request.ts'
import type { Handler } from './routes.ts'

export type FieldHandlers = {
  [operation in
    | 'create'
    | 'get'
    | 'update'
    | 'remove'
    | 'restore'
    | 'createOption'
    | 'updateOption'
    | 'removeOption'
    | 'arrange']: Handler
}

export function fieldHandlers(
  db: Queryable,
  directory: Directory,
  upkeep: Upkeep,
  retentionDays: number,
): FieldHandlers {
  const turns: Turns = new Map()
  const administrator = (request: ApiRequest): Administrator => {
    const { caller, once, query } = request
    readParameters(query, [], [])
    const account = caller.catalog.account.id
    const precondition = preconditionOf(request)
    return {
      db,
      account,
      actor: caller.user,
      precondition,
      once,
      loadCatalog: () => directory.catalogNow(account),
      turns,
    }
  }
  /** An option's ETag is that of its field, of which it is a part. */
  const headersOf = (
    { path }: ApiRequest,
    field: Field,
    id: number,
    status: number,
  ): Record<string, string> => ({
    etag: etagOf(field.version),
    ...(status === 201 ? { location: `${path}/${id}` } : {}),
  })
  /** The field as it is now, for the answer to a change of it. */
  const fieldAnswer = async (
    request: ApiRequest,
    id: number,
    warnings: readonly Warning[],
    status = 200,
  ): Promise<Answer> => {
    const account = request.caller.catalog.account.id
    const catalog = await directory.catalogNow(account)
    const { field } = findField(catalog, id)
    const index = field.is_indexed ? { index: await indexState(db, account, field) } : {}
    const meta = warnings.length ? { warnings } : null
    const headers = headersOf(request, field, id, status)
    return success(JSON.stringify({ ...descriptor(field, catalog), ...index }), meta, status, headers)
  }
  const optionAnswer = async (
    request: ApiRequest,
    id: number,
    warnings: readonly Warning[],
    status = 200,
  ): Promise<Answer> => {
    const { field } = findField(await directory.catalogNow(request.caller.catalog.account.id), idOf(request))
    const { name, position, is_active, is_default } = findOption(field, id)
    const meta = warnings.length ? { warnings } : null
    const headers = headersOf(request, field, id, status)
    return success(JSON.stringify({ id, name, position, is_active, is_default }), meta, status, headers)
  }
  /** Carries out a change, which this process sees at once. */
  const changing = async <T>({ caller }: ApiRequest, act: Promise<T>): Promise<T> => {
    const changed = await act
    directory.forget(caller.catalog.account.id)
    void upkeep.wake(caller.catalog.account.id)
    return changed
  }
  const optionOf = ({ option }: ApiRequest) => idOf({ id: option })
  return {
    create: async request => {
      refuseIfMatch(request)
      const { id, warnings } = await changing(request, createField(administrator(request), bodyOf(request)))
      return fieldAnswer(request, id, warnings, 201)
    },
    get: async request => {
      readParameters(request.query, [], [])
      return fieldAnswer(request, idOf(request), [])
    },
    update: async request => {
      const { id, warnings } = await changing(
        request,
        updateField(administrator(request), idOf(request), bodyOf(request)),
      )
      return fieldAnswer(request, id, warnings)
    },
    remove: async request => {
      const { id } = await changing(request, deleteField(administrator(request), idOf(request)))
      return success(JSON.stringify({ id, deleted: true }))
    },
    restore: async request => {
      const oldest = oldestKept(request.now, retentionDays)
      const { id, warnings } = await changing(
        request,
        restoreField(administrator(request), idOf(request), oldest),
      )
      return fieldAnswer(request, id, warnings)
    },
    createOption: async request => {
      const { id, warnings } = await changing(
        request,
        createOption(administrator(request), idOf(request), bodyOf(request)),
      )
      return optionAnswer(request, id, warnings, 201)
    },
    updateOption: async request => {
      const { id, warnings } = await changing(
        request,
        updateOption(administrator(request), idOf(request), optionOf(request), bodyOf(request)),
      )
      return optionAnswer(request, id, warnings)
    },
    removeOption: async request => {
      const { id } = await changing(
        request,
        deleteOption(administrator(request), idOf(request), optionOf(request)),
      )
      return success(JSON.stringify({ id, deleted: true }))
    },
    arrange: async request => {
      const { source } = readParameters(request.query, ['source'], ['source'])
      const arranging = arrangeForm(administrator({ ...request, query: new Map() }), source!, bodyOf(request))
      return formAnswer(await changing(request, arranging))
    },
  }
}
