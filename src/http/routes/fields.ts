/** The administration of fields over HTTP (D36). */
import {
  arrangeForm,
  createField,
  createOption,
  deleteField,
  fieldNotFound,
  findField,
  findOption,
  restoreField,
  updateField,
  updateOption,
} from '../../configuration/administer.ts'
import type { ConfigurationContext, SavedConfiguration } from '../../configuration/retry-on-conflict.ts'
import type { Catalog, Section } from '../../fields/catalog.ts'
import type { Field } from '../../fields/field.ts'
import type { Json, JsonObject } from '../../json.ts'
import { etagOf } from '../../records/precondition.ts'
import { isHiddenByRole } from '../../records/rendered-record.ts'
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
  /** Carries out a change and makes this process see it at once. */
  const changed = async <T>(request: ApiRequest, act: (by: ConfigurationContext) => Promise<T>) => {
    const result = await act(administrator(own, request))
    own.configured(request.caller.catalog.account.id)
    return result
  }
  const field = async (request: ApiRequest, act: Act, status?: number) =>
    fieldAnswer(own, request, await changed(request, act), status)
  const option = async (request: ApiRequest, act: Act, status?: number) =>
    optionAnswer(own, request, await changed(request, act), status)
  const removed = async (request: ApiRequest, act: Act) => {
    const { id } = await changed(request, act)
    return okAnswer(JSON.stringify({ id, deleted: true }))
  }
  return {
    create: request => field(request, by => createField(by, bodyOf(request)), 201),
    get: request => fieldAnswer(own, request, { id: seenId(request), warnings: [] }),
    update: request => field(request, by => updateField(by, seenId(request), bodyOf(request))),
    remove: request => removed(request, by => deleteField(by, seenId(request))),
    restore: request => {
      const oldest = oldestKept(request.now, own.retentionDays)
      return field(request, by => restoreField(by, seenId(request), oldest))
    },
    arrange: async request => {
      const { source } = readParameters(request.query, ['source'], ['source'])
      const form = await changed(request, by => arrangeForm(by, source!, bodyOf(request)))
      return formAnswer(seenOf(form, request.caller, source!))
    },
    createOption: request => option(request, by => createOption(by, seenId(request), bodyOf(request)), 201),
    updateOption: request =>
      option(request, by => updateOption(by, seenId(request), optionOf(request), bodyOf(request))),
    // Records keep a deactivated option (D10).
    removeOption: request =>
      removed(request, by => updateOption(by, seenId(request), optionOf(request), { is_active: false })),
  } satisfies { [name: string]: Handler }
}

type Act = (by: ConfigurationContext) => Promise<SavedConfiguration>

function optionOf({ option }: ApiRequest): number {
  return idOf({ id: option })
}

/** The id of the requested field. Throws `field_not_found` if the caller's role hides the field (D64). */
function seenId(request: ApiRequest): number {
  const id = idOf(request)
  if (isHiddenFrom(request.caller, id)) throw fieldNotFound(id, 'no field')
  return id
}

function isHiddenFrom({ catalog }: ApiRequest['caller'], id: number): boolean {
  return [...catalog.resources.values()].some(({ fields }) =>
    fields.some(field => field.id === id && field.is_hidden),
  )
}

/** A form without what the role hides by now: a replayed answer may be from before (D8). */
function seenOf(form: readonly Section[], { catalog }: ApiRequest['caller'], source: string): Section[] {
  const schema = catalog.resources.get(source)!
  const isSeen = (name: string) => !isHiddenByRole(schema, name)
  return form
    .map(({ section, fields }) => ({ section, fields: fields.filter(isSeen) }))
    .filter(({ fields }) => fields.length > 0)
}

/** The author of a change. */
function administrator({ db, catalogNow, mutex }: Administration, request: ApiRequest): ConfigurationContext {
  const { caller, idempotency, requestId, traceparent } = request
  const account = caller.catalog.account.id
  return {
    ...{ db, account, mutex, idempotency, caller, actor: caller.actor },
    origin: { token: caller.token, session: caller.session, requestId, traceparent },
    precondition: preconditionOf(request),
    loadCatalog: () => catalogNow(account),
  }
}

/** The response to a change of a field, with its current state. */
async function fieldAnswer(
  { db, catalogNow }: Administration,
  request: ApiRequest,
  saved: SavedConfiguration,
  status?: number,
): Promise<Answer> {
  // A replayed answer may be from before the role hid the field (D8).
  if (isHiddenFrom(request.caller, saved.id)) return okAnswer(JSON.stringify({ id: saved.id }), null, status)
  const account = request.caller.catalog.account.id
  const catalog = await catalogNow(account)
  const { field } = findField(catalog, saved.id)
  const index = field.is_indexed ? { index: await indexState(db, account, field) } : {}
  return savedAnswer(request, { ...descriptor(field, catalog), ...index }, saved, field, status)
}

async function optionAnswer(
  { catalogNow }: Administration,
  request: ApiRequest,
  saved: SavedConfiguration,
  status?: number,
): Promise<Answer> {
  const { field } = findField(await catalogNow(request.caller.catalog.account.id), idOf(request))
  const { id, name, position, is_active, is_default } = findOption(field, saved.id)
  return savedAnswer(request, { id, name, position, is_active, is_default }, saved, field, status)
}

/** An option is part of its field, so it has the field's ETag. */
function savedAnswer(
  { path }: ApiRequest,
  data: object,
  { id, warnings }: SavedConfiguration,
  field: Field,
  status = 200,
): Answer {
  const location = status === 201 ? { location: `${path}/${id}` } : {}
  const meta = warnings.length ? { warnings } : null
  return okAnswer(JSON.stringify(data), meta, status, { etag: etagOf(field.version), ...location })
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
