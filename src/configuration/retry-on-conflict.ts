/**
 * Optimistic locking of configuration changes (D52). A change is proposed on the latest catalog, and one
 * statement saves it if the catalog is unchanged. Otherwise it is proposed again. Knows no HTTP.
 */
import { busy, Refusal, type Warning } from '../errors.ts'
import type { Catalog } from '../fields/catalog.ts'
import { isSameJson, type Json } from '../json.ts'
import { type IdempotentRequest, storedResponse } from '../records/idempotency.ts'
import type { Precondition } from '../records/precondition.ts'
import type { Transaction } from '../records/store.ts'
import type { Origin } from '../records/write/protocol.ts'
import type { AuthorizedCaller } from '../rights/visibility.ts'
import type { KeyedMutex } from '../waiting/keyed-mutex.ts'
import { ownOptions, rowOf } from './field.ts'
import { storedForm } from './form.ts'
import { type Change, saveChange } from './save.ts'
import { newValidation, type Validation } from './validation.ts'

/** The author of a change, with access to the latest catalog. */
export type ConfigurationContext = {
  readonly db: Transaction
  readonly account: number
  readonly actor: number
  /** the administrator as a reader of records, if they see only some */
  readonly caller?: AuthorizedCaller
  /** the change's origin (D69) */
  readonly origin?: Origin
  /** Expected version of the form or the field. A change of an option counts as a change of its field. */
  readonly precondition?: Precondition
  /** set for an idempotent change (D8) */
  readonly idempotency?: IdempotentRequest | null
  loadCatalog(): Promise<Catalog>
  /**
   * Serializes the changes of an account, to prevent version conflicts within this process. A conflict with
   * another process causes a retry.
   */
  readonly mutex: KeyedMutex<number>
}

export type SavedConfiguration = { readonly id: number; readonly warnings: readonly Warning[] }

/** Maximum of attempts on version conflicts. */
const attempts = 10

/** Proposes a change of a catalog and its response. Null if there are problems. */
type Proposal<T> = (
  catalog: Catalog,
  validation: Validation,
) => Promise<{ change: Change; response: T } | null>

/** Carries out a proposal, one per account at a time. Throws its refusal, or `busy_record`. */
export function retryOnConflict<T extends object>(
  context: ConfigurationContext,
  propose: Proposal<T>,
): Promise<T> {
  return context.mutex.run(context.account, () => tryUntilSaved(context, propose))
}

async function tryUntilSaved<T extends object>(
  context: ConfigurationContext,
  propose: Proposal<T>,
): Promise<T> {
  const { db, actor, caller, origin = {}, idempotency = null } = context
  const before = await storedResponse<T>(db, requestOf(context))
  if (before) return before.response
  for (let attempt = 0; attempt < attempts; attempt++) {
    const catalog = await context.loadCatalog()
    const validation = newValidation(catalog, caller)
    const proposed = await propose(catalog, validation)
    refuseProblems(validation)
    const { change, response } = proposed!
    const author = { catalog, actor, origin, idempotency }
    const saved = await saveChange(db, author, isChange(catalog, change) ? change : null, response)
    if (saved) return saved
  }
  throw busy('The configuration is being changed by many at once; try again.')
}

/** True if the change alters anything. Writing back the current state makes no new version (D5). */
function isChange({ resources }: Catalog, { resource, field, sections }: Change): boolean {
  const schema = resources.get(resource)!
  const current = schema.fields.find(({ id }) => id === field?.row.id)
  const isSame = (wanted: object, stored: object) => isSameJson(wanted as Json, stored as Json)
  const isSameField =
    !field || (current && isSame([field.row, field.options], [rowOf(current), ownOptions(current)]))
  return !isSameField || (sections !== null && !isSame(sections, storedForm(schema)))
}

export function requestOf({ account, idempotency = null }: ConfigurationContext) {
  return { catalog: { account: { id: account } }, idempotency }
}

function refuseProblems({ problems }: Validation): void {
  if (problems.count === 0) return
  const isDuplicate = problems.listed.every(({ code }) => code === 'name_taken' || code === 'value_taken')
  const count = problems.count === 1 ? 'one problem' : `${problems.count} problems`
  const message = `Nothing was changed: ${count}.`
  throw new Refusal(isDuplicate ? 'duplicate' : 'validation_failed', message, problems)
}
