/**
 * The icons of cards, each of one element with a mask. As SVG, they would be a third of the elements of a
 * board, and a slow processor would draw it later.
 */
import { CalendarDays, Ellipsis, Phone } from 'lucide-react'
import { useLayoutEffect, useRef } from 'react'
import { classes } from '../ui/classes.ts'

const icons = { actions: Ellipsis, close: CalendarDays, log: Phone }

type Props = { name: keyof typeof icons; size: number; className?: string | undefined }

/** The size is in pixels. */
export function CardIcon({ name, size, className }: Props) {
  const style = { width: size, height: size, maskImage: `var(--icon-${name})` }
  return <span aria-hidden className={classes('masked', className)} style={style} />
}

/** Draws each icon once, unseen, for the masks of its copies. */
export function CardMasks() {
  const drawn = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const root = document.documentElement
    for (const svg of drawn.current!.children)
      root.style.setProperty(
        `--icon-${svg.id}`,
        `url("data:image/svg+xml,${encodeURIComponent(svg.outerHTML)}")`,
      )
  }, [])
  return (
    <div ref={drawn} hidden>
      {Object.entries(icons).map(([name, Icon]) => (
        <Icon key={name} id={name} />
      ))}
    </div>
  )
}
