/**
 * Saves what was done, and the next step with it: both or neither, by one request. Undo takes back both.
 */
import { type AnyRecord, callApi, errorMessage } from '../api/api.ts'
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

/** Throws the service's refusal. The same `key` saves once (D8). */
export async function saveLogged(logged: Logged, key: string): Promise<void> {
  const { planned, next } = logged
  const operations = [
    operationOf(logged, new Date().toISOString()),
    ...(next ? [stepOf(next, logged.about)] : []),
  ]
  await save(operations, [planned, null], key, next ? 'logged with a next step' : 'logged')
}

export async function savePlanned(next: Step, about: About, key: string): Promise<void> {
  await save([stepOf(next, about)], [null], key, 'planned')
}

type What = 'logged' | 'logged with a next step' | 'planned'

async function save(
  operations: readonly object[],
  before: readonly (AnyRecord | null)[],
  key: string,
  what: What,
): Promise<void> {
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
  toast(texts[what], { action: { label: 'Undo', act: () => undo(saved, what) } })
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
