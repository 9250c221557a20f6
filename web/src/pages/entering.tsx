/** A sign-in that is sent: what is wrong with it, and the accounts to choose from. */
import { useState } from 'react'
import { DealwrightError, type Named, sayError } from '../api/api.ts'

type Accounts = readonly Named[]

export type Enter = (body: object) => Promise<void>

export function useEntering(enter: Enter) {
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

export function Trouble({ error }: { error: string | null }) {
  return (
    <div role="alert">{error && <p className="rounded-sm bg-lost-soft px-3 py-2 text-lost">{error}</p>}</div>
  )
}
