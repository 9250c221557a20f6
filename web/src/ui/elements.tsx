/** Small elements that many pages show: badges, avatars, empty states, skeletons, keys. */
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

export function Badge({
  variant = 'plain',
  children,
}: {
  variant?: 'plain' | 'accent' | 'won' | 'lost' | 'warn'
  children: ReactNode
}) {
  const looks = {
    plain: 'bg-hover text-ink-soft',
    accent: 'bg-accent-soft text-accent-strong',
    won: 'bg-won-soft text-won',
    lost: 'bg-lost-soft text-lost',
    warn: 'bg-warn-soft text-warn',
  }
  return (
    <span
      className={classes(
        'inline-block max-w-full truncate rounded-sm px-1.5 text-sm leading-[18px]',
        looks[variant],
      )}
    >
      {children}
    </span>
  )
}

/** The two letters of a name on a colour of its own, the same wherever it is shown. */
export function Avatar({ name, size = 20 }: { name: string; size?: number }) {
  let hue = 0
  for (const letter of name) hue = (hue * 31 + letter.codePointAt(0)!) % 360
  const words = name.trim().split(/\s+/)
  const letters = [words[0], words.length > 1 ? words.at(-1) : '']
    .map(word => [...(word ?? '')][0] ?? '')
    .join('')
    .toLocaleUpperCase()
  return (
    <span
      aria-hidden
      className="inline-flex shrink-0 items-center justify-center rounded-full font-semibold"
      style={{
        width: size,
        height: size,
        fontSize: size * 0.42,
        background: `light-dark(oklch(89% 0.07 ${hue}), oklch(34% 0.07 ${hue}))`,
        color: `light-dark(oklch(33% 0.1 ${hue}), oklch(90% 0.06 ${hue}))`,
      }}
    >
      {letters}
    </span>
  )
}

/** An empty state: one sentence, and possible actions. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-3 px-6 py-14 text-center">
      <p className="text-ink-soft">{title}</p>
      {children && <div className="flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  )
}

/** A loading dialog: letters typed meanwhile are no shortcuts of the page below. */
export function DialogLoading({ label }: { label: string }) {
  return <div role="dialog" aria-label={label} aria-busy className="unseen" />
}

/** The grey placeholder of loading content. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={classes('waiting block', className)} />
}

/** A key, in the key sheet and in tooltips. */
export function Key({ children }: { children: ReactNode }) {
  return (
    <kbd className="rounded-sm border border-line bg-canvas px-1 font-sans text-xs leading-4 text-ink-soft">
      {children}
    </kbd>
  )
}
