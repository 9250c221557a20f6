/** The current minute, for what depends on the time. Only components that use it are drawn each minute. */
import { useSyncExternalStore } from 'react'

const minuteMs = 60_000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | null = null

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    for (const one of listeners) one()
  }, minuteMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
}

/** The begin of the current minute as a moment in ISO 8601. */
export function useMinute(): string {
  return useSyncExternalStore(subscribe, () =>
    new Date(Math.floor(Date.now() / minuteMs) * minuteMs).toISOString(),
  )
}
