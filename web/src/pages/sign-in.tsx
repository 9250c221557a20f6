/** Sign-in: by e-mail and password, by a one-time link, or by the company's OpenID provider (D61). */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { base, callApi, type Me, sessionEnded } from '../api/api.ts'
import { meQuery, queryClient } from '../api/queries.ts'
import { Button } from '../ui/button.tsx'
import { ErrorMessage } from '../ui/error-message.tsx'
import { Select, TextField } from '../ui/inputs.tsx'
import { ByLink, linkOf, type OneTime, Paste } from './sign-in-link.tsx'
import { type SendSignIn, useSignIn } from './use-sign-in.ts'

/** The link of the address, or of the history entry. */
const givenLink = (): OneTime | null => linkOf(location.hash) ?? history.state?.link ?? null

export function SignIn() {
  const { to } = useSearch({ from: '/sign-in' })
  const navigate = useNavigate()
  const [link, setLink] = useState(givenLink)
  const [isPasting, setPasting] = useState(false)
  const [ended] = useState(hasJustEnded)
  useEffect(() => {
    document.title = 'Sign in · Dealwright'
    // The address shows no secret. The history entry stores it until it is used, so that the page can be
    // reloaded.
    if (link) history.replaceState({ ...history.state, link }, '', location.pathname + location.search)
  }, [link])
  useEffect(() => {
    // Pasting a link over the address of this page only changes the hash.
    const take = () => setLink(before => linkOf(location.hash) ?? before)
    window.addEventListener('hashchange', take)
    return () => window.removeEventListener('hashchange', take)
  }, [])
  const leaveLink = () => {
    history.replaceState({ ...history.state, link: undefined }, '')
    setPasting(false)
    setLink(null)
  }
  const enter = async (body: object) => {
    const me = await callApi<Me>('POST', '/session', { body })
    queryClient.clear()
    queryClient.setQueryData(meQuery.queryKey, me)
    await navigate({ href: ownPath(to) ?? '/board', replace: true } as never)
  }
  return (
    <main className="flex min-h-dvh items-center justify-center bg-canvas p-4">
      <div className="w-full max-w-[360px] rounded-lg border border-line bg-surface p-6 shadow-float">
        <div className="mb-5 flex items-center gap-2.5">
          <img src="/favicon.svg" alt="" width={28} height={28} />
          <h1 className="text-xl font-semibold">
            {link ? 'Welcome to Dealwright' : 'Sign in to Dealwright'}
          </h1>
        </div>
        {ended && (
          <p className="mb-4 rounded-sm bg-warn-soft px-3 py-2 text-warn">
            Your session has ended.{ended === 'write' && ' What you did last was not saved.'} Sign in again to
            go on.
          </p>
        )}
        {link ? (
          <ByLink key={link.secret} link={link} enter={enter} onLeave={leaveLink} />
        ) : isPasting ? (
          <Paste onLink={setLink} onLeave={leaveLink} />
        ) : (
          <ByPassword enter={enter} onPaste={() => setPasting(true)} />
        )}
      </div>
    </main>
  )
}

/** Only a path of this service, which prevents open redirects. */
function ownPath(to: string | undefined): string | null {
  return to && /^\/(?![/\\])/.test(to) ? to : null
}

/** True if the session of a signed-in user has ended. */
const hasJustEnded = () => queryClient.getQueryData(meQuery.queryKey) !== undefined && sessionEnded.get()

function ByPassword({ enter, onPaste }: { enter: SendSignIn; onPaste: () => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [account, setAccount] = useState<string | null>(null)
  const { error, isBusy, accounts, hasFailed, send } = useSignIn(enter)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void send({ email, password, ...(account ? { account: Number(account) } : {}) })
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label="E-mail"
        type="email"
        autoComplete="username"
        required
        autoFocus
        value={email}
        onChange={setEmail}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={setPassword}
      />
      {accounts && (
        <Select
          label="Account"
          value={account}
          onChange={setAccount}
          choices={accounts}
          none="Choose…"
          required
        />
      )}
      {!accounts && account !== null && (
        <TextField
          label="Account number"
          inputMode="numeric"
          autoFocus
          pattern="\d{1,15}"
          value={account}
          onChange={setAccount}
          hint="Your profile shows it, and so does that of your administrator."
        />
      )}
      <ErrorMessage text={error} />
      <Button type="submit" variant="primary" isPending={isBusy}>
        Sign in
      </Button>
      {hasFailed && !accounts && account === null && (
        <Button variant="quiet" onPress={() => setAccount('')}>
          Enter the account number
        </Button>
      )}
      <OpenIdButton />
      <Button variant="quiet" onPress={onPaste}>
        Use a one-time link
      </Button>
      <p className="text-sm text-ink-faint">
        No password, or forgotten? An administrator can send you a one-time link. Whoever runs the service can
        make one by <code>npx dealwright user reset</code>.
      </p>
    </form>
  )
}

/** Shown if the service has a provider. */
function OpenIdButton() {
  const { to } = useSearch({ from: '/sign-in' })
  const { data: ways } = useQuery({
    queryKey: ['ways'],
    queryFn: () => callApi<{ openid: boolean }>('GET', '/session/ways'),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!ways?.openid) return null
  const path = ownPath(to)
  // The service's limit: a longer return path is left out.
  const query = path && /^[\x21-\x7e]{1,1000}$/.test(path) ? `?${new URLSearchParams({ to: path })}` : ''
  return (
    <a className="linked text-center" href={`${base}/session/openid${query}`}>
      Sign in with your company’s account
    </a>
  )
}
