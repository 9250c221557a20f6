/** The administration of fields over HTTP (D36). */
import {
  arrangeForm,
  createField,
  createOption,
  deleteField,
  deleteOption,
  fieldNotFound,
  findField,
  findOption,
  restoreField,
  updateField,
  updateOption,
} from '../../configuration/administer.ts'
import type { ConfigurationContext } from '../../configuration/retry-on-conflict.ts'
import type { Warning } from '../../errors.ts'
import type { Catalog } from '../../fields/catalog.ts'
import type { Field } from '../../fields/field.ts'
import type { Json, JsonObject } from '../../json.ts'
import { etagOf } from '../../records/precondition.ts'
import type { Transaction } from '../../records/store.ts'
import { KeyedMutex } from '../../waiting/keyed-mutex.ts'
import { oldestKept } from '../../work/background/background-jobs.ts'
import { indexState } from '../../work/background/indexes.ts'
import { type Answer, okAnswer } from '../answer.ts'
import { readParameters } from '../parameters.ts'
import { type ApiRequest, bodyOf, idOf, preconditionOf } from '../request.ts'
import type { Handler } from '../route.ts'
import { descriptor, formAnswer } from './metadata.ts'

export type FieldHandlers = ReturnType<typeof fieldHandlers>

/** Dependencies of the field handlers. */
export type FieldService = {
  readonly db: Transaction
  /** reads an account's current catalog through `db` */
  catalogNow(account: number): Promise<Catalog>
  /** called after a committed change of an account's configuration */
  configured(account: number): void
  /** retention of deleted fields, in days */
  readonly retentionDays: number
}

/** A field service with the mutex that serializes an account's changes. */
type Administration = FieldService & { readonly mutex: KeyedMutex<number> }

export function fieldHandlers(service: FieldService) {
  const own: Administration = { ...service, mutex: new KeyedMutex('configuration') }
  return {
    create: async request => {
      const { id, warnings } = await changed(
        own,
        request,
        createField(administrator(own, request), bodyOf(request)),
      )
      return fieldAnswer(own, request, id, warnings, 201)
    },
    get: async request => fieldAnswer(own, request, seenId(request), []),
    update: async request => {
      const change = updateField(administrator(own, request), seenId(request), bodyOf(request))
      const { id, warnings } = await changed(own, request, change)
      return fieldAnswer(own, request, id, warnings)
    },
    remove: async request => {
      const { id } = await changed(own, request, deleteField(administrator(own, request), seenId(request)))
      return okAnswer(JSON.stringify({ id, deleted: true }))
    },
    restore: async request => {
      const oldest = oldestKept(request.now, own.retentionDays)
      const change = restoreField(administrator(own, request), seenId(request), oldest)
      const { id, warnings } = await changed(own, request, change)
      return fieldAnswer(own, request, id, warnings)
    },
    arrange: async request => {
      const { source } = readParameters(request.query, ['source'], ['source'])
      const by = administrator(own, { ...request, query: new Map() })
      return formAnswer(await changed(own, request, arrangeForm(by, source!, bodyOf(request))))
    },
    ...optionHandlers(own),
  } satisfies { [name: string]: Handler }
}

function optionHandlers(own: Administration) {
  const optionOf = ({ option }: ApiRequest) => idOf({ id: option })
  return {
    createOption: async request => {
      const change = createOption(administrator(own, request), seenId(request), bodyOf(request))
      const { id, warnings } = await changed(own, request, change)
      return optionAnswer(own, request, id, warnings, 201)
    },
    updateOption: async request => {
      const by = administrator(own, request)
      const change = updateOption(by, seenId(request), optionOf(request), bodyOf(request))
      const { id, warnings } = await changed(own, request, change)
      return optionAnswer(own, request, id, warnings)
    },
    removeOption: async request => {
      const change = deleteOption(administrator(own, request), seenId(request), optionOf(request))
      const { id } = await changed(own, request, change)
      return okAnswer(JSON.stringify({ id, deleted: true }))
    },
  } satisfies { [name: string]: Handler }
}

/** The id of the requested field. Throws `field_not_found` if the caller's role hides the field (D64). */
function seenId(request: ApiRequest): number {
  const id = idOf(request)
  const isHidden = [...request.caller.catalog.resources.values()].some(({ fields }) =>
    fields.some(field => field.id === id && field.is_hidden),
  )
  if (isHidden) throw fieldNotFound(id, 'no field')
  return id
}

/** The author of a change. */
function administrator({ db, catalogNow, mutex }: Administration, request: ApiRequest): ConfigurationContext {
  const { caller, idempotency, requestId, traceparent } = request
  const account = caller.catalog.account.id
  return {
    db,
    account,
    actor: caller.actor,
    caller: caller,
    origin: { token: caller.token, session: caller.session, requestId, traceparent },
    precondition: preconditionOf(request),
    idempotency,
    loadCatalog: () => catalogNow(account),
    mutex,
  }
}

/** Carries out a change and makes this process see it at once. */
async function changed<T>(
  { configured }: Administration,
  { caller }: ApiRequest,
  change: Promise<T>,
): Promise<T> {
  const result = await change
  configured(caller.catalog.account.id)
  return result
}

/** The response to a change of a field, with its current state. */
async function fieldAnswer(
  { db, catalogNow }: Administration,
  request: ApiRequest,
  id: number,
  warnings: readonly Warning[],
  status = 200,
): Promise<Answer> {
  const account = request.caller.catalog.account.id
  const catalog = await catalogNow(account)
  const { field } = findField(catalog, id)
  const index = field.is_indexed ? { index: await indexState(db, account, field) } : {}
  const meta = warnings.length ? { warnings } : null
  const headers = headersOf(request, field, id, status)
  return okAnswer(JSON.stringify({ ...descriptor(field, catalog), ...index }), meta, status, headers)
}

async function optionAnswer(
  { catalogNow }: Administration,
  request: ApiRequest,
  id: number,
  warnings: readonly Warning[],
  status = 200,
): Promise<Answer> {
  const { field } = findField(await catalogNow(request.caller.catalog.account.id), idOf(request))
  const { name, position, is_active, is_default } = findOption(field, id)
  const meta = warnings.length ? { warnings } : null
  const headers = headersOf(request, field, id, status)
  return okAnswer(JSON.stringify({ id, name, position, is_active, is_default }), meta, status, headers)
}

/** An option is part of its field, so it has the field's ETag. */
function headersOf({ path }: ApiRequest, field: Field, id: number, status: number): Record<string, string> {
  return { etag: etagOf(field.version), ...(status === 201 ? { location: `${path}/${id}` } : {}) }
}

/** A dry run's result (D79) for a field or an option: a new one without ids, as none is assigned. */
export function withoutNewIds(data: JsonObject, _made: unknown, isNew: boolean): JsonObject {
  if (!isNew) return data
  const { options, sub_fields } = data
  const unnumbered = (members: Json) => (members as JsonObject[]).map(one => ({ ...one, id: null }))
  return {
    ...data,
    id: null,
    ...(options ? { options: unnumbered(options) } : {}),
    ...(sub_fields ? { sub_fields: unnumbered(sub_fields) } : {}),
  }
}
