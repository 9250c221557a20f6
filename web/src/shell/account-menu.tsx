/** The account menu: the user, their running jobs, the theme and the sign-out. */
import { useNavigate, useRouter } from '@tanstack/react-router'
import { callApi, errorMessage, isSignedOut } from '../api/api.ts'
import { Button } from '../ui/button.tsx'
import { Avatar } from '../ui/elements.tsx'
import { Menu } from '../ui/menu.tsx'
import { toastError } from '../ui/toast.tsx'
import { JobsUnderWay } from './jobs-under-way.tsx'
import { loadAfresh, may, tellSignedOut, useMe } from './me.ts'
import { usePaletteCommands } from './palette-commands.ts'
import { prefer, usePreferences } from './preferences.ts'

/** False if something is unsaved that the user wants to keep: whatever asks before a reload says so. */
const mayLeave = () =>
  dispatchEvent(new Event('beforeunload', { cancelable: true })) ||
  confirm('You have changes that are not saved. Sign out without them?')

export function AccountMenu() {
  const me = useMe()
  const navigate = useNavigate()
  const { history } = useRouter()
  const { theme } = usePreferences()
  usePaletteCommands()
  const signOut = async () => {
    if (!mayLeave()) return
    try {
      await callApi('DELETE', '/session')
    } catch (error) {
      if (!isSignedOut(error)) return toastError(errorMessage(error))
    }
    tellSignedOut()
    // It was asked already.
    loadAfresh(history, '/sign-in')
  }
  const themes = [
    { id: 'system', label: 'System' },
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
              { id: 'docs', label: 'Documentation', act: () => void navigate({ to: '/docs' }) },
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
        <Button variant="quiet" className="w-full justify-start!">
          <Avatar name={me.user.name} size={22} />
          <span className="min-w-0 truncate text-left">{me.user.name}</span>
          <span className="unseen">, your account</span>
        </Button>
      </Menu>
    </>
  )
}
