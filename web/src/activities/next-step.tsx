/** The next step: one press chooses the day; kind, subject and time can be changed. */
import { useState } from 'react'
import { RadioChips } from '../fields/radio-chips.tsx'
import { fromWall } from '../fields/zone.ts'
import { useFormat } from '../format/use-format.tsx'
import { Select, TextField } from '../ui/inputs.tsx'
import { type StepKind, stepKinds } from './kinds.ts'
import type { Step } from './log.ts'
import { dayOfChoice, type NextDay, nextDays } from './next-days.ts'

type StepDraft = {
  readonly choice: NextDay
  readonly day: string | null
  readonly time: string
  readonly kind: StepKind
  readonly subject: string
  readonly reminder: number | null
}

export type NextStepState = {
  readonly chosen: StepDraft
  readonly change: (changes: Partial<StepDraft>) => void
  readonly problem: string | undefined
  /** null: none; undefined: it lacks a day or a time */
  readonly step: Step | null | undefined
}

/** By the minutes before the step is due. */
const reminders = [
  { id: 0, name: 'Remind me when it is due' },
  { id: 10, name: 'Remind me 10 minutes before' },
  { id: 30, name: 'Remind me 30 minutes before' },
  { id: 60, name: 'Remind me an hour before' },
  { id: 1440, name: 'Remind me a day before' },
]

/** `kind` is what usually follows. */
export function useNextStep(kind: StepKind, isTried: boolean): NextStepState {
  const { timeZone } = useFormat()
  const [chosen, setChosen] = useState<Partial<StepDraft>>({})
  const usual = { choice: 'none', day: null, time: '09:00', subject: '', reminder: null } as const
  const whole: StepDraft = { ...usual, kind, ...chosen }
  const { choice, day, time, subject, reminder } = whole
  const due = day && time ? fromWall(`${day}T${time}`, timeZone) : null
  const step =
    choice === 'none' ? null : due === null ? undefined : { kind: whole.kind, subject, due, reminder }
  return {
    chosen: whole,
    change: changes => setChosen({ ...chosen, ...changes }),
    step,
    problem: isTried && step === undefined ? 'Enter a day and a time.' : undefined,
  }
}

/** `isRequired`: a step must be chosen. */
export function NextStep(props: { state: NextStepState; isRequired?: boolean; autoFocus?: boolean }) {
  const { state, isRequired = false, autoFocus } = props
  const { chosen, change, problem } = state
  const format = useFormat()
  const offered = nextDays.filter(({ id }) => !isRequired || id !== 'none')
  const choices = offered.map(({ name }, index) => ({ id: index, name }))
  const value = offered.findIndex(({ id }) => id === chosen.choice)
  const choose = (index: number | null) => {
    const choice = offered[index ?? 0]!.id
    change({ choice, day: dayOfChoice(choice, format.today(), chosen.day) })
  }
  return (
    <>
      <RadioChips
        label="Next step"
        hasNone={false}
        autoFocus={autoFocus}
        choices={choices}
        value={value < 0 ? null : value}
        onChange={choose}
        error={problem}
      />
      {chosen.choice !== 'none' && (
        <div className="grid grid-cols-2 gap-2 sm:grid-cols-[8.5rem_1fr]">
          <Select
            label="Kind of the next step"
            isLabelHidden
            value={chosen.kind}
            onChange={kind => change({ kind: (kind ?? 'Call') as StepKind })}
            choices={stepKinds.map(({ id }) => ({ id, name: id }))}
          />
          <TextField
            label="Subject of the next step"
            isLabelHidden
            className="max-sm:order-last max-sm:col-span-2"
            placeholder={stepKinds.find(({ id }) => id === chosen.kind)?.subject}
            maxLength={255}
            value={chosen.subject}
            onChange={subject => change({ subject })}
          />
          <TextField
            label="Day of the next step"
            isLabelHidden
            type="date"
            max="9999-12-31"
            value={chosen.day ?? ''}
            onChange={day => change({ choice: 'picked', day: day || null })}
          />
          <TextField
            label="Time of the next step"
            isLabelHidden
            type="time"
            value={chosen.time}
            onChange={time => change({ time })}
          />
          <Select
            label="Reminder of the next step"
            isLabelHidden
            className="col-span-2"
            none="No reminder"
            value={chosen.reminder}
            onChange={minutes => change({ reminder: minutes === null ? null : Number(minutes) })}
            choices={reminders}
          />
        </div>
      )}
    </>
  )
}
