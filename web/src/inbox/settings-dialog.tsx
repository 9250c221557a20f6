/** Chooses what the inbox shows, and the hours in which no reminder pops up. */
import { useSuspenseQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { callApi, errorMessage } from '../api/api.ts'
import { Button, Cancel } from '../ui/button.tsx'
import { Dialog, DialogActions, useDraftInside } from '../ui/dialog.tsx'
import { Checkbox, TextField } from '../ui/inputs.tsx'
import { askAgain, kinds } from './inbox.ts'
import { settingsQuery } from './settings.ts'

export function SettingsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="What the inbox shows" isOpen onClose={onClose}>
      <SettingsForm onClose={onClose} />
    </Dialog>
  )
}

function SettingsForm({ onClose }: { onClose: () => void }) {
  const { data } = useSuspenseQuery(settingsQuery)
  const [shown, setShown] = useState(data.kinds ?? {})
  const [quiet, setQuiet] = useState(data.quiet ?? null)
  const isOn = (kind: keyof typeof shown) => shown[kind]?.includes('app') ?? true
  useDraftInside([kinds.map(({ id }) => isOn(id)), quiet])
  const [error, setError] = useState<string>()
  const [isSaving, setSaving] = useState(false)
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setSaving(true)
    try {
      await callApi('PATCH', '/inbox/settings', { body: { kinds: shown, quiet } })
      await askAgain()
      onClose()
    } catch (failed) {
      setError(errorMessage(failed))
      setSaving(false)
    }
  }
  const hour = (of: 'from' | 'to', label: string) => (
    <TextField
      label={label}
      type="time"
      required
      value={quiet?.[of] ?? ''}
      onChange={time => setQuiet(quiet && { ...quiet, [of]: time })}
    />
  )
  return (
    <form onSubmit={event => void save(event)} className="flex flex-col gap-4">
      <ul className="flex flex-col gap-2">
        {kinds.map(({ id, name, about }) => (
          <li key={id}>
            <Checkbox
              label={name}
              checked={isOn(id)}
              onChange={isWanted => setShown({ ...shown, [id]: isWanted ? ['app'] : [] })}
            />
            <p className="pl-6 text-sm text-ink-soft">{about}</p>
          </li>
        ))}
      </ul>
      <Checkbox
        label="No reminders at certain hours"
        checked={quiet !== null}
        onChange={isOn => setQuiet(isOn ? { from: '18:00', to: '08:00' } : null)}
      />
      {quiet && (
        <div className="grid grid-cols-2 gap-2">
          {hour('from', 'From')}
          {hour('to', 'To')}
        </div>
      )}
      {error && (
        <p role="alert" className="text-lost">
          {error}
        </p>
      )}
      <DialogActions>
        <Cancel onPress={onClose} />
        <Button type="submit" variant="primary" isPending={isSaving}>
          Save
        </Button>
      </DialogActions>
    </form>
  )
}
