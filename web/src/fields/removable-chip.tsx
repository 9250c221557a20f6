/** One of several values, with a button that removes it. */
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components'

export function RemovableChip(props: { name: string; onRemove: () => void; children: ReactNode }) {
  const { name, onRemove, children } = props
  return (
    <span
      className="inline-flex max-w-full items-center gap-0.5 rounded-sm bg-accent-soft pl-2
      text-accent-strong"
    >
      {children}
      <Button
        aria-label={`Remove ${name}`}
        onPress={onRemove}
        className="grid size-6 place-items-center rounded-sm data-hovered:bg-hover"
      >
        <X size={12} aria-hidden />
      </Button>
    </span>
  )
}
