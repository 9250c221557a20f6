/** Class names of elements. */

/** Joins class names, without falsy ones. */
export function classes(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}

/** The dark layer between the page and a dialog, below the bar at the head of the page. */
export const underlay = 'fixed inset-x-0 top-(--head,0px) bottom-0 z-40 flex bg-[oklch(15%_0.02_262/0.42)]'

/** The look of a link in a list of pages; the current one is marked. */
export const navLink =
  'flex min-h-8 items-center rounded-sm px-2.5 text-ink-soft hover:bg-hover hover:text-ink ' +
  'aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent-strong'
