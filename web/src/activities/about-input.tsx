/** The choice of what an activity is about: it is about something (D157). */
import { useState } from 'react'
import { Picker } from '../fields/references/picker.tsx'
import { Labelled, Select } from '../ui/inputs.tsx'
import { type About, type Subject, subjects } from './about.ts'

const names: { readonly [subject in Subject]: string } = {
  deal: 'A deal',
  contact: 'A contact',
  company: 'A company',
}

export function AboutInput(props: {
  about: About
  onAbout: (about: About) => void
  error: string | undefined
}) {
  const { about, onAbout, error } = props
  const [of, setOf] = useState<Subject>('deal')
  return (
    <div className="grid gap-2 sm:grid-cols-[8rem_1fr]">
      <Select
        label="About"
        value={of}
        onChange={chosen => {
          setOf((chosen ?? 'deal') as Subject)
          onAbout({})
        }}
        choices={subjects.map(id => ({ id, name: names[id] }))}
      />
      <Labelled label="Which" isRequired error={error}>
        {wiring => (
          <Picker
            key={of}
            resource={of}
            label="Which"
            wiring={wiring}
            autoFocus
            shown={about[of]?.name ?? ''}
            // Another text names another record, or none yet.
            onPending={text => text !== about[of]?.name && onAbout({})}
            onPick={({ id, name }) => onAbout({ [of]: { id, name } })}
          />
        )}
      </Labelled>
    </div>
  )
}
