/**
 * The session has ended: the page leads to the sign-in, and back. Where something is typed it stays, and says
 * so: who signs in again in another tab can save it.
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

/** True if input may be lost: a dialog is open, or a text is being written. */
function isTyping(): boolean {
  const texts = [...document.querySelectorAll<HTMLTextAreaElement>('textarea')]
  return (
    document.querySelector('[role="dialog"], [role="alertdialog"]') !== null ||
    document.activeElement?.matches('input:not([type="checkbox"], [type="radio"]), select') === true ||
    texts.some(({ value }) => value !== '')
  )
}
