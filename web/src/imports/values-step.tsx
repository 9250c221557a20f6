/** The third step: what texts stand for that name nothing here, and how dates and numbers are written. */
import { type ReactNode, useRef } from 'react'
import type { Field } from '../api/api.ts'
import { optionsMax } from '../fields/custom-types.ts'
import { Panel, Trouble } from '../settings/parts.tsx'
import { may, useMe } from '../shell/me.ts'
import { Waiting } from '../ui/bits.tsx'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/inputs.tsx'
import { change, type Formats, type Import, type Meaning } from './import.ts'
import { type Choice, type Unclear, useUnclear } from './meanings.ts'
import { different, type Lacking, useNewOptions } from './new-options.ts'
import { focusHeading, StepActions } from './steps.tsx'

type Props = { job: Import; fields: readonly Field[] }

export function ValuesStep({ job, fields }: Props) {
  const unclear = useUnclear(job, fields)
  return (
    <>
      <Panel
        title="Texts that name nothing here"
        detail="From the whole file, and from what was refused when it was tried."
        className="flex flex-col gap-5 p-4"
      >
        {unclear === null && <Waiting className="h-16" />}
        {unclear?.length === 0 && (
          <p className="text-ink-soft">
            All texts that were looked at name an option, a stage or a person. Trying finds the others.
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

/** What stands for no value; ids are numbers or codes of letters. */
const none = '∅'

function Texts({ job, unclear }: { job: Import; unclear: Unclear }) {
  const { field, label, choices, texts, lacking } = unclear
  const own = job.values[field] ?? {}
  const take = (text: string, chosen: string | null) => {
    const others = Object.entries(own).filter(([other]) => other !== text)
    const found = choices.find(({ id }) => String(id) === chosen)
    const meaning: Meaning | undefined = chosen === none ? null : found?.id
    const next = meaning === undefined ? others : [...others, [text, meaning] as const]
    change(job, { values: { ...job.values, [field]: Object.fromEntries(next) } })
  }
  const root = useRef<HTMLElement>(null)
  const mayMake = may(useMe(), 'field:write')
  const { left, problem, make } = useNewOptions(job, lacking)
  const namesOf = (text: string) => (mayMake && own[text] === undefined ? (lacking?.of(text) ?? []) : [])
  const all = different(texts.flatMap(namesOf))
  const create = (names: readonly string[], place?: number) =>
    make(names, () => {
      // The button goes with its text: who is still there goes on to the next one.
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
            reason={noRoom(lacking, all.length)}
            aria-label={left > 0 ? undefined : `Create all ${all.length} as options of ${label}`}
            onPress={() => void create(all)}
          >
            {left > 0 ? `${left} to create…` : `Create all ${all.length}`}
          </Button>
        )}
      </div>
      <Trouble text={problem} />
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
              names={namesOf(text)}
              isPending={left > 0}
              reason={noRoom(lacking, namesOf(text).length)}
              onPress={names => void create(names, index)}
            />
          </TextRow>
        ))}
      </ul>
    </section>
  )
}

/** A text with what it stands for; `children`: what else can be done with it. */
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
          label={`${label}: what “${text}” stands for`}
          isBare
          className="grow"
          value={chosen}
          onChange={onTake}
          none="As it is: its rows are refused"
          choices={[{ id: none, name: 'Nothing: left empty' }, ...choices]}
        />
        {children}
      </div>
    </li>
  )
}

/** The options of one text: one, but for a cell of several choices. */
function CreateOptions(props: {
  names: readonly string[]
  isPending: boolean
  reason: string | undefined
  onPress: (names: readonly string[]) => void
}) {
  const { names, isPending, reason, onPress } = props
  if (names.length === 0) return null
  const action = names.length === 1 ? 'Create the option' : `Create ${names.length} options`
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

/** Why so many options can't be added, or undefined where they can. */
function noRoom(lacking: Lacking | null, count: number): string | undefined {
  if (!lacking || count <= lacking.room) return undefined
  const { room, field } = lacking
  return `${field.field_name} may have ${optionsMax} options in use: ${
    room > 0 ? `there is room for ${room} more` : 'there is room for none'
  }. Say what the texts stand for, or take options out of use.`
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
        error={isUnclear('date') ? 'Which is the day and which the month can’t be told: choose.' : undefined}
        none="As each of them says"
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
        error={isUnclear('decimal') ? 'Whether 1.250 is a thousand can’t be told: choose.' : undefined}
        none="As each of them says"
        choices={[
          { id: '.', name: 'With a point: 1,250.50' },
          { id: ',', name: 'With a comma: 1.250,50' },
        ]}
      />
    </Panel>
  )
}
