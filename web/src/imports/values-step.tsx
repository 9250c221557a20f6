/** The third step: values for unknown texts, and the formats of dates and numbers. */
import { type ReactNode, useRef } from 'react'
import type { Field } from '../api/api.ts'
import { optionsMax } from '../fields/custom-types.ts'
import { useFormat } from '../format/use-format.tsx'
import { Loading } from '../shell/load-error.tsx'
import { may, useMe } from '../shell/me.ts'
import { Button } from '../ui/button.tsx'
import { ErrorMessage } from '../ui/error-message.tsx'
import { Select } from '../ui/inputs.tsx'
import { Panel } from '../ui/page.tsx'
import { change, type Formats, type Import, type Meaning } from './import.ts'
import { different, type MissingOptions, useNewOptions } from './new-options.ts'
import { focusHeading, StepActions } from './steps.tsx'
import { type Choice, type UnknownValues, useUnknownValues } from './unknown-values.ts'

type Props = { job: Import; fields: readonly Field[] }

export function ValuesStep({ job, fields }: Props) {
  const { reads, unclear } = useUnknownValues(job, fields)
  return (
    <>
      <Panel
        title="Unknown values"
        detail="Values in the file that match no option, stage or person."
        className="flex flex-col gap-5 p-4"
      >
        <Loading of={reads} className="h-16" />
        {unclear?.length === 0 && (
          <p className="text-ink-soft">
            All values that were checked match an option, a stage, a tag or a person. The test run finds the
            others.
          </p>
        )}
        {unclear?.map(one => (
          <Texts key={one.field} job={job} unclear={one} />
        ))}
      </Panel>
      <FormatsPanel job={job} />
      <StepActions id={job.id} back="columns" next="duplicates" />
    </>
  )
}

/** The choice "Leave empty"; ids are numbers or codes of letters. */
const none = '∅'

function Texts({ job, unclear }: { job: Import; unclear: UnknownValues }) {
  const { field, label, choices, texts, left: unlisted, missingOptions } = unclear
  const format = useFormat()
  const own = job.values[field] ?? {}
  const take = (text: string, chosen: string | null) => {
    const others = Object.entries(own).filter(([other]) => other !== text)
    const found = choices.find(({ id }) => String(id) === chosen)
    const meaning: Meaning | undefined = chosen === none ? null : found?.id
    const next = meaning === undefined ? others : [...others, [text, meaning] as const]
    change(job, { values: { ...job.values, [field]: Object.fromEntries(next) } })
  }
  const root = useRef<HTMLElement>(null)
  const mayMake = may(useMe(), missingOptions?.scope ?? '')
  const { left, problem, make } = useNewOptions(job, missingOptions)
  const namesOf = (text: string) =>
    mayMake && own[text] === undefined ? (missingOptions?.of(text) ?? []) : []
  const all = different(texts.flatMap(namesOf))
  const create = (names: readonly string[], place?: number) =>
    make(names, () => {
      // The button disappears with its text: the focus moves to the next one.
      if (!root.current?.contains(document.activeElement)) return
      const lists = root.current.querySelectorAll('select')
      const next = place === undefined ? undefined : (lists[place + 1] ?? lists[place - 1])
      if (next) next.focus()
      else focusHeading()
    })
  return (
    <section ref={root} aria-label={label} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <h3 className="grow font-medium">{label}</h3>
        {all.length > 1 && (
          <Button
            isSmall
            isPending={left > 0}
            reason={noRoom(missingOptions, all.length)}
            aria-label={
              left > 0 ? undefined : `Create all ${all.length} as ${missingOptions?.what}s of ${label}`
            }
            onPress={() => void create(all)}
          >
            {left > 0 ? `${left} to create…` : `Create all ${all.length}`}
          </Button>
        )}
      </div>
      <ErrorMessage text={problem} />
      <ul className="flex flex-col gap-2">
        {texts.map((text, index) => (
          <TextRow
            key={text}
            text={text}
            label={label}
            chosen={own[text] === null ? none : (own[text] ?? null)}
            choices={choices}
            onTake={chosen => take(text, chosen)}
          >
            <CreateOptions
              what={missingOptions?.what ?? 'option'}
              names={namesOf(text)}
              isPending={left > 0}
              reason={noRoom(missingOptions, namesOf(text).length)}
              onPress={names => void create(names, index)}
            />
          </TextRow>
        ))}
      </ul>
      {unlisted > 0 && (
        <p className="text-ink-soft">
          And {format.number(unlisted)} more, which the test run lists once these have a value.
        </p>
      )}
    </section>
  )
}

