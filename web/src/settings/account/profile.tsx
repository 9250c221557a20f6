/** The profile: language, time zone, preferences of this browser, password and sessions. */
import { useQuery } from '@tanstack/react-query'
import { Laptop } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { callApi, type Schemas } from '../../api/api.ts'
import { formats } from '../../format/format.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Loading } from '../../shell/load-error.tsx'
import { useMe } from '../../shell/me.ts'
import { type Preferences, prefer, usePreferences } from '../../shell/preferences.ts'
import { Button } from '../../ui/button.tsx'
import { Avatar, Badge } from '../../ui/elements.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { Checkbox, Select, TextField } from '../../ui/inputs.tsx'
import { PageBody, PageHead, Panel } from '../../ui/page.tsx'
import { saveWithToast, useSaving } from '../saving.ts'
import { browserName } from './browser-name.ts'
import { DatesForm } from './dates-form.tsx'

export function Profile() {
  const { user, account } = useMe()
  return (
    <>
      <PageHead title="Profile" />
      <PageBody>
        <div className="flex min-w-0 items-center gap-3">
          <Avatar name={user.name} size={44} />
          <div className="min-w-0">
            <p className="truncate text-lg font-semibold" dir="auto">
              {user.name}
            </p>
            <p className="truncate text-ink-soft">
              {user.email} · {account.name} · account {account.id}
            </p>
          </div>
        </div>
        <Languages />
        <Looks />
        <Password />
        <Sessions />
      </PageBody>
    </>
  )
}

/** Language and time zone of dates and numbers: fields of the user, the same in every browser. */
function Languages() {
  const { user, account } = useMe()
  const noLocale = account.locale
    ? `Account default (${account.locale})`
    : `Browser language (${navigator.language})`
  return (
    <Panel title="Dates and numbers" className="p-4">
      <DatesForm
        saved={{ locale: user.locale, time_zone: user.time_zone }}
        noLocale={noLocale}
        noTimeZone={`Account default (${account.time_zone})`}
        onSave={body => callApi('PATCH', '/me', { body })}
      >
        {chosen => (
          <Sample
            locale={chosen.locale ?? account.locale ?? navigator.language}
            timeZone={chosen.time_zone ?? account.time_zone}
          />
        )}
      </DatesForm>
    </Panel>
  )
}

function Sample(shown: { locale: string; timeZone: string }) {
  const sample = formats(shown)
  return (
    <p className="text-ink-soft">
      Now it is <span className="tabular text-ink">{sample.moment(new Date().toISOString())}</span>, and an
      amount is{' '}
      <span className="tabular text-ink">{sample.money({ value: 12345.5, currency_code: 'EUR' })}</span>.
    </p>
  )
}

const themes = [
  { id: 'system', name: 'System' },
  { id: 'light', name: 'Light' },
  { id: 'dark', name: 'Dark' },
]
const densities = [
  { id: 'comfortable', name: 'Comfortable' },
  { id: 'compact', name: 'Compact' },
]

/** Stored in this browser. */
function Looks() {
  const { theme, density, singleKeys } = usePreferences()
  return (
    <Panel title="This browser" detail="Kept on this device only." className="flex flex-col gap-4 p-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label="Theme"
          value={theme}
          onChange={value => prefer({ theme: value as Preferences['theme'] })}
          choices={themes}
        />
        <Select
          label="Density of lists"
          value={density}
          onChange={value => prefer({ density: value as Preferences['density'] })}
          choices={densities}
        />
      </div>
      <Checkbox
        label="Single letters are shortcuts, such as c for a new deal"
        checked={singleKeys}
        onChange={checked => prefer({ singleKeys: checked })}
      />
    </Panel>
  )
}

const passwordFields = ['current_password', 'password']

function Password() {
  const { user } = useMe()
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const { problems, isBusy, save } = useSaving(passwordFields)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const body = { ...(current ? { current_password: current } : {}), password: next }
    if (
      await save(
        () => callApi('PUT', '/me/password', { body }),
        'Password changed. Other sessions have ended.',
      )
    ) {
      setCurrent('')
      setNext('')
    }
  }
  return (
    <Panel title="Password" detail="A new password ends all your other sessions." className="p-4">
      <form onSubmit={event => void submit(event)} className="flex flex-col gap-4" noValidate>
        <input type="hidden" autoComplete="username" value={user.email} readOnly />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Current password"
            type="password"
            autoComplete="current-password"
            value={current}
            onChange={setCurrent}
            hint="Leave it empty if you signed in by a link and have none yet."
            error={problems.current_password}
          />
          <TextField
            label="New password"
            type="password"
            autoComplete="new-password"
            value={next}
            onChange={setNext}
            error={problems.password}
            hint="12 characters or more. Four words that nobody would guess are a good one."
          />
        </div>
        <ErrorMessage text={problems['']} />
        <Button
          type="submit"
          className="self-start"
          isPending={isBusy}
          reason={next === '' ? 'Write the new password first.' : undefined}
        >
          Change the password
        </Button>
      </form>
    </Panel>
  )
}

function Sessions() {
  const format = useFormat()
  const read = useQuery({
    queryKey: ['sessions'],
    queryFn: () => callApi<Schemas['session'][]>('GET', '/session/list'),
  })
  return (
    <Panel title="Where you are signed in">
      <Loading of={[read]} className="m-4 h-10" />
      <ul>
        {read.data?.map(session => {
          const agent = browserName(session.user_agent)
          return (
            <li
              key={session.id}
              className="flex items-center gap-3 border-line px-4 py-2 not-first:border-t max-sm:items-start"
            >
              <Laptop size={16} aria-hidden className="shrink-0 text-ink-faint max-sm:mt-1" />
              <div className="min-w-0 grow">
                <p className="flex flex-wrap items-center gap-x-2">
                  <span title={session.user_agent ?? undefined}>{agent}</span>
                  {session.is_current && <Badge variant="accent">this one</Badge>}
                </p>
                <p className="text-sm text-ink-soft" title={format.fullMoment(session.last_used_at)}>
                  {`${session.address ?? 'unknown address'} · used ${format.ago(session.last_used_at)} · `}
                  {`signed in ${format.moment(session.created_at)}`}
                </p>
              </div>
              {!session.is_current && (
                <Button
                  isSmall
                  aria-label={`End the session of ${agent}, signed in ${format.moment(session.created_at)}`}
                  onPress={() =>
                    void saveWithToast(
                      () => callApi('DELETE', `/session/${session.id}`),
                      'The session has ended',
                    )
                  }
                >
                  End
                </Button>
              )}
            </li>
          )
        })}
      </ul>
    </Panel>
  )
}
