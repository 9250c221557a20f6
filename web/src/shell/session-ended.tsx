/**
 * The session has ended: the page redirects to the sign-in, and back. With unsaved input it stays and says
 * so: after signing in again in another tab the input can be saved.
 */
import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { sessionEnded } from '../api/api.ts'

export function SessionEnded() {
  const isEnded = sessionEnded.use() !== false
  const router = useRouter()
  useEffect(() => {
    const { pathname, href } = router.state.location
    if (isEnded && pathname !== '/sign-in' && !isTyping())
      void router.navigate({ to: '/sign-in', search: { to: href } })
  }, [isEnded, router])
  if (!isEnded) return null
  return (
    <p role="alert" className="bg-warn-soft px-4 py-1.5 text-warn">
      Your session has ended. What you have typed is still here:{' '}
      <a className="underline" href="/sign-in" target="_blank" rel="noreferrer">
        sign in again in another tab
      </a>
      , then save it.
    </p>
  )
}

/** True if input may be lost: a dialog is open, or the user is typing. */
function isTyping(): boolean {
  const texts = [...document.querySelectorAll<HTMLTextAreaElement>('textarea')]
  return (
    document.querySelector('[role="dialog"], [role="alertdialog"]') !== null ||
    document.activeElement?.matches('input:not([type="checkbox"], [type="radio"]), select') === true ||
    texts.some(({ value }) => value !== '')
  )
}
