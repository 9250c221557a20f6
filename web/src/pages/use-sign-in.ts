/** A submitted sign-in: its problems, and the accounts to choose from. */
import { useState } from 'react'
import { DealwrightError, errorMessage, type Named } from '../api/api.ts'

type Accounts = readonly Named[]

export type SendSignIn = (body: object) => Promise<void>

export function useSignIn(enter: SendSignIn) {
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [accounts, setAccounts] = useState<Accounts | null>(null)
  const [hasFailed, setFailed] = useState(false)
  const send = async (body: object) => {
    setBusy(true)
    setError(null)
    try {
      await enter(body)
    } catch (problem) {
      setBusy(false)
      setAccounts(accountsOf(problem))
      if (isOf(problem, signInFailed)) setFailed(true)
      setError(lacksPassword(problem) ? 'Choose a password first.' : errorMessage(problem))
    }
  }
  return { error, isBusy, accounts, hasFailed, send }
}

/** The accounts to choose from, if the e-mail has users in several. */
function accountsOf(error: unknown): Accounts | null {
  return isOf(error, accountNeeded) ? (error.problems[0]?.candidates ?? null) : null
}

function isOf(error: unknown, code: number): error is DealwrightError {
  return error instanceof DealwrightError && error.code === code
}

/** True if a link that sets a password came without one. */
function lacksPassword(error: unknown): boolean {
  return (
    error instanceof DealwrightError &&
    error.problems.some(({ field, code }) => field === 'password' && code === 'required')
  )
}

/** `sign_in_failed` and `account_needed` in /docs/errors. */
const [signInFailed, accountNeeded] = [3003, 3005]
