/** The mark of a deal's next step: each state has a shape of its own besides its colour. */
import type { AnyRecord } from '../api/api.ts'
import { useFormat } from '../format/use-format.tsx'
import { useMinute } from '../ui/minute.ts'
import { type NextState, nextStateOf } from './next-state.ts'

const looks: { readonly [state in NextState]: string } = {
  none: 'text-warn',
  overdue: 'text-lost',
  today: 'text-won',
  later: 'text-ink-faint',
}

/** A triangle, a square on its corner, a disc and a ring: distinct without colours, in 12 pixels. */
const shapes: { readonly [state in NextState]: string } = {
  none: 'M6 1.6 11 10.6H1Z',
  overdue: 'M6 .8 11.2 6 6 11.2.8 6Z',
  today: 'M6 1.2a4.8 4.8 0 1 1 0 9.6 4.8 4.8 0 0 1 0-9.6Z',
  later: 'M6 2a4 4 0 1 1 0 8 4 4 0 0 1 0-8Z',
}
const isFilled = (state: NextState) => state === 'overdue' || state === 'today'

const words: { readonly [state in NextState]: string } = {
  none: '',
  overdue: 'Overdue: ',
  today: 'Today: ',
  later: 'Next: ',
}

/** The text of the mark, such as “Overdue: Follow-up call, Nov 15, 2026, 9:30 AM”. */
function useNextText(deal: AnyRecord, state: NextState): string {
  const format = useFormat()
  if (state === 'none') return 'Nothing planned'
  const at = deal.next_activity_at
  const when = typeof at === 'string' ? format.moment(at) : 'without a date'
  const subject = deal.next_activity_subject
  return `${words[state]}${[typeof subject === 'string' ? subject : 'an activity', when].join(', ')}`
}

export function NextMark({ deal }: { deal: AnyRecord }) {
  const { dateOf } = useFormat()
  const state = nextStateOf(deal, useMinute(), dateOf)
  return state && <Mark deal={deal} state={state} />
}

function Mark({ deal, state }: { deal: AnyRecord; state: NextState }) {
  const text = useNextText(deal, state)
  return (
    <span title={text} data-next={state} className={`flex shrink-0 ${looks[state]}`}>
      <Shape state={state} />
      <span className="unseen">{text}</span>
    </span>
  )
}

/** The mark beside the name of the step, which it does not repeat. */
export function NextSign({ state }: { state: NextState }) {
  return (
    <span data-next={state} title={words[state].slice(0, -2)} className={`flex shrink-0 ${looks[state]}`}>
      <Shape state={state} />
      <span className="unseen">{words[state]}</span>
    </span>
  )
}

function Shape({ state }: { state: NextState }) {
  return (
    <svg viewBox="0 0 12 12" width={12} height={12} aria-hidden>
      <path
        d={shapes[state]}
        fill={isFilled(state) ? 'currentColor' : 'none'}
        stroke="currentColor"
        strokeWidth={1.5}
        strokeLinejoin="round"
      />
    </svg>
  )
}
