/** Who is signed in, what of theirs is under way, and the way out. */
import { useNavigate } from '@tanstack/react-router'
import { ask, isSignedOut, sayError } from '../api/api.ts'
import { Avatar } from '../ui/bits.tsx'
import { Button } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'
import { toastError } from '../ui/toast.tsx'
import { useFarCommands } from './far-commands.ts'
import { JobsUnderWay } from './jobs-under-way.tsx'
import { may, useMe } from './me.ts'
import { prefer, usePreferences } from './preferences.ts'

export function AccountMenu() {
  const me = useMe()
  const navigate = useNavigate()
  const { theme } = usePreferences()
  useFarCommands()
  const signOut = async () => {
    try {
      await ask('DELETE', '/session')
    } catch (error) {
      if (!isSignedOut(error)) return toastError(sayError(error))
    }
    // The page is loaded anew: the next user finds nothing of what this one has read, typed or can undo.
    location.assign('/sign-in')
  }
  const themes = [
    { id: 'system', label: 'As the system' },
    { id: 'light', label: 'Light' },
    { id: 'dark', label: 'Dark' },
  ] as const
  return (
    <>
      <JobsUnderWay />
      <Menu
        label="Account"
        groups={[
          {
            title: me.account.name,
            entries: [
              {
                id: 'profile',
                label: 'Your profile',
                act: () => void navigate({ to: '/settings/$page', params: { page: 'profile' } }),
              },
              ...(may(me, 'job:read')
                ? [{ id: 'jobs', label: 'Jobs', act: () => void navigate({ to: '/jobs' }) }]
                : []),
              { id: 'sign-out', label: 'Sign out', act: () => void signOut() },
            ],
          },
          {
            title: 'Theme',
            entries: themes.map(({ id, label }) => ({
              id,
              label,
              isChecked: theme === id,
              act: () => prefer({ theme: id }),
            })),
          },
        ]}
      >
        <Button look="quiet" className="w-full justify-start!">
          <Avatar name={me.user.name} size={22} />
          <span className="min-w-0 truncate text-left">{me.user.name}</span>
          <span className="unseen">, your account</span>
        </Button>
      </Menu>
    </>
  )
}
