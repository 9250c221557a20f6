/** Says whose account the reference shows, with the ways to another: sign in, enter a token, forget it. */
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { DealwrightError, errorMessage } from '../../api/api.ts'
import { meQuery } from '../../api/queries.ts'
import { Button, Cancel } from '../../ui/button.tsx'
import { TextField } from '../../ui/inputs.tsx'
import { keepFocus } from '../../ui/keys.ts'
import { enterToken, forgetToken, type Reader } from './reader.ts'

export function ReaderBar({ reader }: { reader: Reader }) {
  const [isEntering, setEntering] = useState(false)
  return (
    <section
      ref={keepFocus}
      aria-label="Shown account"
      className="mb-6 rounded-md border border-line bg-surface px-4 py-3 text-base"
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="min-w-0 grow basis-64">
          <State reader={reader} />
        </p>
        {reader.hasToken ? (
          <Button onPress={forgetToken}>Forget the token</Button>
        ) : (
          !isEntering && <Button onPress={() => setEntering(true)}>Use a token</Button>
        )}
      </div>
      {isEntering && !reader.hasToken && <TokenForm onClose={() => setEntering(false)} />}
    </section>
  )
}

function State({ reader: { account, hasToken } }: { reader: Reader }) {
  const { href } = useLocation()
  const { data: me } = useQuery({ ...meQuery, enabled: account !== null && !hasToken })
  if (!account)
    return (
      <>
        This is the service itself.{' '}
        <Link to="/sign-in" search={{ to: href }} className="text-accent underline">
          Sign in
        </Link>{' '}
        or use a token to see the fields of your account and to send requests.
      </>
    )
  if (hasToken)
    return `This is the account ${account.name}, as your token may use it. Requests are sent with the token.`
  return `This is your account, ${account.name}. Requests are sent as ${me?.user.name ?? 'you'}.`
}

function TokenForm({ onClose }: { onClose: () => void }) {
  const [secret, setSecret] = useState('')
  const [error, setError] = useState<string>()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    try {
      await enterToken(secret.trim())
    } catch (problem) {
      setError(problem instanceof DealwrightError ? problem.message : errorMessage(problem))
    }
  }
  return (
    <form onSubmit={submit} className="mt-3 flex max-w-md flex-col gap-3">
      <TextField
        label="Token"
        type="password"
        autoComplete="off"
        hint="It stays in this tab of the browser."
        required
        autoFocus
        error={error}
        value={secret}
        onChange={setSecret}
      />
      <div className="flex gap-2">
        <Button type="submit" variant="primary">
          Use the token
        </Button>
        <Cancel onPress={onClose} />
      </div>
    </form>
  )
}
