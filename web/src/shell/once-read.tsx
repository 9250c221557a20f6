/** What is shown once the page has read its data: what it loads then doesn't hold up the page. */
import { useIsFetching } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'

/** A page that goes on reading is not waited for longer. */
const longestMs = 3000

export function OnceRead({ fallback, children }: { fallback: ReactNode; children: ReactNode }) {
  const [isRead, setRead] = useState(false)
  if (isRead) return children
  return (
    <>
      {fallback}
      <Wait onRead={setRead} />
    </>
  )
}

function Wait({ onRead }: { onRead: (isRead: true) => void }) {
  const isReading = useIsFetching() > 0
  useEffect(() => {
    // What was read is drawn first, and what follows from it is asked for.
    const timer = setTimeout(() => onRead(true), isReading ? longestMs : 50)
    return () => clearTimeout(timer)
  }, [isReading, onRead])
  return null
}
