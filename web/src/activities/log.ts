/**
 * Saves what was done, and the next step with it: both or neither, by one request. Undo takes back both.
 */
import { type AnyRecord, callApi, DealwrightError, errorMessage } from '../api/api.ts'
import { nameOf } from '../fields/references/find-records.ts'
import { undoWrite } from '../records/editing/undo-write.ts'
import { remove } from '../records/editing/write.ts'
import { refreshAbout } from '../records/timeline/activities.ts'
import { toast, toastError } from '../ui/toast.tsx'
import { type About, idsOf } from './about.ts'
import { type LogKind, type StepKind, stepKinds } from './kinds.ts'
import { plainText, storedText } from './mentions.ts'

export type Step = {
  readonly kind: StepKind
  readonly subject: string
  /** a moment in ISO 8601 */
  readonly due: string
  /** minutes before it is due; null: none */
  readonly reminder: number | null
}

export type Logged = {
  readonly kind: LogKind
  readonly about: About
  readonly outcome: string | null
  readonly text: string
  /** the planned activity that this was; null: it was not planned */
  readonly planned: AnyRecord | null
  readonly next: Step | null
}

/** A request that logs or plans. */
export type LogBatch = {
  readonly operations: readonly object[]
  /** the record of each operation before it */
  readonly before: readonly (AnyRecord | null)[]
  /** null: it plans only */
  readonly logged: Logged | null
  /** why this is not the planned activity, as the dialog says */
  readonly notice?: string
}

type Saved = { readonly before: AnyRecord | null; readonly after: AnyRecord }

/** Letters of a subject made of a text; the activity has the whole text besides. */
const subjectLetters = 100

/** The first line of a text is its subject. */
export function subjectOf(text: string): string {
  const [line = ''] = text.trim().split('\n')
  const letters = [...line]
  return letters.length > subjectLetters ? `${letters.slice(0, subjectLetters - 1).join('')}…` : line
}

/** The operation that makes a next step. */
const stepOf = ({ kind, subject, due, reminder }: Step, about: About) => ({
  op: 'create',
  data: {
    kind,
    subject: subject.trim() || stepKinds.find(({ id }) => id === kind)!.subject,
    due_at: due,
    ...(reminder === null ? {} : { reminder }),
    ...idsOf(about),
  },
})

function operationOf({ kind, about, outcome, text, planned }: Logged, now: string) {
  const typed = storedText(text.trim())
  if (planned) {
    const notes = [planned.notes, typed].filter(Boolean).join('\n')
    const data = { done_at: now, ...(outcome ? { outcome } : {}), ...(typed ? { notes } : {}) }
    return { op: 'update', id: planned.id, if_match: planned.version, data }
  }
  const subject = subjectOf(plainText(typed)) || [kind, outcome].filter(Boolean).join(': ')
  const notes = typed === subject || typed === '' ? {} : { notes: typed }
  const done = kind === 'Note' ? {} : { done_at: now, outcome }
  return { op: 'create', data: { kind, subject, ...notes, ...done, ...idsOf(about) } }
}

/** The request that logs what was done at the moment `now`. */
export function requestOfLogged(logged: Logged, now: string): LogBatch {
  const { planned, next } = logged
  return {
    logged,
    operations: [operationOf(logged, now), ...(next ? [stepOf(next, logged.about)] : [])],
    before: [planned, null],
  }
}

export const requestOfStep = (next: Step, about: About): LogBatch => ({
  operations: [stepOf(next, about)],
  before: [null],
  logged: null,
})

/**
 * The request in place of one that was refused because the planned activity has changed since it was read: it
 * keeps the changes. If that was done or deleted meanwhile, another activity is logged. Null after another
 * refusal.
 */
export async function requestAfterChange(
  { logged }: LogBatch,
  refusal: unknown,
  now: string,
): Promise<LogBatch | null> {
  const isOfPlanned = refusal instanceof DealwrightError && [404, 412].includes(refusal.status)
  if (!logged?.planned || !isOfPlanned) return null
  const { id } = logged.planned
  const theirs = await callApi<AnyRecord>('GET', `/activity/${id}`).catch(error => {
    if (error instanceof DealwrightError && error.status === 404) return null
    throw error
  })
  const isThere = theirs !== null && !theirs.deleted_at
  if (isThere && !theirs.done_at) return requestOfLogged({ ...logged, planned: theirs }, now)
  const notice = `It is another activity: “${nameOf(logged.planned)}” was ${isThere ? 'done' : 'deleted'} before.`
  return { ...requestOfLogged({ ...logged, planned: null }, now), notice }
}

/** Throws the service's refusal. The same `key` saves once (D8). */
export async function saveLogged(request: LogBatch, key: string): Promise<void> {
  await save(request, key, request.operations.length > 1 ? 'logged with a next step' : 'logged')
}

export const savePlanned = (request: LogBatch, key: string): Promise<void> => save(request, key, 'planned')

type What = 'logged' | 'logged with a next step' | 'planned'

async function save({ operations, before, notice }: LogBatch, key: string, what: What): Promise<void> {
  const results = await callApi<{ data: AnyRecord }[]>('POST', '/activity/batch', {
    body: { operations, atomic: true },
    headers: { 'idempotency-key': key },
  })
  const saved = results.map(({ data: after }, index) => ({ before: before[index] ?? null, after }))
  void refreshAbout()
  const [first, second] = saved
  const texts: { readonly [what in What]: string } = {
    logged: `Logged “${nameOf(first!.after)}”.`,
    'logged with a next step': `Logged “${nameOf(first!.after)}”. Next: “${nameOf(second?.after ?? first!.after)}”.`,
    planned: `Planned “${nameOf(first!.after)}”.`,
  }
  toast([texts[what], notice].filter(Boolean).join(' '), {
    action: { label: 'Undo', act: () => undo(saved, what) },
  })
}

/** The last is undone first. */
async function undo(saved: readonly Saved[], what: What): Promise<void> {
  try {
    for (const { before, after } of saved.toReversed())
      await (before ? undoWrite('activity', before, after) : remove('activity', after))
    toast(what === 'planned' ? 'It is not planned any more.' : 'It is not logged any more.', { isNews: true })
  } catch (error) {
    toastError(errorMessage(error))
  } finally {
    void refreshAbout()
  }
}