/** A text with its value; `children`: further actions. */
function TextRow(props: {
  text: string
  label: string
  chosen: string | number | null
  choices: readonly Choice[]
  onTake: (chosen: string | null) => void
  children: ReactNode
}) {
  const { text, label, chosen, choices, onTake, children } = props
  return (
    <li className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-2">
      <span className="min-w-0 break-words" dir="auto">
        “{text}”
      </span>
      <div className="flex gap-2">
        <Select
          label={`${label}: value for “${text}”`}
          isLabelHidden
          className="grow"
          value={chosen}
          onChange={onTake}
          none="Don’t import (rows are rejected)"
          choices={[{ id: none, name: 'Leave empty' }, ...choices]}
        />
        {children}
      </div>
    </li>
  )
}

/** The options or tags of one text: one, except for a cell of several choices. */
function CreateOptions(props: {
  what: MissingOptions['what']
  names: readonly string[]
  isPending: boolean
  reason: string | undefined
  onPress: (names: readonly string[]) => void
}) {
  const { what, names, isPending, reason, onPress } = props
  if (names.length === 0) return null
  const action = names.length === 1 ? `Create the ${what}` : `Create ${names.length} ${what}s`
  return (
    <Button
      isPending={isPending}
      reason={reason}
      aria-label={`${action} ${names.map(name => `“${name}”`).join(', ')}`}
      onPress={() => onPress(names)}
    >
      {action}
    </Button>
  )
}

/** Reason why so many options can't be added, or undefined if they can. */
function noRoom(missingOptions: MissingOptions | null, count: number): string | undefined {
  if (!missingOptions || count <= missingOptions.room) return undefined
  const { room, label } = missingOptions
  return `${label} may have ${optionsMax} active options: ${
    room > 0 ? `there is room for ${room} more` : 'there is room for none'
  }. Map the values to other options, or deactivate options.`
}

function FormatsPanel({ job }: { job: Import }) {
  const { formats } = job
  const isUnclear = (what: 'date' | 'decimal') => formats.unclear?.includes(what) && !formats[what]
  const take = (changes: Formats) => change(job, { formats: { ...formats, ...changes } })
  return (
    <Panel title="Dates and numbers" className="grid gap-4 p-4 sm:grid-cols-2">
      <Select
        label="Dates in the file"
        value={formats.date ?? null}
        onChange={date => take({ date: date as Formats['date'] & string })}
        error={isUnclear('date') ? 'Day and month are ambiguous: choose their order.' : undefined}
        none="Detect automatically"
        choices={[
          { id: 'dmy', name: 'Day, month, year: 31/12/2026' },
          { id: 'mdy', name: 'Month, day, year: 12/31/2026' },
          { id: 'ymd', name: 'Year, month, day: 2026-12-31' },
        ]}
      />
      <Select
        label="Numbers in the file"
        value={formats.decimal ?? null}
        onChange={decimal => take({ decimal: decimal as Formats['decimal'] & string })}
        error={isUnclear('decimal') ? '1.250 is ambiguous: choose the decimal separator.' : undefined}
        none="Detect automatically"
        choices={[
          { id: '.', name: 'With a point: 1,250.50' },
          { id: ',', name: 'With a comma: 1.250,50' },
        ]}
      />
    </Panel>
  )
}
