/** Renders its children after the page has loaded its data, so that they don't delay the page. */
import { useIsFetching } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'

/** The longest wait for a page that keeps loading. */
const longestMs = 3000

export function AfterLoad({ fallback = null, children }: { fallback?: ReactNode; children: ReactNode }) {
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
    // The page renders first, and may send more requests.
    const timer = setTimeout(() => onRead(true), isReading ? longestMs : 50)
    return () => clearTimeout(timer)
  }, [isReading, onRead])
  return null
}
