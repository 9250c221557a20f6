/** Sign-in by a one-time link (D61): the one of the address, or a pasted one. */
import { type FormEvent, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { ErrorMessage } from '../ui/error-message.tsx'
import { TextField } from '../ui/inputs.tsx'
import { type SendSignIn, useSignIn } from './use-sign-in.ts'

/** A one-time link: its secret, and whether it only signs in. */
export type OneTime = { readonly secret: string; readonly isForSignIn: boolean }

/** The secret is in the fragment, so that no server logs it. */
export function linkOf(hash: string): OneTime | null {
  const [, secret, kind] = /^#link=([\w-]+)(&sign_in)?$/.exec(hash) ?? []
  return secret ? { secret, isForSignIn: kind !== undefined } : null
}

/** A pasted link, the whole address or its code alone; null for another text. */
const pastedLink = (text: string): OneTime | null =>
  linkOf(text.slice(Math.max(text.indexOf('#'), 0))) ??
  (/^dwl_[\w-]+$/.test(text) ? linkOf(`#link=${text}`) : null)

/** A link from the command line or a chat may not be clickable: it can be pasted. */
export function Paste({ onLink, onLeave }: { onLink: (link: OneTime) => void; onLeave: () => void }) {
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
      <ErrorMessage text={error} />
      <Button type="submit" variant="primary">
        Continue
      </Button>
      <ToPassword onPress={onLeave} />
    </form>
  )
}

function ToPassword({ onPress }: { onPress: () => void }) {
  return (
    <Button variant="quiet" onPress={onPress}>
      Use e-mail and password
    </Button>
  )
}

export function ByLink(props: { link: OneTime; enter: SendSignIn; onLeave: () => void }) {
  const {
    link: { secret: link, isForSignIn },
    enter,
    onLeave,
  } = props
  const [password, setPassword] = useState('')
  const { error, isBusy, send } = useSignIn(enter)
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
      <ErrorMessage text={error} />
      <Button type="submit" variant="primary" isPending={isBusy} autoFocus={isForSignIn}>
        {isForSignIn ? 'Sign in' : 'Set the password and sign in'}
      </Button>
      <ToPassword onPress={onLeave} />
    </form>
  )
}
