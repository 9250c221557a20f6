/** The third step: what texts stand for that name nothing here, and how dates and numbers are written. */
import type { Field } from '../api/api.ts'
import { Panel } from '../settings/parts.tsx'
import { Waiting } from '../ui/bits.tsx'
import { Select } from '../ui/inputs.tsx'
import { change, type Formats, type Import, type Meaning } from './import.ts'
import { type Unclear, useUnclear } from './meanings.ts'
import { StepActions } from './steps.tsx'

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
  const { field, label, choices, texts } = unclear
  const own = job.values[field] ?? {}
  const take = (text: string, chosen: string | null) => {
    const others = Object.entries(own).filter(([other]) => other !== text)
    const found = choices.find(({ id }) => String(id) === chosen)
    const meaning: Meaning | undefined = chosen === none ? null : found?.id
    const next = meaning === undefined ? others : [...others, [text, meaning] as const]
    change(job, { values: { ...job.values, [field]: Object.fromEntries(next) } })
  }
  return (
    <section aria-label={label} className="flex flex-col gap-2">
      <h3 className="font-medium">{label}</h3>
      <ul className="flex flex-col gap-2">
        {texts.map(text => (
          <li key={text} className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-2">
            <span className="min-w-0 break-words" dir="auto">
              “{text}”
            </span>
            <Select
              label={`${label}: what “${text}” stands for`}
              isBare
              value={own[text] === null ? none : (own[text] ?? null)}
              onChange={chosen => take(text, chosen)}
              none="As it is"
              choices={[{ id: none, name: 'Nothing: left empty' }, ...choices]}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}

function FormatsPanel({ job }: { job: Import }) {
  const { formats } = job
  const isUnclear = (what: string) => formats.unclear?.includes(what)
  const take = (changes: Formats) =>
    change(job, { formats: { date: formats.date ?? null, decimal: formats.decimal ?? null, ...changes } })
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
