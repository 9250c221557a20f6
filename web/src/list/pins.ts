/** The views that a user has pinned to the sidebar. A browser keeps them, for each of its users (D171). */
import { useMe, whoOf } from '../shell/me.ts'
import { type Pin, prefer, preferences, usePreferences } from '../shell/preferences.ts'

const none: readonly Pin[] = []

/** `place` is the list of the views, such as "deal table". */
export function usePins(place: string) {
  const who = whoOf(useMe())
  const all = usePreferences().pinnedViews[who] ?? none
  const own = all.filter(pin => pin.place === place)
  const at = (id: number) => own.findIndex(pin => pin.id === id)
  const keep = (pins: readonly Pin[]) =>
    prefer({
      pinnedViews: {
        ...preferences().pinnedViews,
        [who]: [...all.filter(pin => pin.place !== place), ...pins],
      },
    })
  return {
    ids: own.map(({ id }) => id),
    isPinned: (id: number) => at(id) >= 0,
    toggle: (id: number) => keep(at(id) < 0 ? [...own, { id, place }] : own.filter(pin => pin.id !== id)),
    /** True if the pin can move by that many places */
    mayMove: (id: number, by: number) => at(id) >= 0 && own[at(id) + by] !== undefined,
    move: (id: number, by: number) => keep(own.toSpliced(at(id), 1).toSpliced(at(id) + by, 0, { id, place })),
  }
}
