/** What a person has chosen for this browser: theme, density, and whether single keys act. */
import { useSyncExternalStore } from 'react'

export type Preferences = {
  readonly theme: 'system' | 'light' | 'dark'
  readonly density: 'comfortable' | 'compact'
  /** whether single letters are shortcuts (WCAG 2.1.4) */
  readonly singleKeys: boolean
  /** "deal table" → the view with which somebody begins there */
  readonly defaultViews: { readonly [place: string]: number }
}

const name = 'dealwright'
const usual: Preferences = { theme: 'system', density: 'comfortable', singleKeys: true, defaultViews: {} }
const listeners = new Set<() => void>()
let current = read()

function read(): Preferences {
  try {
    return { ...usual, ...JSON.parse(localStorage.getItem(name) ?? '{}') }
  } catch {
    return usual
  }
}

/** Shows the page as it was chosen; to be called before it is drawn. */
export function applyPreferences(): void {
  const { dataset } = document.documentElement
  if (current.theme === 'system') delete dataset.theme
  else dataset.theme = current.theme
  dataset.density = current.density
}

export const preferences = (): Preferences => current

export function prefer(changes: Partial<Preferences>): void {
  current = { ...current, ...changes }
  try {
    localStorage.setItem(name, JSON.stringify(current))
  } catch {
    // A browser that keeps nothing: it lasts until the page is left.
  }
  applyPreferences()
  for (const listener of listeners) listener()
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
}
