/** The kinds of activities in forms that log and plan: their words, outcomes and usual next steps. Data. */

export type LogKind = 'Call' | 'Meeting' | 'E-mail' | 'Note'
export type StepKind = 'Call' | 'Meeting' | 'E-mail' | 'Task'

type Words = {
  readonly id: LogKind
  /** title of the form */
  readonly title: string
  /** text of its button */
  readonly action: string
  /** message after it was saved */
  readonly done: string
  /** what the text says */
  readonly label: string
  readonly outcomes: readonly string[]
  readonly next: StepKind
}

export const logKinds: readonly Words[] = [
  {
    id: 'Call',
    title: 'Log a call',
    action: 'Log call',
    done: 'Call logged.',
    label: 'What was said',
    outcomes: ['Reached', 'No answer', 'Left a message', 'Not interested'],
    next: 'Call',
  },
  {
    id: 'Meeting',
    title: 'Log a meeting',
    action: 'Log meeting',
    done: 'Meeting logged.',
    label: 'What was agreed',
    outcomes: ['Held', 'No show', 'Decision made'],
    next: 'Call',
  },
  {
    id: 'E-mail',
    title: 'Log an e-mail',
    action: 'Log e-mail',
    done: 'E-mail logged.',
    label: 'What it was about',
    outcomes: ['Sent', 'Received'],
    next: 'Call',
  },
  {
    id: 'Note',
    title: 'Write a note',
    action: 'Add note',
    done: 'Note added.',
    label: 'Note',
    outcomes: [],
    next: 'Task',
  },
]

/** The kind of a planned activity by its id, as far as it is logged with an outcome. */
export const logKindOf = (kind: unknown): LogKind | null =>
  kind === 1 ? 'Call' : kind === 2 ? 'Meeting' : kind === 4 ? 'E-mail' : null

export const wordsOf = (kind: LogKind): Words => logKinds.find(({ id }) => id === kind)!

/** The kinds of a next step, with the subject that it has unless another is typed. */
export const stepKinds: readonly { readonly id: StepKind; readonly subject: string }[] = [
  { id: 'Call', subject: 'Follow-up call' },
  { id: 'Meeting', subject: 'Meeting' },
  { id: 'E-mail', subject: 'Follow-up e-mail' },
  { id: 'Task', subject: 'Follow up' },
]
