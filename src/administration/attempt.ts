/**
 * How a change of the configuration is carried out (D52): proposed on the catalog as the database has it now,
 * and saved by one statement only on that very catalog; else proposed anew. The changes of an account in this
 * process take turns. Knows no field.
 */
import { Refusal, type Warning } from '../errors.ts'
import type { Catalog } from '../fields/catalog.ts'
import { isSameJson, type Json } from '../json.ts'
import { type Once, recall } from '../records/once.ts'
import type { Precondition } from '../records/precondition.ts'
import type { Queryable } from '../records/store.ts'
import { ownOptions, rowOf } from './field.ts'
import { type Findings, newFindings } from './findings.ts'
import { storedForm } from './form.ts'
import { type Change, saveChange } from './save.ts'

/** Who administers, and how the catalog is read: always as the database has it now. */
export type Administrator = {
  readonly db: Queryable
  readonly account: number
  readonly actor: number
  /** for what is changed: the form or the field, also when the change is to one of the field's options */
  readonly precondition?: Precondition
  /** the key under which a change is carried out once */
  readonly once?: Once | null
  loadCatalog(): Promise<Catalog>
  readonly turns: Turns
}

/**
 * The last change under way in each account. The changes of one process take turns, so that none makes the
 * judgement of another out of date. A change that another process made out of date is judged anew.
 */
export type Turns = Map<number, Promise<unknown>>

export type Administered = { readonly id: number; readonly warnings: readonly Warning[] }

/** How often a change is proposed anew when others keep changing the configuration. */
const attempts = 10

/**
 * What is to be changed on a catalog, and what the answer says of it; null where only problems were found.
 */
type Proposal<T> = (catalog: Catalog, findings: Findings) => Promise<{ change: Change; told: T } | null>

export function attempt<T extends object>(administrator: Administrator, propose: Proposal<T>): Promise<T> {
  const { account, turns } = administrator
  const turn = (turns.get(account) ?? Promise.resolve()).then(() => tryUntilSaved(administrator, propose))
  const settled = turn.catch(() => {}).finally(() => turns.get(account) === settled && turns.delete(account))
  turns.set(account, settled)
  return turn
}

async function tryUntilSaved<T extends object>(
  administrator: Administrator,
  propose: Proposal<T>,
): Promise<T> {
  const { db, account, actor, once = null } = administrator
  const before = await recall<T>(db, askedOnce(administrator))
  if (before) return before.told
  for (let attempt = 0; attempt < attempts; attempt++) {
    const catalog = await administrator.loadCatalog()
    const findings = newFindings(catalog)
    const proposed = await propose(catalog, findings)
    refuseProblems(findings)
    const { change, told } = proposed!
    const author = { account, version: catalog.version, actor, once }
    const saved = await saveChange(db, author, isChange(catalog, change) ? change : null, told)
    if (saved) return saved
  }
  throw new Refusal('busy_record', 'The configuration is being changed by many at once; try again.', [], {
    'retry-after': '1',
  })
}

/**
 * Whether the change would alter anything. What was read can be written back, and makes no new version (D5).
 */
function isChange({ resources }: Catalog, { resource, field, sections }: Change): boolean {
  const fields = resources.get(resource)!
  const current = fields.fields.find(({ id }) => id === field?.row.id)
  const isSame = (wanted: object, stored: object) => isSameJson(wanted as Json, stored as Json)
  const isSameField =
    !field || (current && isSame([field.row, field.options], [rowOf(current), ownOptions(current)]))
  return !isSameField || (sections !== null && !isSame(sections, storedForm(fields)))
}

export function askedOnce({ account, once = null }: Administrator) {
  return { account: String(account), once }
}

function refuseProblems({ problems }: Findings): void {
  if (problems.count === 0) return
  const isDuplicate = problems.kept.every(({ code }) => code === 'name_taken')
  const count = problems.count === 1 ? 'one problem' : `${problems.count} problems`
  throw new Refusal(
    isDuplicate ? 'duplicate' : 'validation_failed',
    `Nothing was changed: ${count}.`,
    problems,
  )
}
