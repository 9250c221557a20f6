/** The way in: by e-mail and password, by a one-time link, or by the company's OpenID provider (D61). */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { ask, base, DealwrightError, hasEnded, type Me, type Named, sayError } from '../api/api.ts'
import { meQuery, queryClient } from '../api/queries.ts'
import { Button } from '../ui/button.tsx'
import { Select, TextField } from '../ui/inputs.tsx'

type Accounts = readonly Named[]

/** A one-time link: its secret, and whether all it does is to sign in. */
type OneTime = { readonly secret: string; readonly isForSignIn: boolean }

/** It stands behind the `#`, so that no server's log gets to know it. */
function linkOf(hash: string): OneTime | null {
  const [, secret, kind] = /^#link=([\w-]+)(&sign_in)?$/.exec(hash) ?? []
  return secret ? { secret, isForSignIn: kind !== undefined } : null
}

/** A link that was pasted, the whole address or its code alone; null for another text. */
const pastedLink = (text: string): OneTime | null =>
  linkOf(text.slice(Math.max(text.indexOf('#'), 0))) ??
  (/^dwl_[\w-]+$/.test(text) ? linkOf(`#link=${text}`) : null)

/** The link of the address, or the one that the entry of the history keeps. */
const givenLink = (): OneTime | null => linkOf(location.hash) ?? history.state?.link ?? null

export function SignIn() {
  const { to } = useSearch({ from: '/sign-in' })
  const navigate = useNavigate()
  const [link, setLink] = useState(givenLink)
  const [isPasting, setPasting] = useState(false)
  const [ended] = useState(hasJustEnded)
  useEffect(() => {
    document.title = 'Sign in · Dealwright'
    // Whoever sees or copies the address gets no secret. The entry of the history keeps it until it is used,
    // so that the page may be loaded again.
    if (link) history.replaceState({ ...history.state, link }, '', location.pathname + location.search)
  }, [link])
  useEffect(() => {
    // Whoever pastes a link over the address of this page stays on it.
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
    const me = await ask<Me>('POST', '/session', { body })
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

/** Only a path of this service: an address of elsewhere could be a trap. */
function ownPath(to: string | undefined): string | null {
  return to && /^\/(?![/\\])/.test(to) ? to : null
}

/** How the session of somebody who was signed in has ended; who comes first had none. */
const hasJustEnded = () => queryClient.getQueryData(meQuery.queryKey) !== undefined && hasEnded.get()

type Enter = (body: object) => Promise<void>

function useEntering(enter: Enter) {
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [accounts, setAccounts] = useState<Accounts | null>(null)
  const send = async (body: object) => {
    setBusy(true)
    setError(null)
    try {
      await enter(body)
    } catch (problem) {
      setBusy(false)
      setAccounts(accountsOf(problem))
      setError(lacksPassword(problem) ? 'Choose a password first.' : sayError(problem))
    }
  }
  return { error, isBusy, accounts, send }
}

/** The accounts to choose from, where the e-mail has users in several. */
function accountsOf(error: unknown): Accounts | null {
  if (!(error instanceof DealwrightError) || error.code !== accountNeeded) return null
  return error.problems[0]?.candidates ?? null
}

/** Whether a link that sets a password came without one. */
function lacksPassword(error: unknown): boolean {
  return (
    error instanceof DealwrightError &&
    error.problems.some(({ field, code }) => field === 'password' && code === 'required')
  )
}

/** `account_needed`, as /docs/errors lists it. */
const accountNeeded = 3005

function Trouble({ error }: { error: string | null }) {
  return (
    <div role="alert">{error && <p className="rounded-sm bg-lost-soft px-3 py-2 text-lost">{error}</p>}</div>
  )
}

function ByPassword({ enter, onPaste }: { enter: Enter; onPaste: () => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [account, setAccount] = useState<string | null>(null)
  const { error, isBusy, accounts, send } = useEntering(enter)
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
      <Trouble error={error} />
      <Button type="submit" look="primary" isPending={isBusy}>
        Sign in
      </Button>
      <OpenIdButton />
      <Button look="quiet" onPress={onPaste}>
        Use a one-time link
      </Button>
      <p className="text-sm text-ink-faint">
        No password, or forgotten? An administrator can send you a one-time link. Whoever runs the service can
        make one by <code>npx dealwright user reset</code>.
      </p>
    </form>
  )
}

/** Shown where the service has a provider. */
function OpenIdButton() {
  const { to } = useSearch({ from: '/sign-in' })
  const { data: ways } = useQuery({
    queryKey: ['ways'],
    queryFn: () => ask<{ openid: boolean }>('GET', '/session/ways'),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!ways?.openid) return null
  const path = ownPath(to)
  // What the service takes: a longer way back is forgotten.
  const query = path && /^[\x21-\x7e]{1,1000}$/.test(path) ? `?${new URLSearchParams({ to: path })}` : ''
  return (
    <a className="linked text-center" href={`${base}/session/openid${query}`}>
      Sign in with your company’s account
    </a>
  )
}

/** The command line and a chat may give a link that can't be followed: it is pasted. */
function Paste({ onLink, onLeave }: { onLink: (link: OneTime) => void; onLeave: () => void }) {
  const [text, setText] = useState('')
  const [error, setError] = useState<string | null>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const link = pastedLink(text.trim())
    if (link) onLink(link)
    else setError('This is no one-time link. Paste all of it, or its code, which begins with dwl_.')
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label="One-time link or its code"
        autoFocus
        autoComplete="off"
        value={text}
        onChange={setText}
      />
      <Trouble error={error} />
      <Button type="submit" look="primary">
        Continue
      </Button>
      <ToPassword onPress={onLeave} />
    </form>
  )
}

function ToPassword({ onPress }: { onPress: () => void }) {
  return (
    <Button look="quiet" onPress={onPress}>
      Use e-mail and password
    </Button>
  )
}

function ByLink(props: { link: OneTime; enter: Enter; onLeave: () => void }) {
  const {
    link: { secret: link, isForSignIn },
    enter,
    onLeave,
  } = props
  const [password, setPassword] = useState('')
  const { error, isBusy, send } = useEntering(enter)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void send(password ? { link, password } : { link })
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <p className="text-ink-soft">
        Your link signs you in once.{!isForSignIn && ' Choose a password to sign in with later.'}
      </p>
      {!isForSignIn && (
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          autoFocus
          value={password}
          onChange={setPassword}
          hint="12 characters or more. Four words that nobody would guess are a good one."
        />
      )}
      <Trouble error={error} />
      <Button type="submit" look="primary" isPending={isBusy} autoFocus={isForSignIn}>
        {isForSignIn ? 'Sign in' : 'Set the password and sign in'}
      </Button>
      <ToPassword onPress={onLeave} />
    </form>
  )
}
