/** The language and the time zone of dates and numbers, saved by a button: keys pass over many of them. */
import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { SavedInputs, Select } from '../../ui/inputs.tsx'
import { saveWithToast } from '../saving.ts'
import { localesWith, timeZonesWith } from './locales.ts'

export type Dates = { readonly locale: string | null; readonly time_zone: string | null }

export function DatesForm(props: {
  saved: Dates
  /** what is chosen with no language of its own */
  noLocale: string
  /** as above; undefined: a time zone is required */
  noTimeZone?: string
  onSave: (dates: Partial<Dates>) => Promise<unknown>
  /** stands below the choice */
  children?: (chosen: Dates) => ReactNode
}) {
  const { saved, noLocale, noTimeZone, onSave, children } = props
  const [changes, setChanges] = useState<Partial<Dates>>({})
  const [isBusy, setBusy] = useState(false)
  const chosen = { ...saved, ...changes }
  const save = async () => {
    if (isBusy) return
    setBusy(true)
    if (await saveWithToast(() => onSave(changes), 'Dates and numbers saved')) setChanges({})
    setBusy(false)
  }
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
    >
      <SavedInputs isSaving={isBusy}>
        <div className="grid gap-4 sm:grid-cols-2">
          <Select
            label="Language of dates and numbers"
            value={chosen.locale}
            none={noLocale}
            onChange={locale => setChanges({ ...changes, locale })}
            choices={localesWith(chosen.locale)}
          />
          <Select
            label="Time zone"
            value={chosen.time_zone}
            none={noTimeZone}
            onChange={time_zone => setChanges({ ...changes, time_zone })}
            choices={timeZonesWith(chosen.time_zone)}
          />
        </div>
      </SavedInputs>
      {children?.(chosen)}
      <Button type="submit" className="self-start" isPending={isBusy}>
        Save language and time zone
      </Button>
    </form>
  )
}
