/** Makes a secret address at which calendar programs read the activities (D160). It is shown once. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useWhose } from '../activities/whose.tsx'
import { allErrorMessages, base, callApi } from '../api/api.ts'
import { queryClient } from '../api/queries.ts'
import { calendarFeed } from '../settings/access/scopes.ts'
import { DialogForm, SecretDialog } from '../settings/dialogs.tsx'
import { useMe } from '../shell/me.ts'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/inputs.tsx'

type Made = { readonly token: string | null }

export function Subscribe({ onClose }: { onClose: () => void }) {
  const me = useMe()
  const { owner } = useWhose()
  const [name, setName] = useState('My calendar')
  const [address, setAddress] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const whose = owner === me.user.id ? 'your' : owner === null ? 'everybody’s' : 'your colleague’s'
  const make = async () => {
    if (name.trim() === '') return setProblem('Enter a name.')
    setBusy(true)
    try {
      const { token } = await callApi<Made>('POST', '/token', { body: { name, scopes: [calendarFeed] } })
      const query = owner === me.user.id ? '' : `?owner=${owner ?? 'all'}`
      setAddress(`${location.origin}${base}/calendar/${token}.ics${query}`)
      void queryClient.invalidateQueries({ queryKey: ['all', 'token'] })
    } catch (error) {
      setProblem(allErrorMessages(error))
    }
    setBusy(false)
  }
  if (address)
    return (
      <SecretDialog title={`The address of “${name}”`} label="Address" secret={address} onClose={onClose}>
        <p>
          Add it to your calendar program as a calendar from the web. It is shown only now. Whoever has it
          reads these activities: to end that, revoke “{name}” under{' '}
          <Link to="/settings/$page" params={{ page: 'tokens' }} className="linked">
            Settings, Tokens
          </Link>
          .
        </p>
      </SecretDialog>
    )
  return (
    <Dialog title="Subscribe to this calendar" isOpen onClose={onClose}>
      <DialogForm
        action="Make the address"
        draft={name}
        isBusy={isBusy}
        problem={problem}
        onSave={() => void make()}
        onCancel={onClose}
      >
        <p className="text-ink-soft">
          A secret address lets your calendar program show {whose} activities, as far as you may see them. It
          can’t change any.
        </p>
        <TextField
          label="Name"
          hint="You find it by this name under Settings, Tokens."
          isRequired
          maxLength={255}
          value={name}
          onChange={setName}
        />
      </DialogForm>
    </Dialog>
  )
}
