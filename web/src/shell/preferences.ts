/** The preferences of this browser: theme, density, and single-key shortcuts. */
import { createStore } from '../ui/store.ts'

export type Pin = { readonly id: number; readonly place: string }

export type Preferences = {
  readonly theme: 'system' | 'light' | 'dark'
  readonly density: 'comfortable' | 'compact'
  /** True if single letters are shortcuts (WCAG 2.1.4) */
  readonly singleKeys: boolean
  /** "deal table" → its default view */
  readonly defaultViews: { readonly [place: string]: number }
  /** user → their pinned views, in the order of the sidebar; `place` is as in `defaultViews` */
  readonly pinnedViews: { readonly [who: string]: readonly Pin[] }
  /** the collapsed stages of the board */
  readonly collapsedStages: readonly number[]
  /** True if the steps of a new account were hidden */
  readonly isStartHidden: boolean
}

const name = 'dealwright'
const defaults: Preferences = {
  theme: 'system',
  density: 'comfortable',
  singleKeys: true,
  defaultViews: {},
  pinnedViews: {},
  collapsedStages: [],
  isStartHidden: false,
}
const current = createStore(read())

function read(): Preferences {
  try {
    return { ...defaults, ...JSON.parse(localStorage.getItem(name) ?? '{}') }
  } catch {
    return defaults
  }
}

/** Applies theme and density; to be called before the first render. */
export function applyPreferences(): void {
  const { dataset } = document.documentElement
  const { theme, density } = current.get()
  if (theme === 'system') delete dataset.theme
  else dataset.theme = theme
  dataset.density = density
}

/** Takes over what another tab stores, so that a change here does not store the former preferences again. */
export function followPreferences(): void {
  addEventListener('storage', ({ key }) => {
    if (key !== null && key !== name) return
    current.set(read())
    applyPreferences()
  })
}

export const preferences = current.get
export const usePreferences = current.use

export function prefer(changes: Partial<Preferences>): void {
  const next = { ...current.get(), ...changes }
  try {
    localStorage.setItem(name, JSON.stringify(next))
  } catch {
    // The browser's storage is disabled: it lasts until the page is closed.
  }
  current.set(next)
  applyPreferences()
}
