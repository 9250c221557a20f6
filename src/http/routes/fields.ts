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
import { type Catalog, customSection, type Section } from '../../fields/catalog.ts'
import type { Field } from '../../fields/field.ts'
import type { Json, JsonObject } from '../../json.ts'
import { etagOf } from '../../records/precondition.ts'
import { isHiddenByRole } from '../../records/rendered-record.ts'
import type { Transaction } from '../../records/store.ts'
import { catalogAs } from '../../rights/as-role.ts'
import { KeyedMutex } from '../../waiting/keyed-mutex.ts'
import { oldestKept } from '../../work/background/background-jobs.ts'
import { indexState } from '../../work/background/indexes.ts'
import { type Answer, deletedAnswer, etagOfText, okAnswer } from '../answer.ts'
import { readParameters } from '../parameters.ts'
import { type ApiRequest, bodyOf, idOf, preconditionOf } from '../request.ts'
import type { Handler } from '../route.ts'
import { descriptor, formAnswer, plainOption } from './metadata.ts'

export type FieldHandlers = ReturnType<typeof fieldHandlers>

/** Dependencies of the field handlers. */
export type FieldService = {
  readonly db: Transaction
  /** reads an account's current catalog through `db` */
  catalogNow(account: number): Promise<Catalog>
  /** called after a committed change of an account's configuration */
  onConfigurationChange(account: number): void
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
    own.onConfigurationChange(request.caller.catalog.account.id)
    return result
  }
  const field = async (request: ApiRequest, act: Act, status?: number) => {
    const saved = await changed(request, act)
    const found = await seenField(own, request, saved.id)
    return found ? fieldAnswer(own, request, found, saved, status) : unseenAnswer(saved, status)
  }
  const option = async (request: ApiRequest, act: Act, status?: number) => {
    const saved = await changed(request, act)
    const found = await seenField(own, request, idOf(request))
    return found ? optionAnswer(request, found, saved, status) : unseenAnswer(saved, status)
  }
  const removed = async (request: ApiRequest, act: Act) => {
    const { id } = await changed(request, act)
    return deletedAnswer(id)
  }
  return {
    create: request => field(request, by => createField(by, bodyOf(request)), 201),
    get: async request => {
      const saved = { id: idOf(request), warnings: [] }
      const found = await seenField(own, request, saved.id)
      if (!found) throw fieldNotFound(saved.id, 'no field')
      return fieldAnswer(own, request, found, saved)
    },
    update: request => field(request, by => updateField(by, idOf(request), bodyOf(request))),
    remove: request => removed(request, by => deleteField(by, idOf(request))),
    restore: request => {
      const oldest = oldestKept(request.now, own.retentionDays)
      return field(request, by => restoreField(by, idOf(request), oldest))
    },
    arrange: async request => {
      const { source } = readParameters(request.query, ['source'], ['source'])
      const form = await changed(request, by => arrangeForm(by, source!, bodyOf(request)))
      return formAnswer(seenOf(form, request.caller, source!))
    },
    createOption: request => option(request, by => createOption(by, idOf(request), bodyOf(request)), 201),
    updateOption: request =>
      option(request, by => updateOption(by, idOf(request), optionOf(request), bodyOf(request))),
    // Records keep a deactivated option (D10).
    removeOption: request =>
      removed(request, by => updateOption(by, idOf(request), optionOf(request), { is_active: false })),
  } satisfies { [name: string]: Handler }
}

type Act = (by: ConfigurationContext) => Promise<SavedConfiguration>

function optionOf({ secondId }: ApiRequest): number {
  return idOf({ id: secondId })
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

type Found = { readonly field: Field; readonly catalog: Catalog }

/** The field of the current catalog as the caller's role has it; null if it is deleted or hidden (D64). */
async function seenField(
  { catalogNow }: Administration,
  { caller }: ApiRequest,
  id: number,
): Promise<Found | null> {
  const catalog = catalogAs(await catalogNow(caller.catalog.account.id), caller.rights)
  const found = findField(catalog, id)
  return found && { field: found.field, catalog }
}

async function fieldAnswer(
  { db }: Administration,
  request: ApiRequest,
  { field, catalog }: Found,
  saved: SavedConfiguration,
  status?: number,
): Promise<Answer> {
  const index = field.is_indexed ? { index: await indexState(db, catalog.account.id, field) } : {}
  const data = JSON.stringify({ ...descriptor(field, catalog), ...index })
  const etag = mayMove(field, catalog) ? etagOfText(field.version, data) : etagOf(field.version)
  return savedAnswer(request, data, saved, etag, status)
}

/**
 * True if the descriptor may change without a new version: the state of an index, options that are records, a
 * section to which the form has moved the field, and the lock of a role.
 */
function mayMove(
  { id, resource, section, related, is_indexed, is_read_only }: Field,
  { resources }: Catalog,
): boolean {
  const schema = resources.get(resource)!
  const own = schema.resource.fields.find(field => field.id === id)
  const isLocked = schema.whole.fields.find(field => field.id === id)!.is_read_only !== is_read_only
  return is_indexed || isLocked || related !== null || section !== (own?.section ?? customSection)
}

function optionAnswer(request: ApiRequest, { field }: Found, saved: SavedConfiguration, status?: number) {
  const data = JSON.stringify(plainOption(findOption(field, saved.id), field))
  // An option is part of its field, so it has the field's version.
  return savedAnswer(request, data, saved, etagOf(field.version), status)
}

/** The answer to a repeated change of a field that has been deleted or hidden since (D8). */
function unseenAnswer({ id }: SavedConfiguration, status?: number): Answer {
  return okAnswer(JSON.stringify({ id }), null, status)
}

function savedAnswer(
  { path }: ApiRequest,
  data: string,
  { id, warnings }: SavedConfiguration,
  etag: string,
  status = 200,
): Answer {
  const location = status === 201 ? { location: `${path}/${id}` } : {}
  const meta = warnings.length ? { warnings } : null
  return okAnswer(data, meta, status, { etag, ...location })
}

/** A dry run's result (D79) for a field or an option: a new one without ids, as none is assigned. */
export function withoutNewIds(data: JsonObject, _made: unknown, isNew: boolean): JsonObject {
  if (!isNew) return data
  const { options, sub_fields, default_value } = data
  const unchosen = (value: Json) => (Array.isArray(value) ? value.map(() => null) : null)
  const unnumbered = (members: Json) => (members as JsonObject[]).map(one => ({ ...one, id: null }))
  return {
    ...data,
    id: null,
    ...(options ? { options: unnumbered(options), default_value: unchosen(default_value!) } : {}),
    ...(sub_fields ? { sub_fields: unnumbered(sub_fields) } : {}),
  }
}
